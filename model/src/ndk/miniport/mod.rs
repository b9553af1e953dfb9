//! The miniport: what NDIS sees of the driver. It owns the adapter, enables and disables NDK, and opens adapter
//! instances for consumers.
//!
//! ```
//! use tandem_model::hal::Hal;
//! use tandem_model::ndk::{Miniport, MiniportConfig, NdkError, NdkVersion};
//!
//! fn two_consumers<H: Hal>(hal: H) -> Result<(), NdkError> {
//!     let mut miniport = Miniport::initialize(hal, MiniportConfig::default())?;
//!     let old = miniport.open_adapter(NdkVersion::V1_1)?;
//!     let new = miniport.open_adapter(NdkVersion::V2_1)?;
//!     let pd = miniport.adapter(new)?.create_pd()?;
//!     miniport.adapter(new)?.close_pd(pd)?;
//!     miniport.close_adapter(old)?;
//!     miniport.close_adapter(new)?;
//!     Ok(())
//! }
//! ```

mod capabilities;
mod keywords;
mod registration;
mod state;

pub use capabilities::{NdisMiniportAdapterNdkAttributes, NdisNdkCapabilities};
pub use keywords::{Keywords, LogEvent};
pub use registration::{
    CloseNdkAdapterHandler, NdisNdkProviderCharacteristics, NdisOidRequest,
    NdisOpenNdkAdapterParameters, OpenNdkAdapterHandler,
};
pub use state::{NdkState, NetEvent};

use crate::hal::Hal;

use super::adapter::Provider;
use super::bench::PathMtu;
use super::{
    Adapter, AdapterConfig, NdkError, NdkVersion, Notification, NtStatus, Oid, OidOutcome,
    OidRequestType, RdmaTechnology,
};
use state::StateControl;

/// How to initialise a miniport.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MiniportConfig {
    /// The adapter. Its version is not looked at: each instance asks for its own; the MTU of its connections follows from
    /// the keywords.
    pub adapter: AdapterConfig,
    /// Keywords of the registry.
    pub keywords: Keywords,
}

/// The driver of one adapter. See the module.
pub struct Miniport<H> {
    provider: Provider<H>,
    keywords: Keywords,
    mtu: PathMtu,
    state: StateControl,
    log: Vec<LogEvent>,
}

impl<H: Hal> Miniport<H> {
    /// Starts the adapter, with NDK enabled if the keyword `*NetworkDirect` says so. `STATUS_NOT_SUPPORTED`: the keyword
    /// `*NetworkDirectTechnology` asks for another technology than the one that the adapter has (NDK-OVW-5).
    #[doc(alias = "MiniportInitializeEx")]
    pub fn initialize(hal: H, config: MiniportConfig) -> Result<Self, NdkError> {
        let MiniportConfig {
            mut adapter,
            keywords,
        } = config;
        if keywords.technology != RdmaTechnology::RoCEv2 {
            return Err(NtStatus::NOT_SUPPORTED.into());
        }
        let mtu = keywords.path_mtu();
        if let Some(connections) = &mut adapter.connections {
            connections.path_mtu = mtu;
        }
        let provider = Provider::start(hal, adapter)?;
        let log = keywords.mtu_event(mtu).into_iter().collect();
        Ok(Self {
            provider,
            state: StateControl::new(keywords.network_direct),
            keywords,
            mtu,
            log,
        })
    }

    /// What the miniport reports of NDK when it is initialised, enabled or not (NDK-NCAP-1).
    pub fn attributes(&self) -> NdisMiniportAdapterNdkAttributes {
        let enabled = self.state.state() == NdkState::Enabled;
        NdisMiniportAdapterNdkAttributes::new(enabled, self.capabilities())
    }

    /// What the adapter can do (NDK-NCAP-1 to -3).
    pub fn capabilities(&self) -> NdisNdkCapabilities {
        NdisNdkCapabilities::of(&self.provider)
    }

    /// MTU of connections (NDK-OVW-3).
    pub fn path_mtu(&self) -> PathMtu {
        self.mtu
    }

    /// The entries of the event log that are new.
    pub fn take_log(&mut self) -> Vec<LogEvent> {
        std::mem::take(&mut self.log)
    }

