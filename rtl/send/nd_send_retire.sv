// Takes requests out of the send queues, in order: retirement, failure, flush.
//
// Events mark a queue pair: an acknowledgement, a finished read, a request that failed locally or was
// executed here, a frame, a doorbell. A marked queue pair in QpRts or QpErr takes its turn; its oldest request
//   in QpErr  is flushed if there is one, once the queue pair is `settled`: what responses brought
//             before is placed;
//   in QpRts  retires with its local failure if it has one; with success when it is acknowledged (a
//             read: and placed), or was executed here, or is a frame; or with the failure that a response
//             told of.
//             With a failure the queue pair goes to QpErr.
// A queue pair that is `draining` waits: its oldest request is an Invalidate that was executed, or a
// frame whose bytes are still read.
// After each action the queue pair is looked at again. A go-back, and a failure by a response or the
// timer, forget the local failure from the clock after their grant on (`halt`), though the
// acknowledgement that tells of the failure comes later. Nothing is lost by events that come while a
// queue pair is looked at: its mark was taken off before.
module nd_send_retire
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  localparam int unsigned SentBits = $clog2(Outstanding)
) (
  input  logic                  clk,
  input  logic                  rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic      [NumQp-1:0] settled,
  input  logic [7:0]            epoch,
  input  logic                  clear_valid,
  input  qp_t                   clear_qp,
  output logic                  clear_done,
  output logic                  set_error_valid,
  output qp_t                   set_error,
  output logic                  commit_req,
  output commit_t               commit_record,
  input  logic                  commit_gnt,

  // events
  input  logic                  ack_valid,
  output logic                  ack_ready,
  input  ack_t                  ack,
  input  logic                  read_done_valid,
  output logic                  read_done_ready,
  input  qp_t                   read_done_qp,
  input  logic                  halt_valid,     // go-back, or failure by a response or the timer
  input  qp_t                   halt_qp,
  input  logic                  fail_valid,     // SqFail
  input  qp_t                   fail_qp,
  input  logic                  executed_valid, // SqLocal, or SqEmit of a whole frame
  input  qp_t                   executed_qp,
  input  logic      [NumQp-1:0] draining,
  input  logic                  posted_valid,   // doorbell
  input  qp_t                   posted_qp,

  // look-ups, answered one clock later
  output qp_t                   look_qp,
  input  idx_t                  producer,
  input  idx_t                  begun,
  input  failure_t              failure,
  input  logic [15:0]           send_cq,
  output logic [SentBits-1:0]   sent_slot,
  input  sent_t                 sent,

  // own state for `select` and `seek`, answered one clock later; and the granted clock
  input  qp_t      [1:0]        retired_addr,
  output retired_t [1:0]        retired,
  output logic                  retired_valid,
  output qp_t                   retired_qp,

  output logic                  completion_valid,
  input  logic                  completion_ready,
  output completion_t           completion,
  output logic                  qp_event_valid,
  input  logic                  qp_event_ready,
  output qp_t                   qp_event_qp,
  output status_e               qp_event_status
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  // One-hot row of a queue pair.
  function automatic logic [NumQp-1:0] row_of(logic valid, qp_t qp);
    logic [NumQp-1:0] row;
    for (int unsigned i = 0; i < NumQp; i++) row[i] = valid && qp == qp_t'(i);
    return row;
  endfunction

  typedef enum logic [2:0] {
    Pick,     // chooses a queue pair
    Address,  // its state is looked up
    Data,
    Entry,    // its oldest request is looked up
    Arrive,
    Compare,
    Decide,
    Ready     // asks for the grant
  } state_e;

  typedef enum logic [1:0] {
    Success,
    Failure,    // told by a response
    LocalFail,
    Flush
  } what_e;

  state_e            state_q, state_d;
  what_e             what_q, what_d;
  row_t              row_q, row_d, turn_row;
  logic [NumQp-1:0]  marked_q, marked_d, eligible;
  logic [NumQp-1:0]  local_q, local_d;  // SqFail, not forgotten
  logic [NumQp-1:0]  is_error, was_error_q;
  logic [7:0]        epoch_q, epoch_d, last_epoch_q;
  logic              turn_valid, clear_seen_q;
  logic              error_q, error_d;  // the queue pair is in QpErr
  logic              failed_q;          // its next request failed locally
  failure_t          failure_q;
  logic              halted;            // that is no more so
  logic              stale_q, stale_d, stale, again, mine;
  acked_t            acked, acked_q;
  retired_t          own, own_q, retired_wdata;
  logic [7:0]        placed, placed_q;
  logic [1:0]        ack_event;
  qp_t  [1:0]        ack_event_qp;
  idx_t              producer_q, begun_q, entries;
  logic [15:0]       cq_q;
  sent_t             sent_q;
  psn_t              ahead_q;           // una - last PSN
  logic [7:0]        reads_ahead_q;     // reads placed - number of this one
  logic              is_acked, is_placed, has_entry;
  logic              clear, cleared_q, cleared_d, acked_cleared, retired_we;
  row_t              retired_row;
  logic              room, event_room;
  completion_t       cpl;
  status_e           status;

  // ---- marks ---------------------------------------------------------------------------------

  logic [NumQp-1:0] clear_row, events;

  assign clear_row = row_of(clear_valid, clear_qp);

  always_comb begin
    for (int unsigned i = 0; i < NumQp; i++) begin
      is_error[i] = qp_states[i] == QpErr;
      eligible[i] = marked_q[i] && (qp_states[i] == QpRts || (is_error[i] && settled[i])) &&
                    !clear_row[i] && !draining[i];
    end
  end

  nd_rr_turn #(.N(NumQp)) u_turn (
    .clk, .rst, .req(eligible), .take(state_q == Pick), .valid(turn_valid), .row(turn_row)
  );

  always_comb begin
    events   = row_of(again, qp_t'(row_q)) | row_of(ack_event[0], ack_event_qp[0])
               | row_of(ack_event[1], ack_event_qp[1]) | row_of(fail_valid, fail_qp)
               | row_of(executed_valid, executed_qp) | row_of(posted_valid, posted_qp)
               | (is_error & ~was_error_q);
    marked_d = ((marked_q & ~row_of(state_q == Address, qp_t'(row_q))) | events) & ~clear_row;
    local_d  = (local_q | row_of(fail_valid, fail_qp)) & ~row_of(halt_valid, halt_qp) & ~clear_row;
  end

  nd_send_acked #(.NumQp(NumQp)) u_acked (
    .clk, .rst, .clear_valid, .clear_qp, .clear_done(acked_cleared), .ack_valid, .ack_ready, .ack,
    .read_done_valid, .read_done_ready, .read_done_qp, .event_valid(ack_event),
    .event_qp(ack_event_qp), .look_qp, .acked, .placed
  );

  // ---- the oldest request --------------------------------------------------------------------

  assign look_qp   = qp_t'(row_q);
  assign sent_slot = SentBits'(own_q.index);
  assign mine      = clear_valid && qp_t'(row_q) == clear_qp;
  assign stale     = stale_q || epoch != epoch_q || mine;
  assign halted    = halt_valid && halt_qp == qp_t'(row_q);
  assign entries   = begun_q - own_q.index;
  assign has_entry = entries != '0 && !entries[15];
  assign is_acked  = acked_q.live && ahead_q != '0 && !ahead_q[23];
  assign is_placed = !sent_q.is_read || (reads_ahead_q != '0 && !reads_ahead_q[7]);

  always_comb begin
    state_d = state_q;
    what_d  = what_q;
    row_d   = row_q;
    epoch_d = epoch_q;
    error_d = error_q;
    stale_d = stale || halted;
    again   = 1'b0;
    unique case (state_q)
      Pick: begin
        row_d   = turn_row;
        epoch_d = last_epoch_q;  // that of the clock in which it was eligible
        stale_d = 1'b0;
        if (turn_valid) state_d = Address;
      end
      Address: begin
        error_d = is_error[row_q];
        state_d = Data;
      end
      Data:    state_d = Entry;
      Entry:   state_d = Arrive;
      Arrive:  state_d = Compare;
      Compare: state_d = Decide;
      Decide: begin
        state_d = Pick;
        if (stale || draining[row_q]) begin
          again = 1'b1;  // it may be done since the queue pair was chosen
        end else if (error_q) begin
          what_d = Flush;
          if (own_q.index != producer_q) state_d = Ready;
        end else if (failed_q && failure_q.index == own_q.index) begin
          what_d  = LocalFail;
          state_d = Ready;
        end else if (has_entry) begin
          if (done_at_once(sent_q.opcode)) begin
            what_d  = Success;
            state_d = Ready;
          end else if (is_acked) begin
            what_d = Success;
            if (is_placed) state_d = Ready;
          end else if (acked_q.live && acked_q.failed) begin
            what_d  = Failure;
            state_d = Ready;
          end
        end
      end
      default: begin  // Ready
        if (commit_gnt || stale) begin
          state_d = Pick;
          again   = 1'b1;
        end
      end
    endcase
  end

  assign commit_req = state_q == Ready && !stale && room && event_room;

  always_comb begin
    status = StatusSuccess;
    cpl    = '0;
    unique case (what_q)
      Success: ;
      Failure: begin
        status         = acked_q.status;
        cpl.error_code = acked_q.error_code;
      end
      LocalFail: begin
        status         = failure_q.status;
        cpl.error_code = 32'(failure_q.fault);
      end
      default: status = StatusFlushed;
    endcase
    cpl.qp        = qp_t'(row_q);
    cpl.cq        = cq_q;
    cpl.wqe_index = own_q.index;
    unique case (what_q)
      Flush:     cpl.opcode = WqeNone;
      LocalFail: cpl.opcode = failure_q.opcode;
      default:   cpl.opcode = sent_q.opcode;
    endcase
    cpl.status    = status;
    if (what_q == Flush) begin
      commit_record = commit_rec(CommitFlush, 24'(row_q), own_q.index, '0, '0, 8'd0);
    end else begin
      commit_record = commit_rec(CommitRetire, 24'(row_q), own_q.index, '0, '0, 8'(status));
    end
  end

  assign set_error_valid = commit_gnt && (what_q == Failure || what_q == LocalFail);
  assign set_error       = qp_t'(row_q);
  assign retired_valid   = commit_gnt;
  assign retired_qp      = qp_t'(row_q);

  // ---- own state -----------------------------------------------------------------------------

  assign clear         = clear_valid && clear_seen_q && !cleared_q && !commit_gnt
                         && !(mine && state_q != Pick);
  assign cleared_d     = clear_valid && (cleared_q || clear);
  assign clear_done    = cleared_q && acked_cleared;
  assign retired_we    = clear || commit_gnt;
  assign retired_row   = clear ? row_t'(clear_qp) : row_q;
  assign retired_wdata = clear ? '0 : '{
    index: own_q.index + 16'd1,
    reads: own_q.reads + 8'(what_q != Flush && sent_q.is_read)
  };

  nd_ram #(.T(retired_t), .Depth(NumQp)) u_own (
    .clk, .we(retired_we), .waddr(retired_row), .wdata(retired_wdata), .raddr(row_q), .rdata(own)
  );

  for (genvar i = 0; i < 2; i++) begin : g_copy
    nd_ram #(.T(retired_t), .Depth(NumQp)) u_retired (
      .clk, .we(retired_we), .waddr(retired_row), .wdata(retired_wdata),
      .raddr(row_t'(retired_addr[i])), .rdata(retired[i])
    );
  end

  always_ff @(posedge clk) begin
    state_q     <= state_d;
    what_q      <= what_d;
    row_q       <= row_d;
    epoch_q     <= epoch_d;
    error_q     <= error_d;
    stale_q     <= stale_d;
    marked_q    <= marked_d;
    was_error_q <= is_error;
    local_q     <= local_d;
    cleared_q   <= cleared_d;
    clear_seen_q <= clear_valid;
    last_epoch_q <= epoch;
    if (state_q == Data) begin
      acked_q    <= acked;
      own_q      <= own;
      placed_q   <= placed;
      producer_q <= producer;
      begun_q    <= begun;
      failure_q  <= failure;
      cq_q       <= send_cq;
    end
    if (state_q == Address) failed_q <= local_q[row_q];  // before its look-up
    if (state_q == Arrive) sent_q <= sent;
    ahead_q       <= acked_q.una - sent_q.last;
    reads_ahead_q <= placed_q - sent_q.reads;
    if (rst) begin
      state_q     <= Pick;
      marked_q    <= '0;
      was_error_q <= '0;
      local_q     <= '0;
      cleared_q   <= 1'b0;
      clear_seen_q <= 1'b0;
    end
  end

  // ---- out -----------------------------------------------------------------------------------

  nd_send_finish #(.NumQp(NumQp)) u_finish (
    .clk, .rst, .qp_states, .settled, .room, .event_room,
    .in_valid(commit_gnt && !(what_q == Success && sent_q.silent)), .in(cpl),
    .wait_placed(what_q == LocalFail && has_entry && sent_q.is_read),
    .event_valid(set_error_valid), .event_in('{qp: qp_t'(row_q), status: status}),
    .completion_valid, .completion_ready, .completion,
    .qp_event_valid, .qp_event_ready, .qp_event_qp, .qp_event_status
  );

  logic unused;
  assign unused = &{1'b0, ack_event_qp, halt_qp, fail_qp, posted_qp, clear_qp, retired_addr,
                    executed_qp, sent_q.first, sent_q.mtu};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_gnt:    assert (!commit_gnt || commit_req);
      a_error:  assert (!set_error_valid || qp_states[row_q] == QpRts);
      a_flush:  assert (!commit_gnt || what_q != Flush || qp_states[row_q] == QpErr);
    end
  end
`endif
endmodule
