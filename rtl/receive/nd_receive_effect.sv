// What a frame does, from its verdict and the checks of tokens: steps 5 and 6 of "Receive: order of
// checks", and the same for responses.
//
// Combinational. `cause` is that of the checks before; `plan` is the request's or the response's.
module nd_receive_effect
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
(
  input  rx_desc_t    frame,
  input  drop_cause_e cause,
  input  plan_t       plan,
  input  psn_t        expected,     // request: expected PSN
  input  psn_t        count,        // request: PSNs that it takes
  input  logic        shared,       // receives come from a shared queue
  input  psn_t        x,            // response: PSN expected by the open read
  input  logic        final_one,    // response: ends the read
  input  responder_t  responder,
  input  requester_t  requester,
  input  logic [7:0]  asked_slot,   // repeat of a read: where that one is remembered
  input  idx_t        consumer,     // receive in use
  input  logic [15:0] recv_cq,
  input  read_t       read,         // open read
  input  walk_e       failed,
  input  logic [2:0]  end_element,
  input  logic [31:0] end_offset,
  input  logic [5:0]  chunks,
  output effect_t     effect
);
  qp_t         qp;
  op_t         op;
  logic        wire_drop, drop, payload, nak;
  rx_result_e  result;
  status_e     status;
  logic [7:0]  syndrome;
  logic [31:0] bytes;
  psn_t        msn, fail_psn;
  sge_t        first_sge;
  logic        unused;

  assign unused = &{1'b0, frame, plan, read, first_sge, op};

  always_comb begin
    op        = decode(frame.opcode);
    qp        = frame.dest_qpn[15:0];
    wire_drop = frame.drop != DropNone;
    payload   = frame.len != '0 && !frame.oversize && (!wire_drop || frame.whole);
    drop      = cause != DropNone || plan.drop;
    fail_psn  = plan.result == RxAccept ? x : plan.psn;
    first_sge = read.sge[0];

    // verdict with the checks of tokens
    result   = plan.result;
    status   = plan.status;
    syndrome = plan.syndrome;
    if (result == RxAccept && failed != WalkPassed) begin
      if (op.response) begin
        result = RxFatal;
        status = StatusLocalProtection;
      end else if (failed == WalkPiece && op.send) begin
        result   = RxNakOperation;
        status   = StatusLocalProtection;
        syndrome = AethOperation;
      end else begin
        result   = RxNakAccess;
        syndrome = AethAccess;
      end
    end
    nak   = result inside {RxNakInvalid, RxNakAccess, RxNakOperation};
    bytes = (op.starts ? '0 : responder.bytes) + 32'(frame.len);
    msn   = responder.msn;
    if (result == RxAccept && op.ends) msn = responder.msn + 24'd1;

    effect           = '0;
    effect.responder = responder;
    effect.requester = requester;
    effect.job.qp    = qp;
    effect.ack.qp    = qp;
    effect.job.next  = payload;
    if (drop) begin
      effect.drop = cause != DropNone ? cause : plan.drop_cause;
      effect.rec  = commit_rec(CommitRxDrop, wire_drop ? '0 : frame.dest_qpn, '0,
                               wire_drop ? '0 : frame.psn, '0, effect.drop);
    end else if (op.response) begin
      effect.rec = commit_rec(CommitRxResponse, frame.dest_qpn, '0, frame.psn, '0, result);
      effect.requester_we   = result != RxCnp;
      effect.ack_valid      = plan.moved && result inside {RxAccept, RxGoBack, RxRnrWait};
      effect.ack.psn        = plan.psn;
      effect.requester.live = 1'b1;
      effect.requester.una  = fail_psn;
      if (plan.moved) begin
        effect.requester.recovering = 1'b0;
        effect.requester.go_backs   = '0;
        effect.requester.rnr_waits  = '0;
      end
      unique case (result)
        RxAccept: begin
          effect.keep          = 1'b1;
          effect.job.chunks    = chunks;
          effect.requester.una = plan.psn;
          if (frame.opcode != OpAck) begin
            effect.requester.packets = requester.packets + 24'd1;
            effect.requester.bytes   = requester.bytes + 32'(frame.len);
            if (plan.pieces) begin
              effect.requester.element = end_element;
              effect.requester.offset  = end_offset;
            end
            if (final_one) begin
              effect.requester.reads   = requester.reads + 8'd1;
              effect.requester.packets = '0;
              effect.requester.bytes   = '0;
              effect.requester.element = '0;
              effect.requester.offset  = '0;
              effect.job.other         = 1'b1;
              effect.job.other_kind    = PostReadDone;
              effect.invalidate        = read.invalidate;
              effect.token             = first_sge.token;
              effect.job.completion.qp          = qp;
              effect.job.completion.invalidated = read.invalidate;
            end
          end
        end
        RxGoBack: begin
          effect.requester.go_backs   = effect.requester.go_backs + 3'd1;
          effect.requester.recovering = 1'b1;
        end
        RxRnrWait: begin
          if (plan.counted) effect.requester.rnr_waits = effect.requester.rnr_waits + 3'd1;
          effect.requester.recovering = 1'b0;
          effect.requester.waiting    = 1'b1;
          effect.requester.rnr_code   = frame.aeth[28:24];
        end
        RxFatal: begin
          // told when what the read placed before is placed
          effect.requester.failed          = 1'b1;
          effect.job.other                 = 1'b1;
          effect.job.other_kind            = PostFatal;
          effect.job.completion.qp         = qp;
          effect.job.completion.token      = {8'd0, fail_psn};
          effect.job.completion.status     = status;
          effect.job.completion.error_code = 32'(plan.syndrome);
        end
        default: ;  // RxCnp
      endcase
    end else begin
      effect.rec = commit_rec(CommitRxRequest, frame.dest_qpn, '0, frame.psn, '0, result);
      effect.responder_we = 1'b1;
      effect.responder.msn = msn;
      unique case (result)
        RxAccept: begin
          effect.keep                = 1'b1;
          effect.job.chunks          = chunks;
          effect.responder.live      = 1'b1;
          effect.responder.psn       = expected + count;
          effect.responder.nak_sent  = 1'b0;
          effect.responder.bytes     = bytes;
          effect.responder.va        = (op.starts ? frame.va : responder.va) + 64'(frame.len);
          effect.responder.remaining = (op.starts ? frame.dma_len : responder.remaining) -
                                       32'(frame.len);
          if (op.starts) effect.responder.token = frame.token;
          if (plan.pieces && op.send) begin
            effect.responder.element = end_element;
            effect.responder.offset  = end_offset;
          end
          if (op.ends) begin
            effect.responder.message = MessageNone;
            effect.responder.element = '0;
            effect.responder.offset  = '0;
          end else begin
            effect.responder.message = op.send ? MessageSend : MessageWrite;
          end
          if (op.read) begin
            effect.remember        = 1'b1;
            effect.responder.reads = responder.reads + 8'd1;
            if (responder.remembered != '1) begin
              effect.responder.remembered = responder.remembered + 8'd1;
            end
          end
          effect.invalidate = op.invalidate;
          effect.token      = frame.ieth;
        end
        RxNakSequence, RxRnr: effect.responder.nak_sent = 1'b1;
        RxDuplicate: if (op.read) effect.responder.asked = responder.asked + 8'd1;
        default: ;
      endcase
      effect.newest       = op.read && result inside {RxAccept, RxDuplicate};
      effect.fatal        = nak;
      if (nak) effect.responder.nak_sent = 1'b0;
      effect.fatal_status = status;

      effect.job.other_kind = PostRespond;
      effect.job.other    = nak || plan.answer || (op.read && result == RxAccept);
      effect.job.response = '{qp: qp, is_read: op.read && result inside {RxAccept, RxDuplicate},
                              replay: result == RxDuplicate,
                              slot: result == RxDuplicate ? asked_slot : responder.reads,
                              asked: effect.responder.asked, psn: plan.psn, msn: msn,
                              syndrome: syndrome, va: frame.va, len: frame.dma_len,
                              token: frame.token};
      effect.job.receive  = plan.receive && (nak || (op.ends && result == RxAccept));
      effect.job.completion.qp        = qp;
      effect.job.completion.cq        = recv_cq;
      effect.job.completion.receive   = 1'b1;
      effect.job.completion.wqe_index = consumer;
      effect.job.completion.opcode    = OpcodeReceive;
      if (nak) begin
        effect.job.completion.status     = status;
        effect.job.completion.error_code = 32'(syndrome);
      end else begin
        effect.job.completion.status      = StatusSuccess;
        effect.job.completion.solicited   = frame.solicited;
        effect.job.completion.invalidated = op.invalidate;
        effect.job.completion.byte_len    = bytes;
        if (op.invalidate) effect.job.completion.token = frame.ieth;
      end
      effect.consumed = effect.job.receive && !shared;
      effect.released = effect.job.receive && shared;
      effect.taken    = shared && op.send && responder.message != MessageSend &&
                        (effect.job.receive || result == RxAccept);
      effect.kept     = effect.taken && !effect.job.receive;
      effect.reserve  = effect.job.other;
    end
    effect.congested = frame.ecn == EcnCongested && !drop && result != RxCnp;
    effect.job_valid = effect.job.next || effect.job.receive || effect.job.other;
  end
endmodule
