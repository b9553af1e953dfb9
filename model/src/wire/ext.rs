//! Extension headers between BTH and payload.

use super::bytes::{array, be24, be32, be64, to_be24};
use super::{Aeth, ExtKind, Qpn, Token};

mod field {
    use std::ops::Range;

    pub const RETH_VA: Range<usize> = 0..8;
    pub const RETH_RKEY: Range<usize> = 8..12;
    pub const RETH_LENGTH: Range<usize> = 12..16;

    pub const ATOMIC_VA: Range<usize> = 0..8;
    pub const ATOMIC_RKEY: Range<usize> = 8..12;
    pub const ATOMIC_SWAP_OR_ADD: Range<usize> = 12..20;
    pub const ATOMIC_COMPARE: Range<usize> = 20..28;

    pub const DETH_QKEY: Range<usize> = 0..4;
    pub const DETH_SRC_QP: Range<usize> = 5..8;
}

/// RDMA extended transport header (WIRE-EXT-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reth {
    /// Virtual address at the responder.
    pub va: u64,
    /// R_Key.
    pub token: Token,
    /// Length of the whole message in bytes (WIRE-EXT-2).
    pub length: u32,
}

impl Reth {
    /// Length of the header in bytes.
    pub const LEN: usize = 16;

    /// The header of its bytes.
    pub fn parse(bytes: &[u8; Self::LEN]) -> Self {
        Self {
            va: be64(bytes, field::RETH_VA),
            token: Token(be32(bytes, field::RETH_RKEY)),
            length: be32(bytes, field::RETH_LENGTH),
        }
    }

    /// Its bytes.
    pub fn emit(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[field::RETH_VA].copy_from_slice(&self.va.to_be_bytes());
        bytes[field::RETH_RKEY].copy_from_slice(&self.token.0.to_be_bytes());
        bytes[field::RETH_LENGTH].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }
}

/// Atomic extended transport header (WIRE-EXT-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicEth {
    /// Virtual address at the responder, a multiple of 8.
    pub va: u64,
    /// R_Key.
    pub token: Token,
    /// New value of a CmpSwap, summand of a FetchAdd.
    pub swap_or_add: u64,
    /// Expected value of a CmpSwap, 0 in a FetchAdd.
    pub compare: u64,
}

impl AtomicEth {
    /// Length of the header in bytes.
    pub const LEN: usize = 28;

    /// The header of its bytes.
    pub fn parse(bytes: &[u8; Self::LEN]) -> Self {
        Self {
            va: be64(bytes, field::ATOMIC_VA),
            token: Token(be32(bytes, field::ATOMIC_RKEY)),
            swap_or_add: be64(bytes, field::ATOMIC_SWAP_OR_ADD),
            compare: be64(bytes, field::ATOMIC_COMPARE),
        }
    }

    /// Its bytes.
    pub fn emit(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[field::ATOMIC_VA].copy_from_slice(&self.va.to_be_bytes());
        bytes[field::ATOMIC_RKEY].copy_from_slice(&self.token.0.to_be_bytes());
        bytes[field::ATOMIC_SWAP_OR_ADD].copy_from_slice(&self.swap_or_add.to_be_bytes());
        bytes[field::ATOMIC_COMPARE].copy_from_slice(&self.compare.to_be_bytes());
        bytes
    }
}

/// Datagram extended transport header (WIRE-EXT-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deth {
    /// Q_Key; [`Deth::GSI_QKEY`] for connection management.
    pub qkey: u32,
    /// The reserved byte, sent as 0.
    pub reserved: u8,
    /// Queue pair that sent the datagram.
    pub src_qp: Qpn,
}

impl Deth {
    /// Length of the header in bytes.
    pub const LEN: usize = 8;
    /// Q_Key of queue pair 1.
    pub const GSI_QKEY: u32 = 0x8001_0000;
    /// The header of every connection-management datagram.
    pub const GSI: Self = Self {
        qkey: Self::GSI_QKEY,
        reserved: 0,
        src_qp: Qpn::GSI,
    };

    /// The header of its bytes.
    pub fn parse(bytes: &[u8; Self::LEN]) -> Self {
        Self {
            qkey: be32(bytes, field::DETH_QKEY),
            reserved: bytes[4],
            src_qp: Qpn::new(be24(bytes, field::DETH_SRC_QP)),
        }
    }

    /// Its bytes.
    pub fn emit(&self) -> [u8; Self::LEN] {
        let [k0, k1, k2, k3] = self.qkey.to_be_bytes();
        let [q0, q1, q2] = to_be24(self.src_qp.get());
        [k0, k1, k2, k3, self.reserved, q0, q1, q2]
    }
}

/// The extension headers of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ext {
    /// None.
    None,
    /// RETH.
    Reth(Reth),
    /// RETH and immediate data.
    RethImm(Reth, [u8; 4]),
    /// Immediate data, opaque bytes in wire order.
    Imm([u8; 4]),
    /// IETH: token that the receiver is to invalidate (WIRE-EXT-4).
    Ieth(Token),
    /// AETH.
    Aeth(Aeth),
    /// AETH and the original value of an atomic's target (WIRE-EXT-10).
    AethAtomicAck(Aeth, u64),
    /// AtomicETH.
    Atomic(AtomicEth),
    /// DETH.
    Deth(Deth),
    /// DETH and immediate data.
    DethImm(Deth, [u8; 4]),
    /// Reserved bytes of a CNP, sent as 0.
    Cnp([u8; 16]),
}

