// Records inside the room `send`.
package nd_send_pkg;
  import nd_pkg::*;
  import nd_abi_pkg::*;

  // The next packet of a send queue; all zero after QpInit. Moved by each packet, and by `seek` when
  // sending goes on elsewhere.
  typedef struct packed {
    psn_t        psn;      // its PSN; until something was sent it is the context's sq_psn
    idx_t        index;    // its request
    logic        started;  // it is not the first one of its request
    logic        again;    // the entry of its request was fetched anew and is checked anew
    logic [3:0]  element;  // its bytes begin `offset` behind the start of `element`
    logic [31:0] offset;
    logic [31:0] sent;     // bytes of the request before it
    logic [5:0]  packet;   // packets of the request before it, modulo 64
    logic [7:0]  reads;    // reads before it
  } progress_t;

  // How far a send queue ever came; all zero after QpInit. Never goes back.
  typedef struct packed {
    logic        live;     // something was sent
    psn_t        psn;      // after the newest packet or response
    idx_t        index;    // first request of which nothing was sent, nor executed
    logic [7:0]  reads;    // reads started
    logic        wide;     // the newest request takes much of the PSN space
  } top_t;

  // A request of which something was sent, or that was executed here (then it has no PSN, nor has a
  // frame). Written with its first packet.
  typedef struct packed {
    psn_t        first;    // PSN of its first packet; of a local request that of the next one
    psn_t        last;     // PSN of its last packet or response
    logic [2:0]  mtu;      // code of the path MTU
    logic [7:0]  opcode;
    logic        silent;
    logic        is_read;
    logic [7:0]  reads;    // reads before it
  } sent_t;

  // What is wrong with the request whose packet was next (SqFail).
  typedef struct packed {
    idx_t        index;
    logic [7:0]  opcode;
    status_e     status;
    fault_e      fault;
  } failure_t;

  // What responses said, in the order of payload. Written by `retire`.
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
    top_t        top;
    retired_t    retired;
    logic        executed; // its request is a local one, and was executed
    qp_send_t    cfg;
    sq_wqe_t     wqe;
  } job_t;

  // The packet that a job leads to.
  typedef struct packed {
    logic        blocked;   // it must wait: fence, reads, requests outstanding
    fault_e      fault;     // the request is malformed
    logic        fresh;     // nothing of its request was ever sent
    logic        behind;    // it was sent before
    logic        is_frame;  // a whole frame
    logic        is_local;  // a local request, ...
    logic        skip;      // ... which was executed before
    logic        is_read;
    logic        last;      // last packet of its request
    logic        wide;
    psn_t        psn;
    psn_t        last_psn;
    len_t        len;       // payload
    logic        has_inline;
    chunk_t      chunk;     // of inline data
    logic [7:0]  opcode;
    logic        ack_req;
    logic        solicited;
    addr_t       va;        // RETH: where a read goes on
    logic [31:0] dma_len;
  } plan_t;

  // What a granted packet writes.
  typedef struct packed {
    progress_t   progress;
    top_t        top;
    idx_t        request;
    logic        fresh;     // its first packet for the first time: `sent` is written, and `read`
    sent_t       sent;
    logic        is_read;
    logic [7:0]  number;    // of a read
    read_t       read;
  } packet_t;

  // A failing or flushing queue pair.
  typedef struct packed {
    qp_t     qp;
    status_e status;
  } qp_error_t;

  // Bytes of a whole frame.
  localparam logic [31:0] LeastFrame = 32'd14;
  localparam logic [31:0] MostFrame  = 32'd2048;

  // Requests of so many packets and more are alone in flight, so that PSNs compare.
  localparam int unsigned WideLog = 18;

  // A request that sends nothing and takes no PSN.
  function automatic logic is_local(logic [7:0] opcode);
    return opcode inside {WqeBind, WqeFastRegister, WqeInvalidate};
  endfunction

  // Done as soon as its action is granted.
  function automatic logic done_at_once(logic [7:0] opcode);
    return is_local(opcode) || opcode == WqeFrame;
  endfunction

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
      WqeFrame:          opcode = TxFrame;
      default:           opcode = 8'h0C;
    endcase
    return opcode;
  endfunction
endpackage
