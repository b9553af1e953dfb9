//! The NDK provider: what a miniport driver does above the engine.
//!
//! [`Provider`] offers the objects and calls of NDKPI (Microsoft's Network Direct Kernel Provider Interface) over any
//! [`Hal`](crate::hal::Hal). Names are those of NDKPI in Rust spelling; searching the documentation for
//! the original finds them. Requirement ids (`NDK-READ-1`), readings of open points (`O3`) and of contradictions
//! (`C11`) are those of the verification plan.
//!
//! | module | job |
//! | --- | --- |
//! | `adapter`, `info`, `timing` | opening, configuration, NDK_ADAPTER_INFO |
//! | `pd`, `mr`, `tokens`, `pages`, `window` | protection domains, regions, and their entries in the engine's tables |
//! | `cq`, `cq_control`, `decode`, `result` | completion queues: entries to results, arming, depth, moderation |
//! | `mw`, `fast`, `local` | memory windows, fast registration, invalidation |
//! | `qp`, `queue`, `post`, `wqe` | queue pairs: rings, checks at posting, encoding |
//! | `srq` | shared receive queues |
//! | `connection` | listeners, connectors, shared endpoints; the datagrams that make and end connections |
//! | `events` | event queue and notifications |
//! | `oid`, `endpoint`, `counters` | OID requests, and what they tell of |
//! | `lam` | logical address mappings |
//! | `object`, `dispatch` | public parts of objects; tables of their functions |
//! | `instance`, `miniport` | several adapter instances; enabling, disabling, capabilities, keywords |
//! | `threads` | a provider for several threads |
//! | [`bench`](mod@bench) | what a bench does besides NDKPI |
//!
//! # Errors
//!
//! Calls return `Result<_, NdkError>`. [`NdkError::Status`] is a failing status as a consumer of
//! NDKPI would see it, and `Ok` is `STATUS_SUCCESS`; [`NdkError::Adapter`] says that the adapter below broke
//! down, which has no place in NDKPI. [`NtStatus::of`] turns an outcome into the status. Nothing here
//! panics, whatever the consumer asks and the adapter answers.
//!
//! # Time
//!
//! The provider waits for the engine in one place only: after each context command it reads CTX_STATUS until the entry is
//! in the table, so that no doorbell overtakes it. Reading a register must therefore let the adapter go on; a
//! [`Hal`](crate::hal::Hal) on which it does not ends in [`AdapterError::ContextBusy`].
//!
//! Timers of connections go by the time that [`Provider::poll`] is told.
//!
//! # Example
//!
//! ```
//! use tandem_model::hal::Hal;
//! use tandem_model::ndk::{AdapterConfig, NdkError, Provider, QpParameters};
//!
//! fn one_queue_pair<H: Hal>(hal: H) -> Result<(), NdkError> {
//!     let mut nic = Provider::open(hal, AdapterConfig::default())?;
//!     let pd = nic.create_pd()?;
//!     let cq = nic.create_cq(128, 0)?;
//!     let qp = nic.create_qp(pd, &QpParameters::new(cq, cq))?;
//!     nic.receive(qp, 1, &[])?;
//!     nic.close_qp(qp)?;
//!     Ok(())
//! }
//! ```

mod adapter;
pub mod bench;
mod connection;
mod counters;
mod cq;
mod cq_control;
mod decode;
mod dispatch;
mod endpoint;
mod error;
mod events;
mod fast;
mod flags;
mod info;
mod instance;
mod lam;
mod layout;
mod local;
mod miniport;
mod mr;
mod mw;
mod object;
mod oid;
mod pages;
mod pd;
mod post;
mod qp;
mod queue;
mod result;
mod sge;
mod slots;
mod srq;
mod status;
mod threads;
mod timing;
mod tokens;
mod window;
mod wqe;

pub use adapter::{AdapterConfig, Provider};
pub use connection::{AcceptParameters, ConnectRequest, ConnectionConfig, ConnectionData, Subnet};
pub use counters::NdkCounters;
pub use dispatch::{DispatchEntry, DispatchTable};
pub use endpoint::{Connection, Endpoint, EndpointKind, EndpointMapping, EndpointOwner};
pub use error::{AdapterError, CompletionFault, NdkError};
pub use events::{Notification, Object};
pub use flags::{AdapterFlags, ArmType, MrFlags, OpFlags};
pub use info::{ADAPTER_INFO_SIZE, EngineCaps, NdkAdapterInfo, NdkVersion, RdmaTechnology};
pub use lam::{LamOutcome, NdkLogicalAddressMapping};
pub use local::InvalidateTarget;
pub use miniport::{
    CloseNdkAdapterHandler, Keywords, LogEvent, Miniport, MiniportConfig,
    NdisMiniportAdapterNdkAttributes, NdisNdkCapabilities, NdisNdkProviderCharacteristics,
    NdisOidRequest, NdisOpenNdkAdapterParameters, NdkState, NetEvent, OpenNdkAdapterHandler,
};
pub use mr::MrUse;
pub use object::{NdkObject, NdkObjectHeader, NdkObjectType};
pub use oid::{
    COUNTERS, NdisNdkConnectionEntry, NdisNdkConnections, NdisNdkLocalEndpointEntry,
    NdisNdkLocalEndpoints, NdisNdkPerformanceCounters, NdisNdkStatisticsInfo, NdisObjectHeader,
    Oid, OidOutcome, OidRequestType, SockaddrInet,
};
pub use qp::{QpParameters, QpPhase};
pub use result::{NdkResult, NdkResultEx, OperationType};
pub use sge::{LocalToken, Mdl, PAGE_SIZE, RemoteToken, Sge};
pub use slots::{Adapter, Connector, Cq, Listener, Mr, Mw, Pd, Qp, SharedEndpoint, Srq};
pub use srq::SrqParameters;
pub use status::NtStatus;
pub use threads::SharedProvider;
pub use timing::Timing;
