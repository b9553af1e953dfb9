//! The bytes of a run of the engine: for each frame one byte of what happens before it and what is done to it, its length
//! (16 bits, low byte first), and its bytes. What is missing at the end is left out.

/// Frames of a run.
const MOST: usize = 24;
/// Bytes of a frame.
const LONGEST: usize = 4500;

/// What happens before a frame, and what is done to it. A fuzzer finds neither addresses nor checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control(pub u8);

/// What the driver sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    Send,
    Write,
    Read,
    Invalidate,
}

impl Control {
    /// Addresses and queue pair become those of the connection.
    pub const AIM: Self = Self(1);
    /// The PSN becomes the one that is expected; the memory that it names is there.
    pub const EXPECTED: Self = Self(2);
    /// The checksums become right.
    pub const SEAL: Self = Self(4);
    /// The driver posts a receive before it.
    pub const RECEIVE: Self = Self(8);
    /// The driver sends something before it.
    pub const SEND: Self = Self(16);
    /// Before it ends what waits for a clock.
    pub const TIME: Self = Self(128);

    /// Whether a control is among these.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The same, with something to send.
    pub const fn sending(self, what: Sends) -> Self {
        self.and(Self::SEND).and(Self((what as u8) << 5))
    }

    /// What the driver sends, if it does.
    pub fn sends(self) -> Option<Sends> {
        self.has(Self::SEND).then_some(match self.0 >> 5 & 3 {
            0 => Sends::Send,
            1 => Sends::Write,
            2 => Sends::Read,
            _ => Sends::Invalidate,
        })
    }
}

/// Takes the bytes of a run apart.
pub fn read(mut bytes: &[u8]) -> Vec<(Control, &[u8])> {
    let mut steps = Vec::new();
    while let [control, low, high, rest @ ..] = bytes
        && steps.len() < MOST
    {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let (frame, left) = rest.split_at(length.min(rest.len()).min(LONGEST));
        steps.push((Control(*control), frame));
        bytes = left;
    }
    steps
}

/// Puts the bytes of a run together.
pub fn write<'a>(steps: impl IntoIterator<Item = (Control, &'a [u8])>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (control, frame) in steps {
        bytes.push(control.0);
        bytes.extend((frame.len() as u16).to_le_bytes());
        bytes.extend(frame);
    }
    bytes
}
