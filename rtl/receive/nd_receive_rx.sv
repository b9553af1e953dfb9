// Judges received frames, one commit record each, in order of arrival.
//
// One frame at a time goes through lookup, comparisons and token checks; then its effect is a register
// and the module asks for the grant. It starts over when what it looked up has changed meanwhile: when
// the epoch moved, or by an action of the same queue pair that its verdict depends on. Payload is
// not waited for: the next frame is judged while `nd_receive_place` and the DMA writer still work.
// `effect` is meant when `commit_gnt` is high.
//
//   action                     changes                        starts over
//   receive posted             is a receive posted            sends
//   shared queue moved         is a receive posted            sends
//   timer's action             requester                      responses
//   packet sent                newest PSN sent, open reads    responses whose verdict is not firm
//   answer sent                places, reads answered         requests whose verdict is not firm
module nd_receive_rx
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64,
  // shared receive queues, a power of two, at most NumQp
  parameter int unsigned NumSrq = 16,
  // reads outstanding per queue pair
  parameter int unsigned MaxRead = 4,
  localparam int unsigned SrqBits  = $clog2(NumSrq),
  localparam int unsigned SlotBits = MaxRead > 1 ? $clog2(MaxRead) : 1
) (
  input  logic       clk,
  input  logic       rst,

  input  port_t      own,
  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [NumQp-1:0]      qp_shared,
  input  logic [7:0] epoch,
  input  logic       pause,
  input  logic       hold,
  input  qp_t        hold_qp,
  input  logic       posted,     // receives were posted
  input  qp_t        posted_qp,
  input  logic       srq_busy,   // shared queues: hold back what depends on them
  input  logic       srq_moved,  // one became empty, or not empty
  input  logic [NumSrq-1:0] srq_posted,
  input  logic [NumSrq-1:0] srq_odd,
  input  logic       moved,      // action of a timer
  input  qp_t        moved_qp,
  input  logic       emitted,    // packet sent
  input  qp_t        emitted_qp,
  input  logic       answered,   // an answer left its place
  input  qp_t        answered_qp,
  input  logic       full,       // no place for an answer

  input  logic       frame_valid,
  output logic       frame_ready,
  input  rx_desc_t   frame,

  // lookups of `qp`, data one clock later
  output qp_t        qp,
  input  qp_recv_t   cfg,
  input  logic [15:0] recv_cq,
  input  responder_t responder,
  input  requester_t requester,
  input  idx_t       producer,
  input  idx_t       consumer,
  input  logic       fetched,
  input  logic [7:0] reads_done,
  input  psn_t       top_psn,
  output logic [SrqBits-1:0] srq,  // of the frame's queue pair
  input  idx_t       srq_next,
  output qp_t        receive_ring,
  output logic       receive_odd,  // which receive of the ring
  input  receive_t   receive,
  output logic       keep_valid,   // the entry taken is to be kept
  input  logic       keep_ready,
  output qp_t        keep_qp,
  output receive_t   keep,
  output logic [SlotBits-1:0] read_slot,
  input  read_t      read,
  input  logic       read_again,
  input  logic [7:0] reads_started,

  output logic           tr_req_valid,
  input  logic           tr_req_ready,
  output translate_req_t tr_req,
  input  logic           tr_rsp_valid,
  output logic           tr_rsp_ready,
  input  translate_rsp_t tr_rsp,

  output logic       chunk_valid,
  input  logic       chunk_ready,
  output chunk_t     chunk,
  output logic       chunk_keep,
  output logic       chunk_discard,

  input  logic       room,         // for the job, the acknowledge and the event
  output logic       commit_req,
  output commit_t    commit_record,
  input  logic       commit_gnt,
  output effect_t    effect,
  output idx_t       effect_consumer
);
  typedef enum logic [3:0] {
    Idle,
    Look,    // contexts come
    Admit,
    Fetch,   // the receive or the open read comes
    Compare,
    Order,
    Plan,
    Search,  // the remembered read
    Walk,
    Effect,
    Ready,
    Drain    // starts over when no translation is outstanding
  } state_e;

  state_e      state_q, state_d;
  logic [7:0]  epoch_q, epoch_d;
  logic        dirty_q, dirty_d, meddled;  // starts over
  logic        stirred_q, stirred_d, stir;  // starts over if the verdict is not firm
  logic        stale, restart;
  qp_recv_t    cfg_q, cfg_d;
  logic [15:0] cq_q, cq_d;
  responder_t  responder_q, responder_d;
  requester_t  requester_q, requester_d;
  idx_t        producer_q, producer_d, consumer_q, consumer_d;
  logic        fetched_q, fetched_d;
  logic        shared_q, shared_d;          // the queue pair has a shared queue ...
  logic        takes;                       // ... and no entry of it yet
  logic        srq_posted_q, srq_posted_d;
  logic        keep_q, keep_d;
  logic [7:0]  reads_done_q, reads_done_d, started_q, started_d;
  psn_t        top_q, top_d;
  receive_t    receive_q, receive_d;
  read_t       read_q, read_d;
  logic        again_q, again_d;
  drop_cause_e cause_q, cause_d, cause;
  plan_t       plan_q, plan_d, plan_request, plan_response, plan_whole;
  effect_t     effect_q, effect_d, effect_packet, effect_whole;
  logic        whole_q, whole_d, taken_whole;  // queue pair 1 takes it as it is
  fault_e      walk_why;
  qp_state_e   qp_state;
  logic        posted_here;
  op_t         op;
  psn_t        expected, count, x;
  logic        final_one;
  logic [7:0]  max_ird, remembered;
  logic        search_start, search_done, search_match;
  logic [7:0]  search_slot;

  logic           walk_start, walk_busy, walk_done;
  logic           walked_q, walked_d;  // the last walk was for this frame
  walk_e          walk_failed;
  translate_req_t whole_req;
  sge_t [3:0]     sge;
  logic [2:0]     element, end_element;
  logic [31:0]    offset, end_offset;
  logic [5:0]     chunks;
  use_e           piece_use;
  logic           unused;

  assign unused = &{1'b0, op, cfg_q};

  localparam int unsigned QpBits = $clog2(NumQp);

  // What queue pair 1 may take whole is looked at as its packet, one that needs a receive.
  assign qp          = frame.whole ? FrameQp : frame.dest_qpn[15:0];
  assign qp_state    = frame.whole || 32'(frame.dest_qpn) < NumQp ? qp_states[qp[QpBits-1:0]] :
                                                                    QpReset;
  assign op          = frame.whole ? OpFrame : decode(frame.opcode);
  assign srq         = cfg_q.rq_base[SrqBits-1:0];
  assign takes       = shared_q && responder_q.message != MessageSend;
  assign keep_valid  = keep_q;
  assign keep_qp     = effect_q.job.qp;
  assign keep        = receive_q;
  assign read_slot   = requester_q.reads[SlotBits-1:0];
  assign meddled     = (posted && posted_qp == qp && op.send) || (srq_moved && op.send) ||
                       (moved && moved_qp == qp && op.response);
  assign stir        = op.response ? emitted && emitted_qp == qp :
                                     answered && (answered_qp == qp || full);
  assign stale       = dirty_q || epoch != epoch_q ||
                       (stirred_q && !plan_q.firm && state_q inside {Search, Walk, Effect, Ready});
  assign restart     = stale && !(state_q inside {Idle, Drain});

  assign commit_req  = state_q == Ready && !stale && room && !pause && !(hold && hold_qp == qp) &&
                       !(srq_busy && shared_q && op.send);
  assign commit_record   = effect_q.rec;
  assign effect          = effect_q;
  assign effect_consumer = consumer_q;
  assign frame_ready     = commit_gnt;
  assign chunk_keep      = commit_gnt && effect_q.keep;
  assign chunk_discard   = (commit_gnt && !effect_q.keep) || restart || state_q == Drain;

  // Reads that the peer may have outstanding are remembered.
  assign max_ird    = cfg_q.max_ird < 8'(MaxRead) ? cfg_q.max_ird : 8'(MaxRead);
  assign remembered = responder_q.remembered < max_ird ? responder_q.remembered : max_ird;

  nd_receive_admit u_admit (
    .own, .frame, .state(qp_state), .failed(requester_q.failed), .cfg(cfg_q),
    .taken_whole, .cause
  );
  nd_receive_request u_request (
    .clk, .frame, .cfg(cfg_q), .state(responder_q), .posted(posted_here),
    .fetched(fetched_q), .capacity(receive_q.total), .max_ird, .reads_done(reads_done_q), .full,
    .plan(plan_request), .expected, .count
  );
  nd_receive_response u_response (
    .clk, .frame, .cfg(cfg_q), .state(requester_q), .top(top_q), .started(started_q),
    .read_psn(read_q.psn), .read_len(read_q.len), .read_again(again_q), .plan(plan_response), .x,
    .final_one
  );
  nd_receive_replay #(.NumQp(NumQp), .MaxRead(MaxRead)) u_replay (
    .clk, .rst, .frame, .mtu(cfg_q.mtu), .reads(responder_q.reads), .count(remembered),
    .remember(commit_gnt && effect_q.remember), .start(search_start), .done(search_done),
    .match(search_match), .slot(search_slot)
  );
  nd_receive_walk u_walk (
    .clk, .rst, .start(walk_start), .stop(restart), .busy(walk_busy), .done(walk_done),
    .whole(plan_d.whole), .whole_req, .pieces(plan_d.pieces), .piece_use, .sge, .element, .offset,
    .bytes(frame.len), .invalidate(plan_q.invalidate), .invalidate_token(frame.ieth), .pd(cfg_q.pd),
    .qp, .failed(walk_failed), .why(walk_why), .end_element, .end_offset, .chunks,
    .tr_req_valid, .tr_req_ready, .tr_req, .tr_rsp_valid, .tr_rsp_ready, .tr_rsp,
    .chunk_valid, .chunk_ready, .chunk
  );
  nd_receive_effect u_effect (
    .frame, .cause(cause_q), .plan(plan_q), .expected, .count, .x, .final_one,
    .shared(shared_q),
    .responder(responder_q), .requester(requester_q), .asked_slot(search_slot),
    .consumer(consumer_q), .recv_cq(cq_q),
    .read(read_q),
    .failed(walked_q ? walk_failed : WalkPassed), .end_element, .end_offset,
    .chunks(walked_q ? chunks : '0), .effect(effect_packet)
  );
  nd_receive_whole u_whole (
    .clk, .frame, .posted(producer_q != consumer_q), .fetched(fetched_q),
    .capacity(receive_q.total), .plan(plan_whole), .consumer(consumer_q), .recv_cq(cq_q),
    .fault(walk_why), .chunks, .effect(effect_whole)
  );
  assign effect_d = whole_q && !plan_q.drop ? effect_whole : effect_packet;

  // Which receive: the next one of the queue pair's own ring or of its shared queue, or the one
  // that it took from that.
  always_comb begin
    receive_ring = qp;
    receive_odd  = consumer_q[0];
    posted_here  = producer_q != consumer_q;
    if (shared_q) begin
      receive_odd = 1'b0;
      posted_here = srq_posted_q;
    end
    if (takes) begin
      receive_ring = qp_t'(NumQp) | qp_t'(srq);
      receive_odd  = srq_odd[srq];
    end
  end

  // What the walk goes over: the elements of a read or a receive, or the range of a write as one.
  always_comb begin
    whole_req = '{token: frame.token, va: frame.va, len: frame.dma_len,
                  kind: op.read ? UseRemoteRead : UseRemoteWrite, pd: cfg_q.pd, qp: qp,
                  check_only: 1'b1};
    piece_use = UseLocalWrite;
    sge       = receive_q.sge;
    element   = op.starts ? '0 : responder_q.element;
    offset    = op.starts ? '0 : responder_q.offset;
    if (op.response) begin
      sge     = read_q.sge;
      element = requester_q.element;
      offset  = requester_q.offset;
    end else if (op.write) begin
      piece_use = UseRemoteWrite;
      element   = '0;
      offset    = '0;
      sge[0].token   = op.starts ? frame.token : responder_q.token;
      sge[0].address = op.starts ? frame.va : responder_q.va;
      sge[0].length  = op.starts ? frame.dma_len : responder_q.remaining;
    end
  end

  always_comb begin
    state_d      = state_q;
    epoch_d      = epoch_q;
    cfg_d        = cfg_q;
    cq_d         = cq_q;
    responder_d  = responder_q;
    requester_d  = requester_q;
    producer_d   = producer_q;
    consumer_d   = consumer_q;
    fetched_d    = fetched_q;
    shared_d     = shared_q;
    srq_posted_d = srq_posted_q;
    keep_d       = keep_q && !keep_ready;
    reads_done_d = reads_done_q;
    top_d        = top_q;
    receive_d    = receive_q;
    read_d       = read_q;
    again_d      = again_q;
    started_d    = started_q;
    cause_d      = cause_q;
    whole_d      = whole_q;
    plan_d       = plan_q;
    walk_start   = 1'b0;
    search_start = 1'b0;
    walked_d     = walked_q;
    dirty_d      = dirty_q || meddled;
    stirred_d    = stirred_q || stir;
    unique case (state_q)
      Idle: begin
        epoch_d   = epoch;
        dirty_d   = meddled;
        stirred_d = stir;
        if (frame_valid && !keep_q) state_d = Look;
      end
      Look: begin
        cfg_d        = cfg;
        cq_d         = recv_cq;
        responder_d  = responder;
        requester_d  = requester;
        shared_d     = qp_shared[qp[QpBits-1:0]];
        producer_d   = producer;
        consumer_d   = consumer;
        reads_done_d = reads_done;
        top_d        = top_psn;
        state_d      = Admit;
      end
      Admit: begin
        cause_d   = cause;
        whole_d   = taken_whole;
        fetched_d = fetched || (shared_q && !takes);  // before the entry is read
        srq_posted_d = srq_posted[srq] && 32'(cfg_q.rq_base[15:0]) < NumSrq;
        state_d   = Fetch;
      end
      Fetch: begin
        receive_d = receive;
        if (takes) consumer_d = srq_next;
        read_d    = read;
        again_d   = read_again;
        started_d = reads_started;
        state_d   = Compare;
      end
      Compare: state_d = Order;
      Order: state_d = Plan;
      Plan: begin
        plan_d  = whole_q ? plan_whole : op.response ? plan_response : plan_request;
        state_d = Effect;
        walked_d = 1'b0;
        if (cause_q == DropNone) begin
          if (plan_d.retry) begin
            state_d = Idle;
          end else if (plan_d.search) begin
            search_start = 1'b1;
            state_d      = Search;
          end else if (plan_d.whole || plan_d.pieces || plan_d.invalidate) begin
            walk_start = !restart;
            walked_d   = 1'b1;
            state_d    = Walk;
          end
        end else begin
          plan_d.result = RxAccept;
          plan_d.firm   = 1'b1;
        end
      end
      Search: begin
        plan_d.drop = !search_match;
        if (search_done) state_d = Effect;
      end
      Walk: if (walk_done) state_d = Effect;
      Effect: state_d = Ready;
      Ready: begin
        if (commit_gnt) begin
          keep_d  = effect_q.kept;
          state_d = Idle;
        end
      end
      Drain: if (!walk_busy) state_d = Idle;
      default: state_d = Idle;
    endcase
    if (restart) state_d = Drain;
  end

  always_ff @(posedge clk) begin
    state_q      <= state_d;
    epoch_q      <= epoch_d;
    dirty_q      <= dirty_d;
    stirred_q    <= stirred_d;
    cfg_q        <= cfg_d;
    cq_q         <= cq_d;
    responder_q  <= responder_d;
    requester_q  <= requester_d;
    producer_q   <= producer_d;
    consumer_q   <= consumer_d;
    fetched_q    <= fetched_d;
    shared_q     <= shared_d;
    srq_posted_q <= srq_posted_d;
    keep_q       <= keep_d;
    reads_done_q <= reads_done_d;
    top_q        <= top_d;
    receive_q    <= receive_d;
    read_q       <= read_d;
    again_q      <= again_d;
    started_q    <= started_d;
    cause_q      <= cause_d;
    whole_q      <= whole_d;
    plan_q       <= plan_d;
    walked_q     <= walked_d;
    if (state_q == Effect) effect_q <= effect_d;
    if (rst) begin
      state_q <= Idle;
      keep_q  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  psn_t una;
  assign una = requester_q.live ? requester_q.una : cfg_q.sq_psn;

  always_ff @(posedge clk) begin
    if (!rst) begin
      a_grant: assert (!commit_gnt || commit_req);
      a_frame: assert (state_q == Idle || frame_valid);
      a_place: assert (!commit_gnt || !effect_q.reserve || !full);
      if (state_q == Ready) begin
        a_says: assert (!effect_q.requester_we || effect_q.rec.kind == CommitRxResponse);
        a_ack:  assert (!effect_q.ack_valid || effect_q.ack.psn == effect_q.requester.una);
      end
      if (commit_gnt && effect_q.requester_we) begin
        // acknowledged is only what was sent, and no read that is not open ends
        a_una:   assert (psn_t'(effect_q.requester.una - una) <= psn_t'(top_q - una));
        a_reads: assert (8'(started_q - effect_q.requester.reads) <= 8'(MaxRead));
        a_count: assert (effect_q.requester.failed ||
                         effect_q.requester.go_backs <= cfg_q.retry_cnt ||
                         effect_q.requester.go_backs == requester_q.go_backs);
      end
    end
  end
`endif
endmodule
