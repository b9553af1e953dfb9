//! The records and numbers.

use super::{Constant, Field, Layout};

const fn f(name: &'static str, width: usize, doc: &'static str) -> Field {
    Field { name, width, doc }
}

/// Send-queue work request: its first 64 bytes. Further scatter/gather elements or inline bytes
/// follow, up to the stride of the queue (64, 128 or 256 bytes). Inline data begins at byte 32.
pub static SQ_WQE: Layout = Layout {
    name: "sq_wqe",
    width: 512,
    fields: &[
        f("opcode", 8, "`wqe_opcode`"),
        f(
            "silent",
            1,
            "NDK_OP_FLAG_SILENT_SUCCESS: no completion entry on success",
        ),
        f(
            "read_fence",
            1,
            "NDK_OP_FLAG_READ_FENCE: starts after all earlier reads completed",
        ),
        f("solicited", 1, "NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT"),
        f(
            "inline_data",
            1,
            "NDK_OP_FLAG_INLINE: the payload lies in this request, from byte 32",
        ),
        f(
            "local_invalidate",
            1,
            "NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE: token of the first element",
        ),
        f("local_write", 1, "FastRegister: right of the region"),
        f(
            "remote_read",
            1,
            "FastRegister, Bind: right of the region or window",
        ),
        f(
            "remote_write",
            1,
            "FastRegister, Bind: right of the region or window",
        ),
        f(
            "num_sge",
            8,
            "scatter/gather elements that follow; 0 for inline",
        ),
        f("new_key", 8, "Bind: key of the window from then on"),
        f(
            "index",
            16,
            "the request's own producer index; another value is a malformed request",
        ),
        f("page_count", 16, "FastRegister: pages of the list"),
        f(
            "length",
            32,
            "payload bytes: sum of the elements, or inline bytes; FastRegister, Bind: bytes of the region or window",
        ),
        f(
            "object_token",
            32,
            "SendInvalidate: token that the peer invalidates; Invalidate: token; FastRegister: the region's from then on; Bind: the window's until then",
        ),
        f(
            "remote_address",
            64,
            "Read, Write: remote virtual address; FastRegister, Bind: virtual address of the first byte",
        ),
        f(
            "remote_token",
            32,
            "Read, Write: remote token; Bind: token of the region",
        ),
        f(
            "page_offset",
            12,
            "FastRegister: offset of the first byte in the first page",
        ),
        f("rsv0", 20, ""),
        f(
            "sge0",
            128,
            "first element, `sge`; FastRegister: its address is that of the page list, aligned to 64 bytes",
        ),
        f("sge1", 128, "second element, `sge`"),
    ],
    doc: "Send-queue work request (first 64 bytes)",
};

/// Scatter/gather element, laid out as NDK_SGE.
pub static SGE: Layout = Layout {
    name: "sge",
    width: 128,
    fields: &[
        f(
            "address",
            64,
            "virtual address, or logical address with the privileged token",
        ),
        f(
            "length",
            32,
            "bytes; 0 contributes nothing and its token is not checked",
        ),
        f("token", 32, "local token"),
    ],
    doc: "Scatter/gather element (NDK_SGE)",
};

/// Receive-queue work request: four elements, unused ones all zero.
pub static RQ_WQE: Layout = Layout {
    name: "rq_wqe",
    width: 512,
    fields: &[
        f("sge0", 128, "first element"),
        f("sge1", 128, "second element"),
        f("sge2", 128, "third element"),
        f("sge3", 128, "fourth element"),
    ],
    doc: "Receive-queue work request (64 bytes)",
};

