//! OID requests.

mod connections;
mod endpoints;
mod list;
mod records;
mod statistics;

pub use records::{
    COUNTERS, NdisNdkConnectionEntry, NdisNdkConnections, NdisNdkLocalEndpointEntry,
    NdisNdkLocalEndpoints, NdisNdkPerformanceCounters, NdisNdkStatisticsInfo, NdisObjectHeader,
    SockaddrInet,
};

pub(super) use records::REVISION_1;

use crate::hal::Hal;

use super::adapter::Provider;
use super::{Connection, Endpoint, NtStatus};

/// An object identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Oid(pub u32);

impl Oid {
    /// Enables or disables NDK.
    #[doc(alias = "OID_NDK_SET_STATE")]
    pub const NDK_SET_STATE: Self = Self(0xFC04_0201);
    /// Performance counters.
    #[doc(alias = "OID_NDK_STATISTICS")]
    pub const NDK_STATISTICS: Self = Self(0xFC04_0202);
    /// Active connections.
    #[doc(alias = "OID_NDK_CONNECTIONS")]
    pub const NDK_CONNECTIONS: Self = Self(0xFC04_0203);
    /// Active listeners and shared endpoints.
    #[doc(alias = "OID_NDK_LOCAL_ENDPOINTS")]
    pub const NDK_LOCAL_ENDPOINTS: Self = Self(0xFC04_0204);
}

/// Kind of an OID request.
#[doc(alias = "NDIS_REQUEST_TYPE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OidRequestType {
    /// Query.
    #[doc(alias = "NdisRequestQueryInformation")]
    QueryInformation = 0,
    /// Set.
    #[doc(alias = "NdisRequestSetInformation")]
    SetInformation = 1,
    /// Query of statistics.
    #[doc(alias = "NdisRequestQueryStatistics")]
    QueryStatistics = 2,
    /// Method.
    #[doc(alias = "NdisRequestMethod")]
    Method = 12,
}

impl OidRequestType {
    const fn is_query(self) -> bool {
        matches!(self, Self::QueryInformation | Self::QueryStatistics)
    }
}

/// How an OID request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OidOutcome {
    /// NDIS status.
    pub status: NtStatus,
    /// Bytes placed in the buffer (NDK-OIDQ-3), or, by a set request, read from it; 0 on failure.
    pub bytes_written: u32,
    /// With `NDIS_STATUS_BUFFER_TOO_SHORT` and `NDIS_STATUS_INVALID_LENGTH`, the length that would do (NDK-OIDQ-2);
    /// else 0.
    pub bytes_needed: u32,
}

impl OidOutcome {
    pub(super) const fn failed(status: NtStatus) -> Self {
        Self {
            status,
            bytes_written: 0,
            bytes_needed: 0,
        }
    }

    pub(super) const fn done(bytes: usize) -> Self {
        Self {
            status: NtStatus::SUCCESS,
            bytes_written: bytes as u32,
            bytes_needed: 0,
        }
    }

    const fn too_short(needed: usize) -> Self {
        Self {
            status: NtStatus::NDIS_BUFFER_TOO_SHORT,
            bytes_written: 0,
            bytes_needed: needed as u32,
        }
    }
}

impl<H: Hal> Provider<H> {
    /// Answers an OID query. A buffer that is too short stays as it is (NDK-OIDQ-1, reading O24).
    ///
    /// `NDIS_STATUS_NOT_SUPPORTED`: not for this kind of request; OID_NDK_SET_STATE is the affair of the
    /// [`Miniport`](super::Miniport). `NDIS_STATUS_INVALID_OID`: not an OID of NDK. `NDIS_STATUS_NOT_ACCEPTED`: the adapter
    /// does not answer any more, as after its removal.
    #[doc(alias = "MiniportOidRequest")]
    pub fn oid_request(
        &mut self,
        request: OidRequestType,
        oid: Oid,
        buffer: &mut [u8],
    ) -> OidOutcome {
        let mapping = self.config.endpoint_mapping;
        match oid {
            Oid::NDK_STATISTICS if request.is_query() => match self.performance_counters() {
                Ok(counters) => statistics::answer(counters, buffer),
                Err(_) => OidOutcome::failed(NtStatus::NDIS_NOT_ACCEPTED),
            },
            Oid::NDK_CONNECTIONS if request.is_query() => {
                connections::answer(&self.active_connections(), mapping, buffer)
            }
            Oid::NDK_LOCAL_ENDPOINTS if request.is_query() => {
                endpoints::answer(&self.endpoints, mapping, buffer)
            }
            Oid::NDK_SET_STATE
            | Oid::NDK_STATISTICS
            | Oid::NDK_CONNECTIONS
            | Oid::NDK_LOCAL_ENDPOINTS => OidOutcome::failed(NtStatus::NOT_SUPPORTED),
            _ => OidOutcome::failed(NtStatus::NDIS_INVALID_OID),
        }
    }

    /// Answers an OID request of the direct path, on which statistics are served and nothing else (NDK-STAT-5).
    #[doc(alias = "MiniportDirectOidRequest")]
    pub fn direct_oid_request(
        &mut self,
        request: OidRequestType,
        oid: Oid,
        buffer: &mut [u8],
    ) -> OidOutcome {
        match oid {
            Oid::NDK_SET_STATE | Oid::NDK_CONNECTIONS | Oid::NDK_LOCAL_ENDPOINTS => {
                OidOutcome::failed(NtStatus::NOT_SUPPORTED)
            }
            oid => self.oid_request(request, oid, buffer),
        }
    }

    /// The active listeners and shared endpoints, in the order in which they came (NDK-OLEP-1).
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The active connections, in the order of their queue pairs' numbers (NDK-CNX-5).
    pub fn active_connections(&self) -> Vec<Connection> {
        let active = |number| self.qps.at(number).and_then(|qp| qp.active());
        self.qps.numbers().filter_map(active).collect()
    }
}
