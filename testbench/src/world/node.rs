//! A node of a world, and what can be wrong with one.

use std::net::{Ipv4Addr, Ipv6Addr};

use tandem_model::hal::{HalError, Target};
use tandem_model::ndk::{AdapterConfig, NdkError, Notification, Provider};
use tandem_model::wire::MacAddr;
use thiserror::Error;

use super::CaptureError;
use crate::targets::{self, AnyTarget, TargetOptions};
use crate::vector::TargetKind;

/// Why a world stands still.
#[derive(Debug, Error)]
pub enum WorldError {
    /// A target stopped: a divergence, a broken bus rule, a failed assertion.
    #[error("node {node}: {source}")]
    Target {
        /// Its node.
        node: String,
        /// Why.
        source: HalError,
    },
    /// The provider failed in a way that no consumer of NDKPI can cause.
    #[error("node {node}: {source}")]
    Provider {
        /// Its node.
        node: String,
        /// Why.
        source: NdkError,
    },
    /// A frame for nobody.
    #[error("node {node} sent a frame to {mac}, which is no node's address")]
    Unroutable {
        /// The sender.
        node: String,
        /// Destination.
        mac: MacAddr,
    },
    /// The capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Something never ends.
    #[error("still busy after {clocks} clocks")]
    Busy {
        /// How long it ran.
        clocks: u64,
    },
}

/// Addresses of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// MAC.
    pub mac: [u8; 6],
    /// IPv4.
    pub ipv4: Ipv4Addr,
    /// IPv6.
    pub ipv6: Ipv6Addr,
}

impl Address {
    /// Of the node with that place in the world.
    pub fn of(place: usize) -> Self {
        let [high, low] = (place as u16 + 1).to_be_bytes();
        Self {
            mac: [2, 0, 0, 0, high, low],
            ipv4: Ipv4Addr::new(10, 0, high, low),
            ipv6: Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, place as u16 + 1),
        }
    }

    /// The configuration of an adapter with these addresses.
    pub fn adapter(&self) -> AdapterConfig {
        AdapterConfig {
            mac: self.mac,
            ipv4: Some(self.ipv4),
            ipv6: Some(self.ipv6),
            ..AdapterConfig::default()
        }
    }
}

/// A node.
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub address: Address,
    /// Its provider.
    pub nic: Provider<AnyTarget>,
    /// Notifications that nobody has taken yet.
    pub notifications: Vec<Notification>,
}

impl Node {
    /// Opens a target, and the provider on it.
    ///
    /// # Errors
    /// What stops the target, or what the provider does not find as it must be.
    pub fn open(
        kind: TargetKind,
        name: &str,
        address: Address,
        config: AdapterConfig,
        options: &TargetOptions,
    ) -> Result<Self, WorldError> {
        let target = targets::open(kind, name, options);
        let target = target.map_err(|source| WorldError::Target {
            node: name.into(),
            source,
        })?;
        let nic = Provider::open(target, config);
        let nic = nic.map_err(|source| WorldError::Provider {
            node: name.into(),
            source,
        })?;
        Ok(Self {
            name: name.into(),
            address,
            nic,
            notifications: Vec::new(),
        })
    }

    /// Wraps an error of the provider.
    pub fn error(&self, source: impl Into<NdkError>) -> WorldError {
        WorldError::Provider {
            node: self.name.clone(),
            source: source.into(),
        }
    }

    /// Ends the run on its target.
    pub(super) fn finish(&mut self) -> Result<(), WorldError> {
        let finished = self.nic.hal_mut().finish();
        finished.map_err(|source| WorldError::Target {
            node: self.name.clone(),
            source,
        })
    }
}

/// A frame that a node sent, whatever became of it.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Place of the node that sent it.
    pub from: usize,
    /// Clock of that node when the network took it.
    pub clock: u64,
    /// The frame, without FCS.
    pub frame: Vec<u8>,
}
