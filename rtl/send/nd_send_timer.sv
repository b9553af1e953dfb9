// One timer for each queue pair: for acknowledgements, or for the end of an RNR wait.
//
// A scanner looks at one queue pair a clock, at each again after `Rows` clocks. One whose timer has to
// run and does not yet, or begins anew (`restart`), gets a deadline; one whose deadline has passed asks
// for its action: Timeout, which goes back or fails the request of `una`, or RnrResume. Time is counted
// while the network takes what it is offered. So a timer of T clocks ends between T and T + 2 `Rows`
// clocks after its beginning, and what others' actions take.
//
// A failure whose mark finds no place is put off until the next look, so that no other timer waits.
// Outside of QpRts no timer of acknowledgements runs; an RNR wait goes on, and ends in QpRts.
//
// What begins anew is known from the clock after the grant of what caused it, so that no action meets
// a response that was faster.
module nd_send_timer
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic                  clk,
  input  logic                  rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  timing_t               timing,
  input  logic                  tx_stalled,
  input  logic                  clear_valid,
  input  qp_t                   clear_qp,

  // granted responses
  input  logic                  verdict_valid,
  input  qp_t                   verdict_qp,
  input  rx_result_e            verdict,

  // look-ups, answered one clock later
  output qp_t                   look_qp,
  input  qp_send_t              cfg,
  input  requester_t            requester,
  input  logic                  top_live,        // something was sent, up to before:
  input  psn_t                  top,
  input  logic                  requester_we,    // what is looked up changes
  input  qp_t                   requester_wqp,

  output logic                  commit_req,
  output commit_t               commit_record,
  input  logic                  commit_gnt,

  // granted actions
  output logic                  action_valid,
  output qp_t                   action_qp,
  output requester_t            action_requester,
  output logic                  action_back,     // Timeout: go back
  output logic                  action_fail,     // Timeout: stop
  output logic [NumQp-1:0]      waiting,         // for the end of an RNR wait

  // a failure on its way through what is being written
  output logic                  fail_mark_valid,
  input  logic                  fail_mark_ready,
  output qp_t                   fail_mark_qp,
  output psn_t                  fail_mark_psn
);
  // A queue pair is looked at again when its last look is over.
  localparam int unsigned QpBits   = $clog2(NumQp);
  localparam int unsigned ScanBits = QpBits > 3 ? QpBits : 3;

  typedef logic [QpBits-1:0] row_t;
  typedef logic [ScanBits-1:0] scan_t;
  typedef logic [47:0] time_t;

  // One-hot row of a queue pair.
  function automatic logic [NumQp-1:0] row_of(logic valid, qp_t qp);
    logic [NumQp-1:0] row;
    for (int unsigned i = 0; i < NumQp; i++) row[i] = valid && qp == qp_t'(i);
    return row;
  endfunction

  // Hundredths of a millisecond of an RNR timer code, in `unit` clocks each.
  function automatic time_t rnr_span(logic [4:0] code, logic [15:0] unit);
    time_t span;
    unique case (code)
      5'd0:    span = time_t'(unit) << 16;
      5'd1:    span = time_t'(unit);
      default: begin
        span = time_t'(unit) << code[4:1];
        if (code[0]) span = span + (span >> 1);
      end
    endcase
    return span;
  endfunction

  typedef enum logic [1:0] {
    Scan,
    Again,  // the one that ended is looked up again
    Ask     // asks for the grant
  } state_e;

  state_e           state_q, state_d;
  time_t            now_q, now_d, deadline, ahead1, span1, span2_q;
  scan_t            scan_q, scan_d;
  logic [NumQp-1:0] restart_q, restart_d;  // begins anew
  logic [NumQp-1:0] running_q, running_d;  // has a deadline
  logic [NumQp-1:0] waiting_q, waiting_d;
  logic [NumQp-1:0] begin_row, verdict_row, action_row, clear_row, load_row, stand_row;

  // A look: address, data, decision.
  logic             valid0, valid1_q, valid2_q;
  row_t             row0, row1_q, row2_q, row_q, row_d;
  logic             run1, run2_q, passed1, passed2_q;
  logic             load, stand, ended, fails, wrote_q, off, is_wait;
  logic             look2, event_q, late1, late2_q;  // a response came after the look-up
  qp_t              event_qp_q;
  psn_t             una;

  assign row0      = state_q == Scan ? row_t'(scan_q) : row_q;
  assign valid0    = state_q == Scan && 32'(scan_q) < NumQp && !ended;
  assign look_qp   = qp_t'(row0);
  assign clear_row = row_of(clear_valid, clear_qp);

  // ---- data: has it to run, for how long, has it ended?
  assign run1 = qp_states[row1_q] == QpRts && !requester.failed && (requester.waiting
                || (top_live && !(requester.live && requester.una == top) && cfg.timeout != '0));
  assign span1 = requester.waiting ? rnr_span(requester.rnr_code, timing.rnr_unit)
                                   : time_t'(timing.time_unit) << cfg.timeout;
  assign ahead1  = deadline - now_q;
  assign passed1 = ahead1[47] || ahead1 == '0;

  // ---- decision; not if a response came since the look-up
  assign late1 = event_q && event_qp_q == qp_t'(row1_q);
  assign look2 = valid2_q && !late2_q && !(event_q && event_qp_q == qp_t'(row2_q));
  assign stand = look2 && !run2_q && !waiting_q[row2_q];
  assign load  = look2 && run2_q && (restart_q[row2_q] || !running_q[row2_q]);
  assign ended = look2 && run2_q && !load && passed2_q && state_q == Scan;

  assign load_row  = row_of(load, qp_t'(row2_q));
  assign stand_row = row_of(stand, qp_t'(row2_q));

  // One clock more, since `tx_stalled` is known a clock late.
  nd_ram #(.T(time_t), .Depth(NumQp)) u_deadline (
    .clk, .we(load), .waddr(row2_q), .wdata(now_q + span2_q + 48'd1), .raddr(row0),
    .rdata(deadline)
  );

  // ---- what begins anew: progress and go-backs outside of an RNR wait, each wait, each action
  assign verdict_row = row_of(verdict_valid, verdict_qp);
  assign action_row  = row_of(commit_gnt, qp_t'(row_q));

  always_comb begin
    begin_row = action_row;
    waiting_d = waiting_q & ~action_row;
    unique case (verdict)
      RxAccept, RxGoBack: begin_row = begin_row | (verdict_row & ~waiting_q);
      RxFatal:            begin_row = begin_row | verdict_row;
      RxRnrWait: begin
        begin_row = begin_row | verdict_row;
        waiting_d = waiting_d | verdict_row;
      end
      default: ;
    endcase
    restart_d = ((restart_q & ~load_row) | begin_row) & ~clear_row;
    running_d = (running_q & ~stand_row) | load_row;
    for (int unsigned i = 0; i < NumQp; i++) begin
      if (qp_states[i] != QpRts && !waiting_q[i]) running_d[i] = 1'b0;
    end
    running_d = running_d & ~clear_row;
    waiting_d = waiting_d & ~clear_row;
  end

  // ---- the action
  always_comb begin
    state_d = state_q;
    scan_d  = scan_q;
    row_d   = row_q;
    unique case (state_q)
      Scan: begin
        scan_d = scan_q + scan_t'(1);
        if (ended) begin
          row_d   = row2_q;
          scan_d  = scan_t'(row2_q) + scan_t'(1);
          state_d = Again;
        end
      end
      Again: state_d = Ask;
      default: if (commit_gnt || off) state_d = Scan;  // Ask
    endcase
  end

  assign waiting    = waiting_q;
  assign is_wait    = requester.waiting;
  assign una        = requester.live ? requester.una : cfg.sq_psn;
  assign fails      = !is_wait && requester.go_backs >= cfg.retry_cnt;
  assign off        = restart_q[row_q] || qp_states[row_q] != QpRts || requester.failed
                      || (!is_wait && cfg.timeout == '0)
                      || (fails && !fail_mark_ready)
                      || (clear_valid && qp_t'(row_q) == clear_qp);
  assign commit_req = state_q == Ask && !off && !wrote_q;

  assign commit_record = commit_rec(is_wait ? CommitRnrResume : CommitTimeout, 24'(row_q), '0, una,
                                    '0, 8'(fails));

  assign action_valid = commit_gnt;
  assign action_qp    = qp_t'(row_q);
  assign action_back  = commit_gnt && !is_wait && !fails;
  assign action_fail  = commit_gnt && fails;

  always_comb begin
    action_requester = requester;
    if (is_wait) begin
      action_requester.waiting = 1'b0;
    end else if (fails) begin
      action_requester.failed = 1'b1;
    end else begin
      action_requester.go_backs   = requester.go_backs + 3'd1;
      action_requester.recovering = 1'b0;
    end
  end

  assign fail_mark_valid = action_fail;
  assign fail_mark_qp    = qp_t'(row_q);
  assign fail_mark_psn   = una;

  assign now_d = tx_stalled ? now_q : now_q + 48'd1;

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    now_q     <= now_d;
    scan_q    <= scan_d;
    row_q     <= row_d;
    restart_q <= restart_d;
    running_q <= running_d;
    waiting_q <= waiting_d;
    valid1_q  <= valid0;
    valid2_q  <= valid1_q && !ended;
    row1_q    <= row0;
    row2_q    <= row1_q;
    run2_q    <= run1;
    span2_q   <= span1;
    passed2_q <= passed1;
    late2_q   <= late1;
    event_q    <= requester_we;
    event_qp_q <= requester_wqp;
    wrote_q    <= requester_we && requester_wqp == qp_t'(row_q);
    if (rst) begin
      state_q   <= Scan;
      now_q     <= '0;
      scan_q    <= '0;
      restart_q <= '0;
      running_q <= '0;
      waiting_q <= '0;
      valid1_q  <= 1'b0;
      valid2_q  <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, verdict_qp, clear_qp, cfg, timing};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_gnt:  assert (!commit_gnt || commit_req);
      a_wait: assert (!commit_gnt || waiting_q[row_q] == is_wait);
      a_open: assert (!commit_gnt || is_wait || (top_live && !(requester.live && una == top)));
      a_mark: assert (!fail_mark_valid || fail_mark_ready);
    end
  end
`endif
endmodule
