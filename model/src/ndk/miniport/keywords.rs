//! Keywords of the registry.

use crate::ndk::RdmaTechnology;
use crate::ndk::bench::PathMtu;

/// What the registry says of NDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keywords {
    /// Whether NDK may be enabled, and is so at first.
    #[doc(alias = "*NetworkDirect")]
    pub network_direct: bool,
    /// The RDMA technology.
    #[doc(alias = "*NetworkDirectTechnology")]
    pub technology: RdmaTechnology,
    /// Bytes of payload that a packet should carry.
    #[doc(alias = "*NetworkDirectRoCEFrameSize")]
    pub roce_frame_size: u32,
    /// Bytes of the greatest Ethernet frame.
    #[doc(alias = "*JumboPacket")]
    pub jumbo_packet: u32,
}

impl Default for Keywords {
    /// Enabled, RoCEv2, 1024 bytes in a packet, frames that are not jumbo ones.
    fn default() -> Self {
        Self {
            network_direct: true,
            technology: RdmaTechnology::RoCEv2,
            roce_frame_size: 1024,
            jumbo_packet: 1514,
        }
    }
}

/// An entry of the event log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// Packets carry another number of bytes than configured (NDK-OVW-4).
    RoceMtu {
        /// What `*NetworkDirectRoCEFrameSize` says.
        configured: u32,
        /// What they carry.
        active: PathMtu,
    },
}

impl Keywords {
    /// The frame size configured, or if that is none or above `*JumboPacket`, the largest one below
    /// both (NDK-OVW-3); at least the smallest there is.
    pub(super) fn path_mtu(&self) -> PathMtu {
        let most = self.roce_frame_size.min(self.jumbo_packet);
        let fits = |mtu: &PathMtu| mtu.bytes() <= most;
        let fitting = PathMtu::ALL.into_iter().filter(fits);
        fitting.max().unwrap_or(PathMtu::B256)
    }

    pub(super) fn mtu_event(&self, active: PathMtu) -> Option<LogEvent> {
        (active.bytes() != self.roce_frame_size).then_some(LogEvent::RoceMtu {
            configured: self.roce_frame_size,
            active,
        })
    }
}
