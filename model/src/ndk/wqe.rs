//! Work requests and completion entries as bytes.

use crate::abi::{CQE, RQ_WQE, SGE, SQ_WQE, WqeOpcode};

use super::layout::{bit, byte, flag};
use super::{OpFlags, Sge};

/// Greatest entry of a send queue.
const MAX_ENTRY: usize = 256;
/// Smallest entry of a send queue, and every entry of a receive queue.
pub(super) const ENTRY: usize = SQ_WQE.bytes();
/// Where elements or inline bytes begin.
pub(super) const HEADER: usize = byte(&SQ_WQE, "sge0");
const SGE_BYTES: usize = SGE.bytes();
const INLINE_DATA: (usize, u8) = flag(&SQ_WQE, "inline_data");

/// What a request says besides its elements.
#[derive(Clone, Copy)]
pub(super) struct SqHeader {
    pub(super) opcode: WqeOpcode,
    pub(super) flags: OpFlags,
    /// No completion entry on success; differs from the flag when the provider wants one.
    pub(super) silent: bool,
    pub(super) index: u16,
    pub(super) length: u32,
    pub(super) object_token: u32,
    pub(super) remote_address: u64,
    pub(super) remote_token: u32,
}

/// What a Bind or FastRegister says besides.
#[derive(Clone, Copy, Default)]
pub(super) struct LocalFields {
    pub(super) local_write: bool,
    pub(super) remote_read: bool,
    pub(super) remote_write: bool,
    pub(super) new_key: u8,
    pub(super) page_count: u16,
    pub(super) page_offset: u16,
    /// Logical address of the page list.
    pub(super) list: u64,
}

/// A send-queue entry.
pub(super) struct SqEntry {
    bytes: [u8; MAX_ENTRY],
    used: usize,
}

impl SqEntry {
    pub(super) fn new(header: &SqHeader) -> Self {
        const FLAGS: [(OpFlags, (usize, u8)); 3] = [
            (OpFlags::READ_FENCE, flag(&SQ_WQE, "read_fence")),
            (OpFlags::SEND_AND_SOLICIT_EVENT, flag(&SQ_WQE, "solicited")),
            (
                OpFlags::RDMA_READ_LOCAL_INVALIDATE,
                flag(&SQ_WQE, "local_invalidate"),
            ),
        ];
        const SILENT: (usize, u8) = flag(&SQ_WQE, "silent");
        let mut entry = Self {
            bytes: [0; MAX_ENTRY],
            used: ENTRY,
        };
        entry.put(byte(&SQ_WQE, "opcode"), &[header.opcode as u8]);
        if header.silent {
            entry.raise(SILENT);
        }
        for (op_flag, place) in FLAGS {
            if header.flags.contains(op_flag) {
                entry.raise(place);
            }
        }
        entry.put(
            const { byte(&SQ_WQE, "index") },
            &header.index.to_le_bytes(),
        );
        entry.put(
            const { byte(&SQ_WQE, "length") },
            &header.length.to_le_bytes(),
        );
        entry.put(
            const { byte(&SQ_WQE, "object_token") },
            &header.object_token.to_le_bytes(),
        );
        entry.put(
            const { byte(&SQ_WQE, "remote_address") },
            &header.remote_address.to_le_bytes(),
        );
        entry.put(
            const { byte(&SQ_WQE, "remote_token") },
            &header.remote_token.to_le_bytes(),
        );
        entry
    }

    /// Adds what a Bind or FastRegister says besides.
    pub(super) fn set_local(&mut self, fields: &LocalFields) {
        let rights = [
            (fields.local_write, const { flag(&SQ_WQE, "local_write") }),
            (fields.remote_read, const { flag(&SQ_WQE, "remote_read") }),
            (fields.remote_write, const { flag(&SQ_WQE, "remote_write") }),
        ];
        for (_, place) in rights.into_iter().filter(|(right, _)| *right) {
            self.raise(place);
        }
        self.put(const { byte(&SQ_WQE, "new_key") }, &[fields.new_key]);
        self.put(
            const { byte(&SQ_WQE, "page_count") },
            &fields.page_count.to_le_bytes(),
        );
        self.put(
            const { byte(&SQ_WQE, "page_offset") },
            &fields.page_offset.to_le_bytes(),
        );
        self.put(
            const { HEADER + byte(&SGE, "address") },
            &fields.list.to_le_bytes(),
        );
    }

