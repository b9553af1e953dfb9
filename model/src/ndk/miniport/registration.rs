//! How NDIS reaches a miniport: what it registers, and the structures that come with calls.

use super::Miniport;
use crate::hal::Hal;
use crate::ndk::oid::REVISION_1;
use crate::ndk::{
    Adapter, NdisObjectHeader, NdkError, NdkVersion, Notification, NtStatus, Oid, OidRequestType,
};

const NDIS_OBJECT_TYPE_NDK_PROVIDER_CHARACTERISTICS: u8 = 0xB2;

/// OpenNDKAdapterHandler of a miniport.
pub type OpenNdkAdapterHandler<H> =
    fn(&mut Miniport<H>, &NdisOpenNdkAdapterParameters) -> Result<Adapter, NdkError>;

/// CloseNDKAdapterHandler of a miniport.
pub type CloseNdkAdapterHandler<H> =
    fn(&mut Miniport<H>, Adapter) -> Result<Vec<Notification>, NdkError>;

/// What a driver registers to be an NDK provider, 24 bytes.
#[doc(alias = "NDIS_NDK_PROVIDER_CHARACTERISTICS")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NdisNdkProviderCharacteristics<H> {
    /// Type 0xB2, revision 1, size 24.
    pub header: NdisObjectHeader,
    /// Reserved, 0.
    pub flags: u32,
    /// Opens an adapter instance.
    pub open_ndk_adapter_handler: OpenNdkAdapterHandler<H>,
    /// Closes one.
    pub close_ndk_adapter_handler: CloseNdkAdapterHandler<H>,
}

/// Which instance to open, 12 bytes.
#[doc(alias = "NDIS_OPEN_NDK_ADAPTER_PARAMETERS")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisOpenNdkAdapterParameters {
    /// Version that the consumer asks for.
    pub version: NdkVersion,
    /// Switch of the port; the adapter has one, without virtual ports.
    pub switch_id: u32,
    /// Virtual port.
    pub v_port_id: u32,
}

/// An OID request up to the end of its data for queries and sets, 64 bytes.
#[doc(alias = "NDIS_OID_REQUEST")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdisOidRequest {
    /// Type 0x96.
    pub header: NdisObjectHeader,
    /// Kind of the request.
    pub request_type: OidRequestType,
    /// Port.
    pub port_number: u32,
    /// Seconds.
    pub timeout: u32,
    /// Of the sender.
    pub request_id: u64,
    /// Of the sender.
    pub request_handle: u64,
    /// What is asked for, or set.
    pub oid: Oid,
    /// Where the buffer is, for who can reach it there.
    pub information_buffer: u64,
    /// Its length.
    pub information_buffer_length: u32,
    /// Bytes written to the buffer; BytesRead of a set request (NDK-OIDQ-3).
    pub bytes_written: u32,
    /// Bytes that would do (NDK-OIDQ-2).
    pub bytes_needed: u32,
}

impl<H: Hal> Miniport<H> {
    /// What the driver registers with NdisSetOptionalHandlers.
    pub fn characteristics() -> NdisNdkProviderCharacteristics<H> {
        NdisNdkProviderCharacteristics {
            header: NdisObjectHeader {
                object_type: NDIS_OBJECT_TYPE_NDK_PROVIDER_CHARACTERISTICS,
                revision: REVISION_1,
                size: size_of::<NdisNdkProviderCharacteristics<H>>() as u16,
            },
            flags: 0,
            open_ndk_adapter_handler: |miniport, parameters| {
                miniport.open_adapter(parameters.version)
            },
            close_ndk_adapter_handler: Self::close_adapter,
        }
    }

    /// Answers an OID request as NDIS hands it over, with its buffer: see [`Miniport::oid_request`].
    pub fn ndis_oid_request(
        &mut self,
        request: &mut NdisOidRequest,
        buffer: &mut [u8],
    ) -> NtStatus {
        let length = buffer.len().min(request.information_buffer_length as usize);
        let (buffer, _) = buffer.split_at_mut(length);
        let outcome = self.oid_request(request.request_type, request.oid, buffer);
        request.bytes_written = outcome.bytes_written;
        request.bytes_needed = outcome.bytes_needed;
        outcome.status
    }
}
