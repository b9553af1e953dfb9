//! Packets of the peer.

use tandem_model::wire::{
    Aeth, Bth, Eth, Ext, Frame, Ip, MacAddr, Msn, Opcode, Pkey, Psn, Qpn, Syndrome,
};

use super::{OWN, PEER, Qp};

/// A packet, with everything that can be wrong in it.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Last octet of the MAC address and of the IP address that it is for.
    pub mac: u8,
    pub to: u8,
    /// Last octet of the address that it is from.
    pub from: u8,
    pub opcode: Opcode,
    pub qpn: u32,
    pub psn: u32,
    pub pkey: u16,
    /// ECN bits of the IP header.
    pub ecn: u8,
    pub ack_req: bool,
    pub solicited: bool,
    pub ext: Ext,
    pub payload: Vec<u8>,
    /// Another pad count than belongs to the payload; so many bytes are there.
    pub pad: Option<u8>,
}

impl Packet {
    /// For a queue pair, without fault so far.
    pub fn new(qp: &Qp, opcode: Opcode, psn: u32) -> Self {
        Self {
            mac: OWN,
            to: OWN,
            from: PEER,
            opcode,
            qpn: qp.number,
            psn,
            pkey: Pkey::DEFAULT.0,
            ecn: 0,
            ack_req: false,
            solicited: false,
            ext: Ext::None,
            payload: Vec::new(),
            pad: None,
        }
    }

    /// The frame, whole whatever its content.
    pub fn frame(&self) -> Vec<u8> {
        let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
        let ip = |last| std::net::IpAddr::from([10, 0, 0, last]);
        let eth = Eth {
            dst: mac(self.mac),
            src: mac(self.from),
            vlan: None,
        };
        let ip = Ip::between(ip(self.from), ip(self.to)).expect("both are IPv4");
        let ip = ip.with_path(self.ecn, 64);
        let mut bth = Bth::new(self.opcode, Qpn::new(self.qpn), Psn::new(self.psn));
        bth.pkey = Pkey(self.pkey);
        bth.ack_req = self.ack_req;
        bth.solicited = self.solicited;
        let mut frame = Frame::new(eth, ip, 0xC005, bth, self.ext).with_payload(&self.payload);
        if let Some(pad) = self.pad {
            frame.bth.pad = pad;
        }
        frame.to_vec()
    }
}

/// An AETH with this syndrome.
pub fn aeth(syndrome: u8) -> Ext {
    Ext::Aeth(Aeth {
        syndrome: Syndrome::decode(syndrome),
        msn: Msn::new(1),
    })
}
