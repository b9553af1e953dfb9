//! A network that loses, doubles, delays, spoils and marks frames.

use tandem_model::wire::seal;

/// How bad it is: each of 256.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub drop: u64,
    pub duplicate: u64,
    pub corrupt: u64,
    pub mark: u64,
    /// Rounds by which a frame may be late.
    pub delay: u64,
}

/// See the module; SplitMix64 decides.
pub struct Network {
    state: u64,
    faults: Faults,
    round: u64,
    /// Frames under way: to which node, from which round on.
    under_way: Vec<(usize, u64, Vec<u8>)>,
}

impl Network {
    pub fn new(seed: u64, faults: Faults) -> Self {
        Self {
            state: seed,
            faults,
            round: 0,
            under_way: Vec::new(),
        }
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ z >> 31) % n
    }

    fn happens(&mut self, rate: u64) -> bool {
        self.below(256) < rate
    }

    /// Takes a frame for a node.
    pub fn send(&mut self, to: usize, frame: &[u8]) {
        if self.happens(self.faults.drop) {
            return;
        }
        let copies = 1 + usize::from(self.happens(self.faults.duplicate));
        for _ in 0..copies {
            let mut frame = frame.to_vec();
            if self.happens(self.faults.mark) {
                // ECN 11, of IPv4 and IPv6.
                frame[15] |= if frame[12] == 0x08 { 0x03 } else { 0x30 };
                assert!(seal(&mut frame));
            }
            if self.happens(self.faults.corrupt) {
                let bit = self.below(8 * frame.len() as u64) as usize;
                frame[bit / 8] ^= 1 << (bit % 8);
            }
            let from = self.round + self.below(self.faults.delay + 1);
            self.under_way.push((to, from, frame));
        }
    }

    /// A round has passed: the frames that arrive, each for its node.
    pub fn round(&mut self) -> Vec<(usize, Vec<u8>)> {
        self.round += 1;
        let (arrived, late) = std::mem::take(&mut self.under_way)
            .into_iter()
            .partition(|(_, from, _)| *from < self.round);
        self.under_way = late;
        arrived
            .into_iter()
            .map(|(to, _, frame)| (to, frame))
            .collect()
    }

    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}
