//! What the model expects on each channel against what the ports showed.

use std::collections::VecDeque;
use std::fmt;

use super::Difference;

/// Bytes that belong on one channel at one address (frames have none).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Address, 0 for frames.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}", self.bytes.len(), self.address)
    }
}

/// One expected item, with the number of the action that caused it.
#[derive(Debug)]
struct Expected {
    action: u64,
    item: Item,
    matched: usize,
}

/// A channel with an order: expectations are met first to last. A write may come as several bursts.
#[derive(Debug)]
pub struct Channel {
    name: &'static str,
    expected: VecDeque<Expected>,
    observed: VecDeque<Item>,
    compared: u64,
}

impl Channel {
    /// An empty channel.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            expected: VecDeque::new(),
            observed: VecDeque::new(),
            compared: 0,
        }
    }

    /// Items that matched so far.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// The model expects this because of action number `action`.
    pub fn expect(&mut self, action: u64, item: Item) -> Result<(), (u64, Difference)> {
        self.expected.push_back(Expected {
            action,
            item,
            matched: 0,
        });
        self.settle()
    }

    /// The ports showed this.
    pub fn observe(&mut self, item: Item) -> Result<(), (u64, Difference)> {
        self.observed.push_back(item);
        self.settle()
    }

    /// Nothing may be left over at the end.
    pub fn finish(&self) -> Result<(), (u64, Difference)> {
        if let Some(expected) = self.expected.front() {
            let text = format!("{} (matched {} of them)", expected.item, expected.matched);
            return Err((
                expected.action,
                Difference::Missing {
                    channel: self.name,
                    expected: text,
                },
            ));
        }
        match self.observed.front() {
            Some(item) => Err((
                u64::MAX,
                Difference::Surplus {
                    channel: self.name,
                    observed: item.to_string(),
                },
            )),
            None => Ok(()),
        }
    }

    fn settle(&mut self) -> Result<(), (u64, Difference)> {
        while let (Some(expected), Some(observed)) =
            (self.expected.front_mut(), self.observed.front())
        {
            let at = expected.matched;
            let rest = &expected.item.bytes[at..];
            let address = expected.item.address + at as u64;
            let n = observed.bytes.len();
            let differs = observed.address != address
                || n > rest.len()
                || (n == 0 && !rest.is_empty())
                || observed.bytes != rest[..n];
            if differs {
                let difference = Difference::Effect {
                    channel: self.name,
                    expected: Item {
                        address,
                        bytes: rest.to_vec(),
                    },
                    observed: observed.clone(),
                };
                return Err((expected.action, difference));
            }
            expected.matched += n;
            let whole = expected.matched == expected.item.bytes.len();
            self.observed.pop_front();
            if whole {
                self.expected.pop_front();
                self.compared += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(address: u64, bytes: &[u8]) -> Item {
        Item {
            address,
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn a_write_in_two_bursts_matches_in_either_order_of_arrival() {
        let mut channel = Channel::new("payload");
        channel.observe(item(100, &[1, 2])).unwrap();
        channel.expect(7, item(100, &[1, 2, 3])).unwrap();
        channel.observe(item(102, &[3])).unwrap();
        channel.finish().unwrap();
        assert_eq!(channel.compared(), 1);
    }

    #[test]
    fn another_byte_another_address_and_too_much_differ() {
        for wrong in [
            item(100, &[1, 9]),
            item(101, &[1, 2]),
            item(100, &[1, 2, 3]),
        ] {
            let mut channel = Channel::new("payload");
            channel.expect(7, item(100, &[1, 2])).unwrap();
            assert_eq!(channel.observe(wrong).unwrap_err().0, 7);
        }
    }

    #[test]
    fn what_is_left_over_is_named() {
        let mut channel = Channel::new("frames");
        channel.expect(3, item(0, &[1, 2])).unwrap();
        assert!(matches!(
            channel.finish(),
            Err((3, Difference::Missing { .. }))
        ));
        let mut channel = Channel::new("frames");
        channel.observe(item(0, &[1])).unwrap();
        assert!(matches!(
            channel.finish(),
            Err((_, Difference::Surplus { .. }))
        ));
    }
}