/// Completion-queue entry, 32 bytes. The phase bit is the last bit of the last byte: it is 1 in the
/// first pass over the ring, 0 in the second, and so on; the ring starts as zeros.
pub static CQE: Layout = Layout {
    name: "cqe",
    width: 256,
    fields: &[
        f(
            "wqe_index",
            16,
            "producer index of the request that completed",
        ),
        f(
            "opcode",
            8,
            "send queue: `wqe_opcode`, 0 when flushed unseen; receive queue: 0x80",
        ),
        f("status", 8, "`status`"),
        f("qpn", 24, "queue pair number"),
        f("receive", 1, "1: the request was a receive"),
        f(
            "solicited",
            1,
            "receive of a send with the solicited-event bit",
        ),
        f("invalidated", 1, "receive that invalidated `token`"),
        f("rsv0", 5, ""),
        f("byte_len", 32, "receive: bytes of the message"),
        f("token", 32, "token that was invalidated; 0 if none"),
        f(
            "error_code",
            32,
            "0 on success; else NAK syndrome or `fault`, becomes ProviderErrorCode",
        ),
        f("rsv1", 95, ""),
        f("phase", 1, "phase bit"),
    ],
    doc: "Completion-queue entry (32 bytes)",
};

/// Event-queue entry, 16 bytes, with a phase bit as in [`CQE`].
pub static EQE: Layout = Layout {
    name: "eqe",
    width: 128,
    fields: &[
        f("kind", 8, "`event_kind`"),
        f("code", 8, "CqError, QpError: why"),
        f("rsv0", 16, ""),
        f(
            "number",
            24,
            "completion queue, queue pair or shared receive queue",
        ),
        f("rsv1", 71, ""),
        f("phase", 1, "phase bit"),
    ],
    doc: "Event-queue entry (16 bytes)",
};

/// Queue-pair entry of the context window.
pub static QP_CONTEXT: Layout = Layout {
    name: "qp_context",
    width: 512,
    fields: &[
        f("state", 4, "`qp_state`"),
        f(
            "mtu",
            3,
            "path MTU code: 1 = 256, 2 = 512, 3 = 1024, 4 = 2048, 5 = 4096 bytes",
        ),
        f("ipv6", 1, "addresses are IPv6"),
        f("sq_log", 4, "log2 of send-queue entries"),
        f(
            "sq_stride",
            2,
            "send-queue entry is 64 << stride bytes (0, 1, 2)",
        ),
        f("srq", 1, "receives come from a shared receive queue"),
        f("rsv0", 1, ""),
        f("rq_log", 4, "log2 of receive-queue entries"),
        f("remote_read", 1, "the peer may read"),
        f("remote_write", 1, "the peer may write"),
        f("rsv1", 2, ""),
        f("traffic_class", 8, "DSCP and ECN of transmitted packets"),
        f("pd", 16, "protection domain"),
        f("udp_sport", 16, "UDP source port of transmitted packets"),
        f("send_cq", 16, "completion queue of the send queue"),
        f("recv_cq", 16, "completion queue of the receive queue"),
        f("remote_qpn", 24, "peer's queue pair number"),
        f("hop_limit", 8, "TTL or hop limit of transmitted packets"),
        f("sq_psn", 24, "PSN of the first request sent"),
        f("max_ord", 8, "reads that may be outstanding to the peer"),
        f("rq_psn", 24, "PSN of the first request expected"),
        f(
            "max_ird",
            8,
            "reads that the peer may have outstanding here",
        ),
        f(
            "sq_base",
            64,
            "send-queue ring, logical address, aligned to its size",
        ),
        f(
            "rq_base",
            64,
            "receive-queue ring, logical address, aligned to its size; with `srq` the number of the shared receive queue",
        ),
        f(
            "remote_mac",
            48,
            "peer's MAC address, first octet in the lowest byte",
        ),
        f(
            "timeout",
            5,
            "local ACK timeout: 4.096 µs × 2^timeout; 0: none",
        ),
        f(
            "retry_cnt",
            3,
            "go-backs without progress before the request fails",
        ),
        f(
            "rnr_retry",
            3,
            "waits after RNR without progress before the request fails; 7: endless",
        ),
        f("min_rnr_timer", 5, "timer code sent in RNR NAKs"),
        f(
            "remote_ip",
            128,
            "peer's address, first octet in the lowest byte; IPv4 as ::ffff:a.b.c.d",
        ),
    ],
    doc: "Queue-pair context",
};

