// Room `receive`: judges frames, places payload, answers requests, flushes receive queues.
//
// Ports as in `docs/src/rtl-rooms.md`, and two that report other rooms' actions: `emit_*` (SqEmit was
// granted: newest PSN and open reads of that queue pair move) and `context_done` (a table write was
// granted: a queue pair that was cleared may move again). Commit pairs: doorbell, rx, flush, respond,
// cnp, doorbell of a shared receive queue. Clearing a queue pair waits until posts under way have come
// back; until the table write is granted nothing of that queue pair is decided.
module nd_receive
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // shared receive queues, a power of two, at most NumQp
  parameter int unsigned NumSrq = 16,
  // reads outstanding per queue pair, either way, a power of two
  parameter int unsigned MaxRead = 4,
  localparam int unsigned SlotBits = MaxRead > 1 ? $clog2(MaxRead) : 1
) (
  input  logic                  clk,
  input  logic                  rst,

  // context
  input  port_t                 own,
  input  timing_t               timing,
  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [NumQp-1:0]      qp_shared,      // it has a shared receive queue
  input  logic [7:0]            epoch,
  output qp_t       [2:0]       recv_cfg_addr,  // rx, fetch, respond
  input  qp_recv_t  [2:0]       recv_cfg,
  output qp_t       [1:0]       cq_cfg_addr,    // rx, flush
  input  qp_cq_t    [1:0]       cq_cfg,
  input  logic                  qp_clear_valid,
  output logic                  qp_clear_ready,
  input  qp_t                   qp_clear,
  input  logic                  srq_wr_valid,
  output logic                  srq_wr_ready,
  input  logic [15:0]           srq_wr_index,
  input  srq_context_t          srq_wr,
  input  logic                  context_done,
  output logic                  set_error_valid,
  output qp_t                   set_error,
  output logic                  invalidate_valid,
  output logic [31:0]           invalidate,
  output logic [1:0]            tr_req_valid,   // rx, respond
  input  logic [1:0]            tr_req_ready,
  output translate_req_t [1:0]  tr_req,
  input  logic [1:0]            tr_rsp_valid,
  output logic [1:0]            tr_rsp_ready,
  input  translate_rsp_t [1:0]  tr_rsp,
  output logic [5:0]            commit_req,
  output commit_t [5:0]         commit_record,
  input  logic [5:0]            commit_gnt,

  // host
  input  logic                  rq_db_valid,
  output logic                  rq_db_ready,
  input  doorbell_t             rq_db,
  input  logic                  srq_db_valid,
  output logic                  srq_db_ready,
  input  doorbell_t             srq_db,
  output logic                  fetch_valid,
  input  logic                  fetch_ready,
  output fetch_req_t            fetch,
  input  logic                  fetch_rsp_valid,
  input  fetch_rsp_t            fetch_rsp,
  output logic                  scatter_valid,
  input  logic                  scatter_ready,
  output scatter_t              scatter,
  input  logic                  post_valid,
  output logic                  post_ready,
  input  post_t                 post,
  output logic                  rx_event,
  output logic [4:0]            rx_cause,
  output logic [15:0]           rx_octets,

  // wire
  input  logic                  rx_valid,
  output logic                  rx_ready,
  input  rx_desc_t              rx,
  output logic                  tx_valid,
  input  logic                  tx_ready,
  output tx_desc_t              tx,
  output logic                  chunk_valid,
  input  logic                  chunk_ready,
  output chunk_t                chunk,

  // send
  output logic                  ack_valid,
  input  logic                  ack_ready,
  output ack_t                  ack,
  output logic                  read_done_valid,
  input  logic                  read_done_ready,
  output qp_t                   read_done_qp,
  output logic [NumQp-1:0]      settled,        // in QpErr, and all that came before is placed
  input  logic [7:0]            gathers_begun,  // frames: decided, and read
  input  logic [7:0]            gathers_done,
  output logic [7:0]            jobs_begun,     // of payload: decided, and handed to the DMA writer
  output logic [7:0]            jobs_done,
  output qp_t                   read_qp,
  output logic [SlotBits-1:0]   read_slot,
  input  read_t                 read,
  input  logic                  read_again,
  input  logic [7:0]            reads_started,
  output qp_t                   top_psn_addr,
  input  psn_t                  top_psn,
  output qp_t                   requester_addr,
  input  requester_t            requester,
  output logic                  requester_we,
  output qp_t                   requester_wqp,
  output requester_t            requester_wdata,
  input  logic                  emit_valid,
  input  qp_t                   emit_qp,
  input  logic                  moved_valid,
  input  qp_t                   moved_qp,
  input  logic                  fail_mark_valid,
  output logic                  fail_mark_ready,
  input  qp_t                   fail_mark_qp,
  input  psn_t                  fail_mark_psn,

  // complete
  output logic                  completion_valid,
  input  logic                  completion_ready,
  output completion_t           completion,
  output logic                  qp_event_valid,
  input  logic                  qp_event_ready,
  output qp_t                   qp_event_qp,
  output status_e               qp_event_status,
  output logic                  srq_event_valid,
  input  logic                  srq_event_ready,
  output logic [15:0]           srq_event
);
  if (NumQp < 4 || NumQp > 32768 || (NumQp & (NumQp - 1)) != 0) begin : g_check_qp
    $error("%m: NumQp must be a power of two, 4 to 32768");
  end
  if (NumSrq > NumQp) begin : g_check_srq
    $error("%m: NumSrq must be at most NumQp");
  end
  if (MaxRead < 2 || MaxRead > 128 || (MaxRead & (MaxRead - 1)) != 0) begin : g_check_read
    $error("%m: MaxRead must be a power of two, 2 to 128");
  end

  typedef struct packed {
    qp_t     qp;
    status_e status;
  } qp_event_t;

  logic rx_gnt, flush_gnt, respond_gnt, cnp_gnt;
  assign rx_gnt      = commit_gnt[1];
  assign flush_gnt   = commit_gnt[2];
  assign respond_gnt = commit_gnt[3];
  assign cnp_gnt     = commit_gnt[4];

  // ---- clearing a queue pair -----------------------------------------------------------------
  typedef enum logic [1:0] {
    ClearIdle,
    ClearWait,  // posts under way come back
    ClearNow,
    ClearHeld   // until the table write is granted
  } clear_e;
  clear_e clear_q, clear_d;
  logic   clear, pause, hold, posts_idle, place_idle, to_send_idle;
  logic   answers_busy;

  assign clear          = clear_q == ClearNow;
  assign pause          = clear_q inside {ClearWait, ClearNow};
  assign hold           = clear_q != ClearIdle;
  assign qp_clear_ready = clear_q == ClearHeld && !answers_busy;
  assign posts_idle     = place_idle && to_send_idle;

  always_comb begin
    clear_d = clear_q;
    unique case (clear_q)
      ClearIdle: if (qp_clear_valid) clear_d = ClearWait;
      ClearWait: if (posts_idle) clear_d = ClearNow;
      ClearNow:  clear_d = ClearHeld;
      default:   if (context_done) clear_d = ClearIdle;
    endcase
  end
  qp_t hold_qp_q;
  always_ff @(posedge clk) begin
    clear_q <= clear_d;
    if (clear_q == ClearIdle) hold_qp_q <= qp_clear;
    if (rst) clear_q <= ClearIdle;
  end

  // ---- tables --------------------------------------------------------------------------------
  qp_t        rx_qp, fetch_ring, flush_qp, respond_qp;
  qp_t        index_qp[3];
  idx_t       producer[3];
  idx_t       consumer[3];
  idx_t       consumer_wdata;
  qp_t        rx_rqp[1];
  responder_t responder[1];
  logic [7:0] reads_done;
  effect_t    effect;
  idx_t       effect_consumer, job_consumer;
  logic       consumed;
  qp_t        consumed_qp;

  // Of a queue pair that has taken an entry of a shared receive queue, the consumer index is that
  // entry's.
  logic       flush_own, taken, kept;
  idx_t       used;
  assign index_qp[0] = rx_qp;
  assign index_qp[1] = fetch_ring;
  assign index_qp[2] = flush_qp;
  assign rx_rqp[0]   = rx_qp;
  assign taken          = rx_gnt && effect.taken;
  assign kept           = rx_gnt && effect.kept;
  assign consumed       = (rx_gnt && effect.consumed) || (flush_gnt && flush_own);
  assign consumed_qp    = flush_gnt ? flush_qp : rx_qp;
  assign used           = flush_gnt ? job_consumer : effect_consumer;
  assign consumer_wdata = kept ? used : used + 16'd1;

  nd_receive_table #(.T(idx_t), .NumQp(NumQp), .Reads(3)) u_consumer (
    .clk, .clear, .clear_qp(hold_qp_q), .we(consumed || kept), .wqp(consumed_qp),
    .wdata(consumer_wdata), .rqp(index_qp), .rdata(consumer)
  );
  nd_receive_table #(.T(responder_t), .NumQp(NumQp), .Reads(1)) u_responder (
    .clk, .clear, .clear_qp(hold_qp_q), .we(rx_gnt && effect.responder_we), .wqp(rx_qp),
    .wdata(effect.responder), .rqp(rx_rqp), .rdata(responder)
  );

  // ---- doorbells and fetch -------------------------------------------------------------------
  logic     db_done, keep_valid, keep_ready;
  qp_t      db_qp, receive_ring, keep_qp;
  logic     receive_odd, receive_here;
  receive_t receive, keep;

  nd_receive_doorbell #(.NumQp(NumQp), .Reads(3)) u_doorbell (
    .clk, .rst, .db_valid(rq_db_valid), .db_ready(rq_db_ready), .db(rq_db), .qp_states, .qp_shared,
    .pause(clear), .hold, .hold_qp(hold_qp_q), .clear, .clear_qp(hold_qp_q),
    .commit_req(commit_req[0]), .commit_record(commit_record[0]), .commit_gnt(commit_gnt[0]),
    .done(db_done), .done_qp(db_qp), .rqp(index_qp), .producer
  );

  // Shared receive queues. Their rings follow those of the queue pairs.
  localparam int unsigned SrqBits = $clog2(NumSrq);
  localparam int unsigned NumRing = NumQp + NumSrq;
  logic               srq_busy, srq_moved, srq_clear, srq_mark, fetch_shared;
  logic [NumSrq-1:0]  srq_posted, srq_odd, srq_valid;
  logic [NumRing-1:0] live;
  logic [SrqBits-1:0] srq, rx_srq;
  idx_t               rx_next, srq_producer, srq_next;
  addr_t              srq_base;
  logic [3:0]         srq_log;
  qp_t                srq_ring;

  assign srq_ring     = qp_t'(NumQp) | qp_t'(srq);
  assign fetch_shared = fetch_ring[$clog2(NumQp)];

  always_comb begin
    for (int unsigned i = 0; i < NumQp; i++) live[i] = qp_states[i] inside {QpInit, QpRtr, QpRts};
    live[NumRing-1:NumQp] = srq_valid;
  end

  nd_receive_shared #(.NumSrq(NumSrq)) u_shared (
    .clk, .rst, .wr_valid(srq_wr_valid), .wr_ready(srq_wr_ready), .wr_index(srq_wr_index),
    .wr(srq_wr), .context_done, .db_valid(srq_db_valid), .db_ready(srq_db_ready), .db(srq_db),
    .commit_req(commit_req[5]), .commit_record(commit_record[5]), .commit_gnt(commit_gnt[5]),
    .take(taken), .take_srq(rx_srq), .take_index(effect_consumer), .busy(srq_busy),
    .moved(srq_moved), .posted(srq_posted), .odd(srq_odd), .rx_srq, .rx_next, .valid(srq_valid),
    .clear(srq_clear), .mark(srq_mark), .srq, .fetch_srq(fetch_ring[SrqBits-1:0]),
    .fetch_producer(srq_producer), .fetch_next(srq_next), .fetch_base(srq_base),
    .fetch_log(srq_log), .event_valid(srq_event_valid), .event_ready(srq_event_ready),
    .event_number(srq_event)
  );
  nd_receive_fetch #(.NumRing(NumRing)) u_fetch (
    .clk, .rst, .live, .clear(clear || srq_clear), .clear_qp(srq_clear ? srq_ring : hold_qp_q),
    .mark(db_done || srq_mark), .mark_qp(srq_mark ? srq_ring : db_qp),
    .consumed(consumed || taken), .consumed_qp(taken ? qp_t'(NumQp) | qp_t'(rx_srq) : consumed_qp),
    .consumed_odd(used[0]), .flushed(flush_gnt), .qp(fetch_ring),
    .producer(fetch_shared ? srq_producer : producer[1]),
    .consumer(fetch_shared ? srq_next : consumer[1]),
    .base(fetch_shared ? srq_base : recv_cfg[1].rq_base),
    .log_size(fetch_shared ? srq_log : recv_cfg[1].rq_log),
    .fetch_valid, .fetch_ready, .fetch, .fetch_rsp_valid, .fetch_rsp,
    .keep_valid, .keep_ready, .keep_qp, .keep,
    .read_qp(receive_ring), .read_odd(receive_odd), .fetched(receive_here), .receive
  );

  // ---- frames --------------------------------------------------------------------------------
  logic   answered, full, rx_room, place_ready, ack_room, event_room;
  qp_t    answered_qp;
  logic   list_valid, list_ready, list_keep, list_discard;
  chunk_t list_chunk;

  assign rx_room = place_ready && ack_room && event_room;

  nd_receive_rx #(.NumQp(NumQp), .NumSrq(NumSrq), .MaxRead(MaxRead)) u_rx (
    .clk, .rst, .own, .qp_states, .qp_shared, .epoch, .pause, .hold, .hold_qp(hold_qp_q),
    .posted(db_done), .posted_qp(db_qp), .srq_busy, .srq_moved, .srq_posted, .srq_odd,
    .moved(moved_valid), .moved_qp,
    .emitted(emit_valid), .emitted_qp(emit_qp), .answered, .answered_qp, .full,
    .frame_valid(rx_valid), .frame_ready(rx_ready), .frame(rx),
    .qp(rx_qp), .cfg(recv_cfg[0]), .recv_cq(cq_cfg[0].recv_cq),
    .responder(responder[0]), .requester,
    .producer(producer[0]), .consumer(consumer[0]), .fetched(receive_here), .reads_done, .top_psn,
    .srq(rx_srq), .srq_next(rx_next), .receive_ring, .receive_odd, .receive,
    .keep_valid, .keep_ready, .keep_qp, .keep, .read_slot, .read, .read_again, .reads_started,
    .tr_req_valid(tr_req_valid[0]), .tr_req_ready(tr_req_ready[0]), .tr_req(tr_req[0]),
    .tr_rsp_valid(tr_rsp_valid[0]), .tr_rsp_ready(tr_rsp_ready[0]), .tr_rsp(tr_rsp[0]),
    .chunk_valid(list_valid), .chunk_ready(list_ready), .chunk(list_chunk),
    .chunk_keep(list_keep), .chunk_discard(list_discard), .room(rx_room),
    .commit_req(commit_req[1]), .commit_record(commit_record[1]), .commit_gnt(rx_gnt),
    .effect, .effect_consumer
  );

  // ---- flush and placement -------------------------------------------------------------------
  job_t flush_job, mark, fail_mark, job;
  logic mark_valid, mark_ready, settled_valid, rx_job, job_valid;

  // Jobs of granted actions, at most one a clock; the mark of a queue pair in QpErr waits for its turn.
  assign rx_job     = rx_gnt && effect.job_valid;
  assign mark_ready = place_ready && !rx_job && !flush_gnt && !fail_mark_valid;
  assign job_valid  = rx_job || flush_gnt || fail_mark_valid || (mark_valid && mark_ready);

  // Of a failure that no response told: behind all payload, and not while a queue pair is cleared.
  assign fail_mark_ready = place_ready && !hold;

  always_comb begin
    fail_mark                   = '0;
    fail_mark.other             = 1'b1;
    fail_mark.other_kind        = PostFatal;
    fail_mark.completion.qp     = fail_mark_qp;
    fail_mark.completion.token  = {8'd0, fail_mark_psn};
    fail_mark.completion.status = StatusRetryExceeded;

    job = mark;
    if (rx_job) job = effect.job;
    else if (flush_gnt) job = flush_job;
    else if (fail_mark_valid) job = fail_mark;
  end

  nd_receive_flush #(.NumQp(NumQp)) u_flush (
    .clk, .rst, .qp_states, .qp_shared, .pause, .hold, .hold_qp(hold_qp_q), .clear,
    .clear_qp(hold_qp_q), .touched(db_done), .touched_qp(db_qp), .kept,
    .released(rx_gnt && effect.released), .rx_qp,
    .qp(flush_qp), .producer(producer[2]), .consumer(consumer[2]), .recv_cq(cq_cfg[1].recv_cq),
    .room(place_ready),
    .commit_req(commit_req[2]), .commit_record(commit_record[2]), .commit_gnt(flush_gnt),
    .job(flush_job), .job_consumer, .own(flush_own), .mark_valid, .mark_ready, .mark,
    .back_valid(settled_valid), .back_qp(post.completion.qp), .settled
  );
  nd_receive_place u_place (
    .clk, .rst, .chunk_valid(list_valid), .chunk_ready(list_ready), .chunk(list_chunk),
    .chunk_keep(list_keep), .chunk_discard(list_discard),
    .job_valid, .job_ready(place_ready), .job, .scatter_valid, .scatter_ready, .scatter,
    .taken(post_valid && post_ready), .idle(place_idle), .jobs_begun, .jobs_done
  );

  // ---- answers -------------------------------------------------------------------------------
  logic     respond_valid, respond_event, respond_error, respond_tx_valid;
  tx_desc_t respond_tx, cnp_tx;

  nd_receive_respond #(.NumQp(NumQp), .MaxRead(MaxRead)) u_respond (
    .clk, .rst, .qp_states, .epoch, .pause(clear), .hold, .hold_qp(hold_qp_q),
    .clear, .clear_qp(hold_qp_q), .clear_busy(answers_busy),
    .reserve(rx_gnt && effect.reserve), .full,
    .fatal(rx_gnt && effect.fatal && effect.reserve), .fatal_qp(rx_qp),
    .newest(rx_gnt && effect.newest), .newest_answer(effect.job.response),
    .post_valid(respond_valid), .post(post.response),
    .answered, .answered_qp, .reads_qp(rx_qp), .reads_done,
    .qp(respond_qp), .cfg(recv_cfg[2]),
    .tr_req_valid(tr_req_valid[1]), .tr_req_ready(tr_req_ready[1]), .tr_req(tr_req[1]),
    .tr_rsp_valid(tr_rsp_valid[1]), .tr_rsp_ready(tr_rsp_ready[1]), .tr_rsp(tr_rsp[1]),
    .chunk_valid, .chunk_ready, .chunk, .tx_valid(respond_tx_valid), .tx_ready, .tx(respond_tx),
    .event_room, .event_valid(respond_event), .set_error(respond_error),
    .commit_req(commit_req[3]), .commit_record(commit_record[3]), .commit_gnt(respond_gnt)
  );

  nd_receive_cnp #(.NumQp(NumQp)) u_cnp (
    .clk, .rst, .qp_states, .interval(timing.cnp_interval), .pause(clear), .hold,
    .hold_qp(hold_qp_q), .clear, .clear_qp(hold_qp_q),
    .mark(rx_gnt && effect.congested), .mark_qp(rx_qp), .tx_ready, .tx(cnp_tx),
    .commit_req(commit_req[4]), .commit_record(commit_record[4]), .commit_gnt(cnp_gnt)
  );
  assign tx_valid = respond_tx_valid || cnp_gnt;
  assign tx       = cnp_gnt ? cnp_tx : respond_tx;

  // ---- to other rooms ------------------------------------------------------------------------
  logic       unused;
  logic [2:0] unused_events;
  qp_event_t  qp_event, event_in;

  assign unused = &{1'b0, effect, timing, cq_cfg};

  nd_receive_posts u_posts (
    .clk, .rst, .post_valid, .post_ready, .post, .idle(to_send_idle), .gathers_begun,
    .gathers_done, .ack_room,
    .ack_in_valid(rx_gnt && effect.ack_valid), .ack_in(effect.ack), .respond_valid, .settled_valid,
    .ack_valid, .ack_ready, .ack, .read_done_valid, .read_done_ready, .read_done_qp,
    .completion_valid, .completion_ready, .completion
  );

  assign event_in.qp     = respond_event ? respond_qp : rx_qp;
  assign event_in.status = respond_event ? StatusRemoteInvalidRequest : effect.fatal_status;
  assign qp_event_qp     = qp_event.qp;
  assign qp_event_status = qp_event.status;

  nd_fifo #(.T(qp_event_t), .Depth(4)) u_events (
    .clk, .rst, .in_valid((rx_gnt && effect.fatal) || respond_event), .in_ready(event_room),
    .in_data(event_in), .out_valid(qp_event_valid), .out_ready(qp_event_ready), .out_data(qp_event),
    .count(unused_events)
  );
  assign recv_cfg_addr    = {respond_qp, fetch_ring, rx_qp};
  assign cq_cfg_addr      = {flush_qp, rx_qp};
  assign read_qp          = rx_qp;
  assign top_psn_addr     = rx_qp;
  assign requester_addr   = rx_qp;
  assign requester_we     = rx_gnt && effect.requester_we;
  assign requester_wqp    = rx_qp;
  assign requester_wdata  = effect.requester;
  assign set_error_valid  = (rx_gnt && effect.fatal) || respond_error;
  assign set_error        = respond_error ? respond_qp : rx_qp;
  assign invalidate_valid = rx_gnt && effect.invalidate;
  assign invalidate       = effect.token;

  always_ff @(posedge clk) begin
    rx_event  <= rx_gnt;
    rx_cause  <= effect.drop[4:0];
    rx_octets <= rx.frame_len;
    if (rst) rx_event <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_one:  assert ($onehot0({commit_gnt, fail_mark_valid}));
      a_mark: assert (!fail_mark_valid || fail_mark_ready);
    end
  end
`endif
endmodule
