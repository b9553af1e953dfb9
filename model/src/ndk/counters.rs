//! Counters of OID_NDK_STATISTICS.
//!
//! The engine counts frames in registers of 32 bits. Each look at them adds what they have gone on since the last, modulo
//! 2^32, so nothing is lost as long as fewer than 2^32 frames pass each way between two looks: at 100 Gbit/s
//! with the shortest frames, 28 seconds; at 10 Gbit/s, 288. A driver calls [`Provider::sample_counters`]
//! from a timer that is faster than that; each query looks too. Bytes are counted in registers of 64 bits, which do
//! not wrap in the life of an adapter.

use crate::abi::offsets as reg;
use crate::hal::{Hal, HalError};

use super::adapter::Provider;
use super::qp::QpPhase;
use super::{NdisNdkPerformanceCounters, Qp};

/// What the provider itself counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NdkCounters {
    /// Outbound connections established.
    pub connect: u64,
    /// Inbound connections established.
    pub accept: u64,
    /// Connects that failed, in both directions.
    pub connect_failure: u64,
    /// Established connections that failed before a consumer disconnected them.
    pub connection_error: u64,
    /// Completion queues that went into error.
    pub cq_error: u64,
}

/// A register of 32 bits, made wide.
#[derive(Clone, Copy, Debug, Default)]
struct Wide {
    total: u64,
    last: u32,
}

impl Wide {
    fn sample(&mut self, now: u32) {
        self.total += u64::from(now.wrapping_sub(self.last));
        self.last = now;
    }
}

/// What the engine has counted, as far as it was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    rx_frames: Wide,
    tx_frames: Wide,
    rx_octets: u64,
    tx_octets: u64,
}

impl Traffic {
    fn sample<H: Hal>(&mut self, hal: &mut H) -> Result<(), HalError> {
        self.rx_frames.sample(hal.read_register(reg::RX_FRAMES)?);
        self.tx_frames.sample(hal.read_register(reg::TX_FRAMES)?);
        self.rx_octets = read_wide(hal, reg::RX_OCTETS, reg::RX_OCTETS_HI)?;
        self.tx_octets = read_wide(hal, reg::TX_OCTETS, reg::TX_OCTETS_HI)?;
        Ok(())
    }
}

/// Reads a counter of two registers. The low one may wrap between two reads: then the high one has changed, and the low one
/// is read again, which does not wrap a second time so soon.
fn read_wide<H: Hal>(hal: &mut H, low: u32, high: u32) -> Result<u64, HalError> {
    let before = hal.read_register(high)?;
    let mut word = hal.read_register(low)?;
    let after = hal.read_register(high)?;
    if after != before {
        word = hal.read_register(low)?;
    }
    Ok(u64::from(after) << 32 | u64::from(word))
}

impl<H: Hal> Provider<H> {
    /// Looks at the engine's counters, before they wrap: to be called once in fewer than 2^32 frames each way.
    pub fn sample_counters(&mut self) -> Result<(), HalError> {
        self.traffic.sample(&mut self.hal)
    }

    /// All counters. Frames and bytes are all that pass the engine's port, from the Ethernet header on and without
    /// the FCS: reads, writes, sends, what answers them, datagrams of connection management, and what was dropped.
    pub fn performance_counters(&mut self) -> Result<NdisNdkPerformanceCounters, HalError> {
        self.sample_counters()?;
        Ok(NdisNdkPerformanceCounters {
            connect: self.counters.connect,
            accept: self.counters.accept,
            connect_failure: self.counters.connect_failure,
            connection_error: self.counters.connection_error,
            active_connection: self.active_connections().len() as u64,
            reserved: [0; 20],
            cq_error: self.counters.cq_error,
            rdma_in_octets: self.traffic.rx_octets,
            rdma_out_octets: self.traffic.tx_octets,
            rdma_in_frames: self.traffic.rx_frames.total,
            rdma_out_frames: self.traffic.tx_frames.total,
        })
    }

    /// The connection of a queue pair is no more. If the queue pair is in error by then, no consumer ended it: it
    /// failed.
    pub(super) fn end_connection(&mut self, qp: Qp) {
        if let Some(object) = self.qps.get_mut(qp)
            && object.connection.take().is_some()
            && object.phase == QpPhase::Error
        {
            self.counters.connection_error += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrap_between_two_looks_is_not_lost() {
        let mut wide = Wide::default();
        for now in [10, u32::MAX, 5, 4, 4] {
            wide.sample(now);
        }
        assert_eq!(wide.total, (2u64 << 32) + 4);
    }
}
