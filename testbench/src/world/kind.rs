//! What sort of failure a run ends with.

use std::fmt;

use serde::{Deserialize, Serialize};
use tandem_model::hal::HalError;
use tandem_model::ndk::{AdapterError, NdkError};

use super::WorldError;

/// What sort of failure a run ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Something is not what the vector expects, or what NDKPI says.
    WrongResult,
    /// Something did not come in time.
    TimeOut,
    /// An engine did otherwise than the golden model.
    Divergence,
    /// A netlist did otherwise than the RTL.
    Netlist,
    /// An engine broke a rule of AXI.
    AxiViolation,
    /// An assertion in an engine's source failed.
    Assertion,
    /// The run could not go on, or could not begin.
    Stopped,
}

impl FailureKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::WrongResult => "wrong result",
            Self::TimeOut => "time-out",
            Self::Divergence => "divergence",
            Self::Netlist => "netlist differs",
            Self::AxiViolation => "AXI violation",
            Self::Assertion => "assertion",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl From<&WorldError> for FailureKind {
    fn from(error: &WorldError) -> Self {
        match error {
            WorldError::Busy { .. } => Self::TimeOut,
            WorldError::Capture(_)
            | WorldError::Target {
                source: HalError::Stopped(_),
                ..
            }
            | WorldError::Provider {
                source: NdkError::Adapter(AdapterError::Hal(HalError::Stopped(_))),
                ..
            } => Self::Stopped,
            WorldError::Target { .. }
            | WorldError::Provider { .. }
            | WorldError::Unroutable { .. } => Self::WrongResult,
        }
    }
}
