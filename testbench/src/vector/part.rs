//! Parts of steps: elements, places, expected results and frames.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::{At, HexBytes, Number, Status, TokenRef};

/// A scatter/gather element.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Element {
    /// Bytes of this region, with its token.
    pub region: Option<At<String>>,
    /// Bytes of this memory; needs a `token`.
    pub memory: Option<At<String>>,
    /// A raw address instead; needs a `token`.
    pub address: Option<Number>,
    /// First byte, counted from the start of region or memory, or added to the address (default 0).
    #[serde(default)]
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// Another token than the region's.
    pub token: Option<At<TokenRef>>,
}

/// Remote memory of a read or write.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    /// The peer's region.
    pub region: Option<At<String>>,
    /// The peer's window: from its first byte on, with its newest token.
    pub window: Option<At<String>>,
    /// Offset from its start, or from `address` (default 0).
    #[serde(default)]
    pub offset: u64,
    /// A raw address instead.
    pub address: Option<Number>,
    /// Another token than that of the region or window.
    pub token: Option<At<TokenRef>>,
}

/// Part of a memory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The memory.
    pub memory: At<String>,
    /// First byte (default 0).
    #[serde(default)]
    pub offset: u64,
}

/// Arm types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Arm {
    /// NDK_CQ_NOTIFY_ERRORS.
    Errors,
    /// NDK_CQ_NOTIFY_ANY.
    Any,
    /// NDK_CQ_NOTIFY_SOLICITED.
    Solicited,
}

/// Type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of NDK_OPERATION_TYPE")]
pub enum ResultType {
    Receive,
    Send,
    FastRegister,
    Bind,
    Invalidate,
    Read,
    Write,
    ReceiveAndInvalidate,
}

/// Value of ProviderErrorCode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Not 0.
    Given,
    /// 0.
    None,
    /// That number.
    Is(u32),
}

/// An expected result. What is not named is not compared, but for the status, and a ProviderErrorCode of 0 on success.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedResult {
    /// Status (default STATUS_SUCCESS).
    #[serde(default)]
    pub status: Status,
    /// RequestContext. With `times` it counts up.
    pub context: Option<Number>,
    /// QPContext is that of this queue pair.
    pub qp: Option<At<String>>,
    /// Type.
    pub r#type: Option<ResultType>,
    /// BytesTransferred.
    pub bytes: Option<u32>,
    /// Token in TypeSpecificCompletionOutput.
    pub token: Option<At<TokenRef>>,
    /// ProviderErrorCode.
    pub error_code: Option<ErrorCode>,
    /// So many of them, with contexts counting up (default 1).
    pub times: Option<u32>,
}

/// A frame on the wire: an opcode, and fields of it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameFields {
    /// Name of the opcode, as "SEND Only".
    pub opcode: String,
    /// So many in a row; PSNs count up (default 1).
    pub times: Option<u32>,
    /// Solicited event bit.
    pub se: Option<bool>,
    /// AckReq bit.
    pub ack_req: Option<bool>,
    /// BECN bit.
    pub becn: Option<bool>,
    /// PSN.
    pub psn: Option<u32>,
    /// Pad count.
    pub pad: Option<u8>,
    /// Payload bytes.
    pub payload: Option<u32>,
    /// Virtual address of the RETH.
    pub va: Option<Number>,
    /// Token of the RETH.
    pub token: Option<TokenRef>,
    /// Length of the RETH.
    pub length: Option<u32>,
    /// Token of the IETH.
    pub ieth: Option<TokenRef>,
    /// Syndrome of the AETH.
    pub syndrome: Option<u8>,
    /// MSN of the AETH.
    pub msn: Option<u32>,
    /// IP version.
    pub ip: Option<u8>,
}

/// A frame: only its opcode, or a table of [`FrameFields`].
#[derive(Clone, Debug)]
pub struct Frame(pub FrameFields);

/// Which frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// All.
    #[default]
    All,
    /// What send queues send.
    Requests,
    /// ACK, NAK and read responses.
    Responses,
}

/// A frame in the order of both directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Passing {
    /// Node that sent it.
    pub from: At<String>,
    /// Name of the opcode.
    pub opcode: At<String>,
    /// PSN.
    pub psn: Option<u32>,
    /// Syndrome of the AETH.
    pub syndrome: Option<u8>,
}

/// A number: one, or bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number, or { at_least = 1, at_most = 3 }"
)]
pub enum Count {
    /// This one.
    Exactly(u32),
    /// Between bounds.
    #[serde(rename_all = "snake_case")]
    Between {
        /// The least (default 0).
        #[serde(default)]
        at_least: u32,
        /// The greatest (default: no bound).
        at_most: Option<u32>,
    },
}

impl Count {
    /// Whether a number fits.
    pub fn fits(self, number: u32) -> bool {
        match self {
            Self::Exactly(exactly) => number == exactly,
            Self::Between { at_least, at_most } => {
                number >= at_least && at_most.is_none_or(|most| number <= most)
            }
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(exactly) => exactly.fmt(f),
            Self::Between {
                at_least,
                at_most: None,
            } => write!(f, "at least {at_least}"),
            Self::Between {
                at_least: 0,
                at_most: Some(most),
            } => write!(f, "at most {most}"),
            Self::Between {
                at_least,
                at_most: Some(most),
            } => write!(f, "{at_least} to {most}"),
        }
    }
}

/// So many frames of a kind.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// The frames: those with all fields that it names.
    pub frame: At<Frame>,
    /// How many: a number, or `{ at_least, at_most }`.
    pub times: Count,
}

/// Bytes of an OID answer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerBytes {
    /// Offset in the buffer.
    pub at: usize,
    /// The bytes there.
    pub hex: HexBytes,
}

/// Kind of an OID request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OidKind {
    /// NdisRequestQueryInformation.
    #[default]
    Query,
    /// NdisRequestSetInformation.
    Set,
    /// NdisRequestQueryStatistics.
    Statistics,
    /// NdisRequestMethod.
    Method,
}

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Until nothing happens any more on any node.
    Idle,
    /// So many clocks (actions of the model).
    Clocks(u32),
}

/// When everything that was posted is accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Accounting {
    /// With the results that are there; what has none may still be under way.
    Now,
    /// When nothing happens any more: nothing may be under way.
    Settled,
}
