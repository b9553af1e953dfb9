//! The public part of objects, and whose they are.
//!
//! An object is a handle here and its private state lies elsewhere, so all that the consumer's side may do with the public
//! part has no effect on the provider: it writes it when the object is made and does not look at it after
//! (NDK-HDR-3, -4).

use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::dispatch::DispatchTable;
use super::{Adapter, NdkError, NdkVersion, NtStatus, Object};

/// Kind of an object.
#[doc(alias = "NDK_OBJECT_TYPE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NdkObjectType {
    /// None.
    #[doc(alias = "NdkObjectTypeUndefined")]
    Undefined = 0,
    /// An adapter instance.
    #[doc(alias = "NdkObjectTypeAdapter")]
    Adapter = 1,
    /// A queue pair.
    #[doc(alias = "NdkObjectTypeQp")]
    Qp = 2,
    /// A completion queue.
    #[doc(alias = "NdkObjectTypeCq")]
    Cq = 3,
    /// A memory region.
    #[doc(alias = "NdkObjectTypeMr")]
    Mr = 4,
    /// A memory window.
    #[doc(alias = "NdkObjectTypeMw")]
    Mw = 5,
    /// A protection domain.
    #[doc(alias = "NdkObjectTypePd")]
    Pd = 6,
    /// A shared endpoint.
    #[doc(alias = "NdkObjectTypeSharedEndpoint")]
    SharedEndpoint = 7,
    /// A connector.
    #[doc(alias = "NdkObjectTypeConnector")]
    Connector = 8,
    /// A listener.
    #[doc(alias = "NdkObjectTypeListener")]
    Listener = 9,
    /// A shared receive queue.
    #[doc(alias = "NdkObjectTypeSrq")]
    Srq = 10,
}

/// Header of every object, 40 bytes.
#[doc(alias = "NDK_OBJECT_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct NdkObjectHeader {
    /// Interface version in use on the adapter instance (NDK-HDR-1).
    pub version: NdkVersion,
    /// Kind of the object (NDK-HDR-2).
    pub object_type: NdkObjectType,
    /// Of the consumer's side: 0 in a new object, then not touched by the provider (NDK-HDR-3).
    #[doc(alias = "NdkReserved")]
    pub reserved: [u64; 4],
}

/// Public part of every object, 48 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NdkObject {
    /// The header.
    pub header: NdkObjectHeader,
    /// The object's functions. The consumer's side may replace it (NDK-HDR-4).
    pub dispatch: &'static DispatchTable,
}

/// The adapter instance that an object belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// Number of the instance.
    pub(super) instance: u32,
    /// Interface version in use on it.
    pub(super) version: NdkVersion,
}

impl Owner {
    /// The public part of a new object.
    pub(super) fn public_part(self, object_type: NdkObjectType) -> NdkObject {
        NdkObject {
            header: NdkObjectHeader {
                version: self.version,
                object_type,
                reserved: [0; 4],
            },
            dispatch: DispatchTable::of(object_type),
        }
    }
}

impl<H: Hal> Provider<H> {
    /// The public part of an object, as the consumer's side sees it.
    pub fn object(&self, object: Object) -> Result<&NdkObject, NdkError> {
        match object {
            Object::Pd(pd) => self.pds.public(pd).ok_or(stale(pd)),
            Object::Cq(cq) => self.cqs.public(cq).ok_or(stale(cq)),
            Object::Qp(qp) => self.qps.public(qp).ok_or(stale(qp)),
            Object::Mr(mr) => self.mrs.public(mr).ok_or(stale(mr)),
            Object::Mw(mw) => self.mws.public(mw).ok_or(stale(mw)),
            Object::Srq(srq) => self.srqs.public(srq).ok_or(stale(srq)),
            Object::Connector(_) | Object::Listener(_) | Object::SharedEndpoint(_) => {
                let connections = self.connections.as_deref();
                connections.ok_or(NtStatus::NOT_SUPPORTED)?.object(object)
            }
        }
    }

    /// The public part of an object, to be changed by the consumer's side.
    pub fn object_mut(&mut self, object: Object) -> Result<&mut NdkObject, NdkError> {
        match object {
            Object::Pd(pd) => self.pds.public_mut(pd).ok_or(stale(pd)),
            Object::Cq(cq) => self.cqs.public_mut(cq).ok_or(stale(cq)),
            Object::Qp(qp) => self.qps.public_mut(qp).ok_or(stale(qp)),
            Object::Mr(mr) => self.mrs.public_mut(mr).ok_or(stale(mr)),
            Object::Mw(mw) => self.mws.public_mut(mw).ok_or(stale(mw)),
            Object::Srq(srq) => self.srqs.public_mut(srq).ok_or(stale(srq)),
            Object::Connector(_) | Object::Listener(_) | Object::SharedEndpoint(_) => {
                self.connections()?.object_mut(object)
            }
        }
    }

    /// The public part of an adapter instance.
    pub fn adapter_object(&self, adapter: Adapter) -> Result<&NdkObject, NdkError> {
        self.instances.public(adapter).ok_or(stale(adapter))
    }

    /// Asks an object for an interface that NDKPI does not have. There is none: `STATUS_NOT_SUPPORTED`.
    #[doc(alias = "NdkQueryExtension")]
    pub fn query_extension(
        &self,
        object: Object,
        _interface: [u8; 16],
        _version: NdkVersion,
    ) -> Result<&'static DispatchTable, NdkError> {
        self.object(object)?;
        Err(NtStatus::NOT_SUPPORTED.into())
    }
}
