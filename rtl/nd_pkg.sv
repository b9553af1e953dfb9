// Records that cross the borders of the rooms, and the sizes of the engine.
package nd_pkg;
  import nd_abi_pkg::*;

  // Fixed widths; the tables use as many bits as their size asks for.
  localparam int unsigned QpWidth = 16;
  typedef logic [QpWidth-1:0] qp_t;
  typedef logic [23:0]        psn_t;
  typedef logic [15:0]        idx_t;
  typedef logic [12:0]        len_t;    // 0..4096 bytes: a packet's payload, a chunk
  typedef logic [63:0]        addr_t;

  // Own addresses, static while traffic runs.
  typedef struct packed {
    logic [47:0]  mac;   // first octet in the lowest byte
    logic [31:0]  ipv4;  // first octet in the lowest byte
    logic [127:0] ipv6;  // first octet in the lowest byte
  } port_t;

  // Clocks of the timers, static while traffic runs.
  typedef struct packed {
    logic [15:0] time_unit;     // of 4.096 us
    logic [15:0] rnr_unit;      // of 10 us
    logic [23:0] cnp_interval;  // between two CNPs of a queue pair
  } timing_t;

  // ---- host -> rooms -------------------------------------------------------------------------

  // A doorbell, an arm (complete), or a limit (shared receive queues).
  typedef struct packed {
    logic        is_arm;
    arm_e        arm;
    logic [15:0] number;
    idx_t        index;
  } doorbell_t;

  // A table write.
  typedef struct packed {
    table_e       table_id;
    logic [3:0]   count;   // pages, 1..8
    logic [23:0]  index;
    logic [511:0] data;
  } ctx_write_t;

  // ---- host DMA ------------------------------------------------------------------------------

  // Fetch of whole 64-byte units; the address is aligned to 64 bytes and does not cross 4 KiB.
  typedef struct packed {
    addr_t      addr;
    logic [2:0] unit_count;  // 1, 2 or 4
    logic [8:0] tag;    // returned with the data
  } fetch_req_t;

  // One unit of the answer, in order; the requester always takes it.
  typedef struct packed {
    logic [8:0]   tag;
    logic [1:0]   unit;   // its number
    logic         last;
    logic         error;  // the bus answered with an error
    logic [511:0] data;
  } fetch_rsp_t;

  // A piece of host memory within one page.
  typedef struct packed {
    addr_t addr;
    len_t  len;  // 1..4096
  } chunk_t;

  // What the receive side tells the DMA writer, in order.
  typedef enum logic [1:0] {
    ScatterChunk,  // write the next `chunk.len` payload bytes of the current frame to `chunk.addr`
    ScatterNext,   // the frame is done: drop what is left of its payload
    ScatterPost    // hand out `post` after all chunks before it were answered on B
  } scatter_op_e;

  typedef enum logic [1:0] {
    PostReceive,   // receive completion
    PostRespond,   // ACK, NAK or read to be answered
    PostReadDone,  // all bytes of a read are placed
    PostFatal      // all bytes that a read received are placed, and its queue pair fails
  } post_kind_e;

  // A receive or send completion on its way to the completion queue that the context named when it
  // was made.
  typedef struct packed {
    qp_t         qp;
    logic [15:0] cq;
    logic        receive;
    logic        none_left;    // no entry: its queue pair has no receive of its shared queue left
    idx_t        wqe_index;
    logic [7:0]  opcode;
    status_e     status;
    logic        solicited;
    logic        invalidated;
    logic [31:0] byte_len;
    logic [31:0] token;
    logic [31:0] error_code;
  } completion_t;

  // A queued response of the responder.
  typedef struct packed {
    qp_t         qp;
    logic        is_read;
    logic        replay;    // of a read that was answered before: not counted again
    logic [7:0]  slot;      // read: its place among those that are remembered ...
    logic [7:0]  asked;     // ... and the repeats of reads before it; of a newer answer to it: more
    psn_t        psn;
    psn_t        msn;
    logic [7:0]  syndrome;  // ACK and NAK
    addr_t       va;        // read: where it starts
    logic [31:0] len;       // read: its length
    logic [31:0] token;     // read: remote token
  } response_t;

  typedef struct packed {
    post_kind_e  kind;
    completion_t completion;  // PostReceive; PostFatal: qp, status, error_code, PSN in token;
                              // with `receive`: in QpErr, nothing more is going to be placed;
                              // PostReadDone: qp, invalidated
    response_t   response;    // PostRespond
  } post_t;

  typedef struct packed {
    scatter_op_e op;
    chunk_t      chunk;
    post_t       post;
  } scatter_t;

  // What the completion room writes: an entry, an event, or both (the entry first).
  typedef struct packed {
    logic         has_entry;
    addr_t        addr;
    logic [255:0] entry;
    logic         has_event;
    event_kind_e  kind;
    logic [7:0]   code;
    logic [23:0]  number;
  } cpl_write_t;

  // ---- context -------------------------------------------------------------------------------

  typedef enum logic [2:0] {
    UseLocalRead,
    UseLocalWrite,
    UseRemoteRead,
    UseRemoteWrite,
    UseInvalidate
  } use_e;

  // Check of a range, and (unless `check_only`) its translation into chunks.
  typedef struct packed {
    logic [31:0] token;
    addr_t       va;
    logic [31:0] len;         // 1..2^31; at most 4096 unless check_only; ignored for UseInvalidate
    use_e        kind;
    logic [15:0] pd;
    qp_t         qp;          // that uses it: a window is of one queue pair
    logic        check_only;
  } translate_req_t;

  // One chunk of the answer; a fault or a mere check is one answer with `last`.
  typedef struct packed {
    logic   last;
    fault_e fault;
    chunk_t chunk;
  } translate_rsp_t;

  // A local request: Bind, FastRegister or Invalidate.
  typedef enum logic [1:0] {
    LocalBind,
    LocalFastRegister,
    LocalInvalidate
  } local_op_e;

  typedef struct packed {
    local_op_e   op;
    qp_t         qp;
    idx_t        index;         // of the work request
    logic [15:0] pd;
    logic [31:0] object_token;
    logic [31:0] region_token;  // Bind
    addr_t       va;            // Bind, FastRegister: first byte
    logic [31:0] len;           // Bind, FastRegister: bytes
    logic        local_write;   // FastRegister
    logic        remote_read;   // Bind, FastRegister
    logic        remote_write;  // Bind, FastRegister
    logic [7:0]  new_key;       // Bind
    logic [15:0] page_count;    // FastRegister
    logic [11:0] page_offset;   // FastRegister: of the first byte in the first page
  } local_req_t;

  // Parts of a queue-pair context, as the rooms read them.
  typedef struct packed {
    addr_t       sq_base;
    logic [3:0]  sq_log;
    logic [1:0]  sq_stride;
    logic [2:0]  mtu;
    logic [15:0] pd;
    logic [7:0]  max_ord;
    psn_t        sq_psn;
    logic [4:0]  timeout;
    logic [2:0]  retry_cnt;
  } qp_send_t;

  typedef struct packed {
    addr_t        rq_base;
    logic [3:0]   rq_log;
    logic [2:0]   mtu;
    logic [15:0]  pd;
    logic [7:0]   max_ird;
    psn_t         rq_psn;
    psn_t         sq_psn;     // una until the first response
    logic         remote_read;
    logic         remote_write;
    logic [4:0]   min_rnr_timer;
    logic [2:0]   retry_cnt;
    logic [2:0]   rnr_retry;
    logic         ipv6;
    logic [127:0] remote_ip;
  } qp_recv_t;

  typedef struct packed {
    logic         ipv6;
    logic [7:0]   traffic_class;
    logic [7:0]   hop_limit;
    logic [15:0]  udp_sport;
    logic [23:0]  remote_qpn;
    logic [47:0]  remote_mac;
    logic [127:0] remote_ip;
  } qp_addr_t;

  typedef struct packed {
    logic [15:0] send_cq;
    logic [15:0] recv_cq;
  } qp_cq_t;

  // ---- wire ----------------------------------------------------------------------------------

  // A frame to be sent; its payload comes from `chunks` chunks of the source's list.
  typedef struct packed {
    qp_t         qp;          // whose address is used
    logic        respond;     // which source's chunk list: 0 send, 1 respond
    logic [7:0]  chunks;
    logic [7:0]  opcode;
    logic        solicited;
    logic        ack_req;
    psn_t        psn;
    len_t        len;         // payload bytes
    addr_t       va;          // RETH
    logic [31:0] token;       // RETH
    logic [31:0] dma_len;     // RETH
    logic [31:0] aeth;        // syndrome in the top byte, MSN below
    logic [31:0] ieth;
  } tx_desc_t;

  // `opcode` of a whole Ethernet frame: its bytes are all payload, and of the rest only `chunks` and `len`
  // count.
  localparam logic [7:0] TxFrame = 8'hFF;

  // Queue pair of whole Ethernet frames.
  localparam qp_t FrameQp = 16'd1;

  // A received frame, dropped by the wire or not. Its payload (if len != 0) waits in the packet
  // buffer.
  typedef struct packed {
    // Fit for queue pair 1: `len` bytes from the first octet on wait in place of the payload.
    logic         whole;
    drop_cause_e  drop;       // causes 0..11
    logic [47:0]  dst_mac;    // first octet in the lowest byte
    logic         ipv6;
    logic [127:0] src_ip;     // first octet in the lowest byte; IPv4 as ::ffff:a.b.c.d
    logic [127:0] dst_ip;
    logic [7:0]   opcode;
    logic         solicited;
    logic         ack_req;
    logic [1:0]   pad;
    logic [15:0]  pkey;
    logic [1:0]   ecn;
    logic [23:0]  dest_qpn;
    psn_t         psn;
    addr_t        va;         // RETH
    logic [31:0]  token;      // RETH
    logic [31:0]  dma_len;    // RETH
    logic [31:0]  aeth;
    logic [31:0]  ieth;       // IETH or ImmDt
    len_t         len;        // payload bytes without pad; 0 when dropped and not whole
    // Payload above 4096 bytes, whole frame above 2048: `len` is so much, nothing is in the buffer.
    logic         oversize;
    logic [15:0]  frame_len;  // bytes of the frame, for the counters
  } rx_desc_t;

  // ---- rooms among themselves ----------------------------------------------------------------

  // What responses said of the requests of a queue pair; all zero after QpInit. Kept by `send`, written
  // by `receive` in the granted clock of an RxResponse, by `send` in that of its timers' actions.
  typedef struct packed {
    logic        live;        // `una` holds; else it is the context's sq_psn
    psn_t        una;         // oldest PSN not acknowledged
    logic        failed;      // after a failure: no response is taken
    logic [2:0]  go_backs;    // without progress
    logic [2:0]  rnr_waits;   // without progress; not counted while rnr_retry is 7
    logic        recovering;  // RxGoBack without progress since
    logic        waiting;     // for RNR
    logic [4:0]  rnr_code;    // how long
    logic [7:0]  reads;       // reads whose last response was accepted
    psn_t        packets;     // responses accepted of the oldest open read
    logic [31:0] bytes;       // their payload
    logic [2:0]  element;     // where the next byte goes
    logic [31:0] offset;
  } requester_t;

  // receive -> send: what responses mean for the send queue.
  typedef struct packed {
    qp_t         qp;
    psn_t        psn;         // everything before it is acknowledged
    logic        fail;        // the request that contains psn fails ...
    status_e     status;      // ... with this status
    logic [31:0] error_code;
  } ack_t;

  // An open read, as `receive` needs it to place responses.
  typedef struct packed {
    idx_t            wqe_index;
    psn_t            psn;       // of its first response
    logic [31:0]     len;
    logic            invalidate; // local_invalidate
    logic [3:0][127:0] sge;     // sge_t
  } read_t;

  // A commit record with its request line; granted in the same clock by the arbiter.
  function automatic commit_t commit_rec(
    commit_kind_e kind, logic [23:0] qpn, idx_t index, psn_t psn, logic [31:0] token,
    logic [7:0] cause
  );
    commit_t r;
    r.kind  = kind;
    r.qpn   = qpn;
    r.index = index;
    r.psn   = psn;
    r.token = token;
    r.cause = cause;
    return r;
  endfunction

  // Path MTU in bytes of its code.
  function automatic len_t mtu_bytes(logic [2:0] code);
    return len_t'(13'd128 << code);
  endfunction

  // a - b as a signed distance is negative: a is older than b.
  function automatic logic psn_older(psn_t a, psn_t b);
    return psn_t'(a - b) >= 24'h800000;
  endfunction
endpackage
