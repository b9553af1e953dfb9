//! Send-queue requests, decoded once.

use crate::abi::{Fault, WqeOpcode};
use crate::context::Sge;
use crate::engine::bits::field;

/// Bytes of the longest entry.
pub(crate) const MAX_ENTRY: usize = 256;
/// Where elements, or inline bytes, begin.
pub(crate) const HEAD: usize = 32;
/// Elements of the longest entry.
const MAX_SGE: usize = (MAX_ENTRY - HEAD) / Sge::LEN;
/// Elements of a read.
const MAX_READ_SGE: usize = 4;
/// Greatest message (WIRE-SEG-10).
pub(crate) const MAX_MESSAGE: u32 = 1 << 31;

/// A well-formed request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wqe {
    pub opcode: WqeOpcode,
    pub silent: bool,
    pub read_fence: bool,
    pub solicited: bool,
    pub inline: bool,
    pub local_invalidate: bool,
    pub length: u32,
    pub object_token: u32,
    pub remote_address: u64,
    pub remote_token: u32,
    num_sge: u8,
    sges: [Sge; MAX_SGE],
}

/// Why a request is malformed, and its opcode byte, which its completion carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub opcode: u8,
    pub fault: Fault,
}

impl Wqe {
    /// Decodes and checks a whole entry of the ring, which is request `index`.
    pub fn parse(entry: &[u8], index: u16) -> Result<Self, Malformed> {
        let opcode = field!(SQ_WQE, opcode).get(entry) as u8;
        let malformed = |fault| Malformed { opcode, fault };
        if field!(SQ_WQE, index).get(entry) != u64::from(index) {
            return Err(malformed(Fault::WqeIndex));
        }
        let opcode = WqeOpcode::from_bits(opcode.into())
            .filter(|opcode| *opcode != WqeOpcode::None)
            .ok_or(malformed(Fault::WqeOpcode))?;
        let is_read = opcode == WqeOpcode::Read;
        let length = field!(SQ_WQE, length).get(entry) as u32;
        let num_sge = field!(SQ_WQE, num_sge).get(entry) as u8;
        let inline = field!(SQ_WQE, inline_data).get(entry) != 0;
        let room = entry.len().saturating_sub(HEAD);
        let fits = length <= MAX_MESSAGE
            && usize::from(num_sge) <= (room / Sge::LEN).min(MAX_SGE)
            && (!is_read || usize::from(num_sge) <= MAX_READ_SGE)
            && (!inline || (!is_read && length as usize <= room));
        if !fits {
            return Err(malformed(Fault::WqeLength));
        }
        let mut sges = [Sge::default(); MAX_SGE];
        let elements = entry.get(HEAD..).unwrap_or_default();
        for (sge, bytes) in sges
            .iter_mut()
            .zip(elements.chunks_exact(Sge::LEN))
            .take(num_sge.into())
        {
            *sge = Sge::parse(bytes);
        }
        Ok(Self {
            opcode,
            silent: field!(SQ_WQE, silent).get(entry) != 0,
            read_fence: field!(SQ_WQE, read_fence).get(entry) != 0,
            solicited: field!(SQ_WQE, solicited).get(entry) != 0,
            inline,
            local_invalidate: field!(SQ_WQE, local_invalidate).get(entry) != 0,
            length,
            object_token: field!(SQ_WQE, object_token).get(entry) as u32,
            remote_address: field!(SQ_WQE, remote_address).get(entry),
            remote_token: field!(SQ_WQE, remote_token).get(entry) as u32,
            num_sge,
            sges,
        })
    }

    /// Its elements; none of an inline request.
    pub fn elements(&self) -> &[Sge] {
        let count = if self.inline { 0 } else { self.num_sge.into() };
        self.sges.get(..count).unwrap_or_default()
    }

    /// Whether it is a read.
    pub fn is_read(&self) -> bool {
        self.opcode == WqeOpcode::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{Record, SQ_WQE};

    fn entry(record: &Record, length: usize) -> Vec<u8> {
        let mut bytes = record.as_bytes().to_vec();
        bytes.resize(length, 0);
        bytes
    }

    #[test]
    fn faults_in_their_order() {
        let good = Record::new(&SQ_WQE)
            .with("opcode", WqeOpcode::Send)
            .with("index", 7u16)
            .with("num_sge", 2u8);
        assert!(Wqe::parse(&entry(&good, 64), 7).is_ok());
        let fault = |record: Record, length| {
            Wqe::parse(&entry(&record, length), 7)
                .err()
                .map(|malformed| malformed.fault)
        };
        let bad_all = good
            .clone()
            .with("index", 8u16)
            .with("opcode", 9u8)
            .with("num_sge", 99u8);
        assert_eq!(fault(bad_all.clone(), 64), Some(Fault::WqeIndex));
        let bad_opcode = bad_all.with("index", 7u16);
        assert_eq!(fault(bad_opcode.clone(), 64), Some(Fault::WqeOpcode));
        let bad_length = bad_opcode.with("opcode", WqeOpcode::Write);
        assert_eq!(fault(bad_length, 64), Some(Fault::WqeLength));
        for (num_sge, length, legal) in [
            (2u8, 64, true),
            (3, 64, false),
            (6, 128, true),
            (7, 128, false),
            (14, 256, true),
            (15, 256, false),
        ] {
            let record = good.clone().with("num_sge", num_sge);
            assert_eq!(fault(record, length).is_none(), legal, "{num_sge} {length}");
        }
        let read = good.clone().with("opcode", WqeOpcode::Read);
        assert_eq!(fault(read.clone().with("num_sge", 4u8), 128), None);
        assert_eq!(
            fault(read.clone().with("num_sge", 5u8), 128),
            Some(Fault::WqeLength)
        );
        assert_eq!(
            fault(read.with("inline_data", 1u8), 128),
            Some(Fault::WqeLength)
        );
        let inline = good.clone().with("inline_data", 1u8).with("num_sge", 0u8);
        assert_eq!(fault(inline.clone().with("length", 32u32), 64), None);
        assert_eq!(
            fault(inline.with("length", 33u32), 64),
            Some(Fault::WqeLength)
        );
        assert_eq!(fault(good.clone().with("length", 1u32 << 31), 64), None);
        assert_eq!(
            fault(good.with("length", (1u32 << 31) + 1), 64),
            Some(Fault::WqeLength)
        );
    }
}
