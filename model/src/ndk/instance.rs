//! Adapter instances: consumers' views of one adapter.
//!
//! Several may be open on one [`Miniport`](super::Miniport), each with an interface version of its own. A [`Provider`] acts for one
//! of them at a time: objects that it creates belong to that one, and so do the notifications that it hands over.

use crate::hal::Hal;

use super::adapter::{Provider, stale};
use super::object::Owner;
use super::slots::{self, Handle, Slots};
use super::{Adapter, NdkError, NdkVersion, Notification, NtStatus, Object};
use crate::abi::offsets as reg;

/// How often a close lets the adapter go on before it gives up.
const PATIENCE: u32 = 1 << 12;

/// An open instance.
pub(super) struct InstanceObject {
    version: NdkVersion,
}

impl<H: Hal> Provider<H> {
    /// Opens an instance, and acts for it from now on (NDK-OPEN-1, -2, -4).
    pub(super) fn open_instance(&mut self, version: NdkVersion) -> Result<Adapter, NdkError> {
        let version = version.negotiate().ok_or(NtStatus::NDIS_BAD_VERSION)?;
        let instance = self
            .instances
            .next_number()
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES)?;
        self.owner = Owner { instance, version };
        self.instances
            .insert(self.owner, InstanceObject { version })
            .ok_or(NtStatus::INSUFFICIENT_RESOURCES.into())
    }

    /// Acts for an instance from now on.
    pub(super) fn act_for(&mut self, adapter: Adapter) -> Result<(), NdkError> {
        let object = self.instances.get(adapter).ok_or(stale(adapter))?;
        self.owner = Owner {
            instance: Slots::<InstanceObject>::number(adapter),
            version: object.version,
        };
        Ok(())
    }

    /// Closes an instance: waits until all its objects are closed, and hands over what there is still to tell
    /// (NDK-OBJ-7). `STATUS_DEVICE_BUSY`: an object stays open, and in NDKPI the caller would wait for ever.
    pub(super) fn close_instance(
        &mut self,
        adapter: Adapter,
    ) -> Result<Vec<Notification>, NdkError> {
        self.act_for(adapter)?;
        let mut told = Vec::new();
        for _ in 0..PATIENCE {
            told.append(&mut self.drain_events()?);
            if self.open_objects() == 0 {
                self.instances.remove(adapter);
                return Ok(told);
            }
            // The adapter goes on while a register is read.
            self.hal.read_register(reg::ID)?;
        }
        self.notifications.extend(told);
        Err(NtStatus::DEVICE_BUSY.into())
    }

    /// `STATUS_INVALID_PARAMETER` for an object of another instance.
    pub(super) fn expect_own<K: Handle>(&self, handle: K) -> Result<(), NdkError> {
        if slots::owner(handle) == self.owner.instance {
            Ok(())
        } else {
            Err(NtStatus::INVALID_PARAMETER.into())
        }
    }

    /// Instances that are open.
    pub(super) fn open_instances(&self) -> usize {
        self.instances.numbers().count()
    }

    /// Objects of the instance that are not closed as yet.
    pub(super) fn open_objects(&self) -> usize {
        let instance = self.owner.instance;
        let connections = self.connections.as_deref();
        let connections = connections.map_or(0, |connections| connections.owned_by(instance));
        self.pds.owned_by(instance) + self.cqs.owned_by(instance) + connections
    }

    /// A close that was pending is done. To be told before antecedents are let go, so that their closes are told
    /// after (NDK-OBJ-6).
    pub(super) fn tell_closed(&mut self, object: Object) {
        self.notifications.push(Notification::Closed(object));
    }

    /// What there is to tell the instance.
    pub(super) fn take_notifications(&mut self) -> Vec<Notification> {
        let instance = self.owner.instance;
        let (own, others) = std::mem::take(&mut self.notifications)
            .into_iter()
            .partition(|notification| owner(notification) == instance);
        self.notifications = others;
        own
    }
}

/// The instance that a notification is for.
fn owner(notification: &Notification) -> u32 {
    match notification {
        Notification::Cq { cq, .. } => slots::owner(*cq),
        Notification::Srq { srq, .. } => slots::owner(*srq),
        Notification::QpError { qp, .. } => slots::owner(*qp),
        Notification::Completed { connector, .. } | Notification::Disconnect { connector, .. } => {
            slots::owner(*connector)
        }
        Notification::Connect { listener, .. } => slots::owner(*listener),
        Notification::Closed(object) => match object {
            Object::Pd(pd) => slots::owner(*pd),
            Object::Cq(cq) => slots::owner(*cq),
            Object::Qp(qp) => slots::owner(*qp),
            Object::Mr(mr) => slots::owner(*mr),
            Object::Mw(mw) => slots::owner(*mw),
            Object::Srq(srq) => slots::owner(*srq),
            Object::Connector(connector) => slots::owner(*connector),
            Object::Listener(listener) => slots::owner(*listener),
            Object::SharedEndpoint(endpoint) => slots::owner(*endpoint),
        },
    }
}
