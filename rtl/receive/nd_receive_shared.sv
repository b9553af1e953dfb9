// Shared receive queues: what is posted in them, what was taken, their limits.
//
// Only `nd_receive_rx` takes entries, in order, in granted clocks. After each action on a queue the
// facts that decisions need are made anew from its indices: `posted`, and whether the next entry
// taken goes below the limit. Meanwhile `busy` is high, and nothing is decided that depends on them;
// `moved` ends a decision that was prepared with another `posted`. A doorbell is prepared the same
// way, and again when an entry was taken meanwhile. A table write is taken over at once and holds
// everything until its action (`context_done`).
module nd_receive_shared
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // shared receive queues, a power of two
  parameter int unsigned NumSrq = 16,
  localparam int unsigned SrqBits = $clog2(NumSrq)
) (
  input  logic               clk,
  input  logic               rst,

  // context
  input  logic               wr_valid,
  output logic               wr_ready,
  input  logic [15:0]        wr_index,
  input  srq_context_t       wr,
  input  logic               context_done,

  // doorbells; `is_arm`: the limit
  input  logic               db_valid,
  output logic               db_ready,
  input  doorbell_t          db,
  output logic               commit_req,
  output commit_t            commit_record,
  input  logic               commit_gnt,

  // an entry is taken
  input  logic               take,
  input  logic [SrqBits-1:0] take_srq,
  input  idx_t               take_index,
  output logic               busy,
  output logic               moved,
  output logic [NumSrq-1:0]  posted,
  output logic [NumSrq-1:0]  odd,        // lowest bit of the next index
  input  logic [SrqBits-1:0] rx_srq,     // its next index, one clock later
  output idx_t               rx_next,

  // fetch
  output logic [NumSrq-1:0]  valid,
  output logic               clear,      // a queue begins anew ...
  output logic               mark,       // ... or more was posted
  output logic [SrqBits-1:0] srq,
  input  logic [SrqBits-1:0] fetch_srq,  // its state, one clock later
  output idx_t               fetch_producer,
  output idx_t               fetch_next,
  output addr_t              fetch_base,
  output logic [3:0]         fetch_log,

  // a limit event is due
  output logic               event_valid,
  input  logic               event_ready,
  output logic [15:0]        event_number
);
  if (NumSrq < 2 || NumSrq > 32768 || (NumSrq & (NumSrq - 1)) != 0) begin : g_check
    $error("%m: NumSrq must be a power of two, 2 to 32768");
  end

  typedef logic [SrqBits-1:0] srq_t;

  typedef struct packed {
    logic [3:0] log_size;
    addr_t      base;
  } ring_t;

  typedef enum logic [2:0] {
    Rest,
    Look,
    Load,
    Subtract,
    Compare,
    Ready,  // the doorbell asks for the grant
    Clear,
    Held    // until the table write is granted
  } state_e;

  state_e            state_q, state_d;
  logic              anew_q, anew_d;  // facts are made anew, else a doorbell is prepared
  srq_t              srq_q, srq_d;
  idx_t              producer_q, next_q, limit_q, left_q;
  logic              below_q, below_d;  // fewer are left than the limit that is to be armed
  logic [NumSrq-1:0] valid_q, valid_d, posted_q, posted_d, low_q, low_d, odd_q, odd_d, due_q, due_d;
  logic              exists, applied, arms, limit_we;
  srq_t              limit_srq;
  idx_t              limit_wdata;
  srq_t              producer_rsrq[2], next_rsrq[3], limit_rsrq[1];
  idx_t              producer[2], next[3], limit[1];
  ring_t             ring, ring_wdata;

  assign wr_ready   = state_q == Clear;
  assign busy       = state_q inside {Clear, Held} ||
                      (anew_q && state_q inside {Look, Load, Subtract, Compare});
  assign clear      = state_q == Clear;
  assign srq        = srq_q;
  assign posted     = posted_q;
  assign odd        = odd_q;
  assign valid      = valid_q;
  assign exists     = 32'(db.number) < NumSrq && valid_q[srq_t'(db.number)];
  assign db_ready   = commit_gnt;
  assign commit_req = state_q == Ready;
  assign applied    = commit_gnt && exists;
  assign arms       = applied && db.is_arm;
  assign mark       = applied && !db.is_arm;
  assign moved      = posted_d != posted_q;
  assign commit_record =
      commit_rec(db.is_arm ? CommitSrqArm : CommitSrqDoorbell, {8'd0, db.number}, db.index, '0,
                 '0, 8'd0);

  // ---- tables --------------------------------------------------------------------------------
  assign producer_rsrq = '{srq_q, fetch_srq};
  assign next_rsrq     = '{srq_q, fetch_srq, rx_srq};
  assign limit_rsrq    = '{srq_q};
  assign fetch_producer = producer[1];
  assign fetch_next     = next[1];
  assign rx_next        = next[2];
  assign fetch_base     = ring.base;
  assign fetch_log      = ring.log_size;
  assign ring_wdata     = '{log_size: wr.log_size[3:0], base: wr.base};

  // A limit that was reached is disarmed, as one of 0 is.
  assign limit_we    = arms || (take && low_q[take_srq]);
  assign limit_srq   = take ? take_srq : srq_q;
  assign limit_wdata = arms && !below_q ? db.index : '0;

  nd_receive_table #(.T(idx_t), .NumQp(NumSrq), .Reads(2)) u_producer (
    .clk, .clear, .clear_qp(qp_t'(srq_q)), .we(mark), .wqp(qp_t'(srq_q)), .wdata(db.index),
    .rqp('{qp_t'(producer_rsrq[0]), qp_t'(producer_rsrq[1])}), .rdata(producer)
  );
  nd_receive_table #(.T(idx_t), .NumQp(NumSrq), .Reads(3)) u_next (
    .clk, .clear, .clear_qp(qp_t'(srq_q)), .we(take), .wqp(qp_t'(take_srq)),
    .wdata(take_index + 16'd1),
    .rqp('{qp_t'(next_rsrq[0]), qp_t'(next_rsrq[1]), qp_t'(next_rsrq[2])}), .rdata(next)
  );
  nd_receive_table #(.T(idx_t), .NumQp(NumSrq), .Reads(1)) u_limit (
    .clk, .clear, .clear_qp(qp_t'(srq_q)), .we(limit_we), .wqp(qp_t'(limit_srq)),
    .wdata(limit_wdata), .rqp('{qp_t'(limit_rsrq[0])}), .rdata(limit)
  );
  nd_ram #(.T(ring_t), .Depth(NumSrq)) u_ring (
    .clk, .we(clear), .waddr(srq_q), .wdata(ring_wdata), .raddr(fetch_srq), .rdata(ring)
  );

  // ---- actions and facts ---------------------------------------------------------------------
  always_comb begin
    state_d  = state_q;
    anew_d   = anew_q;
    srq_d    = srq_q;
    below_d  = below_q;
    valid_d  = valid_q;
    posted_d = posted_q;
    low_d    = low_q;
    odd_d    = odd_q;
    unique case (state_q)
      Rest: begin
        anew_d = 1'b0;
        if (wr_valid) begin
          srq_d   = srq_t'(wr_index);
          state_d = Clear;
        end else if (db_valid) begin
          srq_d   = srq_t'(db.number);
          state_d = Look;
        end
      end
      Look:     state_d = Load;
      Load:     state_d = Subtract;
      Subtract: state_d = Compare;
      Compare: begin
        below_d = left_q < db.index;
        if (anew_q) begin
          posted_d[srq_q] = left_q != '0;
          low_d[srq_q]    = left_q <= limit_q;  // one less is below it
          state_d         = Rest;
        end else begin
          state_d = Ready;
        end
      end
      Ready: begin
        if (commit_gnt) begin
          anew_d  = exists;
          state_d = exists ? Look : Rest;
        end
      end
      Clear: begin
        valid_d[srq_q]  = wr.valid;
        posted_d[srq_q] = 1'b0;
        low_d[srq_q]    = 1'b0;
        odd_d[srq_q]    = 1'b0;
        state_d         = Held;
      end
      default: if (context_done) state_d = Rest;  // Held
    endcase
    if (take) begin
      odd_d[take_srq] = !take_index[0];
      anew_d          = 1'b1;
      srq_d           = take_srq;
      state_d         = Look;
    end
  end

  always_ff @(posedge clk) begin
    state_q    <= state_d;
    anew_q     <= anew_d;
    srq_q      <= srq_d;
    producer_q <= producer[0];
    next_q     <= next[0];
    limit_q    <= limit[0];
    left_q     <= producer_q - next_q;
    below_q    <= below_d;
    valid_q    <= valid_d;
    posted_q   <= posted_d;
    low_q      <= low_d;
    odd_q      <= odd_d;
    if (rst) begin
      state_q  <= Rest;
      valid_q  <= '0;
      posted_q <= '0;
      low_q    <= '0;
      odd_q    <= '0;
    end
  end

  // ---- events --------------------------------------------------------------------------------
  logic [NumSrq-1:0] turn;
  logic              event_q, event_d;
  srq_t              turn_idx, event_srq_q, event_srq_d;
  logic              unused;

  assign event_valid  = event_q;
  assign event_number = 16'(event_srq_q);
  assign unused       = &{1'b0, db.arm, wr, wr_index, turn};

  nd_rr_arb #(.N(NumSrq)) u_turn (
    .clk, .rst, .req(due_q), .advance(!event_q), .gnt(turn), .gnt_idx(turn_idx)
  );

  always_comb begin
    due_d       = due_q;
    event_d     = event_q;
    event_srq_d = event_srq_q;
    if (!event_q) begin
      event_d     = |due_q;
      event_srq_d = turn_idx;
    end
    if (event_ready) begin
      event_d            = 1'b0;
      due_d[event_srq_q] = 1'b0;
    end
    if (arms && below_q) due_d[srq_q] = 1'b1;
    if (take && low_q[take_srq]) due_d[take_srq] = 1'b1;
  end

  always_ff @(posedge clk) begin
    due_q       <= due_d;
    event_q     <= event_d;
    event_srq_q <= event_srq_d;
    if (rst) begin
      due_q   <= '0;
      event_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_grant: assert (!commit_gnt || commit_req);
      a_take:  assert (!take || (!busy && posted_q[take_srq] && take_index[0] == odd_q[take_srq]));
      a_event: assert (!event_ready || event_valid);
      a_index: assert (!wr_valid || 32'(wr_index) < NumSrq);
    end
  end
`endif
endmodule
