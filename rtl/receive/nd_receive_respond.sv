// Sends queued answers in order, one packet an action: ACK, NAK, and the packets of read responses.
//
// An ACK covers one more that is queued directly behind it. Payload of a read is checked and translated
// packet by packet; a failing check sends NAK 0x62 in its place and fails the queue pair. In QpErr only
// what is queued up to a fatal NAK is sent, the rest is discarded; answers from before a clear vanish.
//
// A read that was asked for again is not answered twice: what is left of the older answer is discarded,
// or else each repeat would send all of it once more in front of what the peer waits for.
module nd_receive_respond
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64,
  // reads remembered per queue pair, a power of two
  parameter int unsigned MaxRead = 4,
  // places for answers, a power of two
  parameter int unsigned Places = 4 * NumQp
) (
  input  logic       clk,
  input  logic       rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [7:0] epoch,
  input  logic       pause,
  input  logic       hold,
  input  qp_t        hold_qp,
  input  logic       clear,
  input  qp_t        clear_qp,
  output logic       clear_busy,   // answers of `clear_qp` are being taken out of the queue

  input  logic       reserve,
  output logic       full,
  input  logic       fatal,        // a fatal NAK is going to be posted
  input  qp_t        fatal_qp,
  input  logic       newest,       // `newest_answer` is going to be posted, the newest to its read
  input  response_t  newest_answer,
  input  logic       post_valid,   // always taken
  input  response_t  post,

  output logic       answered,     // a place became free
  output qp_t        answered_qp,
  input  qp_t        reads_qp,     // lookup of the reads answered, one clock later
  output logic [7:0] reads_done,

  output qp_t        qp,           // lookups, data one clock later
  input  qp_recv_t   cfg,

  output logic           tr_req_valid,
  input  logic           tr_req_ready,
  output translate_req_t tr_req,
  input  logic           tr_rsp_valid,
  output logic           tr_rsp_ready,
  input  translate_rsp_t tr_rsp,

  output logic       chunk_valid,
  input  logic       chunk_ready,
  output chunk_t     chunk,
  output logic       tx_valid,
  input  logic       tx_ready,
  output tx_desc_t   tx,

  input  logic       event_room,
  output logic       event_valid,  // the queue pair went to error
  output logic       set_error,
  output logic       commit_req,
  output commit_t    commit_record,
  input  logic       commit_gnt
);
  localparam int unsigned QpBits     = $clog2(NumQp);
  localparam int unsigned SlotBits   = $clog2(MaxRead);
  localparam int unsigned Chunks     = 64;
  typedef logic [QpBits-1:0] qp_bits_t;

  typedef enum logic [2:0] {
    Idle,
    Look,
    Decide,
    Walk,
    Build,
    Ready,
    Drain
  } state_e;

  state_e      state_q, state_d;
  logic [7:0]  epoch_q, epoch_d;
  logic        restart;
  qp_recv_t    cfg_q, cfg_d;
  logic [7:0]  done_q, done_d;
  logic [31:0] offset_q, offset_d;    // bytes of the read that are sent
  psn_t        packet_q, packet_d;    // packets of the read that are sent
  len_t        piece_q, piece_d;      // payload of the next packet
  logic        last_q, last_d;        // it is the last one
  logic        discard_q, discard_d;
  logic        fault_q, fault_d;
  logic        both_q, both_d;        // the ACK covers the one behind it
  tx_desc_t    tx_q, tx_d;
  commit_t     rec_q, rec_d;
  logic [NumQp-1:0] nak_q, nak_d;     // a fatal NAK is queued

  logic      head_valid, dead, behind_valid, unused;
  response_t response, behind;
  qp_state_e qp_state;
  qp_bits_t  qp_bits;
  logic [7:0] asked;         // repeats of reads before the newest answer to this one
  logic      sends, pop, finished;
  logic [31:0] left;
  len_t      mtu;
  psn_t      psn;

  logic        walk_start, walk_busy, walk_done, walk_chunk_valid, walk_chunk_ready;
  chunk_t      walk_chunk;
  walk_e       walk_failed;
  sge_t [3:0]  sge;
  fault_e      unused_why;
  logic [2:0]  unused_element;
  logic [31:0] unused_offset;
  logic [5:0]  chunks;
  logic [$clog2(Chunks):0] unused_chunks;
  logic [7:0]  done_read[2];
  qp_t         done_qp[2];

  assign unused = &{1'b0, cfg_q, fatal_qp, clear_qp, behind, newest_answer};

  nd_receive_answers #(.NumQp(NumQp), .Places(Places)) u_answers (
    .clk, .rst, .reserve, .full, .post_valid, .post, .head_valid, .head(response), .dead,
    .behind_valid, .behind, .pop, .pop_both(pop && both_q && commit_gnt), .clear, .clear_qp,
    .clear_busy
  );
  nd_fifo_commit #(.T(chunk_t), .Depth(Chunks)) u_chunks (
    .clk, .rst, .in_valid(walk_chunk_valid), .in_ready(walk_chunk_ready), .in_data(walk_chunk),
    .commit(tx_valid), .discard(restart || state_q == Drain || (commit_gnt && fault_q)),
    .out_valid(chunk_valid), .out_ready(chunk_ready), .out_data(chunk), .count(unused_chunks)
  );
  nd_receive_table #(.T(logic [7:0]), .NumQp(NumQp), .Reads(2)) u_reads_done (
    .clk, .clear, .clear_qp, .we(finished), .wqp(qp), .wdata(done_q + 8'd1),
    .rqp(done_qp), .rdata(done_read)
  );
  nd_receive_walk u_walk (
    .clk, .rst, .start(walk_start), .stop(restart), .busy(walk_busy), .done(walk_done),
    .whole(1'b0), .whole_req('0), .pieces(1'b1), .piece_use(UseRemoteRead), .sge, .element(3'd0),
    .offset(offset_q), .bytes(piece_d), .invalidate(1'b0), .invalidate_token('0), .pd(cfg_q.pd),
    .qp, .failed(walk_failed), .why(unused_why), .end_element(unused_element),
    .end_offset(unused_offset), .chunks,
    .tr_req_valid, .tr_req_ready, .tr_req, .tr_rsp_valid, .tr_rsp_ready, .tr_rsp,
    .chunk_valid(walk_chunk_valid), .chunk_ready(walk_chunk_ready), .chunk(walk_chunk)
  );

  nd_ram #(.T(logic [7:0]), .Depth(NumQp * MaxRead)) u_newest (
    .clk, .we(newest), .waddr({newest_answer.qp[QpBits-1:0], newest_answer.slot[SlotBits-1:0]}),
    .wdata(newest_answer.asked), .raddr({qp_bits, response.slot[SlotBits-1:0]}), .rdata(asked)
  );

  assign qp         = response.qp;
  assign qp_bits    = qp[QpBits-1:0];
  assign done_qp[0] = qp;
  assign done_qp[1] = reads_qp;
  assign reads_done = done_read[1];
  assign qp_state   = qp_states[qp_bits];
  assign sends      = qp_state inside {QpRtr, QpRts} || (qp_state == QpErr && nak_q[qp_bits]);
  assign mtu        = mtu_bytes(cfg_q.mtu);
  assign left       = response.len - offset_q;
  assign psn        = response.psn + packet_q;
  assign restart    = epoch != epoch_q && !(state_q inside {Idle, Drain});

  always_comb begin
    sge = '0;
    sge[0].token   = response.token;
    sge[0].address = response.va;
    sge[0].length  = response.len;
  end

  assign commit_req = state_q == Ready && !restart && tx_ready && event_room && !pause &&
                      !(hold && hold_qp == qp);
  assign commit_record  = rec_q;
  assign tx          = tx_q;
  assign tx_valid    = commit_gnt && !discard_q;
  assign set_error   = commit_gnt && fault_q;
  assign event_valid = set_error && qp_state != QpErr;
  assign answered    = pop;
  assign answered_qp = qp;

  // The packet, from what was found.
  always_comb begin
    tx_d         = '0;
    tx_d.qp      = qp;
    tx_d.respond = 1'b1;
    tx_d.psn     = psn;
    tx_d.opcode  = OpAck;
    tx_d.aeth    = {response.syndrome, response.msn};
    rec_d        = commit_rec(CommitRespond, {8'd0, qp}, '0, psn, '0, RespondAck);
    both_d       = behind_valid && !discard_q;
    if (both_d) begin
      tx_d.psn  = behind.psn;
      tx_d.aeth = {behind.syndrome, behind.msn};
      rec_d.psn = behind.psn;
    end
    if (discard_q) begin
      rec_d.cause = RespondDiscard;
    end else if (fault_q) begin
      rec_d.cause = RespondNak;
      tx_d.aeth   = {AethAccess, response.msn};
    end else if (response.is_read) begin
      rec_d.cause = RespondRead;
      tx_d.aeth   = {AethAck, response.msn};
      tx_d.len    = piece_q;
      tx_d.chunks = piece_q != '0 ? {2'd0, chunks} : '0;
      unique case ({packet_q == '0, last_q})
        2'b11:   tx_d.opcode = OpReadOnly;
        2'b10:   tx_d.opcode = OpReadFirst;
        2'b01:   tx_d.opcode = OpReadLast;
        default: tx_d.opcode = OpReadMiddle;
      endcase
    end else if (response.syndrome[7:5] != 3'd0) begin
      rec_d.cause = RespondNak;
    end
  end

  always_comb begin
    state_d    = state_q;
    epoch_d    = epoch_q;
    cfg_d      = cfg_q;
    done_d     = done_q;
    offset_d   = offset_q;
    packet_d   = packet_q;
    piece_d    = piece_q;
    last_d     = last_q;
    discard_d  = discard_q;
    fault_d    = fault_q;
    walk_start = 1'b0;
    pop        = 1'b0;
    finished   = 1'b0;
    nak_d      = nak_q;
    unique case (state_q)
      Idle: begin
        epoch_d = epoch;
        if (head_valid) state_d = Look;
      end
      Look: begin
        cfg_d   = cfg;
        done_d  = done_read[0];
        state_d = Decide;
      end
      Decide: begin
        discard_d = !sends || (response.is_read && response.asked != asked);
        fault_d   = 1'b0;
        last_d    = left <= 32'(mtu);
        piece_d   = last_d ? len_t'(left) : mtu;
        state_d   = Build;
        if (restart) begin
          state_d = Drain;
        end else if (dead) begin
          pop     = 1'b1;
          state_d = Idle;
        end else if (!discard_d && response.is_read && left != '0) begin
          walk_start = 1'b1;
          state_d    = Walk;
        end
      end
      Walk: begin
        if (walk_done) begin
          fault_d = walk_failed != WalkPassed;
          state_d = Build;
        end
      end
      Build: state_d = Ready;
      Ready: begin
        if (commit_gnt) begin
          state_d  = Idle;
          pop      = discard_q || fault_q || !response.is_read || last_q;
          finished = pop && response.is_read && !response.replay;
          offset_d = offset_q + 32'(piece_q);
          packet_d = packet_q + 24'd1;
          if (fault_q || (response.syndrome[7:5] == 3'b011 && response.syndrome[4:0] != '0)) begin
            nak_d[qp_bits] = 1'b0;
          end
        end
      end
      Drain: if (!walk_busy) state_d = Idle;
      default: state_d = Idle;
    endcase
    if (restart) state_d = Drain;
    if (pop) begin
      offset_d = '0;
      packet_d = '0;
    end
    if (fatal) nak_d[fatal_qp[QpBits-1:0]] = 1'b1;
    if (clear) nak_d[clear_qp[QpBits-1:0]] = 1'b0;
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    epoch_q   <= epoch_d;
    cfg_q     <= cfg_d;
    done_q    <= done_d;
    offset_q  <= offset_d;
    packet_q  <= packet_d;
    piece_q   <= piece_d;
    last_q    <= last_d;
    discard_q <= discard_d;
    fault_q   <= fault_d;
    nak_q     <= nak_d;
    if (state_q == Build) begin
      tx_q   <= tx_d;
      rec_q  <= rec_d;
      both_q <= both_d;
    end
    if (rst) begin
      state_q  <= Idle;
      offset_q <= '0;
      packet_q <= '0;
      nak_q    <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_grant: assert (!commit_gnt || commit_req);
      a_head:  assert (state_q == Idle || head_valid);
    end
  end
`endif
endmodule
