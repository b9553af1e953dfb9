// Room `send`: from doorbells to packets, and from responses to retired requests.
//
// Packets of all queue pairs are interleaved one by one; a queue pair's state lies in memories
// between its packets.
//
//   doorbell -> fetch -> select -> emit -> wire (tx, chunks), context (local requests)
//                 ^         ^        |
//                 +- seek --+-- retire <- responses (ack, read_done)  -> complete
//                      ^    |
//      verdicts -------+  pace
//                    timer
//
// Commit pairs: doorbell, emit, retire, timer. `verdict` (from `nd_commit`) is that of a response in
// its granted clock: no packet of that queue pair is granted after a failure, nor after a go-back or
// with `una` behind the next packet before `seek` has found where to go on. `emit_valid` is the granted
// clock of a packet, `moved_valid` that of an action of the timer. `qp_clear_ready` rises when all
// run-time state of `qp_clear` is zero, and falls with `qp_clear_valid`; meanwhile nothing of that queue
// pair is decided, and what arrives for it is taken and forgotten.
module nd_send
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // reads outstanding per queue pair, a power of two
  parameter int unsigned MaxRead = 4,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  // entries fetched ahead per queue pair, a power of two; with all queue pairs at most 256
  parameter int unsigned Prefetch = 4,
  localparam int unsigned SlotBits = MaxRead > 1 ? $clog2(MaxRead) : 1
) (
  input  logic                  clk,
  input  logic                  rst,

  // context
  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [7:0]            epoch,
  input  timing_t               timing,
  output qp_t       [3:0]       send_cfg_addr,  // fetch, emit, next PSN, timer
  input  qp_send_t  [3:0]       send_cfg,
  output qp_t                   cq_cfg_addr,    // retire
  input  qp_cq_t                cq_cfg,
  input  logic                  qp_clear_valid,
  output logic                  qp_clear_ready,
  input  qp_t                   qp_clear,
  output logic                  set_error_valid,
  output qp_t                   set_error,
  output logic                  tr_req_valid,
  input  logic                  tr_req_ready,
  output translate_req_t        tr_req,
  input  logic                  tr_rsp_valid,
  output logic                  tr_rsp_ready,
  input  translate_rsp_t        tr_rsp,
  output logic      [3:0]       commit_req,
  output commit_t   [3:0]       commit_record,
  input  logic      [3:0]       commit_gnt,
  output logic                  local_valid,
  input  logic                  local_ready,
  output local_req_t            local_req,
  input  logic                  local_pages,
  output logic                  local_page_valid,
  input  logic                  local_page_ready,
  output logic [51:0]           local_page,
  output logic                  local_page_error,
  input  logic                  local_done,
  input  fault_e                local_fault,
  output logic                  local_apply,
  output logic                  local_drop,
  input  logic                  verdict_valid,
  input  qp_t                   verdict_qp,
  input  rx_result_e            verdict,

  // host
  input  logic                  sq_db_valid,
  output logic                  sq_db_ready,
  input  doorbell_t             sq_db,
  output logic                  fetch_valid,
  input  logic                  fetch_ready,
  output fetch_req_t            fetch,
  input  logic                  fetch_rsp_valid,
  input  fetch_rsp_t            fetch_rsp,
  // what began, and what of it is done: frames whose payload is read, jobs of payload that is
  // placed, bursts of these jobs
  input  logic [7:0]            gathers_begun,
  input  logic [7:0]            gathers_done,
  input  logic [7:0]            jobs_begun,
  input  logic [7:0]            jobs_done,
  input  logic [9:0]            placed_begun,
  input  logic [9:0]            placed_done,

  // wire
  input  logic                  tx_stalled,     // time stands still
  output logic                  tx_valid,
  input  logic                  tx_ready,
  output tx_desc_t              tx,
  output logic                  chunk_valid,
  input  logic                  chunk_ready,
  output chunk_t                chunk,

  // receive
  input  logic                  ack_valid,
  output logic                  ack_ready,
  input  ack_t                  ack,
  input  logic                  read_done_valid,
  output logic                  read_done_ready,
  input  qp_t                   read_done_qp,
  input  logic [NumQp-1:0]      settled,        // in QpErr, and all that came before is placed
  input  qp_t                   read_qp,
  input  logic [SlotBits-1:0]   read_slot,
  output read_t                 read,
  output logic                  read_again,     // it was sent more than once
  output logic [7:0]            reads_started,
  input  qp_t                   top_psn_addr,
  output psn_t                  top_psn,        // after the newest that was ever sent
  output logic                  emit_valid,
  output qp_t                   emit_qp,
  input  qp_t                   requester_addr,
  output requester_t            requester,
  input  logic                  requester_we,
  input  qp_t                   requester_wqp,
  input  requester_t            requester_wdata,
  output logic                  moved_valid,
  output qp_t                   moved_qp,
  output logic                  fail_mark_valid,
  input  logic                  fail_mark_ready,
  output qp_t                   fail_mark_qp,
  output psn_t                  fail_mark_psn,

  // complete
  output logic                  completion_valid,
  input  logic                  completion_ready,
  output completion_t           completion,
  output logic                  qp_event_valid,
  input  logic                  qp_event_ready,
  output qp_t                   qp_event_qp,
  output status_e               qp_event_status
);
  localparam int unsigned SentBits = $clog2(Outstanding);
  localparam int unsigned AheadBits = $clog2(Prefetch);

  logic [5:0]            clear_done;
  logic                  mine, posted_valid, advance_valid, fail_valid, park_valid, retired_valid;
  logic                  emit_busy, emit_done, packet_level, job_valid, job_ready;
  logic [1:0]            more_unit;
  logic [511:0]          head, more;
  logic [NumQp-1:0]      filled, held, behind, waiting, paced;
  qp_t                   posted_qp, emitting_qp, look_qp, retire_qp, retired_qp, fetch_qp, seek_qp;
  idx_t [1:0]            producer;
  idx_t                  begun, seek_index;
  progress_t             progress, move;
  top_t                  top, seek_top;
  retired_t [1:0]        retired;
  sent_t                 sent, seek_sent;
  failure_t              failure, emit_failure;
  packet_t               packet;
  job_t                  job;
  logic [AheadBits-1:0]  emitting_slot, look_slot;
  logic [SentBits-1:0]   sent_slot, seek_slot;
  logic                  stop, back, halt, accept, cnp, action_back, action_fail;
  qp_t                   halt_qp, timer_qp;
  logic                  move_valid, move_drop, move_drop_valid, drop_ready, end_valid;
  logic                  done_valid, done_drains, skip_valid, step_valid, entry_rsp_valid;
  logic                  request_start, request_stop, request_busy, request_done;
  logic                  request_failed, request_drop;
  logic                  list_start, list_stop, list_idle, entry_valid, entry_ready;
  fault_e                request_fault;
  addr_t                 list_addr;
  fetch_req_t            entry;
  logic [NumQp-1:0]      draining;
  logic [Outstanding-1:0] locals, job_locals, packet_locals;
  logic                  una_live, top_live, timer_top_live, seek_unchecked;
  psn_t                  una, seek_next, timer_top, top_or_none;
  requester_t            timer_requester, action_requester;

  assign qp_clear_ready = &clear_done;
  assign emit_qp        = emitting_qp;

  // ---- what responses and the timer cause, in the granted clock

  assign mine    = qp_clear_valid && qp_clear == verdict_qp;
  assign stop    = action_fail || (verdict_valid && verdict == RxFatal && !mine);
  assign back    = action_back || (verdict_valid && verdict inside {RxGoBack, RxRnrWait} && !mine);
  assign halt    = stop || back;
  assign halt_qp = moved_valid ? moved_qp : verdict_qp;
  assign accept  = verdict_valid && verdict == RxAccept && !mine;
  assign cnp     = verdict_valid && verdict == RxCnp && !mine;

  nd_send_doorbell #(.NumQp(NumQp)) u_doorbell (
    .clk, .rst, .sq_db_valid, .sq_db_ready, .sq_db, .qp_states,
    .commit_req(commit_req[0]), .commit_record(commit_record[0]), .commit_gnt(commit_gnt[0]),
    .clear_valid(qp_clear_valid), .clear_qp(qp_clear), .clear_done(clear_done[0]),
    .posted_valid, .posted_qp, .producer_addr({retire_qp, fetch_qp}), .producer
  );

  // ---- from entries to packets

  assign move_drop_valid = move_valid && move_drop;

  nd_send_fetch #(.NumQp(NumQp), .Prefetch(Prefetch)) u_fetch (
    .clk, .rst, .qp_states, .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .clear_done(clear_done[1]), .posted_valid, .posted_qp,
    .producer_addr(fetch_qp), .producer(producer[0]),
    .cfg_addr(send_cfg_addr[0]), .cfg(send_cfg[0]), .fetch_valid(entry_valid),
    .fetch_ready(entry_ready), .fetch(entry), .fetch_rsp_valid(entry_rsp_valid), .fetch_rsp,
    .held, .drop_valid(move_drop_valid), .drop_ready, .drop_qp(seek_qp), .drop_index(move.index),
    .filled, .emptied_valid(advance_valid), .emptied_qp(emitting_qp),
    .head_qp(look_qp), .head_slot(look_slot), .head,
    .more_qp(emitting_qp), .more_slot(emitting_slot), .more_unit, .more
  );

  assign entry_rsp_valid = fetch_rsp_valid && !fetch_rsp.tag[8];

  nd_send_list u_list (
    .clk, .rst, .start(list_start), .addr(list_addr), .count(local_req.page_count),
    .stop(list_stop), .idle(list_idle), .page_valid(local_page_valid),
    .page_ready(local_page_ready), .page(local_page), .page_error(local_page_error),
    .entry_valid, .entry_ready, .entry, .fetch_valid, .fetch_ready, .fetch, .fetch_rsp_valid,
    .fetch_rsp
  );

  nd_send_select #(
    .NumQp(NumQp), .Prefetch(Prefetch), .Outstanding(Outstanding)
  ) u_select (
    .clk, .rst, .qp_states, .epoch, .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .clear_done(clear_done[2]), .filled, .idle(held | waiting | paced), .behind,
    .advance_valid, .advance_qp(emitting_qp), .stop_valid(stop), .back_valid(back),
    .back_qp(halt_qp), .accept_valid(accept), .accept_qp(verdict_qp),
    .move_valid, .end_valid, .move_qp(seek_qp), .move_slot(AheadBits'(move.index)),
    .fail_valid, .fail_qp(emitting_qp), .park_valid, .park_qp(emitting_qp),
    .retired_valid, .retired_qp, .emit_busy, .emit_done, .emit_qp(emitting_qp),
    .look_qp, .look_slot, .progress, .top, .locals, .retired(retired[0]), .cfg(send_cfg[1]),
    .head, .job_valid, .job_ready, .job, .job_locals
  );
  assign send_cfg_addr[1] = look_qp;

  nd_send_emit #(
    .NumQp(NumQp), .MaxRead(MaxRead), .Outstanding(Outstanding), .Prefetch(Prefetch)
  ) u_emit (
    .clk, .rst, .epoch, .behind, .halt_valid(halt), .halt_qp, .accept_valid(accept),
    .accept_qp(verdict_qp), .move_valid, .end_valid, .move_qp(seek_qp),
    .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .commit_req(commit_req[1]), .commit_record(commit_record[1]), .commit_gnt(commit_gnt[1]),
    .job_valid, .job_ready, .job, .job_locals, .emit_busy, .emit_done, .emit_qp(emitting_qp),
    .emit_slot(emitting_slot), .park_valid, .advance_valid, .fail_valid,
    .packet_valid(emit_valid), .packet_level, .executed_valid(local_apply),
    .done_valid, .done_drains, .skip_valid, .more_unit, .more,
    .tr_req_valid, .tr_req_ready, .tr_req, .tr_rsp_valid, .tr_rsp_ready, .tr_rsp,
    .tx_valid, .tx_ready, .tx, .chunk_valid, .chunk_ready, .chunk,
    .local_start(request_start), .local_stop(request_stop), .local_busy(request_busy),
    .local_done(request_done), .local_failed(request_failed), .local_fault(request_fault),
    .local_drop(request_drop), .local_req, .list_addr,
    .packet, .packet_locals, .failure(emit_failure)
  );
  assign step_valid = emit_valid || local_apply || skip_valid;

  nd_send_local u_local (
    .clk, .rst, .start(request_start), .stop(request_stop), .busy(request_busy),
    .done(request_done), .failed(request_failed), .fault(request_fault), .apply(local_apply),
    .drop(request_drop),
    .local_valid, .local_ready, .local_pages, .local_done, .local_fault, .local_drop,
    .list_start, .list_stop, .list_idle
  );

  nd_send_tables #(.NumQp(NumQp), .MaxRead(MaxRead), .Outstanding(Outstanding)) u_tables (
    .clk, .rst, .clear_valid(qp_clear_valid), .clear_qp(qp_clear), .clear_done(clear_done[3]),
    .emit_busy, .emit_qp(emitting_qp), .packet_valid(step_valid), .packet, .packet_locals,
    .fail_valid, .fail(emit_failure), .move_valid, .move_qp(seek_qp), .move,
    .select_qp(look_qp), .select_progress(progress), .select_top(top), .select_locals(locals),
    .seek_qp, .seek_next, .seek_index, .seek_unchecked, .seek_top, .seek_slot, .seek_sent,
    .retire_qp, .retire_begun(begun), .retire_fail(failure), .retire_slot(sent_slot),
    .retire_sent(sent), .timer_qp, .timer_live(timer_top_live), .timer_top,
    .receive_qp(top_psn_addr), .receive_live(top_live), .receive_top(top_or_none),
    .read_qp, .read_slot, .read, .read_again, .reads_started
  );

  // Until the first packet the context tells the next PSN.
  assign send_cfg_addr[2] = top_psn_addr;
  assign top_psn          = top_live ? top_or_none : send_cfg[2].sq_psn;

  nd_send_pace #(.NumQp(NumQp)) u_pace (
    .clk, .rst, .interval(timing.cnp_interval), .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .cnp_valid(cnp), .cnp_qp(verdict_qp), .packet_valid(emit_valid), .packet_qp(emitting_qp),
    .packet_len(tx.len), .paced
  );

  // ---- from responses to retirement and go-backs

  nd_send_requester #(.NumQp(NumQp)) u_requester (
    .clk, .rst, .clear_valid(qp_clear_valid), .clear_qp(qp_clear), .clear_done(clear_done[4]),
    .rx_we(requester_we), .rx_qp(requester_wqp), .rx_wdata(requester_wdata),
    .timer_we(moved_valid), .timer_qp(moved_qp), .timer_wdata(action_requester),
    .receive_addr(requester_addr), .receive(requester), .timer_addr(timer_qp),
    .timer(timer_requester), .seek_addr(seek_qp), .seek_live(una_live), .seek_una(una)
  );

  nd_send_timer #(.NumQp(NumQp)) u_timer (
    .clk, .rst, .qp_states, .timing, .tx_stalled, .clear_valid(qp_clear_valid),
    .clear_qp(qp_clear), .verdict_valid, .verdict_qp, .verdict,
    .look_qp(timer_qp), .cfg(send_cfg[3]), .requester(timer_requester),
    .top_live(timer_top_live), .top(timer_top), .requester_we, .requester_wqp,
    .commit_req(commit_req[3]), .commit_record(commit_record[3]), .commit_gnt(commit_gnt[3]),
    .action_valid(moved_valid), .action_qp(moved_qp), .action_requester, .action_back,
    .action_fail, .waiting,
    .fail_mark_valid, .fail_mark_ready, .fail_mark_qp, .fail_mark_psn
  );
  assign send_cfg_addr[3] = timer_qp;

  nd_send_seek #(.NumQp(NumQp), .Outstanding(Outstanding)) u_seek (
    .clk, .rst, .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .back_valid(back), .back_qp(halt_qp), .accept_valid(accept), .accept_qp(verdict_qp),
    .packet_valid(emit_valid), .packet_level, .packet_qp(emitting_qp), .held, .behind,
    .look_qp(seek_qp), .live(una_live), .una, .next(seek_next), .index(seek_index),
    .unchecked(seek_unchecked), .top(seek_top), .retired(retired[1]), .sent_slot(seek_slot),
    .sent(seek_sent), .move_valid, .move_ready(drop_ready && !commit_gnt[1] && !skip_valid),
    .move_drop, .move, .end_valid
  );

  nd_send_drain #(.NumQp(NumQp)) u_drain (
    .clk, .rst, .start(done_valid && done_drains), .start_qp(emitting_qp), .draining,
    .gathers_begun, .gathers_done, .jobs_begun, .jobs_done, .placed_begun, .placed_done
  );

  nd_send_retire #(.NumQp(NumQp), .Outstanding(Outstanding)) u_retire (
    .clk, .rst, .qp_states, .settled, .epoch, .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .clear_done(clear_done[5]), .set_error_valid, .set_error,
    .commit_req(commit_req[2]), .commit_record(commit_record[2]), .commit_gnt(commit_gnt[2]),
    .ack_valid, .ack_ready, .ack, .read_done_valid, .read_done_ready, .read_done_qp,
    .halt_valid(halt), .halt_qp, .fail_valid, .fail_qp(emitting_qp), .executed_valid(done_valid),
    .executed_qp(emitting_qp), .draining, .posted_valid, .posted_qp, .look_qp(retire_qp),
    .producer(producer[1]), .begun, .failure, .send_cq(cq_cfg.send_cq), .sent_slot, .sent,
    .retired_addr({seek_qp, look_qp}), .retired, .retired_valid, .retired_qp,
    .completion_valid, .completion_ready, .completion,
    .qp_event_valid, .qp_event_ready, .qp_event_qp, .qp_event_status
  );

  assign cq_cfg_addr = retire_qp;

  logic unused;
  assign unused = &{1'b0, send_cfg[2], cq_cfg};
endmodule
