//! Changing fields of a frame, as a hostile or broken peer would send them.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_model::wire::{Aeth, Bth, Ext, Frame, Ip, Msn, Psn, Qpn, Reth, Syndrome, Token, seal};

use crate::vector::value::{HexBytes, Number};

/// New values of fields. Lengths, checksums and the ICRC of the frame become right again afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alteration {
    /// Operation code, as a number. What stands behind the BTH stays as it is.
    pub opcode: Option<u8>,
    /// PSN.
    pub psn: Option<u32>,
    /// Queue pair number of the receiver.
    pub dest_qp: Option<u32>,
    /// AckReq bit.
    pub ack_req: Option<bool>,
    /// Solicited event bit.
    pub se: Option<bool>,
    /// Pad count; the length of the payload stays.
    pub pad: Option<u8>,
    /// FECN, BECN and reserved bits of the BTH: byte 4, which the ICRC does not cover.
    pub congestion: Option<u8>,
    /// The seven reserved bits beside AckReq.
    pub reserved: Option<u8>,
    /// Syndrome of the AETH.
    pub syndrome: Option<u8>,
    /// MSN of the AETH.
    pub msn: Option<u32>,
    /// Virtual address of the RETH.
    pub va: Option<Number>,
    /// Token of the RETH as it stands on the wire.
    pub token: Option<u32>,
    /// Length of the RETH.
    pub length: Option<u32>,
    /// Bytes of payload: fewer, or more that are zero.
    pub payload: Option<u32>,
    /// ECN bits of the IP header: 3 is congestion experienced.
    pub ecn: Option<u8>,
    /// Raw bytes, put in last.
    #[serde(default)]
    pub bytes: Vec<RawBytes>,
}

/// Bytes at a place of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawBytes {
    /// Offset in the frame.
    pub at: usize,
    /// The bytes.
    pub hex: HexBytes,
}

impl Alteration {
    /// Changes a frame. A frame that is not RoCEv2 gets only its raw bytes.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        if let Ok(frame) = Frame::parse(bytes) {
            *bytes = self.fields(frame);
        }
        for raw in &self.bytes {
            let end = raw.at.saturating_add(raw.hex.0.len());
            if let Some(place) = bytes.get_mut(raw.at..end) {
                place.copy_from_slice(&raw.hex.0);
            }
        }
        // False if it has no place for an ICRC: then it stays without.
        let _ = seal(bytes);
    }

    fn fields(&self, frame: Frame<'_>) -> Vec<u8> {
        let mut payload = frame.payload.to_vec();
        if let Some(length) = self.payload {
            payload.resize(length as usize, 0);
        }
        let mut changed = Frame {
            ip: self.ip(frame.ip),
            bth: self.bth(frame.bth),
            ext: self.ext(frame.ext),
            payload: &payload,
            ..frame
        };
        if self.payload.is_some() {
            // What stood behind the frame was its fill to 60 bytes.
            changed.trailer = &[];
            changed.bth.pad = Bth::pad_for(payload.len());
        }
        if let Some(pad) = self.pad {
            changed.bth.pad = pad;
            changed.trailer = &[];
        }
        let mut out = changed.to_vec();
        if let Some(opcode) = self.opcode
            && let Some(byte) = out.get_mut(bth_start(&frame))
        {
            *byte = opcode;
        }
        out
    }

    fn ip(&self, mut ip: Ip) -> Ip {
        if let Some(ecn) = self.ecn {
            let class = ip.traffic_class() & !3 | ecn & 3;
            ip = ip.with_path(class, ip.hop_limit());
        }
        ip
    }

    fn bth(&self, mut bth: Bth) -> Bth {
        bth.psn = self.psn.map_or(bth.psn, Psn::new);
        bth.dest_qp = self.dest_qp.map_or(bth.dest_qp, Qpn::new);
        bth.ack_req = self.ack_req.unwrap_or(bth.ack_req);
        bth.solicited = self.se.unwrap_or(bth.solicited);
        bth.reserved7 = self.reserved.unwrap_or(bth.reserved7);
        if let Some(byte) = self.congestion {
            bth.fecn = byte & 0x80 != 0;
            bth.becn = byte & 0x40 != 0;
            bth.reserved6 = byte & 0x3F;
        }
        bth
    }

    fn ext(&self, ext: Ext) -> Ext {
        let aeth = |aeth: Aeth| Aeth {
            syndrome: self.syndrome.map_or(aeth.syndrome, Syndrome::decode),
            msn: self.msn.map_or(aeth.msn, Msn::new),
        };
        let reth = |reth: Reth| Reth {
            va: self.va.map_or(reth.va, |va| va.0),
            token: self.token.map_or(reth.token, Token),
            length: self.length.unwrap_or(reth.length),
        };
        match ext {
            Ext::Aeth(old) => Ext::Aeth(aeth(old)),
            Ext::Reth(old) => Ext::Reth(reth(old)),
            other => other,
        }
    }
}