    /// Adds the elements. The caller has checked that they fit the entry.
    pub(super) fn set_elements(&mut self, sgl: &[Sge]) {
        self.put(const { byte(&SQ_WQE, "num_sge") }, &[sgl.len() as u8]);
        for (place, sge) in (HEADER..).step_by(SGE_BYTES).zip(sgl) {
            self.put(place, &sge_bytes(sge));
        }
        self.used = self.used.max(HEADER + SGE_BYTES * sgl.len());
    }

    /// The place of `length` inline bytes, shorter if the entry ends before.
    pub(super) fn inline_place(&mut self, length: usize) -> &mut [u8] {
        self.raise(INLINE_DATA);
        let end = (HEADER + length).min(MAX_ENTRY);
        self.used = self.used.max(end);
        &mut self.bytes[HEADER..end]
    }

    /// The bytes to write: the first 64, and what is used beyond.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.used.min(MAX_ENTRY)]
    }

    fn raise(&mut self, (place, mask): (usize, u8)) {
        if let Some(octet) = self.bytes.get_mut(place) {
            *octet |= mask;
        }
    }

    fn put(&mut self, place: usize, bytes: &[u8]) {
        self.bytes
            .iter_mut()
            .skip(place)
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
    }
}

fn sge_bytes(sge: &Sge) -> [u8; SGE_BYTES] {
    const ADDRESS: usize = byte(&SGE, "address");
    const LENGTH: usize = byte(&SGE, "length");
    const TOKEN: usize = byte(&SGE, "token");
    let mut bytes = [0; SGE_BYTES];
    bytes[ADDRESS..ADDRESS + 8].copy_from_slice(&sge.address.to_le_bytes());
    bytes[LENGTH..LENGTH + 4].copy_from_slice(&sge.length.to_le_bytes());
    bytes[TOKEN..TOKEN + 4].copy_from_slice(&sge.token.0.to_le_bytes());
    bytes
}

/// A receive-queue entry; surplus elements are left out (the caller has checked that there are none).
pub(super) fn rq_entry(sgl: &[Sge]) -> [u8; RQ_WQE.bytes()] {
    let mut bytes = [0; RQ_WQE.bytes()];
    for (place, sge) in bytes.chunks_exact_mut(SGE_BYTES).zip(sgl) {
        place.copy_from_slice(&sge_bytes(sge));
    }
    bytes
}

/// Bytes of a completion entry.
pub(super) const CQE_BYTES: usize = CQE.bytes();
/// Opcode of receives.
pub(super) const RECEIVE_OPCODE: u8 = 0x80;

/// A completion entry, taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) wqe_index: u16,
    pub(super) opcode: u8,
    pub(super) status: u8,
    pub(super) qpn: u32,
    pub(super) receive: bool,
    pub(super) invalidated: bool,
    pub(super) byte_len: u32,
    pub(super) token: u32,
    pub(super) error_code: u32,
}

impl Completion {
    /// The entry, if its phase bit is the one awaited.
    pub(super) fn parse(bytes: &[u8; CQE_BYTES], phase: bool) -> Option<Self> {
        const fn raised(bytes: &[u8; CQE_BYTES], (place, mask): (usize, u8)) -> bool {
            bytes[place] & mask != 0
        }
        const fn word(bytes: &[u8; CQE_BYTES], place: usize) -> u32 {
            u32::from_le_bytes([
                bytes[place],
                bytes[place + 1],
                bytes[place + 2],
                bytes[place + 3],
            ])
        }
        const INDEX: usize = byte(&CQE, "wqe_index");
        const QPN: usize = byte(&CQE, "qpn");
        // The flags lie in the byte above the 24-bit number.
        const { assert!(bit(&CQE, "receive") == 8 * (QPN + 3)) };
        if raised(bytes, const { flag(&CQE, "phase") }) != phase {
            return None;
        }
        Some(Self {
            wqe_index: u16::from_le_bytes([bytes[INDEX], bytes[INDEX + 1]]),
            opcode: bytes[const { byte(&CQE, "opcode") }],
            status: bytes[const { byte(&CQE, "status") }],
            qpn: word(bytes, QPN) & 0xFF_FFFF,
            receive: raised(bytes, const { flag(&CQE, "receive") }),
            invalidated: raised(bytes, const { flag(&CQE, "invalidated") }),
            byte_len: word(bytes, const { byte(&CQE, "byte_len") }),
            token: word(bytes, const { byte(&CQE, "token") }),
            error_code: word(bytes, const { byte(&CQE, "error_code") }),
        })
    }
}
