//! Sends and the receives that they are for.

use tandem_model::ndk::OperationType;

use super::{Entry, Ledger, Life, Outcome, What};

impl Ledger {
    /// Receive number n of a queue pair has the peer's send number n.
    pub(in crate::world) fn pairs(&self, life: &Life) -> impl Iterator<Item = (&Entry, &Entry)> {
        let peer = life.peer.and_then(|peer| self.lives.get(peer));
        let sends = peer.into_iter().flat_map(|peer| &peer.queues[0]);
        let sends = sends
            .filter_map(|index| self.entry(*index))
            .filter(|entry| matches!(entry.what, What::Send(_)));
        let receives = life.queues[1].iter().filter_map(|index| self.entry(*index));
        receives.zip(sends)
    }

    /// Compares what senders and receivers were told.
    pub(in crate::world) fn both_ends(&self, life: &Life) -> Result<(), String> {
        let pairs = self.pairs(life).count();
        let receives = life.queues[1].iter().filter_map(|index| self.entry(*index));
        if let Some(alone) = receives.skip(pairs).find(|entry| entry.succeeded()) {
            return Err(format!(
                "{} succeeded, and the peer has not sent so often",
                self.words(alone)
            ));
        }
        let peer = life.peer.and_then(|peer| self.lives.get(peer));
        let sends = peer.into_iter().flat_map(|peer| &peer.queues[0]);
        let sends = sends
            .filter_map(|index| self.entry(*index))
            .filter(|entry| matches!(entry.what, What::Send(_)));
        if let Some(alone) = sends.skip(pairs).find(|entry| entry.succeeded()) {
            return Err(format!(
                "{} succeeded, and the peer has no receive for it",
                self.words(alone)
            ));
        }
        for (receive, send) in self.pairs(life) {
            if send.succeeded() && !receive.succeeded() {
                return Err(format!(
                    "{} succeeded, and {}, which is for it, did not",
                    self.words(send),
                    self.words(receive)
                ));
            }
            let Outcome::Result(result) = &receive.outcome else {
                continue;
            };
            if !result.status.is_success() {
                continue;
            }
            let (operation, token) = match send.what {
                What::Send(Some(token)) => (OperationType::ReceiveAndInvalidate, token),
                _ => (OperationType::Receive, 0),
            };
            let got = (
                result.operation,
                result.type_specific_completion_output,
                result.bytes_transferred,
            );
            if got != (operation, token, send.length) {
                return Err(format!(
                    "{}: {:?}, token {:#x}, {} bytes; the peer's send: {operation:?}, token {token:#x}, {} bytes",
                    self.words(receive),
                    got.0,
                    got.1,
                    got.2,
                    send.length
                ));
            }
        }
        Ok(())
    }
}
