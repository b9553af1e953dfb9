//! Bounded waiting: a queue pair that can send has its turn before too many packets of others.

use super::untimely::Untimely;

/// Packets of others that may go before, for each queue pair of the engine: the round robin of the engine serves each once
/// in a turn; what is prepared and thrown away, and what waits in queues behind the decision, is a few turns more.
const TURNS: u64 = 4;
/// Packets between two looks at all queue pairs.
const LOOK: u64 = 16;

/// See the module.
#[derive(Debug)]
pub(super) struct Service {
    most: u64,
    /// Packets so far.
    packets: u64,
    /// For each queue pair that ever had requests, the packets so far when it last did anything.
    since: Vec<Option<u64>>,
}

impl Service {
    /// For an engine of so many queue pairs.
    pub(super) fn new(queue_pairs: usize) -> Self {
        Self {
            most: TURNS * queue_pairs as u64,
            packets: 0,
            since: vec![None; queue_pairs],
        }
    }

    /// Something happened to the send queue of a queue pair: from here on it may be able to send.
    pub(super) fn touched(&mut self, qpn: u32) {
        if let Some(since) = self.since.get_mut(qpn as usize) {
            *since = Some(self.packets);
        }
    }

    /// A queue pair sent a packet. Whether it is time to look for others that wait.
    pub(super) fn sent(&mut self, qpn: u32) -> bool {
        self.packets += 1;
        self.touched(qpn);
        self.packets.is_multiple_of(LOOK)
    }

    /// The first queue pair that waits too long, of those of which `can_send` says that they can.
    pub(super) fn starved(
        &mut self,
        mut can_send: impl FnMut(u32) -> bool,
    ) -> Result<(), Untimely> {
        for (qpn, since) in (0..).zip(&mut self.since) {
            let Some(others) = since.map(|since| self.packets - since) else {
                continue;
            };
            if others <= self.most {
                continue;
            }
            if can_send(qpn) {
                return Err(Untimely::Starved {
                    qpn,
                    others,
                    most: self.most,
                });
            }
            // It has nothing to send until something happens to it.
            *since = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of queue pair 0 until something is said of queue pair 1, which can send or not.
    fn packets_until_starved(can_send: bool) -> Option<u64> {
        let mut service = Service::new(4);
        service.touched(1);
        (1..=1000).find(|_| service.sent(0) && service.starved(|qpn| qpn == 1 && can_send).is_err())
    }

    #[test]
    fn a_queue_pair_that_can_send_must_have_its_turn() {
        assert_eq!(packets_until_starved(true), Some(32));
        assert_eq!(packets_until_starved(false), None);
    }

    #[test]
    fn turns_begin_when_something_happens() {
        let mut service = Service::new(4);
        for packet in 0..1000 {
            if packet % 16 == 0 {
                service.touched(1);
            }
            assert!(!service.sent(0) || service.starved(|_| true).is_ok());
        }
    }
}
