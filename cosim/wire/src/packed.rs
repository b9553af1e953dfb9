//! The room's records as bits, in the order of `nd_pkg`: a packed struct's last field is its lowest.

/// `rx_desc_t`: a received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are those of rx_desc_t")]
pub struct Received {
    pub whole: bool,
    pub drop: u8,
    pub dst_mac: [u8; 6],
    pub ipv6: bool,
    pub src_ip: [u8; 16],
    pub dst_ip: [u8; 16],
    pub opcode: u8,
    pub solicited: bool,
    pub ack_req: bool,
    pub pad: u8,
    pub pkey: u16,
    pub ecn: u8,
    pub dest_qpn: u32,
    pub psn: u32,
    pub va: u64,
    pub token: u32,
    pub dma_len: u32,
    pub aeth: u32,
    pub ieth: u32,
    pub len: u16,
    pub oversize: bool,
    pub frame_len: u16,
}

impl Received {
    pub(crate) fn unpack(words: &[u32]) -> Self {
        let mut bits = Reader { words, at: 0 };
        let frame_len = bits.take(16) as u16;
        let oversize = bits.take(1) == 1;
        let len = bits.take(13) as u16;
        let ieth = bits.take(32) as u32;
        let aeth = bits.take(32) as u32;
        let dma_len = bits.take(32) as u32;
        let token = bits.take(32) as u32;
        let va = bits.take(64) as u64;
        let psn = bits.take(24) as u32;
        let dest_qpn = bits.take(24) as u32;
        let ecn = bits.take(2) as u8;
        let pkey = bits.take(16) as u16;
        let pad = bits.take(2) as u8;
        let ack_req = bits.take(1) == 1;
        let solicited = bits.take(1) == 1;
        let opcode = bits.take(8) as u8;
        let dst_ip = bits.take(128).to_le_bytes();
        let src_ip = bits.take(128).to_le_bytes();
        let ipv6 = bits.take(1) == 1;
        let mac = bits.take(48).to_le_bytes();
        let drop = bits.take(8) as u8;
        let whole = bits.take(1) == 1;
        let mut dst_mac = [0; 6];
        dst_mac.copy_from_slice(&mac[..6]);
        Self {
            whole,
            drop,
            dst_mac,
            ipv6,
            src_ip,
            dst_ip,
            opcode,
            solicited,
            ack_req,
            pad,
            pkey,
            ecn,
            dest_qpn,
            psn,
            va,
            token,
            dma_len,
            aeth,
            ieth,
            len,
            oversize,
            frame_len,
        }
    }
}

/// `tx_desc_t` and `qp_addr_t`: a frame to be built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are those of tx_desc_t and qp_addr_t")]
pub struct Sent {
    pub opcode: u8,
    pub solicited: bool,
    pub ack_req: bool,
    pub psn: u32,
    pub len: u16,
    pub va: u64,
    pub token: u32,
    pub dma_len: u32,
    pub aeth: u32,
    pub ieth: u32,
    pub ipv6: bool,
    pub traffic_class: u8,
    pub hop_limit: u8,
    pub udp_sport: u16,
    pub remote_qpn: u32,
    pub remote_mac: [u8; 6],
    pub remote_ip: [u8; 16],
}

impl Sent {
    pub(crate) fn record(&self) -> [u32; 9] {
        let mut bits = Writer::<9>::default();
        bits.put(self.ieth.into(), 32);
        bits.put(self.aeth.into(), 32);
        bits.put(self.dma_len.into(), 32);
        bits.put(self.token.into(), 32);
        bits.put(self.va.into(), 64);
        bits.put(self.len.into(), 13);
        bits.put(self.psn.into(), 24);
        bits.put(self.ack_req.into(), 1);
        bits.put(self.solicited.into(), 1);
        bits.put(self.opcode.into(), 8);
        bits.put(u128::from(self.len != 0), 8);
        bits.put(0, 1);
        bits.put(0, 16);
        bits.words
    }

    pub(crate) fn address(&self) -> [u32; 8] {
        let mut bits = Writer::<8>::default();
        let mut mac = [0; 16];
        mac[..6].copy_from_slice(&self.remote_mac);
        bits.put(u128::from_le_bytes(self.remote_ip), 128);
        bits.put(u128::from_le_bytes(mac), 48);
        bits.put(self.remote_qpn.into(), 24);
        bits.put(self.udp_sport.into(), 16);
        bits.put(self.hop_limit.into(), 8);
        bits.put(self.traffic_class.into(), 8);
        bits.put(self.ipv6.into(), 1);
        bits.words
    }
}

/// `port_t`: both addresses are the one given, so that either family sends from it.
pub(crate) fn port(mac: [u8; 6], ip: [u8; 16]) -> [u32; 7] {
    let mut bits = Writer::<7>::default();
    let mut wide = [0; 16];
    wide[..6].copy_from_slice(&mac);
    bits.put(u128::from_le_bytes(ip), 128);
    bits.put(u128::from_le_bytes(ip) >> 96, 32);
    bits.put(u128::from_le_bytes(wide), 48);
    bits.words
}

struct Reader<'a> {
    words: &'a [u32],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, width: usize) -> u128 {
        let bit =
            |i: usize| u128::from(self.words[(self.at + i) / 32] >> ((self.at + i) % 32) & 1) << i;
        let value = (0..width).map(bit).sum();
        self.at += width;
        value
    }
}

struct Writer<const N: usize> {
    words: [u32; N],
    at: usize,
}

impl<const N: usize> Default for Writer<N> {
    fn default() -> Self {
        Self {
            words: [0; N],
            at: 0,
        }
    }
}

impl<const N: usize> Writer<N> {
    fn put(&mut self, value: u128, width: usize) {
        for i in 0..width {
            self.words[(self.at + i) / 32] |= ((value >> i & 1) as u32) << ((self.at + i) % 32);
        }
        self.at += width;
    }
}
