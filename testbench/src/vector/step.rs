//! Steps: calls of NDKPI, waits, and expectations. Which step a table is follows from the key in it that names one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub use super::closing::{
    CloseConnector, CloseListener, CloseMr, CloseMw, CloseQp, CloseSharedEndpoint, CloseSrq,
};
pub use super::connection::{
    Accept, CompleteConnect, ConnectEvents, ConnectTo, Disconnect, ExpectCompleted, ExpectConnect,
    ExpectConnection, ExpectDisconnect, Listen, Reject,
};
use super::impairment::Impairment;
use super::object::Endpoint;
pub use super::part::*;
use super::value::{At, Number, Pattern, RequestFlags, Status, TokenRef};
use crate::network::Alteration;

/// What all posting steps share.
macro_rules! posting {
    ($(#[$meta:meta])* $name:ident, $verb:ident, $what:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            #[doc = $what]
            pub $verb: At<String>,
            /// RequestContext (default 0). With `times` it counts up.
            #[serde(default)]
            pub context: Number,
            /// Scatter/gather list (default empty).
            #[serde(default)]
            pub sgl: Vec<At<Element>>,
            /// What the call returns (default STATUS_SUCCESS).
            #[serde(default)]
            pub returns: Status,
            /// Posts so many, with contexts counting up (default 1).
            pub times: Option<u32>,
            /// Statuses that its result may have, for `expect_accounted` (default: any).
            #[serde(default)]
            pub ends: Vec<Status>,
            $($(#[$field_meta])* pub $field: $type,)*
        }
    };
}

posting!(
    /// NdkSend.
    Send, send, "Queue pair that sends." {
        /// Flags (default none).
        #[serde(default)]
        flags: RequestFlags,
    }
);
posting!(
    /// NdkSendAndInvalidate.
    SendAndInvalidate, send_and_invalidate, "Queue pair that sends." {
        /// Flags (default none).
        #[serde(default)]
        flags: RequestFlags,
        /// Token that the peer shall invalidate.
        token: At<TokenRef>,
    }
);
posting!(
    /// NdkReceive.
    Receive, receive, "Queue pair that receives." {}
);
posting!(
    /// NdkSrqReceive.
    SrqReceive, srq_receive, "Shared receive queue." {}
);
posting!(
    /// NdkRead.
    Read, read, "Queue pair that reads." {
        /// Flags (default none).
        #[serde(default)]
        flags: RequestFlags,
        /// Where to read.
        remote: At<Remote>,
    }
);
posting!(
    /// NdkWrite.
    Write, write, "Queue pair that writes." {
        /// Flags (default none).
        #[serde(default)]
        flags: RequestFlags,
        /// Where to write.
        remote: At<Remote>,
    }
);

/// What all steps share that post a request which concerns one node only.
macro_rules! local {
    ($(#[$meta:meta])* $name:ident, $verb:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Queue pair.
            pub $verb: At<String>,
            /// RequestContext (default 0).
            #[serde(default)]
            pub context: Number,
            /// Flags (default none).
            #[serde(default)]
            pub flags: RequestFlags,
            /// What the call returns (default STATUS_SUCCESS).
            #[serde(default)]
            pub returns: Status,
            /// Statuses that its result may have, for `expect_accounted` (default: any).
            #[serde(default)]
            pub ends: Vec<Status>,
            $($(#[$field_meta])* pub $field: $type,)*
        }
    };
}

local!(
    /// NdkBind.
    Bind, bind {
        /// Window.
        window: At<String>,
        /// Region.
        region: At<String>,
        /// First byte, counted from the start of the region (default 0).
        #[serde(default)]
        offset: u64,
        /// Bytes (default: the rest of the region).
        length: Option<u64>,
    }
);
local!(
    /// NdkFastRegister of the pages of a region.
    FastRegister, fast_register {
        /// Region.
        region: At<String>,
        /// First byte of the memory (default: the region's).
        offset: Option<u64>,
        /// Length (default: the region's).
        length: Option<u64>,
        /// BaseVirtualAddress (default: as the memory knows it).
        address: Option<Number>,
        /// FBO (default: where the first byte lies in its page).
        fbo: Option<u32>,
        /// So many pages of the list (default: all).
        pages: Option<usize>,
    }
);
local!(
    /// NdkInvalidate of a region or a window.
    Invalidate, invalidate {
        /// Region.
        region: Option<At<String>>,
        /// Window.
        window: Option<At<String>>,
    }
);

macro_rules! steps {
    ($( $(#[$meta:meta])* $variant:ident, $name:ident, $verb:literal { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* } )+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }
        )+
    };
}

steps! {
    /// NdkFlush.
    Flush, Flush, "flush" {
        /// Queue pair.
        flush: At<String>,
    }
    /// NdkArmCq.
    Arm, ArmStep, "arm" {
        /// Completion queue.
        arm: At<String>,
        /// What it fires on.
        r#type: Arm,
    }
    /// One call of NdkGetCqResults(Ex), with what it returns.
    Poll, Poll, "poll" {
        /// Completion queue.
        poll: At<String>,
        /// nResults.
        n: usize,
        /// Number of results that it returns; they are then compared with `results`, if there are some.
        returns: usize,
        /// NdkGetCqResults instead of NdkGetCqResultsEx.
        #[serde(default)]
        plain: bool,
        /// The results.
        #[serde(default)]
        results: Vec<ExpectedResult>,
    }
    /// NdkRegisterMr of a region declared with `later`, or of one that was deregistered.
    Register, Register, "register" {
        /// Region.
        register: At<String>,
        /// What the call returns.
        #[serde(default)]
        returns: Status,
    }
    /// NdkDeregisterMr.
    Deregister, Deregister, "deregister" {
        /// Region.
        deregister: At<String>,
        /// What the call returns.
        #[serde(default)]
        returns: Status,
    }
    /// Makes a connection declared with `later`.
    Connect, Connect, "connect" {
        /// Connection.
        connect: At<String>,
    }
    /// NdkCreateQp of a declared queue pair that was closed, with what the declaration says.
    CreateQp, CreateQp, "create_qp" {
        /// Queue pair.
        create_qp: At<String>,
    }
    /// Creates one more queue pair like a declared one, with other sizes; it is closed again.
    TryQp, TryQp, "try_qp" {
        /// Queue pair whose parameters are taken.
        try_qp: At<String>,
        /// ReceiveQueueDepth.
        receive_depth: Option<u32>,
        /// InitiatorQueueDepth.
        initiator_depth: Option<u32>,
        /// MaxReceiveRequestSge.
        receive_sge: Option<u32>,
        /// MaxInitiatorRequestSge.
        initiator_sge: Option<u32>,
        /// InlineDataSize.
        inline: Option<u32>,
        /// What the call returns.
        #[serde(default)]
        returns: Status,
    }
    /// NdkModifySrq.
    ModifySrq, ModifySrq, "modify_srq" {
        /// Shared receive queue.
        modify_srq: At<String>,
        /// SrqDepth (default 0: as it is).
        #[serde(default)]
        depth: u32,
        /// NotifyThreshold (default 0: as it is).
        #[serde(default)]
        threshold: u32,
        /// What the call returns.
        #[serde(default)]
        returns: Status,
    }
    /// NdkResizeCq.
    ResizeCq, ResizeCq, "resize_cq" {
        /// Completion queue.
        resize_cq: At<String>,
        /// CqDepth.
        depth: u32,
        /// What the call returns.
        #[serde(default)]
        returns: Status,
    }
    /// NdkControlCqInterruptModeration.
    Moderate, Moderate, "moderate_cq" {
        /// Completion queue.
        moderate_cq: At<String>,
        /// ModerationInterval, in microseconds.
        interval: u32,
        /// ModerationCount.
        count: u32,
        /// What the call returns.
        #[serde(default)]
        returns: Status,
    }
    /// An OID request.
    Oid, OidStep, "oid" {
        /// Node.
        oid: At<String>,
        /// OID_NDK_LOCAL_ENDPOINTS if absent.
        number: Option<u32>,
        /// Kind of the request.
        #[serde(default)]
        kind: OidKind,
        /// Length of the buffer.
        buffer: usize,
        /// What the buffer holds before (default 0xEE each byte).
        fill: Option<u8>,
        /// NDIS status.
        #[serde(default)]
        returns: Status,
        /// BytesWritten.
        written: Option<u32>,
        /// BytesNeeded.
        needed: Option<u32>,
        /// Bytes of the answer.
        #[serde(default)]
        answer: Vec<AnswerBytes>,
        /// Whether the buffer must be as before.
        #[serde(default)]
        untouched: bool,
    }
    /// Adds listeners and shared endpoints.
    AddEndpoints, AddEndpoints, "add_endpoints" {
        /// Node.
        add_endpoints: At<String>,
        /// The endpoints.
        endpoints: Vec<Endpoint>,
    }
    /// Takes all endpoints away.
    ClearEndpoints, ClearEndpoints, "clear_endpoints" {
        /// Node.
        clear_endpoints: At<String>,
    }
    /// The processor writes memory.
    Fill, Fill, "fill" {
        /// Memory.
        fill: At<String>,
        /// First byte (default 0).
        #[serde(default)]
        offset: u64,
        /// Bytes (default: the rest).
        length: Option<u64>,
        /// With what.
        with: Pattern,
    }
    /// Changes the network from here on: one more impairment, or the end of some.
    Network, NetworkStep, "network" {
        /// The impairment, or `heal`, `resume`, `release`.
        network: At<Impairment>,
    }
    /// Puts a frame on the wire that no node sent. It seems to come from the peer, and passes without impairments.
    Inject, Inject, "inject" {
        /// Queue pair that gets it.
        inject: At<String>,
        /// Node that it seems to come from (default: the peer's; must be there if the queue pair is not connected).
        from: Option<At<String>>,
        /// The frame; what is not named has the value of an ordinary one.
        frame: At<Frame>,
        /// Address and token of its RETH.
        remote: Option<At<Remote>>,
        /// What its payload is filled with (default zeros).
        #[serde(default)]
        fill: Pattern,
        /// Fields that make it an extraordinary one.
        alter: Option<Alteration>,
    }
    /// Lets time pass.
    Wait, WaitStep, "wait" {
        /// How long.
        wait: Wait,
    }
    /// Waits for results of a completion queue and compares them in order.
    ExpectResults, ExpectResults, "expect_results" {
        /// Completion queue.
        expect_results: At<String>,
        /// The results.
        results: Vec<ExpectedResult>,
        /// In any order (results of several queues).
        #[serde(default)]
        any_order: bool,
        /// NdkGetCqResults instead of NdkGetCqResultsEx; only status, contexts and bytes are compared then.
        #[serde(default)]
        plain: bool,
    }
    /// Waits until nothing happens any more; then the queue must be empty.
    ExpectNoResults, ExpectNoResults, "expect_no_results" {
        /// Completion queue.
        expect_no_results: At<String>,
    }
    /// Compares memory.
    ExpectMemory, ExpectMemory, "expect_memory" {
        /// Memory.
        expect_memory: At<String>,
        /// First byte (default 0).
        #[serde(default)]
        offset: u64,
        /// Bytes (default: the rest).
        length: Option<u64>,
        /// The pattern that must be there.
        is: Option<At<Pattern>>,
        /// Byte of the pattern that comes first (default 0).
        #[serde(default)]
        from: u64,
        /// Another memory that must hold the same.
        same_as: Option<Place>,
        /// Must be what the processor wrote there last.
        #[serde(default)]
        unchanged: bool,
    }
    /// Waits for a notification of a completion queue.
    ExpectNotification, ExpectNotification, "expect_notification" {
        /// Completion queue.
        expect_notification: At<String>,
        /// CqStatus.
        #[serde(default)]
        status: Status,
    }
    /// Waits until nothing happens any more; then no notification must have come.
    ExpectNoNotification, ExpectNoNotification, "expect_no_notification" {
        /// Completion queue.
        expect_no_notification: At<String>,
    }
    /// Waits for the notification of a shared receive queue.
    ExpectSrqNotification, ExpectSrqNotification, "expect_srq_notification" {
        /// Shared receive queue.
        expect_srq_notification: At<String>,
    }
    /// Waits until nothing happens any more; then no notification of it must have come.
    ExpectNoSrqNotification, ExpectNoSrqNotification, "expect_no_srq_notification" {
        /// Shared receive queue.
        expect_no_srq_notification: At<String>,
    }
    /// Waits until a queue pair reports an error.
    ExpectQpError, ExpectQpError, "expect_qp_error" {
        /// Queue pair.
        expect_qp_error: At<String>,
        /// Why, if it is compared.
        status: Option<Status>,
    }
    /// Compares the frames that a node sent since the last such step for it.
    ExpectFrames, ExpectFrames, "expect_frames" {
        /// Node that sent them.
        expect_frames: At<String>,
        /// Which ones are looked at.
        #[serde(default)]
        of: FrameKind,
        /// The frames.
        frames: Vec<At<Frame>>,
    }
    /// Counts the frames that a node sent since the last such step, or `expect_frames`, for it; others maybe between.
    ExpectSent, ExpectSent, "expect_sent" {
        /// Node that sent them, to the wire or to where the network lost them.
        expect_sent: At<String>,
        /// The frames, each with its number.
        frames: Vec<At<Sent>>,
    }
    /// Frames of all nodes that passed the wire in this order, others maybe between.
    ExpectOrder, ExpectOrder, "expect_order" {
        /// The frames.
        expect_order: Vec<Passing>,
    }
    /// The greatest number of reads of the peer that were in progress at once at a queue pair, as the wire saw it from the
    /// first step on: from when their request was sent until their last response was.
    ExpectReads, ExpectReads, "expect_reads" {
        /// Queue pair that answers them.
        expect_reads: At<String>,
        /// The number, or bounds.
        at_once: Count,
    }
    /// Compares everything that was posted with all that came of it: results, errors, memory.
    ExpectAccounted, ExpectAccounted, "expect_accounted" {
        /// When.
        expect_accounted: Accounting,
    }
    /// Compares registers, by name (`DROP_<cause>`, `RX_FRAMES`, `GO_BACKS`, …) or offset.
    ExpectRegisters, ExpectRegisters, "expect_registers" {
        /// Node.
        expect_registers: At<String>,
        /// Name and value: a number, or `{ at_least, at_most }`.
        values: BTreeMap<String, Count>,
    }
}

macro_rules! verbs {
    ($( $variant:ident($type:ident) = $verb:literal; )+) => {
        /// A step.
        #[derive(Clone, Debug, JsonSchema)]
        #[schemars(untagged)]
        #[expect(missing_docs, reason = "each is documented at its type")]
        pub enum Step { $( $variant($type), )+ }

        impl Step {
            /// The keys that make a table a step, one for each kind.
            pub const VERBS: &'static [&'static str] = &[ $( $verb ),+ ];

            /// The key that names the kind of this step.
            pub fn verb(&self) -> &'static str {
                match self { $( Self::$variant(_) => $verb, )+ }
            }

            /// Reads the step that `verb` names.
            pub(super) fn read<'de, D: serde::Deserializer<'de>>(verb: &str, table: D) -> Result<Self, D::Error> {
                match verb {
                    $( $verb => $type::deserialize(table).map(Self::$variant), )+
                    _ => Err(serde::de::Error::custom(format!("unknown step `{verb}`"))),
                }
            }
        }
    };
}

verbs! {
    Send(Send) = "send";
    SendAndInvalidate(SendAndInvalidate) = "send_and_invalidate";
    Receive(Receive) = "receive";
    SrqReceive(SrqReceive) = "srq_receive";
    Bind(Bind) = "bind";
    FastRegister(FastRegister) = "fast_register";
    Invalidate(Invalidate) = "invalidate";
    Read(Read) = "read";
    Write(Write) = "write";
    Flush(Flush) = "flush";
    Arm(ArmStep) = "arm";
    Poll(Poll) = "poll";
    Register(Register) = "register";
    Deregister(Deregister) = "deregister";
    Connect(Connect) = "connect";
    CreateQp(CreateQp) = "create_qp";
    TryQp(TryQp) = "try_qp";
    CloseQp(CloseQp) = "close_qp";
    CloseMw(CloseMw) = "close_mw";
    CloseMr(CloseMr) = "close_mr";
    CloseSrq(CloseSrq) = "close_srq";
    ModifySrq(ModifySrq) = "modify_srq";
    ResizeCq(ResizeCq) = "resize_cq";
    Moderate(Moderate) = "moderate_cq";
    Listen(Listen) = "listen";
    ConnectEvents(ConnectEvents) = "connect_events";
    ConnectTo(ConnectTo) = "connect_to";
    ExpectConnect(ExpectConnect) = "expect_connect";
    Accept(Accept) = "accept";
    Reject(Reject) = "reject";
    CompleteConnect(CompleteConnect) = "complete_connect";
    Disconnect(Disconnect) = "disconnect";
    ExpectCompleted(ExpectCompleted) = "expect_completed";
    ExpectDisconnect(ExpectDisconnect) = "expect_disconnect";
    ExpectConnection(ExpectConnection) = "expect_connection";
    CloseConnector(CloseConnector) = "close_connector";
    CloseListener(CloseListener) = "close_listener";
    CloseSharedEndpoint(CloseSharedEndpoint) = "close_shared_endpoint";
    Oid(OidStep) = "oid";
    AddEndpoints(AddEndpoints) = "add_endpoints";
    ClearEndpoints(ClearEndpoints) = "clear_endpoints";
    ExpectMemory(ExpectMemory) = "expect_memory";
    ExpectResults(ExpectResults) = "expect_results";
    ExpectNoResults(ExpectNoResults) = "expect_no_results";
    ExpectNotification(ExpectNotification) = "expect_notification";
    ExpectNoNotification(ExpectNoNotification) = "expect_no_notification";
    ExpectSrqNotification(ExpectSrqNotification) = "expect_srq_notification";
    ExpectNoSrqNotification(ExpectNoSrqNotification) = "expect_no_srq_notification";
    ExpectQpError(ExpectQpError) = "expect_qp_error";
    ExpectFrames(ExpectFrames) = "expect_frames";
    ExpectSent(ExpectSent) = "expect_sent";
    ExpectOrder(ExpectOrder) = "expect_order";
    ExpectReads(ExpectReads) = "expect_reads";
    ExpectRegisters(ExpectRegisters) = "expect_registers";
    ExpectAccounted(ExpectAccounted) = "expect_accounted";
    Network(NetworkStep) = "network";
    Inject(Inject) = "inject";
    Wait(WaitStep) = "wait";
    Fill(Fill) = "fill";
}
