// Records inside the room `send`.
package nd_send_pkg;
  import nd_pkg::*;
  import nd_abi_pkg::*;

  // Where the send queue of a queue pair stands; all zero after QpInit. Written by `emit`.
  typedef struct packed {
    logic        live;     // `psn` holds; else the context's sq_psn is next
    psn_t        psn;      // of the next packet
    idx_t        index;    // request of the next packet
    logic        started;  // part of that request was sent:
    logic [3:0]  element;  // where its next byte comes from
    logic [31:0] offset;
    logic [31:0] sent;     // bytes sent
    logic [5:0]  packet;   // packets sent, modulo 64
    logic [7:0]  reads;    // reads started
    logic        wide;    // the newest request takes much of the PSN space
  } progress_t;

  // A request that was sent, in part at least, or that failed. Written by `emit`.
  typedef struct packed {
    psn_t        last;     // PSN of its last packet or response
    logic [7:0]  opcode;
    logic        silent;
    logic        is_read;
    logic [7:0]  read;     // its number among the reads
    logic        failed;   // SqFail with:
    logic        unsent;   // no packet of it left
    status_e     status;
    fault_e      fault;
  } sent_t;

  // What responses said. Written by `retire`.
  typedef struct packed {
    logic        live;     // `una` holds
    psn_t        una;      // everything before it is acknowledged
    logic        failed;   // the request that contains `una` failed with:
    status_e     status;
    logic [31:0] error_code;
  } acked_t;

  // What left the queue. Written by `retire`.
  typedef struct packed {
    idx_t        index;    // oldest request still in the queue
    logic [7:0]  reads;    // reads retired
  } retired_t;

  // A queue pair chosen to send its next packet, with all that was read for it.
  typedef struct packed {
    qp_t         qp;
    logic [7:0]  epoch;    // before the first look-up
    progress_t   progress;
    retired_t    retired;
    qp_send_t    cfg;
    sq_wqe_t     wqe;
  } job_t;

  // The packet that a job leads to.
  typedef struct packed {
    logic        blocked;   // it must wait: fence, reads, requests outstanding
    fault_e      fault;     // the request is malformed
    logic        is_read;
    logic        last;      // last packet of its request
    logic        wide;
    psn_t        psn;
    psn_t        last_psn;
    len_t        len;       // payload
    logic [31:0] need;      // bytes to walk over: payload, or the whole sink of a read
    logic        has_inline;
    chunk_t      chunk;     // of inline data
    logic [7:0]  opcode;
    logic        ack_req;
    logic        solicited;
  } plan_t;

  // A failing or flushing queue pair.
  typedef struct packed {
    qp_t     qp;
    status_e status;
  } qp_error_t;

  // Requests of so many packets and more are alone in flight, so that PSNs compare.
  localparam int unsigned WideLog = 18;

  // Where an entry lies in its ring, in bytes.
  function automatic logic [23:0] entry_place(idx_t index, logic [3:0] log, logic [1:0] stride);
    idx_t mask;
    mask = (16'd1 << log) - 16'd1;
    return 24'(index & mask) << (4'd6 + 4'(stride));
  endfunction

  // Opcode of a packet.
  function automatic logic [7:0] packet_opcode(logic [7:0] wqe, logic first, logic last);
    logic [7:0] opcode;
    unique case (wqe)
      WqeSend:           opcode = first ? (last ? 8'h04 : 8'h00) : (last ? 8'h02 : 8'h01);
      WqeSendInvalidate: opcode = first ? (last ? 8'h17 : 8'h00) : (last ? 8'h16 : 8'h01);
      WqeWrite:          opcode = first ? (last ? 8'h0A : 8'h06) : (last ? 8'h08 : 8'h07);
      default:           opcode = 8'h0C;
    endcase
    return opcode;
  endfunction
endpackage
