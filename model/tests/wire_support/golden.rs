//! The golden packets, and where their fields lie.
//!
//! Positions and opcode properties are written down from the reference, on purpose without the
//! library's own tables.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::ops::Range;

use serde_json::Value;

/// One golden packet.
pub struct Golden {
    /// Its record in the data.
    pub record: Value,
    /// The frame's bytes.
    pub frame: Vec<u8>,
}

impl Golden {
    /// Its name in the data.
    pub fn name(&self) -> &str {
        self.record["name"].as_str().unwrap()
    }

    /// Where its headers lie, from the decoded fields of the data.
    pub fn layout(&self) -> Layout {
        let fields = &self.record["fields"];
        let tagged = fields["eth"].get("vlan").is_some();
        let ip = if tagged { 18 } else { 14 };
        let ip_len = if fields.get("ipv6").is_some() { 40 } else { 20 };
        Layout {
            tagged,
            ip,
            ip_len,
            udp: ip + ip_len,
            bth: ip + ip_len + 8,
            end: ip + ip_len + fields["udp"]["length"].as_u64().unwrap() as usize,
        }
    }
}

/// Offsets in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Whether there is an 802.1Q tag.
    pub tagged: bool,
    /// IP header.
    pub ip: usize,
    /// Length of the IP header.
    pub ip_len: usize,
    /// UDP header.
    pub udp: usize,
    /// BTH.
    pub bth: usize,
    /// End of the ICRC.
    pub end: usize,
}

impl Layout {
    /// The ICRC.
    pub fn icrc(&self) -> Range<usize> {
        self.end - 4..self.end
    }
}

/// All golden packets.
pub fn packets() -> Vec<Golden> {
    include_str!("../data/rocev2-golden-packets.jsonl")
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let digits = record["hex"].as_str().unwrap();
            let frame = (0..digits.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
                .collect();
            Golden { record, frame }
        })
        .collect()
}

/// The golden packet of a name.
pub fn packet(name: &str) -> Golden {
    packets()
        .into_iter()
        .find(|golden| golden.name() == name)
        .unwrap()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Length of the extension headers of an opcode; `None` if it is unknown.
pub fn ext_len(opcode: u8) -> Option<usize> {
    Some(match opcode {
        0x00..=0x02 | 0x04 | 0x07 | 0x08 | 0x0E => 0,
        0x03 | 0x05 | 0x09 | 0x0D | 0x0F | 0x10 | 0x11 | 0x16 | 0x17 => 4,
        0x64 => 8,
        0x12 | 0x65 => 12,
        0x06 | 0x0A | 0x0C | 0x81 => 16,
        0x0B => 20,
        0x13 | 0x14 => 28,
        _ => return None,
    })
}

/// Puts the right checksum into the IPv4 header at `ip`.
pub fn fix_ipv4_checksum(frame: &mut [u8], ip: usize) {
    frame[ip + 10..ip + 12].fill(0);
    let mut sum: u32 = frame[ip..ip + 20]
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    frame[ip + 10..ip + 12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