impl Ext {
    /// The headers of a kind at the start of `bytes`; `None` if they do not fit.
    #[inline]
    pub fn parse(kind: ExtKind, bytes: &[u8]) -> Option<Self> {
        let head = bytes.get(..kind.len())?;
        let imm = || array(head, kind.len().saturating_sub(4)..kind.len());
        Some(match kind {
            ExtKind::None => Self::None,
            ExtKind::Reth => Self::Reth(Reth::parse(head.first_chunk()?)),
            ExtKind::RethImm => Self::RethImm(Reth::parse(head.first_chunk()?), imm()),
            ExtKind::Imm => Self::Imm(imm()),
            ExtKind::Ieth => Self::Ieth(Token(be32(head, 0..4))),
            ExtKind::Aeth => Self::Aeth(Aeth::parse(array(head, 0..4))),
            ExtKind::AethAtomicAck => {
                Self::AethAtomicAck(Aeth::parse(array(head, 0..4)), be64(head, 4..12))
            }
            ExtKind::Atomic => Self::Atomic(AtomicEth::parse(head.first_chunk()?)),
            ExtKind::Deth => Self::Deth(Deth::parse(head.first_chunk()?)),
            ExtKind::DethImm => Self::DethImm(Deth::parse(head.first_chunk()?), imm()),
            ExtKind::Cnp => Self::Cnp(*head.first_chunk()?),
        })
    }

    /// Appends the headers' bytes.
    #[inline]
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Reth(reth) => out.extend_from_slice(&reth.emit()),
            Self::RethImm(reth, imm) => {
                out.extend_from_slice(&reth.emit());
                out.extend_from_slice(imm);
            }
            Self::Imm(imm) => out.extend_from_slice(imm),
            Self::Ieth(token) => out.extend_from_slice(&token.0.to_be_bytes()),
            Self::Aeth(aeth) => out.extend_from_slice(&aeth.emit()),
            Self::AethAtomicAck(aeth, original) => {
                out.extend_from_slice(&aeth.emit());
                out.extend_from_slice(&original.to_be_bytes());
            }
            Self::Atomic(atomic) => out.extend_from_slice(&atomic.emit()),
            Self::Deth(deth) => out.extend_from_slice(&deth.emit()),
            Self::DethImm(deth, imm) => {
                out.extend_from_slice(&deth.emit());
                out.extend_from_slice(imm);
            }
            Self::Cnp(reserved) => out.extend_from_slice(reserved),
        }
    }

    /// Which headers these are; equal to the opcode's [`ext`](super::Opcode::ext) in every parsed frame.
    pub const fn kind(&self) -> ExtKind {
        match self {
            Self::None => ExtKind::None,
            Self::Reth(_) => ExtKind::Reth,
            Self::RethImm(..) => ExtKind::RethImm,
            Self::Imm(_) => ExtKind::Imm,
            Self::Ieth(_) => ExtKind::Ieth,
            Self::Aeth(_) => ExtKind::Aeth,
            Self::AethAtomicAck(..) => ExtKind::AethAtomicAck,
            Self::Atomic(_) => ExtKind::Atomic,
            Self::Deth(_) => ExtKind::Deth,
            Self::DethImm(..) => ExtKind::DethImm,
            Self::Cnp(_) => ExtKind::Cnp,
        }
    }

    /// The RETH, if there is one.
    pub const fn reth(&self) -> Option<Reth> {
        match self {
            Self::Reth(reth) | Self::RethImm(reth, _) => Some(*reth),
            _ => None,
        }
    }

    /// The AETH, if there is one.
    pub const fn aeth(&self) -> Option<Aeth> {
        match self {
            Self::Aeth(aeth) | Self::AethAtomicAck(aeth, _) => Some(*aeth),
            _ => None,
        }
    }

    /// The token to invalidate, if there is an IETH.
    pub const fn ieth(&self) -> Option<Token> {
        match self {
            Self::Ieth(token) => Some(*token),
            _ => None,
        }
    }

    /// The immediate data in wire order, if there is some.
    pub const fn immediate(&self) -> Option<[u8; 4]> {
        match self {
            Self::Imm(imm) | Self::RethImm(_, imm) | Self::DethImm(_, imm) => Some(*imm),
            _ => None,
        }
    }

    /// The DETH, if there is one.
    pub const fn deth(&self) -> Option<Deth> {
        match self {
            Self::Deth(deth) | Self::DethImm(deth, _) => Some(*deth),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Opcode;
    use super::*;

    #[test]
    fn every_kind_comes_apart_and_together() {
        let bytes: Vec<u8> = (0x81..=0xC0).collect();
        for kind in Opcode::ALL.iter().map(|opcode| opcode.ext()) {
            let ext = Ext::parse(kind, &bytes).unwrap();
            assert_eq!(ext.kind(), kind);
            let mut out = Vec::new();
            ext.emit(&mut out);
            assert_eq!(out, bytes[..kind.len()], "{kind:?}");
            if !kind.is_empty() {
                assert_eq!(Ext::parse(kind, &bytes[..kind.len() - 1]), None);
            }
        }
    }

    #[test]
    fn fields_of_a_real_reth() {
        // Golden packet `write_only`.
        let bytes = [
            0x00, 0x00, 0x7F, 0x00, 0x02, 0x00, 0x01, 0x00, 0x08, 0x00, 0x01, 0x42, 0, 0, 0, 11,
        ];
        let reth = Reth {
            va: 0x7F00_0200_0100,
            token: Token(0x0800_0142),
            length: 11,
        };
        assert_eq!(Reth::parse(&bytes), reth);
        assert_eq!(reth.emit(), bytes);
    }
}
