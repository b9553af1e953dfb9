//! Connection management in vectors: listeners, connectors, shared endpoints, and the steps about them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::closing::success;
use super::impairment::Several;
use super::object::ReadLimits;
use super::value::{At, HexBytes, Number, Status};

/// A listener; listens by a `listen` step.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listener {
    /// Its node.
    pub node: At<String>,
    /// Its port (default 5445); 0 for any.
    pub port: Option<u16>,
    /// IP version, 4 (default) or 6.
    pub ip: Option<At<u8>>,
}

/// A connector of an active side. Those of a passive side come from `expect_connect` steps.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connector {
    /// Its node.
    pub node: At<String>,
}

/// A shared endpoint.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedEndpoint {
    /// Its node.
    pub node: At<String>,
    /// Its port (default 0: any).
    #[serde(default)]
    pub port: u16,
    /// IP version, 4 (default) or 6.
    pub ip: Option<At<u8>>,
}

/// STATUS_PENDING.
fn pending() -> Status {
    Status(tandem_model::ndk::NtStatus::PENDING)
}

/// NdkListen.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// Listener.
    pub listen: At<String>,
    /// What the call returns.
    #[serde(default)]
    pub returns: Status,
}

/// NdkControlConnectEvents.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectEvents {
    /// Listener.
    pub connect_events: At<String>,
    /// Whether they are paused, or go on.
    pub paused: bool,
}

/// NdkConnect, or NdkConnectWithSharedEndpoint.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectTo {
    /// Connector.
    pub connect_to: At<String>,
    /// Queue pair.
    pub qp: At<String>,
    /// Listener that it asks.
    pub listener: At<String>,
    /// Another port than the listener's.
    pub port: Option<u16>,
    /// Local port (default 0: any).
    #[serde(default)]
    pub local_port: u16,
    /// Shared endpoint that it asks from.
    pub shared_endpoint: Option<At<String>>,
    /// Private data (default none).
    #[serde(default)]
    pub private_data: HexBytes,
    /// Read limits (default: the adapter's).
    pub reads: Option<ReadLimits>,
    /// RequestContext (default 0).
    #[serde(default)]
    pub context: Number,
    /// What the call returns (default STATUS_PENDING).
    #[serde(default = "pending")]
    pub returns: Status,
}

/// Waits for a request at a listener.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectConnect {
    /// Listener.
    pub expect_connect: At<String>,
    /// Name that its connector gets.
    pub connector: At<String>,
}

/// NdkAccept.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// Connector.
    pub accept: At<String>,
    /// Queue pair.
    pub qp: At<String>,
    /// Private data (default none).
    #[serde(default)]
    pub private_data: HexBytes,
    /// Read limits (default: the adapter's).
    pub reads: Option<ReadLimits>,
    /// RequestContext (default 0).
    #[serde(default)]
    pub context: Number,
    /// Context of its disconnect event; absent: no event.
    pub disconnect_event: Option<Number>,
    /// What the call returns (default STATUS_PENDING).
    #[serde(default = "pending")]
    pub returns: Status,
}

/// NdkReject.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reject {
    /// Connector.
    pub reject: At<String>,
    /// Private data (default none).
    #[serde(default)]
    pub private_data: HexBytes,
    /// What the call returns.
    #[serde(default)]
    pub returns: Status,
}

/// NdkCompleteConnect.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteConnect {
    /// Connector.
    pub complete_connect: At<String>,
    /// Context of its disconnect event; absent: no event.
    pub disconnect_event: Option<Number>,
    /// What the call returns.
    #[serde(default)]
    pub returns: Status,
}

/// NdkDisconnect.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disconnect {
    /// Connector.
    pub disconnect: At<String>,
    /// RequestContext (default 0).
    #[serde(default)]
    pub context: Number,
    /// What the call returns (default STATUS_PENDING).
    #[serde(default = "pending")]
    pub returns: Status,
}

/// Waits until a call that returned STATUS_PENDING is complete.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectCompleted {
    /// Node.
    pub expect_completed: At<String>,
    /// RequestContext.
    pub context: Number,
    /// How it ended, or a list of how it may have.
    #[serde(default = "success")]
    pub status: Several<Status>,
}

/// Waits for the disconnect event of a connector.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectDisconnect {
    /// Connector.
    pub expect_disconnect: At<String>,
    /// Its context.
    pub context: Option<Number>,
}

/// Compares what NdkGetConnectionData, NdkGetLocalAddress and NdkGetPeerAddress say.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectConnection {
    /// Connector.
    pub expect_connection: At<String>,
    /// Private data of the peer; zeros may follow.
    pub private_data: Option<HexBytes>,
    /// Read limits.
    pub reads: Option<ReadLimits>,
    /// Local port.
    pub local_port: Option<u16>,
    /// Port of the peer.
    pub peer_port: Option<u16>,
    /// Node of the peer, whose address it must be.
    pub peer: Option<At<String>>,
}
