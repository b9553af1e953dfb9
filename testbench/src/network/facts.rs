//! What rules look at in a frame, and the frames that a rule is about.

use tandem_model::wire::{Frame, Opcode};

use crate::vector::step::FrameKind;

/// What a rule can look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Opcode; `None` if it is no right RoCEv2 frame.
    pub opcode: Option<Opcode>,
    /// PSN.
    pub psn: u32,
    /// Queue pair that it is for.
    pub qpn: u32,
}

impl Facts {
    /// Of a frame.
    pub fn of(frame: &[u8]) -> Self {
        match Frame::parse(frame) {
            Ok(frame) => Self {
                opcode: Some(frame.bth.opcode),
                psn: frame.bth.psn.get(),
                qpn: frame.bth.dest_qp.get(),
            },
            Err(_) => Self::default(),
        }
    }
}

/// PSNs from the first to the last one, across the wrap if the last is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsnRange {
    /// First one.
    pub first: u32,
    /// Last one.
    pub last: u32,
}

impl PsnRange {
    /// All: those of every right RoCEv2 frame.
    pub const ALL: Self = Self {
        first: 0,
        last: 0xFF_FFFF,
    };

    /// Whether a PSN lies in the range.
    pub fn contains(self, psn: u32) -> bool {
        let distance = |to: u32| to.wrapping_sub(self.first) & 0xFF_FFFF;
        distance(psn) <= distance(self.last)
    }
}

/// The frames that a rule is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Requests, responses, or all.
    pub of: FrameKind,
    /// These opcodes; empty: any.
    pub opcodes: Vec<Opcode>,
    /// These PSNs.
    pub psn: Option<PsnRange>,
    /// The queue pair that they are for.
    pub qpn: Option<u32>,
}

impl Selection {
    /// Whether a frame is one of them.
    pub fn fits(&self, facts: &Facts) -> bool {
        let Some(opcode) = facts.opcode else {
            return *self == Self::default();
        };
        let kind = match self.of {
            FrameKind::All => true,
            FrameKind::Requests => opcode.is_request(),
            FrameKind::Responses => opcode.is_response(),
        };
        kind && (self.opcodes.is_empty() || self.opcodes.contains(&opcode))
            && self.psn.is_none_or(|range| range.contains(facts.psn))
            && self.qpn.is_none_or(|qpn| qpn == facts.qpn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_goes_across_the_wrap() {
        let range = PsnRange {
            first: 0xFF_FFFE,
            last: 1,
        };
        for psn in [0xFF_FFFE, 0xFF_FFFF, 0, 1] {
            assert!(range.contains(psn), "{psn:#x}");
        }
        assert!(!range.contains(2) && !range.contains(0xFF_FFFD));
        let one = PsnRange { first: 5, last: 5 };
        assert!(one.contains(5) && !one.contains(4) && !one.contains(6));
    }

    #[test]
    fn everything_that_is_asked_for_must_fit() {
        let facts = Facts {
            opcode: Some(Opcode::WriteMiddle),
            psn: 7,
            qpn: 2,
        };
        let all = Selection::default();
        assert!(all.fits(&facts) && all.fits(&Facts::default()));
        let some = Selection {
            of: FrameKind::Requests,
            opcodes: vec![Opcode::WriteMiddle],
            psn: Some(PsnRange { first: 7, last: 9 }),
            qpn: Some(2),
        };
        assert!(some.fits(&facts));
        assert!(!some.fits(&Facts { psn: 6, ..facts }));
        assert!(!some.fits(&Facts { qpn: 3, ..facts }));
        assert!(!some.fits(&Facts::default()));
        let responses = Selection {
            of: FrameKind::Responses,
            ..all
        };
        assert!(!responses.fits(&facts));
    }
}
