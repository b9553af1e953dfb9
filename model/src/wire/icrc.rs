//! Invariant CRC: CRC-32 over what no router may change.
//!
//! Eight bytes of ones (a masked LRH) come first, then IP header, UDP header, BTH, extension
//! headers, payload and pad, with the fields that routers change read as ones: TOS, TTL and header
//! checksum of IPv4; traffic class, flow label and hop limit of IPv6; UDP checksum; FECN, BECN and the
//! six reserved bits of the BTH (WIRE-ICRC-5, -6). Ethernet header, tag and trailer stay out.

use super::bth::BTH_LEN;
use super::ip::{IPV4_LEN, IPV6_LEN};
use super::udp::UDP_LEN;

/// Length of the ICRC in bytes; on the wire the least significant one comes first (WIRE-ICRC-4).
pub const ICRC_LEN: usize = 4;

/// CRC register after the masked LRH (WIRE-ICRC-2), and the residue that a register shows after
/// a good packet with its ICRC (WIRE-ICRC-9).
pub const REGISTER: u32 = 0xDEBB_20E3;

const HEAD_V4: usize = IPV4_LEN + UDP_LEN + BTH_LEN;
const HEAD_V6: usize = IPV6_LEN + UDP_LEN + BTH_LEN;

/// ICRC of a packet: the bytes from the IP header to the last pad byte.
///
/// The version is taken from the first nibble; anything but 6 is masked as IPv4. The function is
/// total: of a packet that ends inside its headers only the bytes that are there are covered.
pub fn icrc(packet: &[u8]) -> u32 {
    !register(packet)
}

/// The ICRC as it stands on the wire.
pub fn icrc_bytes(packet: &[u8]) -> [u8; ICRC_LEN] {
    icrc(packet).to_le_bytes()
}

/// The CRC register after a packet, before the final complement.
pub fn register(packet: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new_with_initial(!REGISTER);
    let rest = if packet.first().is_some_and(|byte| byte >> 4 == 6) {
        let (mut head, len, rest) = head::<HEAD_V6>(packet);
        head[0] |= 0x0F;
        head[1..4].fill(0xFF);
        head[7] = 0xFF;
        mask_transport(&mut head, IPV6_LEN);
        crc.update(head.get(..len).unwrap_or_default());
        rest
    } else {
        let (mut head, len, rest) = head::<HEAD_V4>(packet);
        head[1] = 0xFF;
        head[8] = 0xFF;
        head[10..12].fill(0xFF);
        mask_transport(&mut head, IPV4_LEN);
        crc.update(head.get(..len).unwrap_or_default());
        rest
    };
    crc.update(rest);
    !crc.finalize()
}

/// A copy of the headers (`len` bytes of it are theirs), and what follows them.
#[inline(always)]
fn head<const N: usize>(packet: &[u8]) -> ([u8; N], usize, &[u8]) {
    match packet.split_first_chunk() {
        Some((head, rest)) => (*head, N, rest),
        None => {
            let mut head = [0; N];
            head.iter_mut()
                .zip(packet)
                .for_each(|(head, byte)| *head = *byte);
            (head, packet.len().min(N), &[])
        }
    }
}

/// Masks the UDP checksum and byte 4 of the BTH.
#[inline(always)]
fn mask_transport<const N: usize>(head: &mut [u8; N], ip_len: usize) {
    for at in [ip_len + 6, ip_len + 7, ip_len + UDP_LEN + 4] {
        if let Some(byte) = head.get_mut(at) {
            *byte = 0xFF;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden packet `ack_100`, IP header to AETH.
    const ACK: [u8; 44] = [
        0x45, 0, 0, 0x30, 0, 0x19, 0x40, 0, 0x40, 0x11, 0xB6, 0xA0, 192, 0, 2, 2, 192, 0, 2, 1,
        0xF6, 0x7E, 0x12, 0xB7, 0, 0x1C, 0, 0, 0x11, 0, 0xFF, 0xFF, 0, 0, 0x0A, 0xBC, 0, 0, 1, 0,
        0x1F, 0, 0, 1,
    ];

    /// The definition, bit by bit.
    fn definition(mut register: u32, bytes: &[u8]) -> u32 {
        for byte in bytes {
            register ^= u32::from(*byte);
            for _ in 0..8 {
                register = register >> 1 ^ if register & 1 == 1 { 0xEDB8_8320 } else { 0 };
            }
        }
        register
    }

    // Covers: WIRE-ICRC-2, WIRE-ICRC-3
    #[test]
    fn check_value() {
        assert_eq!(!definition(!0, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
        assert_eq!(definition(!0, &[0xFF; 8]), REGISTER);
    }

    // Covers: WIRE-ICRC-4
    #[test]
    fn worked_example() {
        assert_eq!(register(&ACK), 0xB82A_29DB);
        assert_eq!(icrc(&ACK), 0x47D5_D624);
        assert_eq!(icrc_bytes(&ACK), [0x24, 0xD6, 0xD5, 0x47]);
    }

    // Covers: WIRE-ICRC-9
    #[test]
    fn the_residue_is_the_start_register() {
        let register = definition(register(&ACK), &icrc_bytes(&ACK));
        assert_eq!(register, REGISTER);
    }

    // Covers: WIRE-ICRC-5, WIRE-ICRC-6
    #[test]
    fn every_length_follows_the_definition() {
        let mut packet: Vec<u8> = (0..300u32).map(|i| (i * 151 % 253) as u8).collect();
        for first in [0x45, 0x6A] {
            packet[0] = first;
            let mut masked = packet.clone();
            let ip = if first == 0x45 {
                for at in [1, 8, 10, 11] {
                    masked[at] = 0xFF;
                }
                20
            } else {
                masked[0] = 0x6F;
                for at in [1, 2, 3, 7] {
                    masked[at] = 0xFF;
                }
                40
            };
            for at in [6, 7, 12] {
                masked[ip + at] = 0xFF;
            }
            for len in 1..=packet.len() {
                assert_eq!(
                    register(&packet[..len]),
                    definition(REGISTER, &masked[..len]),
                    "{first:#x}, {len} bytes"
                );
            }
        }
        assert_eq!(register(&[]), REGISTER);
    }
}