    /// Opens an adapter instance, of the highest minor version that the provider has of the major one asked for
    /// (NDK-OPEN-2). `NDIS_STATUS_BAD_VERSION` (NDK-OPEN-1); `NDIS_STATUS_ADAPTER_NOT_READY`: NDK is not enabled
    /// (NDK-OPEN-3).
    #[doc(alias = "OpenNDKAdapterHandler")]
    pub fn open_adapter(&mut self, version: NdkVersion) -> Result<Adapter, NdkError> {
        if self.state.state() != NdkState::Enabled {
            return Err(NtStatus::NDIS_ADAPTER_NOT_READY.into());
        }
        self.provider.open_instance(version)
    }

    /// An instance, to make calls on it: objects that it creates belong to it, events that it polls are its own.
    pub fn adapter(&mut self, adapter: Adapter) -> Result<&mut Provider<H>, NdkError> {
        self.provider.act_for(adapter)?;
        Ok(&mut self.provider)
    }

    /// Closes an instance. Blocks until all its objects are closed, and hands over the last that there is to tell it
    /// (NDK-OBJ-7). `STATUS_DEVICE_BUSY`: a close was never called, or cannot end; in NDKPI, whose call returns
    /// nothing, the consumer would wait for ever. The instance then stays open.
    #[doc(alias = "CloseNDKAdapterHandler")]
    pub fn close_adapter(&mut self, adapter: Adapter) -> Result<Vec<Notification>, NdkError> {
        let told = self.provider.close_instance(adapter)?;
        self.state.instances_left(self.provider.open_instances());
        Ok(told)
    }

    /// Whether NDK is enabled.
    pub fn state(&self) -> NdkState {
        self.state.state()
    }

    /// What a work item calls NdisMNetPnPEvent with, one at a time. A disable is pending, and nothing follows it,
    /// until all instances are closed (NDK-OVW-2). No OID request announces anything itself: under the lock of
    /// an OID request NDIS cannot be called back (NDK-SET-4).
    #[doc(alias = "NdisMNetPnPEvent")]
    pub fn next_net_event(&mut self) -> Option<NetEvent> {
        self.state.next_event()
    }

    /// Answers an OID request. OID_NDK_SET_STATE: `NDIS_STATUS_INVALID_LENGTH`, `NDIS_STATUS_INVALID_DATA` (NDK-OIDQ-4,
    /// -5), `NDIS_STATUS_FAILURE` to enable what the keyword `*NetworkDirect` forbids; else success, at once
    /// (NDK-SET-3). All others: see [`Provider::oid_request`].
    #[doc(alias = "MiniportOidRequest")]
    pub fn oid_request(
        &mut self,
        request: OidRequestType,
        oid: Oid,
        buffer: &mut [u8],
    ) -> OidOutcome {
        match (oid, request) {
            (Oid::NDK_SET_STATE, OidRequestType::SetInformation) => self.set_state(buffer),
            _ => self.provider.oid_request(request, oid, buffer),
        }
    }

    /// Answers an OID request of the direct path. See [`Provider::direct_oid_request`].
    #[doc(alias = "MiniportDirectOidRequest")]
    pub fn direct_oid_request(
        &mut self,
        request: OidRequestType,
        oid: Oid,
        buffer: &mut [u8],
    ) -> OidOutcome {
        self.provider.direct_oid_request(request, oid, buffer)
    }

    /// The adapter below, to let time pass or to reach host memory.
    pub fn hal_mut(&mut self) -> &mut H {
        self.provider.hal_mut()
    }

    /// One BOOLEAN (NDK-SET-1, -2).
    fn set_state(&mut self, buffer: &[u8]) -> OidOutcome {
        let enable = match *buffer {
            [0] => false,
            [1] => true,
            [_] => return OidOutcome::failed(NtStatus::NDIS_INVALID_DATA),
            _ => {
                return OidOutcome {
                    bytes_needed: 1,
                    ..OidOutcome::failed(NtStatus::NDIS_INVALID_LENGTH)
                };
            }
        };
        if enable && !self.keywords.network_direct {
            return OidOutcome::failed(NtStatus::UNSUCCESSFUL);
        }
        self.state.set(enable, self.provider.open_instances());
        OidOutcome::done(1)
    }
}
