// Chooses, round robin, the queue pair that sends its next packet, and reads all that `emit` needs
// for it.
//
// In turn are queue pairs in QpRts whose next entry is fetched, that have not stopped (a failed
// request), that do not wait, and of which no packet is in `emit`. `park` says that a queue pair
// must wait (fence, read credits, requests outstanding): it is tried again after its next
// retirement (`retired_valid`), or when the epoch moves. A retirement since the queue pair was
// chosen counts, so that no wake-up is lost. `idle` are those that wait for another reason: held by
// `seek`, for RNR, for their pace. The epoch is sampled before the first look-up; a job that was read
// before it moved, or before sending stopped or went elsewhere (`back`, `move`), is withdrawn. One
// whose packet may have been passed by a response (`accept`) waits for `end_valid`.
module nd_send_select
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // entries fetched ahead per queue pair, a power of two; with all queue pairs at most 256
  parameter int unsigned Prefetch = 4,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  localparam int unsigned SentBits  = $clog2(Outstanding),
  localparam int unsigned AheadBits = $clog2(Prefetch)
) (
  input  logic                  clk,
  input  logic                  rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [7:0]            epoch,
  input  logic                  clear_valid,
  input  qp_t                   clear_qp,
  output logic                  clear_done,

  input  logic [NumQp-1:0]      filled,
  input  logic                  advance_valid,  // a request is completely sent
  input  qp_t                   advance_qp,
  input  logic      [NumQp-1:0] idle,
  input  logic      [NumQp-1:0] behind,
  input  logic                  stop_valid,     // a response or the timer failed a request
  input  logic                  back_valid,     // go-back
  input  qp_t                   back_qp,        // of either
  input  logic                  accept_valid,   // `una` moved
  input  qp_t                   accept_qp,
  input  logic                  move_valid,     // sending goes on elsewhere
  input  logic                  end_valid,      // its place is known
  input  qp_t                   move_qp,        // of either
  input  logic [AheadBits-1:0]  move_slot,      // of its next request
  input  logic                  fail_valid,     // SqFail
  input  qp_t                   fail_qp,
  input  logic                  park_valid,
  input  qp_t                   park_qp,
  input  logic                  retired_valid,
  input  qp_t                   retired_qp,
  input  logic                  emit_busy,
  input  logic                  emit_done,      // it ends in this clock
  input  qp_t                   emit_qp,

  // look-ups, answered one clock later; the entry is that of the slot beside the queue pair
  output qp_t                   look_qp,
  output logic [AheadBits-1:0]  look_slot,
  input  progress_t             progress,
  input  top_t                  top,
  input  logic [Outstanding-1:0] locals,        // requests that are local, of those that began
  input  retired_t              retired,
  input  qp_send_t              cfg,
  input  logic [511:0]          head,

  output logic                  job_valid,
  input  logic                  job_ready,
  output job_t                  job,
  output logic [Outstanding-1:0] job_locals
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  // One-hot row of a queue pair.
  function automatic logic [NumQp-1:0] row_of(logic valid, qp_t qp);
    logic [NumQp-1:0] row;
    for (int unsigned i = 0; i < NumQp; i++) row[i] = valid && qp == qp_t'(i);
    return row;
  endfunction

  typedef enum logic [1:0] {
    Pick,
    Address,
    Data,
    Hold
  } state_e;

  state_e           state_q, state_d;
  row_t             row_q, row_d, turn_row;
  logic [NumQp-1:0] eligible;
  logic [NumQp-1:0][AheadBits-1:0] slots_q, slots_d;  // slot of the next request
  logic [NumQp-1:0] stopped_q, stopped_d;
  logic [NumQp-1:0] failed_q, failed_d;  // SqFail, until a go-back
  logic [NumQp-1:0] parked_q, parked_d;
  logic [NumQp-1:0] kicked_q, kicked_d;  // retired something since it was chosen
  logic [NumQp-1:0] clear_row, own_row, busy_row, park_row, advance_row, retired_row, move_row;
  logic [7:0]       epoch_q, epoch_d, last_epoch_q;
  logic             stale_q, stale_d, moved, mine, job_stale, turn_valid;
  logic             halt_valid, pause_q, pause_d;
  logic             clear, clear_seen_q, cleared_q, cleared_d;
  progress_t        progress_q;
  top_t             top_q;
  retired_t         retired_q;
  qp_send_t         cfg_q;
  sq_wqe_t          wqe_q;
  logic [Outstanding-1:0] locals_q;
  logic             executed;

  assign clear_row   = row_of(clear_valid, clear_qp);
  assign busy_row    = row_of(emit_busy && !emit_done, emit_qp);
  assign own_row     = row_of(state_q != Pick, qp_t'(row_q));
  assign park_row    = row_of(park_valid && !moved, park_qp);
  assign advance_row = row_of(advance_valid, advance_qp);
  assign retired_row = row_of(retired_valid, retired_qp);
  assign move_row    = row_of(move_valid, move_qp);
  assign halt_valid  = stop_valid || back_valid;

  always_comb begin
    for (int unsigned i = 0; i < NumQp; i++) begin
      eligible[i] = filled[i] && qp_states[i] == QpRts && !stopped_q[i] && !failed_q[i]
                    && !parked_q[i] && !idle[i] && !busy_row[i] && !own_row[i] && !clear_row[i];
    end
  end

  nd_rr_turn #(.N(NumQp)) u_turn (
    .clk, .rst, .req(eligible), .take(state_q == Pick), .valid(turn_valid), .row(turn_row)
  );

  assign look_qp   = qp_t'(row_q);
  assign look_slot = slots_q[row_q];
  assign mine      = clear_valid && qp_t'(row_q) == clear_qp;
  assign moved     = epoch != last_epoch_q;
  assign job_valid = state_q == Hold && !job_stale && !pause_q;
  assign job_stale = stale_q || epoch != epoch_q || mine;
  assign executed   = locals_q[SentBits'(progress_q.index)] && progress_q.index != top_q.index;
  assign job_locals = locals_q;
  assign job        = '{
    qp: qp_t'(row_q), epoch: epoch_q, progress: progress_q, top: top_q, retired: retired_q,
    executed: executed, cfg: cfg_q, wqe: wqe_q
  };

  always_comb begin
    state_d = state_q;
    row_d   = row_q;
    epoch_d = epoch_q;
    stale_d = stale_q || mine || (halt_valid && back_qp == qp_t'(row_q))
              || (move_valid && move_qp == qp_t'(row_q));
    pause_d = (pause_q && !(end_valid && move_qp == qp_t'(row_q)))
              || (accept_valid && accept_qp == qp_t'(row_q) && behind[row_q]);
    unique case (state_q)
      Pick: begin
        row_d   = turn_row;
        stale_d = 1'b0;
        pause_d = 1'b0;
        epoch_d = last_epoch_q;  // that of the clock in which it was eligible
        if (turn_valid) state_d = Address;
      end
      Address: begin
        state_d = Data;
        // what the clock of eligibility could not know: its last packet, or a response, has just
        // been granted
        if (stopped_q[row_q] || failed_q[row_q] || idle[row_q] || !filled[row_q]) state_d = Pick;
      end
      Data:    state_d = Hold;
      default: if (job_stale || job_ready) state_d = Pick;
    endcase
    if (state_q != Pick && epoch != epoch_q) stale_d = 1'b1;
  end

  always_comb begin
    stopped_d = stopped_q | row_of(stop_valid, back_qp);
    failed_d  = (failed_q | row_of(fail_valid, fail_qp)) & ~row_of(back_valid, back_qp);
    parked_d  = ((moved ? '0 : parked_q) | (park_row & ~kicked_q)) & ~retired_row & ~move_row;
    kicked_d  = (kicked_q & ~row_of(state_q == Address, qp_t'(row_q))) | retired_row;
    for (int unsigned i = 0; i < NumQp; i++) begin
      slots_d[i] = slots_q[i] + AheadBits'(advance_row[i]);
      if (move_row[i]) slots_d[i] = move_slot;
      if (clear_row[i]) slots_d[i] = '0;
    end
    stopped_d = stopped_d & ~clear_row;
    failed_d  = failed_d & ~clear_row;
    parked_d  = parked_d & ~clear_row;
    kicked_d  = kicked_d & ~clear_row;
  end

  assign clear      = clear_valid && clear_seen_q && !cleared_q && !(mine && state_q != Pick)
                      && !(emit_busy && emit_qp == clear_qp);
  assign cleared_d  = clear_valid && (cleared_q || clear);
  assign clear_done = cleared_q;

  always_ff @(posedge clk) begin
    state_q      <= state_d;
    row_q        <= row_d;
    epoch_q      <= epoch_d;
    last_epoch_q <= epoch;
    stale_q      <= stale_d;
    pause_q      <= pause_d;
    slots_q      <= slots_d;
    stopped_q    <= stopped_d;
    failed_q     <= failed_d;
    parked_q     <= parked_d;
    kicked_q     <= kicked_d;
    cleared_q    <= cleared_d;
    clear_seen_q <= clear_valid;
    if (state_q == Data) begin
      progress_q <= progress;
      top_q      <= top;
      locals_q   <= locals;
      retired_q  <= retired;
      cfg_q      <= cfg;
      wqe_q      <= sq_wqe_t'(head);
    end
    if (rst) begin
      state_q   <= Pick;
      slots_q   <= '0;
      stopped_q <= '0;
      failed_q  <= '0;
      parked_q  <= '0;
      kicked_q  <= '0;
      cleared_q <= 1'b0;
      clear_seen_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, advance_qp, back_qp, accept_qp, fail_qp, park_qp, retired_qp, move_qp};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_alone: assert (state_q == Pick || !emit_busy || emit_qp != qp_t'(row_q));
    end
  end
`endif
endmodule
