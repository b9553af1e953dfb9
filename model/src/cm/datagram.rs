//! Datagrams of connection management as frames on queue pair 1.

use super::{CmError, Mad};
use crate::wire::{Bth, Deth, Eth, Ext, Frame, Ip, Opcode, Pkey, Psn, Qpn};

/// UDP source port of what is sent; any is taken.
const SOURCE_PORT: u16 = 55410;

/// A management datagram with the headers that carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// MAC addresses.
    pub eth: Eth,
    /// IP addresses.
    pub ip: Ip,
    /// PSN: counted by the sender, of no meaning to the receiver.
    pub psn: Psn,
    /// What is said.
    pub mad: Mad,
}

impl Datagram {
    /// Takes a frame apart that may be a management datagram. An AckReq bit has no effect (WIRE-CM-15), nor
    /// has the PSN.
    ///
    /// # Errors
    /// [`CmError::Frame`] if it is no good RoCEv2 frame; [`CmError::Field`] of the first header field that a
    /// datagram to queue pair 1 has otherwise; and those of [`Mad::parse`].
    pub fn parse(frame: &[u8]) -> Result<Self, CmError> {
        let frame = Frame::parse(frame).map_err(CmError::Frame)?;
        let misfit = |record, field, value| {
            Err(CmError::Field {
                record,
                field,
                value,
            })
        };
        let bth = &frame.bth;
        let deth = match frame.ext {
            Ext::Deth(deth) if bth.opcode == Opcode::UdSendOnly => deth,
            _ => return misfit("BTH", "opcode", u8::from(bth.opcode).into()),
        };
        if !bth.pkey.matches(Pkey::DEFAULT) {
            return misfit("BTH", "pkey", bth.pkey.0.into());
        }
        if bth.dest_qp != Qpn::GSI {
            return misfit("BTH", "dest_qp", bth.dest_qp.get().into());
        }
        if deth.qkey != Deth::GSI_QKEY {
            return misfit("DETH", "qkey", deth.qkey.into());
        }
        if deth.src_qp != Qpn::GSI {
            return misfit("DETH", "src_qp", deth.src_qp.get().into());
        }
        Ok(Self {
            eth: frame.eth,
            ip: frame.ip,
            psn: bth.psn,
            mad: Mad::parse(frame.payload)?,
        })
    }

    /// The frame's bytes, ICRC included.
    pub fn emit(&self) -> Vec<u8> {
        let bth = Bth::new(Opcode::UdSendOnly, Qpn::GSI, self.psn);
        let mad = self.mad.emit();
        Frame::new(self.eth, self.ip, SOURCE_PORT, bth, Ext::Deth(Deth::GSI))
            .with_payload(&mad)
            .to_vec()
    }
}
