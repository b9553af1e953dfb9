// Records inside the room `receive`.
package nd_receive_pkg;
  import nd_pkg::*;
  import nd_abi_pkg::*;

  typedef enum logic [1:0] {
    MessageNone,
    MessageSend,
    MessageWrite
  } message_e;

  // Responder state of a queue pair; all zero after QpInit.
  typedef struct packed {
    logic        live;       // `psn` holds; else the context's rq_psn is expected
    psn_t        psn;        // expected next
    message_e    message;    // in progress
    logic [31:0] bytes;      // send: received so far
    logic [2:0]  element;    // send: where the next byte goes
    logic [31:0] offset;
    addr_t       va;         // write: where the next byte goes
    logic [31:0] remaining;  // write: bytes still to come
    logic [31:0] token;      // write: remote token
    psn_t        msn;
    logic        nak_sent;   // sequence or RNR NAK sent for `psn`
    logic [7:0]  reads;      // reads accepted
    logic [7:0]  remembered; // of them, at most 255
    logic [7:0]  asked;      // repeats of reads
  } responder_t;

  // A read that was accepted, in case that it is asked for again.
  typedef struct packed {
    psn_t        psn;
    addr_t       va;
    logic [31:0] len;
    logic [31:0] token;
  } accepted_t;

  // A fetched receive.
  typedef struct packed {
    logic [33:0]       total;  // of the elements' lengths
    logic [3:0][127:0] sge;  // sge_t
  } receive_t;

  // What a frame gives the DMA writer: chunks from the chunk list, end of payload, then posts.
  typedef struct packed {
    logic [5:0]  chunks;
    logic        next;       // the frame has payload in the packet buffer
    logic        receive;    // post `completion`
    logic        other;       // post of `other_kind` (then not `receive` if PostFatal)
    post_kind_e  other_kind;
    qp_t         qp;          // PostReadDone
    completion_t completion;
    response_t   response;
  } job_t;

  // Verdict on a frame, before (accepted ones) or after its tokens were checked.
  typedef struct packed {
    logic        drop;        // RxDrop with `drop_cause`
    drop_cause_e drop_cause;
    rx_result_e  result;      // else RxRequest or RxResponse with this
    logic        retry;       // nothing yet: the receive is still being fetched
    logic        search;      // RxDuplicate if the read is remembered, else DropSequence
    logic        firm;        // holds although packets are sent and answers leave
    logic        answer;      // queue an answer with `psn` and `syndrome`
    psn_t        psn;         // also: everything before it is acknowledged ...
    logic        moved;       // ... by this response
    logic        counted;     // RxRnrWait: the wait counts
    logic [7:0]  syndrome;
    logic        receive;     // the receive in use completes: now, or if a check of tokens fails
    status_e     status;      // of the receive, or of the failed request
    logic        whole;       // check the whole remote range first
    logic        pieces;      // translate and place the payload
    logic        invalidate;  // check the token for invalidation
  } plan_t;

  // All that a decided frame does in the clock of its grant.
  typedef struct packed {
    commit_t     rec;
    drop_cause_e drop;          // DropNone: counted as accepted
    logic        keep;          // its chunks are placed
    logic        job_valid;
    job_t        job;
    logic        responder_we;
    responder_t  responder;
    logic        requester_we;
    requester_t  requester;
    logic        ack_valid;
    ack_t        ack;
    logic        fatal;         // the queue pair goes to error ...
    status_e     fatal_status;  // ... for this reason
    logic        invalidate;    // `token` becomes invalid
    logic [31:0] token;
    logic        consumed;      // the receive in use is done ...
    logic        released;      // ... or was one of a shared queue
    logic        taken;         // an entry of the shared queue is taken ...
    logic        kept;          // ... for packets that follow
    logic        reserve;       // an answer is queued
    logic        remember;      // the frame is a read that was accepted
    logic        newest;        // `job.response` is the newest answer to its read
    logic        congested;     // the frame met congestion: its queue pair is marked
  } effect_t;

  // Which check of tokens failed.
  typedef enum logic [1:0] {
    WalkPassed,
    WalkWhole,
    WalkPiece,
    WalkInvalidate
  } walk_e;

  // What an opcode is.
  typedef struct packed {
    logic send;
    logic write;
    logic read;
    logic atomic;
    logic immediate;
    logic invalidate;
    logic starts;  // First, Only
    logic ends;    // Last, Only
    logic response;
    logic cnp;     // congestion notification, a response too
  } op_t;

  localparam logic [7:0] OpReadFirst  = 8'h0D;
  localparam logic [7:0] OpReadMiddle = 8'h0E;
  localparam logic [7:0] OpReadLast   = 8'h0F;
  localparam logic [7:0] OpReadOnly   = 8'h10;
  localparam logic [7:0] OpAck        = 8'h11;
  localparam logic [7:0] OpAtomicAck  = 8'h12;
  localparam logic [7:0] OpCnp        = 8'h81;

  localparam logic [7:0] AethAck       = 8'h1F;
  localparam logic [2:0] AethRnr       = 3'b001;  // upper bits; below them the timer's code
  localparam logic [7:0] AethSequence  = 8'h60;
  localparam logic [7:0] AethInvalid   = 8'h61;
  localparam logic [7:0] AethAccess    = 8'h62;
  localparam logic [7:0] AethOperation = 8'h63;

  localparam logic [1:0] EcnCongested = 2'b11;

  localparam logic [2:0] RnrEndless = 3'd7;  // rnr_retry

  localparam logic [7:0] OpcodeReceive = 8'h80;  // of a receive's completion

  // What a whole frame for queue pair 1 is.
  localparam op_t OpFrame = '{send: 1'b1, starts: 1'b1, ends: 1'b1, default: 1'b0};

  function automatic op_t decode(logic [7:0] opcode);
    op_t op;
    op = '0;
    unique case (opcode)
      8'h00: op = '{send: 1'b1, starts: 1'b1, default: 1'b0};
      8'h01: op = '{send: 1'b1, default: 1'b0};
      8'h02: op = '{send: 1'b1, ends: 1'b1, default: 1'b0};
      8'h03: op = '{send: 1'b1, ends: 1'b1, immediate: 1'b1, default: 1'b0};
      8'h04: op = '{send: 1'b1, starts: 1'b1, ends: 1'b1, default: 1'b0};
      8'h05: op = '{send: 1'b1, starts: 1'b1, ends: 1'b1, immediate: 1'b1, default: 1'b0};
      8'h06: op = '{write: 1'b1, starts: 1'b1, default: 1'b0};
      8'h07: op = '{write: 1'b1, default: 1'b0};
      8'h08: op = '{write: 1'b1, ends: 1'b1, default: 1'b0};
      8'h09: op = '{write: 1'b1, ends: 1'b1, immediate: 1'b1, default: 1'b0};
      8'h0A: op = '{write: 1'b1, starts: 1'b1, ends: 1'b1, default: 1'b0};
      8'h0B: op = '{write: 1'b1, starts: 1'b1, ends: 1'b1, immediate: 1'b1, default: 1'b0};
      8'h0C: op = '{read: 1'b1, starts: 1'b1, ends: 1'b1, default: 1'b0};
      8'h13, 8'h14: op = '{atomic: 1'b1, starts: 1'b1, ends: 1'b1, default: 1'b0};
      8'h16: op = '{send: 1'b1, ends: 1'b1, invalidate: 1'b1, default: 1'b0};
      8'h17: op = '{send: 1'b1, starts: 1'b1, ends: 1'b1, invalidate: 1'b1, default: 1'b0};
      OpReadFirst:         op = '{response: 1'b1, starts: 1'b1, default: 1'b0};
      OpReadMiddle, OpAck: op = '{response: 1'b1, default: 1'b0};
      OpReadLast:          op = '{response: 1'b1, ends: 1'b1, default: 1'b0};
      OpReadOnly:          op = '{response: 1'b1, starts: 1'b1, ends: 1'b1, default: 1'b0};
      OpCnp: op = '{response: 1'b1, cnp: 1'b1, default: 1'b0};
      default: op = '0;
    endcase
    return op;
  endfunction
endpackage
