// Verdict on a response that was admitted ("Responses" of the semantics) without the check of the sink.
//
// Inputs are held; `plan` belongs to those of two clocks ago. Of the plan, `psn` is that of the event
// for the send queue; `final_one` says that the response ends its read. `x` is the PSN that the oldest
// open read expects.
module nd_receive_response
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
(
  input  logic       clk,
  input  rx_desc_t   frame,
  input  qp_recv_t   cfg,
  input  requester_t state,
  input  psn_t       next,     // PSN that is sent next
  input  logic [7:0] started,  // reads started
  input  psn_t       read_psn, // of the oldest open read
  input  logic [31:0] read_len,
  output plan_t      plan,
  output psn_t       x,
  output logic       final_one
);
  typedef struct packed {
    logic window;
    logic open;
    logic older;
    logic newer;
    logic positive;
    logic opcode_bad;
    logic length_bad;
    logic ack;  // Acknowledge, positive or not
    status_e status;
  } facts_t;

  facts_t      facts_q, facts_d;
  plan_t       plan_q, plan_d;
  psn_t        x_q, x_d, una;
  logic        final_q, final_d, first;
  len_t        mtu;
  logic [31:0] remaining;
  logic [7:0]  opcode, syndrome;
  logic        unused;

  assign unused    = &{1'b0, frame, cfg, state};
  assign plan      = plan_q;
  assign x         = x_q;
  assign final_one = final_q;
  assign syndrome  = frame.aeth[31:24];

  always_comb begin
    una       = state.live ? state.una : cfg.sq_psn;
    x_d       = read_psn + state.packets;
    mtu       = mtu_bytes(cfg.mtu);
    remaining = read_len - state.bytes;
    first     = state.packets == '0;
    final_d   = remaining <= 32'(mtu);
    unique case ({first, final_d})
      2'b11:   opcode = OpReadOnly;
      2'b10:   opcode = OpReadFirst;
      2'b01:   opcode = OpReadLast;
      default: opcode = OpReadMiddle;
    endcase

    facts_d = '0;
    facts_d.window     = psn_t'(frame.psn - una) < psn_t'(next - una);
    facts_d.open       = started != state.reads;
    facts_d.older      = psn_older(frame.psn, x_d);
    facts_d.newer      = !facts_d.older && frame.psn != x_d;
    facts_d.positive   = syndrome[7:5] == 3'b000;
    facts_d.opcode_bad = frame.opcode != opcode;
    facts_d.length_bad = frame.oversize || 32'(frame.len) != (final_d ? remaining : 32'(mtu));
    facts_d.ack        = frame.opcode == OpAck;
    unique case (syndrome[7:5])
      3'b001: facts_d.status = StatusRnrRetryExceeded;
      3'b011: begin
        unique case (syndrome)
          AethSequence: facts_d.status = StatusRetryExceeded;
          AethInvalid:  facts_d.status = StatusRemoteInvalidRequest;
          AethAccess:   facts_d.status = StatusRemoteAccess;
          default:      facts_d.status = StatusRemoteOperation;
        endcase
      end
      default: facts_d.status = StatusBadResponse;
    endcase
  end

  always_comb begin
    plan_d        = '0;
    plan_d.result = RxFatal;
    plan_d.psn    = x_q;
    if (!facts_q.window) begin
      plan_d.drop       = 1'b1;
      plan_d.drop_cause = DropStaleResponse;
    end else if (facts_q.ack) begin
      if (facts_q.open && (facts_q.positive ? !facts_q.older : facts_q.newer)) begin
        plan_d.status = StatusRetryExceeded;
      end else if (facts_q.positive) begin
        plan_d.result = RxAccept;
        plan_d.psn    = frame.psn + 24'd1;
      end else begin
        plan_d.status   = facts_q.status;
        plan_d.syndrome = syndrome;
        plan_d.psn      = frame.psn;
      end
    end else if (!facts_q.open) begin
      plan_d.status = StatusBadResponse;
      plan_d.psn    = frame.psn;
    end else if (facts_q.older) begin
      plan_d.drop       = 1'b1;
      plan_d.drop_cause = DropStaleResponse;
    end else if (facts_q.newer) begin
      plan_d.status = StatusRetryExceeded;
    end else if (facts_q.opcode_bad || (!facts_q.positive && frame.opcode != OpReadMiddle)) begin
      plan_d.status = StatusBadResponse;
    end else if (facts_q.length_bad) begin
      plan_d.status = StatusLocalLength;
    end else begin
      plan_d.result = RxAccept;
      plan_d.psn    = frame.psn + 24'd1;
      plan_d.pieces = frame.len != '0;
    end
  end

  always_ff @(posedge clk) begin
    facts_q <= facts_d;
    x_q     <= x_d;
    final_q <= final_d;
    plan_q  <= plan_d;
  end
endmodule
