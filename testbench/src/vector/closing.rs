//! Steps that close an object.

use schemars::JsonSchema;
use serde::Deserialize;

use super::impairment::Several;
use super::value::{At, Status};

macro_rules! closing {
    ($($(#[$meta:meta])* $name:ident, $verb:ident, $what:literal;)+) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            #[doc = $what]
            pub $verb: At<String>,
            /// What the call returns, or a list of what it may return; STATUS_PENDING waits for the close to end.
            #[serde(default = "success")]
            pub returns: Several<Status>,
        }
    )+ };
}

closing! {
    /// NdkCloseQp.
    CloseQp, close_qp, "Queue pair.";
    /// NdkCloseMw.
    CloseMw, close_mw, "Window.";
    /// NdkCloseMr.
    CloseMr, close_mr, "Region.";
    /// NdkCloseSrq.
    CloseSrq, close_srq, "Shared receive queue.";
    /// NdkCloseConnector.
    CloseConnector, close_connector, "Connector.";
    /// NdkCloseListener.
    CloseListener, close_listener, "Listener.";
    /// NdkCloseSharedEndpoint.
    CloseSharedEndpoint, close_shared_endpoint, "Shared endpoint.";
}

/// What a call returns that nothing is said of.
pub(super) fn success() -> Several<Status> {
    Several::One(Status::default())
}
