// Host ABI and commit records. Generated from model/src/abi by `cargo xtask abi`; do not edit.
package nd_abi_pkg;

  // scatter/gather elements of a send or write
  localparam longint unsigned MaxSqSge = 64'd14;

  // scatter/gather elements of a read
  localparam longint unsigned MaxReadSge = 64'd4;

  // scatter/gather elements of a receive
  localparam longint unsigned MaxRqSge = 64'd4;

  // inline bytes
  localparam longint unsigned MaxInline = 64'd224;

  // bytes of a page
  localparam longint unsigned PageBytes = 64'd4096;

  // bytes of a message
  localparam longint unsigned MaxMessage = 64'd2147483648;

  // Kind of a send-queue work request.
  typedef enum logic [7:0] {
    WqeNone = 8'd0,  // not a request; malformed
    WqeSend = 8'd1,  // NdkSend
    WqeSendInvalidate = 8'd2,  // NdkSendAndInvalidate
    WqeRead = 8'd3,  // NdkRead
    WqeWrite = 8'd4,  // NdkWrite
    WqeBind = 8'd5,  // NdkBind
    WqeFastRegister = 8'd6,  // NdkFastRegister
    WqeInvalidate = 8'd7,  // NdkInvalidate
    WqeFrame = 8'd8  // whole Ethernet frame, queue pair 1 only
  } wqe_opcode_e;

  // Completion status (verbs numbering).
  typedef enum logic [7:0] {
    StatusSuccess = 8'd0,  // done
    StatusLocalLength = 8'd1,  // message longer than the receive, or read response of wrong length
    StatusLocalQpOperation = 8'd2,  // malformed work request, or FastRegister or Invalidate of what is not in the state for it
    StatusLocalProtection = 8'd4,  // local token, domain, bounds or right
    StatusFlushed = 8'd5,  // queue pair in error
    StatusBind = 8'd6,  // memory window could not be bound
    StatusBadResponse = 8'd7,  // response that does not fit the request
    StatusRemoteInvalidRequest = 8'd9,  // NAK invalid request; also a receive refused for that
    StatusRemoteAccess = 8'd10,  // NAK remote access error
    StatusRemoteOperation = 8'd11,  // NAK remote operational error or an unknown NAK
    StatusRetryExceeded = 8'd12,  // lost, and retry_cnt go-backs brought no progress
    StatusRnrRetryExceeded = 8'd13  // peer not ready, rnr_retry times
  } status_e;

  // Kind of an event.
  typedef enum logic [7:0] {
    EventCompletion = 8'd1,  // an armed completion queue got a matching entry
    EventCqError = 8'd2,  // completion queue overrun
    EventQpError = 8'd3,  // queue pair went to error through its peer or a request; code is its `status`
    EventSrqLimit = 8'd4,  // shared receive queue has fewer entries than its limit
    EventLastWqe = 8'd5  // queue pair in error will complete no further receive of its shared receive queue
  } event_kind_e;

  // Queue-pair state.
  typedef enum logic [3:0] {
    QpReset = 4'd0,  // does not exist for the wire
    QpInit = 4'd1,  // receives may be posted; writing it clears all run-time state
    QpRtr = 4'd2,  // requests are served
    QpRts = 4'd3,  // requests are served and sent
    QpErr = 4'd4  // flushes
  } qp_state_e;

  // Kind of a token.
  typedef enum logic [1:0] {
    TokenRegion = 2'd0,  // NdkRegisterMr region
    TokenFast = 2'd1,  // fast-registered region: made valid by FastRegister, may be invalidated
    TokenWindow = 2'd2,  // memory window: made valid by Bind, used by one queue pair, never locally
    TokenPrivileged = 2'd3  // privileged token: addresses are logical, no page table, never remote
  } token_kind_e;

  // Table of the context window.
  typedef enum logic [3:0] {
    TableQp = 4'd0,  // `qp_context`
    TableCq = 4'd1,  // `cq_context`
    TableToken = 4'd2,  // `token_context`
    TablePage = 4'd3,  // one to eight page addresses of 64 bits
    TableSrq = 4'd4,  // `srq_context`
    TableCqRing = 4'd5,  // `cq_context`: another ring for a completion queue
    TableCqModeration = 4'd6  // `cq_context`: moderation of a completion queue
  } table_e;

  // Arm type of a completion queue (NDKPI values).
  typedef enum logic [1:0] {
    ArmErrors = 2'd0,  // NDK_CQ_NOTIFY_ERRORS
    ArmAny = 2'd1,  // NDK_CQ_NOTIFY_ANY
    ArmSolicited = 2'd2,  // NDK_CQ_NOTIFY_SOLICITED
    ArmNone = 2'd3  // not armed; never written by software
  } arm_e;

  // Why a check failed; the first failure is reported.
  typedef enum logic [7:0] {
    FaultNone = 8'd0,  // no fault
    FaultTokenIndex = 8'd1,  // token index out of the table, or entry not valid
    FaultTokenKey = 8'd2,  // key byte differs
    FaultDomain = 8'd3,  // other protection domain
    FaultRight = 8'd4,  // right missing
    FaultBounds = 8'd5,  // not inside the region, or address wraps
    FaultKind = 8'd6,  // kind of token not allowed for this use
    FaultState = 8'd7,  // not free, or windows are bound to it
    FaultWqeIndex = 8'd8,  // WQE index differs from the expected one
    FaultWqeOpcode = 8'd9,  // unknown WQE opcode
    FaultWqeLength = 8'd10,  // more elements than the entry holds, elements shorter than length, length above 2^31, or not one that the request may have
    FaultQueuePair = 8'd11,  // window of another queue pair
    FaultPageList = 8'd12  // bus error in the page list
  } fault_e;

  // Why a frame was dropped; each has a counter.
  typedef enum logic [7:0] {
    DropNone = 8'd0,  // accepted
    DropNotRoce = 8'd1,  // not RoCEv2: slow path
    DropFrameShort = 8'd2,  // shorter than its headers promise
    DropIpVersion = 8'd3,  // version nibble or IHL
    DropIpFragment = 8'd4,  // fragment
    DropIpChecksum = 8'd5,  // IPv4 header checksum
    DropUdpLength = 8'd6,  // UDP length
    DropUdpChecksum = 8'd7,  // non-zero UDP checksum wrong
    DropOpcode = 8'd8,  // unknown opcode
    DropIbLength = 8'd9,  // shorter than its extension headers
    DropTver = 8'd10,  // transport version
    DropIcrc = 8'd11,  // ICRC
    DropDestAddress = 8'd12,  // not our MAC or IP address
    DropQpn = 8'd13,  // unknown queue pair
    DropService = 8'd14,  // opcode of another service
    DropQpState = 8'd15,  // queue pair does not take it in this state
    DropSourceAddress = 8'd16,  // not the peer's address
    DropPkey = 8'd17,  // partition key
    DropSequence = 8'd18,  // out of sequence, NAK already sent
    DropStaleResponse = 8'd19,  // response outside the window
    DropNoBuffer = 8'd20,  // no room for its answer
    DropUnsupported = 8'd21  // known opcode that the engine does not implement
  } drop_cause_e;

  // Kind of a commit record.
  typedef enum logic [7:0] {
    CommitNone = 8'd0,  // never
    CommitContext = 8'd1,  // table entry written: qpn = index, cause = `table`, index = entries (pages)
    CommitSqDoorbell = 8'd2,  // send doorbell taken: qpn, index = producer index
    CommitRqDoorbell = 8'd3,  // receive doorbell taken: qpn, index = producer index
    CommitCqDoorbell = 8'd4,  // consumer index taken: qpn = CQ, index
    CommitArm = 8'd5,  // arm taken: qpn = CQ, index = consumer index, cause = `arm`; fires at once if it must
    CommitSqEmit = 8'd6,  // one request packet leaves: qpn, index = WQE, psn
    CommitSqFail = 8'd7,  // request fails locally: qpn, index = WQE, cause = `status`, token = `fault`
    CommitRxDrop = 8'd8,  // frame dropped: qpn = DestQP (0 if unparsed), psn, cause = `drop_cause`
    CommitRxRequest = 8'd9,  // request taken: qpn, psn, cause = `rx_result`
    CommitRxResponse = 8'd10,  // response taken: qpn, psn, cause = `rx_result`
    CommitRespond = 8'd11,  // response packet leaves or is discarded: qpn, psn, cause = `respond`
    CommitRetire = 8'd12,  // request leaves the send queue: qpn, index = WQE, cause = `status`
    CommitFlush = 8'd13,  // request flushed: qpn, index = WQE, cause = 0 send queue, 1 receive queue, 2 no receive of its shared receive queue is left
    CommitComplete = 8'd14,  // entry written: qpn = CQ, index = its producer index, token = queue pair | receive << 24, cause = 1 if lost to an overrun
    CommitQpEvent = 8'd15,  // queue-pair event written: qpn, cause = `status`
    CommitTimeout = 8'd16,  // acknowledgement timer: qpn, psn = oldest not acknowledged, cause = 0 sends again, 1 fails
    CommitRnrResume = 8'd17,  // end of an RNR wait: qpn, psn = oldest not acknowledged
    CommitSqLocal = 8'd18,  // local request executed: qpn, index = WQE, token = its object_token
    CommitSrqDoorbell = 8'd19,  // shared receive doorbell taken: qpn = SRQ, index = producer index
    CommitSrqArm = 8'd20,  // limit taken: qpn = SRQ, index = limit
    CommitSrqEvent = 8'd21,  // limit event written: qpn = SRQ
    CommitCqEvent = 8'd22,  // completion event that was due written: qpn = CQ
    CommitRxFrame = 8'd23  // frame for queue pair 1: qpn = 1, index = receive, cause = `status`
  } commit_kind_e;

  // What a received request or response led to.
  typedef enum logic [7:0] {
    RxAccept = 8'd0,  // request executed, or positive ACK, or expected read response
    RxDuplicate = 8'd1,  // request older than expected; answered again
    RxNakSequence = 8'd2,  // NAK 0x60 queued
    RxNakInvalid = 8'd3,  // NAK 0x61 queued; queue pair to error
    RxNakAccess = 8'd4,  // NAK 0x62 queued; queue pair to error
    RxNakOperation = 8'd5,  // NAK 0x63 queued; queue pair to error
    RxRnr = 8'd6,  // RNR NAK queued
    RxFatal = 8'd7,  // response that fails its request
    RxGoBack = 8'd8,  // response that tells of a loss; sending starts again at the oldest PSN not acknowledged
    RxRnrWait = 8'd9,  // RNR NAK: sending waits, then starts again
    RxCnp = 8'd10  // congestion notification
  } rx_result_e;

  // What a responder step emitted.
  typedef enum logic [7:0] {
    RespondAck = 8'd0,  // positive ACK
    RespondNak = 8'd1,  // NAK or RNR NAK
    RespondRead = 8'd2,  // read response packet
    RespondDiscard = 8'd3,  // queue pair in error, or read asked for again: dropped without a packet
    RespondCnp = 8'd4  // congestion notification packet
  } respond_e;

  // Send-queue work request (first 64 bytes)
  typedef struct packed {
    logic [127:0] sge1;  // second element, `sge`
    logic [127:0] sge0;  // first element, `sge`; FastRegister: its address is that of the page list, aligned to 64 bytes
    logic [19:0] rsv0;  // reserved, zero
    logic [11:0] page_offset;  // FastRegister: offset of the first byte in the first page
    logic [31:0] remote_token;  // Read, Write: remote token; Bind: token of the region
    logic [63:0] remote_address;  // Read, Write: remote virtual address; FastRegister, Bind: virtual address of the first byte
    logic [31:0] object_token;  // SendInvalidate: token that the peer invalidates; Invalidate: token; FastRegister: the region's from then on; Bind: the window's until then
    logic [31:0] length;  // payload bytes: sum of the elements, or inline bytes; FastRegister, Bind: bytes of the region or window
    logic [15:0] page_count;  // FastRegister: pages of the list
    logic [15:0] index;  // the request's own producer index; another value is a malformed request
    logic [7:0] new_key;  // Bind: key of the window from then on
    logic [7:0] num_sge;  // scatter/gather elements that follow; 0 for inline
    logic [0:0] remote_write;  // FastRegister, Bind: right of the region or window
    logic [0:0] remote_read;  // FastRegister, Bind: right of the region or window
    logic [0:0] local_write;  // FastRegister: right of the region
    logic [0:0] local_invalidate;  // NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE: token of the first element
    logic [0:0] inline_data;  // NDK_OP_FLAG_INLINE: the payload lies in this request, from byte 32
    logic [0:0] solicited;  // NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT
    logic [0:0] read_fence;  // NDK_OP_FLAG_READ_FENCE: starts after all earlier reads completed
    logic [0:0] silent;  // NDK_OP_FLAG_SILENT_SUCCESS: no completion entry on success
    logic [7:0] opcode;  // `wqe_opcode`
  } sq_wqe_t;

  // Scatter/gather element (NDK_SGE)
  typedef struct packed {
    logic [31:0] token;  // local token
    logic [31:0] length;  // bytes; 0 contributes nothing and its token is not checked
    logic [63:0] address;  // virtual address, or logical address with the privileged token
  } sge_t;

  // Receive-queue work request (64 bytes)
  typedef struct packed {
    logic [127:0] sge3;  // fourth element
    logic [127:0] sge2;  // third element
    logic [127:0] sge1;  // second element
    logic [127:0] sge0;  // first element
  } rq_wqe_t;

  // Completion-queue entry (32 bytes)
  typedef struct packed {
    logic [0:0] phase;  // phase bit
    logic [94:0] rsv1;  // reserved, zero
    logic [31:0] error_code;  // 0 on success; else NAK syndrome or `fault`, becomes ProviderErrorCode
    logic [31:0] token;  // token that was invalidated; 0 if none
    logic [31:0] byte_len;  // receive: bytes of the message
    logic [4:0] rsv0;  // reserved, zero
    logic [0:0] invalidated;  // receive that invalidated `token`
    logic [0:0] solicited;  // receive of a send with the solicited-event bit
    logic [0:0] receive;  // 1: the request was a receive
    logic [23:0] qpn;  // queue pair number
    logic [7:0] status;  // `status`
    logic [7:0] opcode;  // send queue: `wqe_opcode`, 0 when flushed unseen; receive queue: 0x80
    logic [15:0] wqe_index;  // producer index of the request that completed
  } cqe_t;

  // Event-queue entry (16 bytes)
  typedef struct packed {
    logic [0:0] phase;  // phase bit
    logic [70:0] rsv1;  // reserved, zero
    logic [23:0] number;  // completion queue, queue pair or shared receive queue
    logic [15:0] rsv0;  // reserved, zero
    logic [7:0] code;  // CqError, QpError: why
    logic [7:0] kind;  // `event_kind`
  } eqe_t;

  // Queue-pair context
  typedef struct packed {
    logic [127:0] remote_ip;  // peer's address, first octet in the lowest byte; IPv4 as ::ffff:a.b.c.d
    logic [4:0] min_rnr_timer;  // timer code sent in RNR NAKs
    logic [2:0] rnr_retry;  // waits after RNR without progress before the request fails; 7: endless
    logic [2:0] retry_cnt;  // go-backs without progress before the request fails
    logic [4:0] timeout;  // local ACK timeout: 4.096 µs × 2^timeout; 0: none
    logic [47:0] remote_mac;  // peer's MAC address, first octet in the lowest byte
    logic [63:0] rq_base;  // receive-queue ring, logical address, aligned to its size; with `srq` the number of the shared receive queue
    logic [63:0] sq_base;  // send-queue ring, logical address, aligned to its size
    logic [7:0] max_ird;  // reads that the peer may have outstanding here
    logic [23:0] rq_psn;  // PSN of the first request expected
    logic [7:0] max_ord;  // reads that may be outstanding to the peer
    logic [23:0] sq_psn;  // PSN of the first request sent
    logic [7:0] hop_limit;  // TTL or hop limit of transmitted packets
    logic [23:0] remote_qpn;  // peer's queue pair number
    logic [15:0] recv_cq;  // completion queue of the receive queue
    logic [15:0] send_cq;  // completion queue of the send queue
    logic [15:0] udp_sport;  // UDP source port of transmitted packets
    logic [15:0] pd;  // protection domain
    logic [7:0] traffic_class;  // DSCP and ECN of transmitted packets
    logic [1:0] rsv1;  // reserved, zero
    logic [0:0] remote_write;  // the peer may write
    logic [0:0] remote_read;  // the peer may read
    logic [3:0] rq_log;  // log2 of receive-queue entries
    logic [0:0] rsv0;  // reserved, zero
    logic [0:0] srq;  // receives come from a shared receive queue
    logic [1:0] sq_stride;  // send-queue entry is 64 << stride bytes (0, 1, 2)
    logic [3:0] sq_log;  // log2 of send-queue entries
    logic [0:0] ipv6;  // addresses are IPv6
    logic [2:0] mtu;  // path MTU code: 1 = 256, 2 = 512, 3 = 1024, 4 = 2048, 5 = 4096 bytes
    logic [3:0] state;  // `qp_state`
  } qp_context_t;

  // Completion-queue context
  typedef struct packed {
    logic [63:0] base;  // ring, logical address, aligned to 32 bytes
    logic [15:0] moderation_interval;  // µs for which an event is put off; 0: no moderation, 0xFFFF: no end
    logic [15:0] moderation_count;  // entries not consumed at which an event is not put off longer; 0 or 1: no moderation, 0xFFFF: no count
    logic [25:0] rsv0;  // reserved, zero
    logic [4:0] log_size;  // log2 of entries, at most 15
    logic [0:0] valid;  // the queue exists; writing an entry resets its indices, phase and arm
  } cq_context_t;

  // Shared-receive-queue context
  typedef struct packed {
    logic [63:0] base;  // ring, logical address, aligned to 64 bytes
    logic [57:0] rsv0;  // reserved, zero
    logic [4:0] log_size;  // log2 of entries, at most 15
    logic [0:0] valid;  // the queue exists; writing an entry resets its indices and its limit
  } srq_context_t;

  // Memory-token context
  typedef struct packed {
    logic [39:0] rsv2;  // reserved, zero
    logic [23:0] parent;  // bound window: index of its region
    logic [15:0] windows;  // region: windows bound to it
    logic [15:0] window_qp;  // bound window: its queue pair
    logic [15:0] max_pages;  // TokenFast: pages reserved for it, from first_page on
    logic [3:0] rsv1;  // reserved, zero
    logic [11:0] page_offset;  // offset of the first byte in the first page
    logic [63:0] length;  // bytes
    logic [63:0] base_address;  // virtual address of the first byte
    logic [31:0] first_page;  // index of its first page in the page table
    logic [15:0] pd;  // protection domain
    logic [7:0] key;  // low byte of the token
    logic [1:0] rsv0;  // reserved, zero
    logic [0:0] remote_write;  // the peer may write
    logic [0:0] remote_read;  // the peer may read
    logic [0:0] local_write;  // receives and read responses may be placed
    logic [1:0] kind;  // `token_kind`
    logic [0:0] valid;  // the token may be used
  } token_context_t;

  // Commit record: one action of the engine
  typedef struct packed {
    logic [7:0] cause;  // which case of the kind
    logic [31:0] token;  // second number where the kind says so
    logic [23:0] psn;  // packet sequence number
    logic [15:0] index;  // WQE or ring index
    logic [23:0] qpn;  // queue pair; completion queue or table index where the kind says so
    logic [7:0] kind;  // `commit_kind`
  } commit_t;
endpackage
