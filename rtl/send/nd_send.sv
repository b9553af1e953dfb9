// Room `send`: from doorbells to packets, and from responses to retired requests.
//
// Packets of all queue pairs are interleaved one by one; a queue pair's state lies in memories
// between its packets.
//
//   doorbell -> fetch -> select -> emit -> wire (tx, chunks)
//                           ^        |
//                           +-- retire <- responses (ack, read_done)  -> complete
//
// Commit pairs: doorbell, emit, retire. `stop` (from `nd_commit`) is RxFatal in its granted clock:
// no packet of that queue pair is granted after it. `emit_valid` is the granted clock of a packet:
// next PSN and open reads of `emit_qp` move. `qp_clear_ready` rises when all run-time state of
// `qp_clear` is zero, and falls with `qp_clear_valid`; meanwhile nothing of that queue pair is
// decided, and what arrives for it is taken and forgotten.
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
  output qp_t       [2:0]       send_cfg_addr,  // fetch, emit, next PSN
  input  qp_send_t  [2:0]       send_cfg,
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
  output logic      [2:0]       commit_req,
  output commit_t   [2:0]       commit_record,
  input  logic      [2:0]       commit_gnt,
  input  logic                  stop_valid,
  input  qp_t                   stop_qp,

  // host
  input  logic                  sq_db_valid,
  output logic                  sq_db_ready,
  input  doorbell_t             sq_db,
  output logic                  fetch_valid,
  input  logic                  fetch_ready,
  output fetch_req_t            fetch,
  input  logic                  fetch_rsp_valid,
  input  fetch_rsp_t            fetch_rsp,

  // wire
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
  output logic [7:0]            reads_started,
  input  qp_t                   next_psn_addr,
  output psn_t                  next_psn,
  output logic                  emit_valid,
  output qp_t                   emit_qp,

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

  logic [4:0]            clear_done;
  logic                  stop, posted_valid, advance_valid, fail_valid, park_valid, retired_valid;
  logic                  emit_busy, emit_done, job_valid, job_ready;
  logic                  next_psn_live;
  logic [1:0]            more_unit;
  logic [511:0]          head, more;
  logic [NumQp-1:0]      filled;
  logic [SentBits-1:0]   sent_slot;
  qp_t                   posted_qp, emitting_qp, look_qp, retire_qp, retired_qp, fetch_qp;
  idx_t [1:0]            producer;
  idx_t                  begun;
  progress_t             progress;
  retired_t              retired;
  sent_t                 sent;
  job_t                  job;
  psn_t                  psn;
  logic [AheadBits-1:0]  emitting_slot, look_slot;

  assign qp_clear_ready = &clear_done;
  assign stop           = stop_valid && !(qp_clear_valid && qp_clear == stop_qp);
  assign emit_qp        = emitting_qp;

  nd_send_doorbell #(.NumQp(NumQp)) u_doorbell (
    .clk, .rst, .sq_db_valid, .sq_db_ready, .sq_db, .qp_states,
    .commit_req(commit_req[0]), .commit_record(commit_record[0]), .commit_gnt(commit_gnt[0]),
    .clear_valid(qp_clear_valid), .clear_qp(qp_clear), .clear_done(clear_done[0]),
    .posted_valid, .posted_qp, .producer_addr({retire_qp, fetch_qp}), .producer
  );

  nd_send_fetch #(.NumQp(NumQp), .Prefetch(Prefetch)) u_fetch (
    .clk, .rst, .qp_states, .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .clear_done(clear_done[1]), .posted_valid, .posted_qp,
    .producer_addr(fetch_qp), .producer(producer[0]),
    .cfg_addr(send_cfg_addr[0]), .cfg(send_cfg[0]), .fetch_valid, .fetch_ready, .fetch,
    .fetch_rsp_valid, .fetch_rsp, .filled, .emptied_valid(advance_valid), .emptied_qp(emitting_qp),
    .head_qp(look_qp), .head_slot(look_slot), .head,
    .more_qp(emitting_qp), .more_slot(emitting_slot), .more_unit, .more
  );

  nd_send_select #(.NumQp(NumQp), .Prefetch(Prefetch)) u_select (
    .clk, .rst, .qp_states, .epoch, .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .clear_done(clear_done[2]), .filled, .advance_valid, .advance_qp(emitting_qp),
    .stop_valid(stop), .stop_qp, .fail_valid, .fail_qp(emitting_qp),
    .park_valid, .park_qp(emitting_qp), .retired_valid, .retired_qp,
    .emit_busy, .emit_done, .emit_qp(emitting_qp),
    .look_qp, .look_slot, .progress, .retired, .cfg(send_cfg[1]), .head,
    .job_valid, .job_ready, .job
  );
  assign send_cfg_addr[1] = look_qp;

  nd_send_emit #(
    .NumQp(NumQp), .MaxRead(MaxRead), .Outstanding(Outstanding), .Prefetch(Prefetch)
  ) u_emit (
    .clk, .rst, .epoch, .stop_valid(stop), .stop_qp,
    .clear_valid(qp_clear_valid), .clear_qp(qp_clear), .clear_done(clear_done[3]),
    .commit_req(commit_req[1]), .commit_record(commit_record[1]), .commit_gnt(commit_gnt[1]),
    .job_valid, .job_ready, .job, .emit_busy, .emit_done, .emit_qp(emitting_qp),
    .emit_slot(emitting_slot),
    .park_valid, .advance_valid, .fail_valid, .packet_valid(emit_valid), .more_unit, .more,
    .tr_req_valid, .tr_req_ready, .tr_req, .tr_rsp_valid, .tr_rsp_ready, .tr_rsp,
    .tx_valid, .tx_ready, .tx, .chunk_valid, .chunk_ready, .chunk,
    .progress_addr(look_qp), .progress, .begun_addr(retire_qp), .begun,
    .sent_qp(retire_qp), .sent_slot, .sent, .next_psn_addr, .next_psn_live, .next_psn(psn),
    .read_qp, .read_slot, .read, .reads_started
  );

  // Until the first packet the context tells the next PSN.
  assign send_cfg_addr[2] = next_psn_addr;
  assign next_psn         = next_psn_live ? psn : send_cfg[2].sq_psn;

  logic unused;
  assign unused = &{1'b0, send_cfg[2]};

  nd_send_retire #(.NumQp(NumQp), .Outstanding(Outstanding)) u_retire (
    .clk, .rst, .qp_states, .settled, .epoch, .clear_valid(qp_clear_valid), .clear_qp(qp_clear),
    .clear_done(clear_done[4]), .set_error_valid, .set_error,
    .commit_req(commit_req[2]), .commit_record(commit_record[2]), .commit_gnt(commit_gnt[2]),
    .ack_valid, .ack_ready, .ack, .read_done_valid, .read_done_ready, .read_done_qp,
    .stop_valid(stop), .stop_qp, .fail_valid, .fail_qp(emitting_qp), .posted_valid, .posted_qp,
    .look_qp(retire_qp), .producer(producer[1]), .begun, .sent_slot, .sent,
    .retired_addr(look_qp), .retired, .retired_valid, .retired_qp,
    .completion_valid, .completion_ready, .completion,
    .qp_event_valid, .qp_event_ready, .qp_event_qp, .qp_event_status
  );
endmodule