/// Completion-queue entry of the context window.
pub static CQ_CONTEXT: Layout = Layout {
    name: "cq_context",
    width: 128,
    fields: &[
        f(
            "valid",
            1,
            "the queue exists; writing an entry resets its indices, phase and arm",
        ),
        f("log_size", 5, "log2 of entries, at most 15"),
        f("rsv0", 26, ""),
        f(
            "moderation_count",
            16,
            "entries not consumed at which an event is not put off longer; 0 or 1: no moderation, 0xFFFF: no count",
        ),
        f(
            "moderation_interval",
            16,
            "µs for which an event is put off; 0: no moderation, 0xFFFF: no end",
        ),
        f("base", 64, "ring, logical address, aligned to 32 bytes"),
    ],
    doc: "Completion-queue context",
};

/// Shared-receive-queue entry of the context window.
pub static SRQ_CONTEXT: Layout = Layout {
    name: "srq_context",
    width: 128,
    fields: &[
        f(
            "valid",
            1,
            "the queue exists; writing an entry resets its indices and its limit",
        ),
        f("log_size", 5, "log2 of entries, at most 15"),
        f("rsv0", 58, ""),
        f("base", 64, "ring, logical address, aligned to 64 bytes"),
    ],
    doc: "Shared-receive-queue context",
};

/// Token entry of the context window. A token is `index << 8 | key`.
pub static TOKEN_CONTEXT: Layout = Layout {
    name: "token_context",
    width: 320,
    fields: &[
        f("valid", 1, "the token may be used"),
        f("kind", 2, "`token_kind`"),
        f(
            "local_write",
            1,
            "receives and read responses may be placed",
        ),
        f("remote_read", 1, "the peer may read"),
        f("remote_write", 1, "the peer may write"),
        f("rsv0", 2, ""),
        f("key", 8, "low byte of the token"),
        f("pd", 16, "protection domain"),
        f(
            "first_page",
            32,
            "index of its first page in the page table",
        ),
        f("base_address", 64, "virtual address of the first byte"),
        f("length", 64, "bytes"),
        f(
            "page_offset",
            12,
            "offset of the first byte in the first page",
        ),
        f("rsv1", 4, ""),
        f(
            "max_pages",
            16,
            "TokenFast: pages reserved for it, from first_page on",
        ),
        f("window_qp", 16, "bound window: its queue pair"),
        f("windows", 16, "region: windows bound to it"),
        f("parent", 24, "bound window: index of its region"),
        f("rsv2", 40, ""),
    ],
    doc: "Memory-token context",
};

/// One record of the commit port.
pub static COMMIT: Layout = Layout {
    name: "commit",
    width: 112,
    fields: &[
        f("kind", 8, "`commit_kind`"),
        f(
            "qpn",
            24,
            "queue pair; completion queue or table index where the kind says so",
        ),
        f("index", 16, "WQE or ring index"),
        f("psn", 24, "packet sequence number"),
        f("token", 32, "second number where the kind says so"),
        f("cause", 8, "which case of the kind"),
    ],
    doc: "Commit record: one action of the engine",
};

/// All records.
pub static LAYOUTS: &[&Layout] = &[
    &SQ_WQE,
    &SGE,
    &RQ_WQE,
    &CQE,
    &EQE,
    &QP_CONTEXT,
    &CQ_CONTEXT,
    &SRQ_CONTEXT,
    &TOKEN_CONTEXT,
    &COMMIT,
];

/// Shared numbers.
pub static CONSTANTS: &[Constant] = &[
    Constant {
        name: "MaxSqSge",
        value: 14,
        doc: "scatter/gather elements of a send or write",
    },
    Constant {
        name: "MaxReadSge",
        value: 4,
        doc: "scatter/gather elements of a read",
    },
    Constant {
        name: "MaxRqSge",
        value: 4,
        doc: "scatter/gather elements of a receive",
    },
    Constant {
        name: "MaxInline",
        value: 224,
        doc: "inline bytes",
    },
    Constant {
        name: "PageBytes",
        value: 4096,
        doc: "bytes of a page",
    },
    Constant {
        name: "MaxMessage",
        value: 1 << 31,
        doc: "bytes of a message",
    },
];