/// Where the BTH of a frame begins.
fn bth_start(frame: &Frame<'_>) -> usize {
    const ETH: usize = 14;
    const VLAN: usize = 4;
    const UDP: usize = 8;
    let vlan = frame.eth.vlan.map_or(0, |_| VLAN);
    ETH + vlan + frame.ip.len() + UDP
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |flag: Option<bool>| flag.map(u64::from);
        let fields: [(&str, Option<u64>); 15] = [
            ("opcode", self.opcode.map(u64::from)),
            ("PSN", self.psn.map(u64::from)),
            ("queue pair", self.dest_qp.map(u64::from)),
            ("AckReq", flag(self.ack_req)),
            ("SE", flag(self.se)),
            ("pad", self.pad.map(u64::from)),
            ("congestion byte", self.congestion.map(u64::from)),
            ("reserved bits", self.reserved.map(u64::from)),
            ("syndrome", self.syndrome.map(u64::from)),
            ("MSN", self.msn.map(u64::from)),
            ("address", self.va.map(|va| va.0)),
            ("token", self.token.map(u64::from)),
            ("length", self.length.map(u64::from)),
            ("payload length", self.payload.map(u64::from)),
            ("ECN", self.ecn.map(u64::from)),
        ];
        let named = fields
            .iter()
            .filter_map(|(name, value)| value.map(|value| format!("{name} {value:#x}")));
        let raw = self
            .bytes
            .iter()
            .map(|raw| format!("other bytes at {}", raw.at));
        let words: Vec<String> = named.chain(raw).collect();
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use tandem_model::wire::{Eth, Ipv4, MacAddr, Opcode};

    use super::*;

    fn frame(opcode: Opcode, ext: Ext, payload: &[u8]) -> Vec<u8> {
        let mac = MacAddr([2, 0, 0, 0, 0, 1]);
        let eth = Eth {
            dst: mac,
            src: mac,
            vlan: None,
        };
        let ip = Ip::V4(Ipv4::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into()));
        let bth = Bth::new(opcode, Qpn::new(3), Psn::new(7));
        let whole = Frame::new(eth, ip, 0xC000, bth, ext).with_payload(payload);
        whole.to_vec()
    }

    fn ack() -> Vec<u8> {
        let aeth = Aeth {
            syndrome: Syndrome::ACK,
            msn: Msn::new(1),
        };
        frame(Opcode::Acknowledge, Ext::Aeth(aeth), &[])
    }

    #[test]
    fn fields_change_and_the_frame_stays_whole() {
        let mut bytes = ack();
        Alteration {
            syndrome: Some(0x64),
            psn: Some(0xFF_FFFF),
            ecn: Some(3),
            congestion: Some(0x41),
            ..Alteration::default()
        }
        .apply(&mut bytes);
        let changed = Frame::parse(&bytes).unwrap();
        assert_eq!(changed.ext.aeth().unwrap().syndrome.encode(), 0x64);
        assert_eq!(changed.bth.psn.get(), 0xFF_FFFF);
        assert_eq!(changed.ip.traffic_class() & 3, 3);
        assert!(changed.bth.becn && !changed.bth.fecn && changed.bth.reserved6 == 1);
    }

    #[test]
    fn payload_can_be_cut_and_drawn_out() {
        for length in [0, 1, 4, 9] {
            let mut bytes = frame(Opcode::SendOnly, Ext::None, &[1, 2, 3, 4, 5]);
            Alteration {
                payload: Some(length),
                ..Alteration::default()
            }
            .apply(&mut bytes);
            let changed = Frame::parse(&bytes).unwrap();
            assert_eq!(changed.payload.len(), length as usize);
            assert_eq!(changed.bth.pad, Bth::pad_for(length as usize));
        }
    }

    #[test]
    fn an_unknown_opcode_and_raw_bytes_get_a_right_icrc() {
        let mut bytes = frame(Opcode::SendOnly, Ext::None, &[0; 64]);
        Alteration {
            opcode: Some(0x15),
            ..Alteration::default()
        }
        .apply(&mut bytes);
        assert_eq!(bytes[42], 0x15);
        let mut bytes = frame(Opcode::SendOnly, Ext::None, &[0; 64]);
        Alteration {
            bytes: vec![RawBytes {
                at: 54,
                hex: HexBytes(vec![9, 9]),
            }],
            ..Alteration::default()
        }
        .apply(&mut bytes);
        assert_eq!(Frame::parse(&bytes).unwrap().payload[..3], [9, 9, 0]);
    }
}
