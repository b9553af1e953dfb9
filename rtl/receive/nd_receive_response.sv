// Verdict on a response that was admitted ("Responses" of the semantics) without the check of the sink.
//
// Inputs are held; `plan` belongs to those of two clocks ago: one clock for the comparisons, one for
// what they mean. Of the plan, `psn` is where `una` moves if `moved`; of a failure, where it is. `x` is
// the PSN that the oldest open read expects; `final_one` says that its response there ends the read.
module nd_receive_response
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
(
  input  logic        clk,
  input  rx_desc_t    frame,
  input  qp_recv_t    cfg,
  input  requester_t  state,
  input  psn_t        top,       // after the newest PSN ever sent
  input  logic [7:0]  started,   // reads started
  input  psn_t        read_psn,  // of the oldest open read
  input  logic [31:0] read_len,
  input  logic        read_again,  // it was sent more than once
  output plan_t       plan,
  output psn_t        x,
  output logic        final_one
);
  typedef enum logic [2:0] {
    SaysNothing,
    SaysDone,
    SaysLoss,
    SaysNotReady,
    SaysFailure
  } says_e;

  typedef struct packed {
    logic    window;      // the PSN was sent and is not acknowledged
    logic    open;        // a read is open ...
    logic    older;       // ... and expects a newer PSN
    logic    newer;       // ... and expects an older one
    logic    opcode_bad;
    logic    length_bad;
    logic    positive;
    logic    lost;        // NAK 0x60
    logic    rnr;         // RNR NAK
    status_e status;      // of any other NAK
    logic    moved_psn;   // everything before the PSN done is progress
    logic    moved_x;     // everything before x done is progress
    logic    lost_out;    // no go-back left without progress ...
    logic    lost_never;  // ... or with it
    logic    rnr_out;     // no RNR wait left without progress ...
    logic    rnr_never;   // ... or with it
  } facts_t;

  facts_t      facts_q, facts_d;
  plan_t       plan_q, plan_d;
  op_t         op;
  psn_t        x_q, x_d, una;
  logic        final_q, final_d;
  len_t        mtu;
  logic [31:0] remaining;
  logic [7:0]  syndrome;
  says_e       says;
  logic        ack, at_x, out, unused;

  assign unused    = &{1'b0, frame, cfg, state, op};
  assign plan      = plan_q;
  assign x         = x_q;
  assign final_one = final_q;
  assign syndrome  = frame.aeth[31:24];

  always_comb begin
    op        = decode(frame.opcode);
    una       = state.live ? state.una : cfg.sq_psn;
    x_d       = read_psn + state.packets;
    mtu       = mtu_bytes(cfg.mtu);
    remaining = read_len - state.bytes;
    final_d   = remaining <= 32'(mtu);

    facts_d        = '0;
    facts_d.window = psn_t'(frame.psn - una) < psn_t'(top - una);
    facts_d.open   = started != state.reads;
    facts_d.older  = psn_older(frame.psn, x_d);
    facts_d.newer  = !facts_d.older && frame.psn != x_d;
    facts_d.opcode_bad = op.ends != final_d;
    if (state.packets == '0 ? !op.starts : op.starts && !read_again) facts_d.opcode_bad = 1'b1;
    facts_d.length_bad = frame.oversize || 32'(frame.len) != (final_d ? remaining : 32'(mtu));
    facts_d.positive   = syndrome[7:5] == 3'b000;
    facts_d.lost       = syndrome == AethSequence;
    facts_d.rnr        = syndrome[7:5] == AethRnr;
    unique case (syndrome)
      AethInvalid: facts_d.status = StatusRemoteInvalidRequest;
      AethAccess:  facts_d.status = StatusRemoteAccess;
      default:     facts_d.status = syndrome[7:5] == 3'b011 ? StatusRemoteOperation :
                                                              StatusBadResponse;
    endcase
    facts_d.moved_psn  = frame.psn != una;
    facts_d.moved_x    = x_d != una;
    facts_d.lost_out   = state.go_backs >= cfg.retry_cnt;
    facts_d.lost_never = cfg.retry_cnt == '0;
    facts_d.rnr_out    = state.rnr_waits >= cfg.rnr_retry && cfg.rnr_retry != RnrEndless;
    facts_d.rnr_never  = cfg.rnr_retry == '0;
  end

  // What the response says, and of which PSN.
  always_comb begin
    ack           = frame.opcode == OpAck;
    says          = SaysNothing;
    at_x          = 1'b0;
    plan_d        = '0;
    plan_d.status = StatusBadResponse;
    if (!facts_q.window) begin
      says = SaysNothing;
    end else if (ack) begin
      if (facts_q.open && (facts_q.positive ? !facts_q.older : facts_q.newer)) begin
        says = SaysLoss;
        at_x = 1'b1;
      end else if (facts_q.positive) begin
        says = SaysDone;
      end else if (facts_q.lost) begin
        says = SaysLoss;
      end else if (facts_q.rnr) begin
        says = SaysNotReady;
      end else begin
        says          = SaysFailure;
        plan_d.status = facts_q.status;
      end
    end else if (!facts_q.open) begin
      says = SaysFailure;
    end else if (facts_q.older) begin
      says = SaysNothing;
    end else if (facts_q.newer) begin
      says = SaysLoss;
      at_x = 1'b1;
    end else if (facts_q.opcode_bad || (!facts_q.positive && frame.opcode != OpReadMiddle)) begin
      says = SaysFailure;
    end else if (facts_q.length_bad) begin
      says          = SaysFailure;
      plan_d.status = StatusLocalLength;
    end else begin
      says          = SaysDone;
      plan_d.pieces = frame.len != '0;
    end

    plan_d.result  = RxFatal;
    plan_d.psn     = at_x ? x_q : frame.psn;
    plan_d.moved   = at_x ? facts_q.moved_x : facts_q.moved_psn;
    plan_d.counted = cfg.rnr_retry != RnrEndless;
    plan_d.firm    = facts_q.window && (ack || says == SaysDone);
    if (ack && !facts_q.positive && !at_x) plan_d.syndrome = syndrome;
    out            = 1'b0;
    unique case (says)
      SaysDone: begin
        plan_d.result = RxAccept;
        plan_d.psn    = frame.psn + 24'd1;
        plan_d.moved  = 1'b1;
      end
      SaysLoss: begin
        out = plan_d.moved ? facts_q.lost_never : facts_q.lost_out;
        if (!plan_d.moved && (state.recovering || state.waiting)) plan_d.drop = 1'b1;
        else if (out) plan_d.status = StatusRetryExceeded;
        else plan_d.result = RxGoBack;
      end
      SaysNotReady: begin
        out = plan_d.moved ? facts_q.rnr_never : facts_q.rnr_out;
        if (!plan_d.moved && state.waiting) plan_d.drop = 1'b1;
        else if (out) plan_d.status = StatusRnrRetryExceeded;
        else plan_d.result = RxRnrWait;
      end
      SaysFailure: ;
      default: plan_d.drop = 1'b1;
    endcase
    plan_d.drop_cause = DropStaleResponse;
    if (op.cnp) begin
      plan_d        = '0;
      plan_d.result = RxCnp;
      plan_d.firm   = 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    facts_q <= facts_d;
    x_q     <= x_d;
    final_q <= final_d;
    plan_q  <= plan_d;
  end
endmodule
