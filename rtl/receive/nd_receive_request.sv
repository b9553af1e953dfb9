// Verdict on a request that was admitted: steps 3 to 5 of "Receive: order of checks" without tokens.
//
// Inputs are held; `plan` belongs to those of two clocks ago: one clock for the comparisons, one for
// their order. `expected` and `count` (PSNs that the request takes) come with it. For an accepted
// request the plan says which tokens are to be checked, and what the receive completes with should
// one of them fail.
module nd_receive_request
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
(
  input  logic       clk,
  input  rx_desc_t   frame,
  input  qp_recv_t   cfg,
  input  responder_t state,
  input  logic       posted,      // a receive is posted ...
  input  logic       fetched,     // ... and its entry is here: it completes only then
  input  logic [33:0] capacity,   // sum of its elements
  input  logic [7:0] max_ird,     // as far as the engine allows
  input  logic [7:0] reads_done,  // reads of which all responses left
  input  logic       full,        // no place for an answer
  output plan_t      plan,
  output psn_t       expected,
  output psn_t       count
);
  typedef struct packed {
    logic full;
    logic older;
    logic equal;
    logic sequence_bad;
    logic forbidden;
    logic unposted;
    logic unfetched;
    logic reads_full;
    logic length_bad;
    logic beyond;
    logic in_send;  // the message in progress is a send
    op_t  op;
  } facts_t;

  facts_t      facts_q, facts_d;
  psn_t        expected_q, expected_d, count_q, count_d;
  plan_t       plan_q, plan_d;
  op_t         op;
  len_t        mtu;
  logic [31:0] remaining, so_far;
  logic        unused;

  assign unused   = &{1'b0, frame, cfg, state};
  assign plan     = plan_q;
  assign expected = expected_q;
  assign count    = count_q;

  always_comb begin
    op         = decode(frame.opcode);
    mtu        = mtu_bytes(cfg.mtu);
    expected_d = state.live ? state.psn : cfg.rq_psn;
    remaining  = op.starts ? frame.dma_len : state.remaining;
    so_far     = op.starts ? '0 : state.bytes;
    count_d    = psn_t'((33'(frame.dma_len) + 33'(mtu) - 33'd1) >> (4'd7 + 4'(cfg.mtu)));
    if (!op.read || frame.dma_len == '0) count_d = 24'd1;

    facts_d       = '0;
    facts_d.op    = op;
    facts_d.full  = full;
    facts_d.older = psn_older(frame.psn, expected_d);
    facts_d.equal = frame.psn == expected_d;
    facts_d.in_send = state.message == MessageSend;
    unique case (state.message)
      MessageSend:  facts_d.sequence_bad = !op.send || op.starts;
      MessageWrite: facts_d.sequence_bad = !op.write || op.starts;
      default:      facts_d.sequence_bad = !op.starts;
    endcase
    facts_d.forbidden = op.immediate || op.atomic || (op.write && !cfg.remote_write) ||
                        (op.read && !cfg.remote_read);
    facts_d.unposted   = op.send && op.starts && !posted;
    facts_d.unfetched  = op.send && !fetched;
    facts_d.reads_full = op.read && state.reads - reads_done >= max_ird;
    if (!op.read) begin
      if (!op.ends) facts_d.length_bad = frame.len != mtu;
      else facts_d.length_bad = frame.len > mtu || (!op.starts && frame.len == '0);
      if (frame.oversize) facts_d.length_bad = 1'b1;
    end
    if ((op.read || (op.write && op.starts)) && frame.dma_len > 32'h8000_0000) begin
      facts_d.length_bad = 1'b1;
    end
    if (op.write) begin
      if (op.ends ? 32'(frame.len) != remaining : 32'(frame.len) >= remaining) begin
        facts_d.length_bad = 1'b1;
      end
      if (frame.pad != 2'(-frame.len[1:0])) facts_d.length_bad = 1'b1;
    end
    facts_d.beyond = op.send && 34'(so_far) + 34'(frame.len) > capacity;
  end

  always_comb begin
    plan_d      = '0;
    plan_d.psn  = frame.psn;
    plan_d.firm = !facts_q.full && !facts_q.reads_full;
    if (facts_q.full) begin
      plan_d.drop       = 1'b1;
      plan_d.drop_cause = DropNoBuffer;
    end else if (facts_q.older && (facts_q.op.send || facts_q.op.write)) begin
      plan_d.result   = RxDuplicate;
      plan_d.answer   = 1'b1;
      plan_d.psn      = expected_q - 24'd1;
      plan_d.syndrome = AethAck;
    end else if (facts_q.older && facts_q.op.read) begin
      plan_d.result     = RxDuplicate;
      plan_d.search     = 1'b1;
      plan_d.answer     = 1'b1;
      plan_d.drop_cause = DropSequence;
    end else if (facts_q.older || (!facts_q.equal && state.nak_sent)) begin
      plan_d.drop       = 1'b1;
      plan_d.drop_cause = DropSequence;
    end else if (!facts_q.equal) begin
      plan_d.result   = RxNakSequence;
      plan_d.answer   = 1'b1;
      plan_d.psn      = expected_q;
      plan_d.syndrome = AethSequence;
    end else if (facts_q.sequence_bad) begin
      plan_d.result  = RxNakInvalid;
      plan_d.receive = facts_q.in_send;
    end else if (facts_q.forbidden && (facts_q.unposted || !facts_q.unfetched)) begin
      plan_d.result  = RxNakInvalid;
      plan_d.receive = facts_q.op.send && !facts_q.unposted;
    end else if (facts_q.unposted) begin
      plan_d.result   = RxRnr;
      plan_d.answer   = 1'b1;
      plan_d.syndrome = {AethRnr, cfg.min_rnr_timer};
    end else if (facts_q.unfetched) begin
      plan_d.retry = 1'b1;
    end else if (facts_q.reads_full || facts_q.length_bad || facts_q.beyond) begin
      plan_d.result  = RxNakInvalid;
      plan_d.receive = facts_q.op.send;
    end else begin
      plan_d.result     = RxAccept;
      plan_d.answer     = frame.ack_req && !facts_q.op.read;
      plan_d.syndrome   = AethAck;
      plan_d.receive    = facts_q.op.send;
      plan_d.invalidate = facts_q.op.invalidate;
      plan_d.pieces     = frame.len != '0 && !facts_q.op.read;
      plan_d.whole      = !facts_q.op.send && facts_q.op.starts && frame.dma_len != '0 &&
                          (facts_q.op.read || !facts_q.op.ends);
    end
    plan_d.status = StatusRemoteInvalidRequest;
    if (facts_q.beyond && !facts_q.length_bad && !facts_q.sequence_bad && !facts_q.forbidden) begin
      plan_d.status = StatusLocalLength;
    end
    if (plan_d.result == RxNakInvalid) begin
      plan_d.answer   = 1'b1;
      plan_d.syndrome = AethInvalid;
    end
  end

  always_ff @(posedge clk) begin
    facts_q    <= facts_d;
    expected_q <= expected_d;
    count_q    <= count_d;
    plan_q     <= plan_d;
  end
endmodule
