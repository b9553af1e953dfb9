//! What a side of all conversations has in common.

use std::time::Duration;

use crate::cm::{Guid, TimeCode};

/// How a side holds its conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CmConfig {
    /// This adapter.
    pub guid: Guid,
    /// Life of a packet in the network.
    pub packet_life: TimeCode,
    /// How long this side takes to answer, and the peer may.
    pub response_timeout: TimeCode,
    /// How long this side says that its consumer may take, once a message came twice.
    pub service_timeout: TimeCode,
    /// How often a message is sent again, 0 to 15.
    pub max_retries: u8,
    /// How long this adapter takes to acknowledge.
    pub ack_delay: TimeCode,
    /// Greatest path MTU, 128 × 2^code bytes; 1 to 5.
    pub max_mtu: u8,
    /// Requests at a listener that wait for the consumer; one more is rejected.
    pub backlog: usize,
}

impl CmConfig {
    /// What Linux has: answers within 4.3 s, fifteen retries, and room for 128 requests at a listener.
    pub const fn new(guid: Guid) -> Self {
        Self {
            guid,
            packet_life: TimeCode::new(18),
            response_timeout: TimeCode::new(20),
            service_timeout: TimeCode::new(22),
            max_retries: 15,
            ack_delay: TimeCode::new(15),
            max_mtu: 5,
            backlog: 128,
        }
    }

    /// How long an answer may be under way if the peer takes so long to give it.
    pub(super) fn interval(&self, response: TimeCode) -> Duration {
        2 * self.packet_life.duration() + response.duration()
    }
}

/// Local ACK timeout of a path, for packets that live so long and a peer that takes so long to acknowledge.
pub const fn ack_timeout(packet_life: TimeCode, ack_delay: TimeCode) -> TimeCode {
    let (path, delay) = (packet_life.get() + 1, ack_delay.get());
    let code = if path >= delay {
        path + (delay >= path - 1) as u8
    } else {
        delay + (path + 1 >= delay) as u8
    };
    TimeCode::new(if code > 31 { 31 } else { code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ack_timeouts_are_those_of_linux() {
        let code = |life, delay| ack_timeout(TimeCode::new(life), TimeCode::new(delay)).get();
        assert_eq!(code(18, 15), 19);
        assert_eq!(code(18, 18), 20);
        assert_eq!(code(18, 19), 20);
        assert_eq!(code(18, 20), 21);
        assert_eq!(code(10, 15), 15);
        assert_eq!(code(31, 31), 31);
        assert_eq!(code(0, 0), 2);
    }

    #[test]
    fn linux_asks_again_after_six_seconds() {
        let config = CmConfig::new(Guid(1));
        let interval = config.interval(config.response_timeout);
        assert!((6.2..6.5).contains(&interval.as_secs_f64()), "{interval:?}");
    }
}
