//! The enumerations, each at once a Rust type and a row of the table.

use super::{Enumeration, Variant};

macro_rules! shared {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident, $sv:literal, $prefix:literal, $width:literal {
            $( $variant:ident = $value:literal, $vdoc:literal; )+
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[repr(u8)]
            pub enum $name { $( #[doc = $vdoc] $variant = $value, )+ }

            impl $name {
                /// The row of the shared table.
                pub const TABLE: Enumeration = Enumeration {
                    name: $sv,
                    width: $width,
                    variants: &[ $( Variant { name: concat!($prefix, stringify!($variant)), value: $value, doc: $vdoc } ),+ ],
                    doc: concat!($($doc),+),
                };

                /// All values, in the order of the table.
                pub const ALL: &'static [Self] = &[ $( Self::$variant ),+ ];

                /// The value of an encoding, or `None` if it is not one.
                pub fn from_bits(bits: u128) -> Option<Self> {
                    match bits { $( $value => Some(Self::$variant), )+ _ => None }
                }
            }

            impl From<$name> for u128 {
                fn from(value: $name) -> u128 { value as u128 }
            }
        )+

        /// All enumerations.
        pub static ENUMERATIONS: &[Enumeration] = &[ $( $name::TABLE ),+ ];
    };
}

shared! {
    /// Kind of a send-queue work request.
    WqeOpcode, "wqe_opcode", "Wqe", 8 {
        None = 0, "not a request; malformed";
        Send = 1, "NdkSend";
        SendInvalidate = 2, "NdkSendAndInvalidate";
        Read = 3, "NdkRead";
        Write = 4, "NdkWrite";
        Bind = 5, "NdkBind";
        FastRegister = 6, "NdkFastRegister";
        Invalidate = 7, "NdkInvalidate";
        Frame = 8, "whole Ethernet frame, queue pair 1 only";
    }

    /// Completion status (verbs numbering).
    Status, "status", "Status", 8 {
        Success = 0, "done";
        LocalLength = 1, "message longer than the receive, or read response of wrong length";
        LocalQpOperation = 2, "malformed work request, or FastRegister or Invalidate of what is not in the state for it";
        LocalProtection = 4, "local token, domain, bounds or right";
        Flushed = 5, "queue pair in error";
        Bind = 6, "memory window could not be bound";
        BadResponse = 7, "response that does not fit the request";
        RemoteInvalidRequest = 9, "NAK invalid request; also a receive refused for that";
        RemoteAccess = 10, "NAK remote access error";
        RemoteOperation = 11, "NAK remote operational error or an unknown NAK";
        RetryExceeded = 12, "lost, and retry_cnt go-backs brought no progress";
        RnrRetryExceeded = 13, "peer not ready, rnr_retry times";
    }

    /// Kind of an event.
    EventKind, "event_kind", "Event", 8 {
        Completion = 1, "an armed completion queue got a matching entry";
        CqError = 2, "completion queue overrun";
        QpError = 3, "queue pair went to error through its peer or a request; code is its `status`";
        SrqLimit = 4, "shared receive queue has fewer entries than its limit";
        LastWqe = 5, "queue pair in error will complete no further receive of its shared receive queue";
    }

    /// Queue-pair state.
    QpState, "qp_state", "Qp", 4 {
        Reset = 0, "does not exist for the wire";
        Init = 1, "receives may be posted; writing it clears all run-time state";
        Rtr = 2, "requests are served";
        Rts = 3, "requests are served and sent";
        Err = 4, "flushes";
    }

    /// Kind of a token.
    TokenKind, "token_kind", "Token", 2 {
        Region = 0, "NdkRegisterMr region";
        Fast = 1, "fast-registered region: made valid by FastRegister, may be invalidated";
        Window = 2, "memory window: made valid by Bind, used by one queue pair, never locally";
        Privileged = 3, "privileged token: addresses are logical, no page table, never remote";
    }

    /// Table of the context window.
    Table, "table", "Table", 4 {
        Qp = 0, "`qp_context`";
        Cq = 1, "`cq_context`";
        Token = 2, "`token_context`";
        Page = 3, "one to eight page addresses of 64 bits";
        Srq = 4, "`srq_context`";
        CqRing = 5, "`cq_context`: another ring for a completion queue";
        CqModeration = 6, "`cq_context`: moderation of a completion queue";
    }

    /// Arm type of a completion queue (NDKPI values).
    Arm, "arm", "Arm", 2 {
        Errors = 0, "NDK_CQ_NOTIFY_ERRORS";
        Any = 1, "NDK_CQ_NOTIFY_ANY";
        Solicited = 2, "NDK_CQ_NOTIFY_SOLICITED";
        None = 3, "not armed; never written by software";
    }

    /// Why a check failed; the first failure is reported.
    Fault, "fault", "Fault", 8 {
        None = 0, "no fault";
        TokenIndex = 1, "token index out of the table, or entry not valid";
        TokenKey = 2, "key byte differs";
        Domain = 3, "other protection domain";
        Right = 4, "right missing";
        Bounds = 5, "not inside the region, or address wraps";
        Kind = 6, "kind of token not allowed for this use";
        State = 7, "not free, or windows are bound to it";
        WqeIndex = 8, "WQE index differs from the expected one";
        WqeOpcode = 9, "unknown WQE opcode";
        WqeLength = 10, "more elements than the entry holds, elements shorter than length, length above 2^31, or not one that the request may have";
        QueuePair = 11, "window of another queue pair";
        PageList = 12, "bus error in the page list";
    }

    /// Why a frame was dropped; each has a counter.
    DropCause, "drop_cause", "Drop", 8 {
        None = 0, "accepted";
        NotRoce = 1, "not RoCEv2: slow path";
        FrameShort = 2, "shorter than its headers promise";
        IpVersion = 3, "version nibble or IHL";
        IpFragment = 4, "fragment";
        IpChecksum = 5, "IPv4 header checksum";
        UdpLength = 6, "UDP length";
        UdpChecksum = 7, "non-zero UDP checksum wrong";
        Opcode = 8, "unknown opcode";
        IbLength = 9, "shorter than its extension headers";
        Tver = 10, "transport version";
        Icrc = 11, "ICRC";
        DestAddress = 12, "not our MAC or IP address";
        Qpn = 13, "unknown queue pair";
        Service = 14, "opcode of another service";
        QpState = 15, "queue pair does not take it in this state";
        SourceAddress = 16, "not the peer's address";
        Pkey = 17, "partition key";
        Sequence = 18, "out of sequence, NAK already sent";
        StaleResponse = 19, "response outside the window";
        NoBuffer = 20, "no room for its answer";
        Unsupported = 21, "known opcode that the engine does not implement";
    }

    /// Kind of a commit record.
    CommitKind, "commit_kind", "Commit", 8 {
        None = 0, "never";
        Context = 1, "table entry written: qpn = index, cause = `table`, index = entries (pages)";
        SqDoorbell = 2, "send doorbell taken: qpn, index = producer index";
        RqDoorbell = 3, "receive doorbell taken: qpn, index = producer index";
        CqDoorbell = 4, "consumer index taken: qpn = CQ, index";
        Arm = 5, "arm taken: qpn = CQ, index = consumer index, cause = `arm`; fires at once if it must";
        SqEmit = 6, "one request packet leaves: qpn, index = WQE, psn";
        SqFail = 7, "request fails locally: qpn, index = WQE, cause = `status`, token = `fault`";
        RxDrop = 8, "frame dropped: qpn = DestQP (0 if unparsed), psn, cause = `drop_cause`";
        RxRequest = 9, "request taken: qpn, psn, cause = `rx_result`";
        RxResponse = 10, "response taken: qpn, psn, cause = `rx_result`";
        Respond = 11, "response packet leaves or is discarded: qpn, psn, cause = `respond`";
        Retire = 12, "request leaves the send queue: qpn, index = WQE, cause = `status`";
        Flush = 13, "request flushed: qpn, index = WQE, cause = 0 send queue, 1 receive queue, 2 no receive of its shared receive queue is left";
        Complete = 14, "entry written: qpn = CQ, index = its producer index, token = queue pair | receive << 24, cause = 1 if lost to an overrun";
        QpEvent = 15, "queue-pair event written: qpn, cause = `status`";
        Timeout = 16, "acknowledgement timer: qpn, psn = oldest not acknowledged, cause = 0 sends again, 1 fails";
        RnrResume = 17, "end of an RNR wait: qpn, psn = oldest not acknowledged";
        SqLocal = 18, "local request executed: qpn, index = WQE, token = its object_token";
        SrqDoorbell = 19, "shared receive doorbell taken: qpn = SRQ, index = producer index";
        SrqArm = 20, "limit taken: qpn = SRQ, index = limit";
        SrqEvent = 21, "limit event written: qpn = SRQ";
        CqEvent = 22, "completion event that was due written: qpn = CQ";
        RxFrame = 23, "frame for queue pair 1: qpn = 1, index = receive, cause = `status`";
    }

    /// What a received request or response led to.
    RxResult, "rx_result", "Rx", 8 {
        Accept = 0, "request executed, or positive ACK, or expected read response";
        Duplicate = 1, "request older than expected; answered again";
        NakSequence = 2, "NAK 0x60 queued";
        NakInvalid = 3, "NAK 0x61 queued; queue pair to error";
        NakAccess = 4, "NAK 0x62 queued; queue pair to error";
        NakOperation = 5, "NAK 0x63 queued; queue pair to error";
        Rnr = 6, "RNR NAK queued";
        Fatal = 7, "response that fails its request";
        GoBack = 8, "response that tells of a loss; sending starts again at the oldest PSN not acknowledged";
        RnrWait = 9, "RNR NAK: sending waits, then starts again";
        Cnp = 10, "congestion notification";
    }

    /// What a responder step emitted.
    RespondKind, "respond", "Respond", 8 {
        Ack = 0, "positive ACK";
        Nak = 1, "NAK or RNR NAK";
        Read = 2, "read response packet";
        Discard = 3, "queue pair in error, or read asked for again: dropped without a packet";
        Cnp = 4, "congestion notification packet";
    }

}
