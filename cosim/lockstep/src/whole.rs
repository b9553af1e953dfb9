//! Frames that queue pair 1 sends as they are: what they are read from may go when their entry says so.

use std::collections::HashMap;

use tandem_model::abi::{CQE, CommitKind, DropCause, Record};
use tandem_model::engine::Action;
use tandem_model::wire::Frame;

/// The queue pair of whole frames.
const QPN: u32 = 1;

/// Gather reads that have to be answered before the entry of a frame is written.
#[derive(Debug, Default)]
pub(super) struct WholeFrames {
    /// By request, of those that were sent: the number of the last read of its frame.
    reads: HashMap<u16, u64>,
}

/// Whether an action sends a whole frame: one that leaves as it is, whatever the bus answered.
pub(super) fn sends(action: &Action) -> bool {
    action.kind == CommitKind::SqEmit && action.qpn == QPN
}

/// Turns the ICRC over: a frame whose bytes the bus answered with an error leaves so that nobody takes it. Whole frames
/// have none.
pub fn spoil(action: &Action, bytes: &mut [u8]) {
    const ICRC: usize = 4;
    if sends(action) {
        return;
    }
    let fill = Frame::parse(bytes).map_or(0, |frame| frame.trailer.len());
    let end = bytes.len() - fill;
    if let Some(icrc) = bytes.get_mut(end.saturating_sub(ICRC)..end) {
        icrc.iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// Whether an action may have looked at a receive that a frame did not fit in: it stays the oldest.
pub(super) fn leaves_receive(action: &Action) -> bool {
    action.kind == CommitKind::RxDrop && action.cause == DropCause::NoBuffer as u8
}

impl WholeFrames {
    /// An action was applied, after which so many gather reads have been made in all.
    pub(super) fn applied(&mut self, action: &Action, reads: u64) {
        if sends(action) {
            self.reads.insert(action.index, reads);
        }
    }

    /// How many gather reads have to be answered before this entry is written.
    pub(super) fn needed(&self, entry: &[u8]) -> u64 {
        if entry.len() != CQE.bytes() {
            return 0;
        }
        let entry = Record::from_bytes(&CQE, entry);
        let sent =
            entry.get("qpn") == QPN.into() && entry.get("receive") == 0 && entry.get("status") == 0;
        let index = entry.get("wqe_index") as u16;
        let reads = self.reads.get(&index).filter(|_| sent);
        reads.copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(qpn: u32, receive: bool) -> Vec<u8> {
        let entry = Record::new(&CQE)
            .with("wqe_index", 5u16)
            .with("qpn", qpn)
            .with("receive", receive);
        entry.as_bytes().to_vec()
    }

    #[test]
    fn the_entry_of_a_frame_waits_for_its_reads() {
        let mut frames = WholeFrames::default();
        let sent = |qpn| Action::new(CommitKind::SqEmit, qpn).with_index(5);
        frames.applied(&sent(QPN), 9);
        frames.applied(&sent(2), 12);
        assert_eq!(frames.needed(&entry(QPN, false)), 9);
        for other in [entry(QPN, true), entry(2, false), vec![0; 16]] {
            assert_eq!(frames.needed(&other), 0);
        }
    }
}
