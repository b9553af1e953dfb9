//! Counters: frames, and what the transport did about losses, receivers that were not ready, congestion.

use crate::abi::offsets as reg;
use crate::abi::{DropCause, RxResult};

/// All counters; they wrap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    drops: [u32; 32],
    rx_frames: u32,
    tx_frames: u32,
    rx_octets: u64,
    tx_octets: u64,
    go_backs: u32,
    timeouts: u32,
    rnr_waits: u32,
    duplicates: u32,
    naks_out: u32,
    cnp_in: u32,
    cnp_out: u32,
}

impl Counters {
    /// A frame has got its verdict.
    pub fn frame_in(&mut self, cause: DropCause, octets: usize) {
        if let Some(count) = self.drops.get_mut(cause as usize) {
            *count = count.wrapping_add(1);
        }
        self.rx_frames = self.rx_frames.wrapping_add(1);
        self.rx_octets = self.rx_octets.wrapping_add(octets as u64);
    }

    /// A frame leaves.
    pub fn frame_out(&mut self, octets: usize) {
        self.tx_frames = self.tx_frames.wrapping_add(1);
        self.tx_octets = self.tx_octets.wrapping_add(octets as u64);
    }

    /// A request or response led to this.
    pub fn result(&mut self, result: RxResult) {
        let count = match result {
            RxResult::Accept | RxResult::Fatal => return,
            RxResult::Duplicate => &mut self.duplicates,
            RxResult::NakSequence
            | RxResult::NakInvalid
            | RxResult::NakAccess
            | RxResult::NakOperation
            | RxResult::Rnr => &mut self.naks_out,
            RxResult::GoBack => &mut self.go_backs,
            RxResult::RnrWait => &mut self.rnr_waits,
            RxResult::Cnp => &mut self.cnp_in,
        };
        *count = count.wrapping_add(1);
    }

    /// An acknowledgement timer ended.
    pub fn timeout(&mut self) {
        self.timeouts = self.timeouts.wrapping_add(1);
    }

    /// A congestion notification leaves.
    pub fn cnp_out(&mut self) {
        self.cnp_out = self.cnp_out.wrapping_add(1);
    }

    /// The counter at a register offset; 0 where there is none.
    pub fn read(&self, offset: u32) -> u32 {
        match offset {
            reg::DROP..=reg::DROP_LAST if offset.is_multiple_of(4) => {
                let cause = (offset - reg::DROP) as usize / 4;
                self.drops.get(cause).copied().unwrap_or(0)
            }
            reg::RX_FRAMES => self.rx_frames,
            reg::TX_FRAMES => self.tx_frames,
            reg::RX_OCTETS => self.rx_octets as u32,
            reg::RX_OCTETS_HI => (self.rx_octets >> 32) as u32,
            reg::TX_OCTETS => self.tx_octets as u32,
            reg::TX_OCTETS_HI => (self.tx_octets >> 32) as u32,
            reg::GO_BACKS => self.go_backs,
            reg::TIMEOUTS => self.timeouts,
            reg::RNR_WAITS => self.rnr_waits,
            reg::DUPLICATES => self.duplicates,
            reg::NAKS_OUT => self.naks_out,
            reg::CNP_IN => self.cnp_in,
            reg::CNP_OUT => self.cnp_out,
            _ => 0,
        }
    }
}
