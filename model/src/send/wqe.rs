//! Send-queue requests, decoded once.

use crate::abi::{Fault, WqeOpcode};
use crate::context::{Binding, Registration, Rights, Sge};
use crate::engine::bits::field;
use crate::wire::Token;

/// Bytes of the longest entry.
pub(crate) const MAX_ENTRY: usize = 256;
/// Where elements, or inline bytes, begin.
pub(crate) const HEAD: usize = 32;
/// Elements of the longest entry.
const MAX_SGE: usize = (MAX_ENTRY - HEAD) / Sge::LEN;
/// Elements of a read.
const MAX_READ_SGE: usize = 4;
/// Bytes in which a page list is read, and to which it is aligned.
pub(super) const LIST_UNIT: u64 = 64;
/// Greatest message (WIRE-SEG-10).
pub(crate) const MAX_MESSAGE: u32 = 1 << 31;
/// Bytes of a frame of queue pair 1.
const FRAME_BYTES: std::ops::RangeInclusive<u32> = 14..=MAX_FRAME;
/// Bytes of the longest frame of queue pair 1, either way.
pub(crate) const MAX_FRAME: u32 = 2048;
/// The queue pair that sends and takes whole frames.
pub(crate) const FRAME_QPN: u32 = 1;

/// A well-formed request.
#[derive(Clone, Copy, Debug, Hash)]
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
    rights: Rights,
    new_key: u8,
    page_count: u16,
    page_offset: u16,
    list: u64,
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
    /// Decodes and checks a whole entry of the ring of queue pair `qpn`, which is request `index`.
    pub fn parse(entry: &[u8], index: u16, qpn: u32) -> Result<Self, Malformed> {
        let opcode = field!(SQ_WQE, opcode).get(entry) as u8;
        let malformed = |fault| Malformed { opcode, fault };
        if field!(SQ_WQE, index).get(entry) != u64::from(index) {
            return Err(malformed(Fault::WqeIndex));
        }
        let opcode = WqeOpcode::from_bits(opcode.into())
            .filter(|opcode| *opcode != WqeOpcode::None)
            .filter(|opcode| (*opcode == WqeOpcode::Frame) == (qpn == FRAME_QPN))
            .ok_or(malformed(Fault::WqeOpcode))?;
        let is_read = opcode == WqeOpcode::Read;
        let length = field!(SQ_WQE, length).get(entry) as u32;
        let num_sge = field!(SQ_WQE, num_sge).get(entry) as u8;
        let inline = field!(SQ_WQE, inline_data).get(entry) != 0;
        let room = entry.len().saturating_sub(HEAD);
        let has_elements = usize::from(num_sge) <= (room / Sge::LEN).min(MAX_SGE)
            && (!is_read || usize::from(num_sge) <= MAX_READ_SGE)
            && (!inline || (!is_read && length as usize <= room));
        let fits = length <= MAX_MESSAGE
            && (has_elements || is_local(opcode))
            && (opcode != WqeOpcode::Frame || FRAME_BYTES.contains(&length));
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
            rights: Rights {
                local_write: field!(SQ_WQE, local_write).get(entry) != 0,
                remote_read: field!(SQ_WQE, remote_read).get(entry) != 0,
                remote_write: field!(SQ_WQE, remote_write).get(entry) != 0,
            },
            new_key: field!(SQ_WQE, new_key).get(entry) as u8,
            page_count: field!(SQ_WQE, page_count).get(entry) as u16,
            page_offset: field!(SQ_WQE, page_offset).get(entry) as u16,
            list: Sge::parse(elements).address & !(LIST_UNIT - 1),
            num_sge,
            sges,
        })
    }

    /// Whether it is executed here and sends nothing.
    pub fn is_local(&self) -> bool {
        is_local(self.opcode)
    }

    /// Whether it sends packets with PSNs.
    pub fn sends_packets(&self) -> bool {
        !self.is_local() && self.opcode != WqeOpcode::Frame
    }

    /// What it asks for if it is a Bind.
    pub fn binding(&self) -> Binding {
        Binding {
            window: Token(self.object_token),
            new_key: self.new_key,
            region: Token(self.remote_token),
            address: self.remote_address,
            length: self.length,
            rights: self.rights,
        }
    }

    /// What it asks for if it is a FastRegister, and where the list of its pages lies.
    pub fn registration(&self) -> (Registration, u64) {
        let registration = Registration {
            token: Token(self.object_token),
            page_count: self.page_count,
            page_offset: self.page_offset,
            address: self.remote_address,
            length: self.length,
            rights: self.rights,
        };
        (registration, self.list)
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

fn is_local(opcode: WqeOpcode) -> bool {
    use WqeOpcode::{Bind, FastRegister, Invalidate};
    matches!(opcode, Bind | FastRegister | Invalidate)
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
        assert!(Wqe::parse(&entry(&good, 64), 7, 2).is_ok());
        let fault = |record: Record, length| {
            Wqe::parse(&entry(&record, length), 7, 2)
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

    #[test]
    fn local_requests_have_no_elements() {
        for opcode in [
            WqeOpcode::Bind,
            WqeOpcode::FastRegister,
            WqeOpcode::Invalidate,
        ] {
            let stale = Record::new(&SQ_WQE)
                .with("opcode", opcode)
                .with("num_sge", 255u8)
                .with("inline_data", 1u8)
                .with("length", 1u32 << 31);
            assert!(Wqe::parse(&entry(&stale, 64), 0, 2).is_ok());
            let long = stale.with("length", (1u32 << 31) + 1);
            let fault = Wqe::parse(&entry(&long, 64), 0, 2).err().map(|m| m.fault);
            assert_eq!(fault, Some(Fault::WqeLength));
        }
    }

    #[test]
    fn frames_on_queue_pair_1_and_nothing_else() {
        let record = |opcode: WqeOpcode, length: u32| {
            Record::new(&SQ_WQE)
                .with("opcode", opcode)
                .with("length", length)
        };
        let fault = |opcode, length, qpn| {
            Wqe::parse(&entry(&record(opcode, length), 64), 0, qpn)
                .err()
                .map(|malformed| malformed.fault)
        };
        for (length, legal) in [(13, false), (14, true), (2048, true), (2049, false)] {
            let expected = (!legal).then_some(Fault::WqeLength);
            assert_eq!(fault(WqeOpcode::Frame, length, 1), expected, "{length}");
        }
        assert_eq!(fault(WqeOpcode::Frame, 13, 2), Some(Fault::WqeOpcode));
        for opcode in 1..8 {
            let opcode = WqeOpcode::from_bits(opcode).unwrap();
            assert_eq!(fault(opcode, 20, 1), Some(Fault::WqeOpcode), "{opcode:?}");
            assert_eq!(fault(opcode, 20, 2), None, "{opcode:?}");
        }
    }
}
