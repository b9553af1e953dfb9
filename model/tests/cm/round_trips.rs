//! Parsing undoes emitting, and nothing panics.

use std::net::{IpAddr, SocketAddr};

use proptest::collection::vec;
use proptest::prelude::*;
use tandem_model::cm::{Datagram, IpCm, MAD_LEN, Mad};
use tandem_model::wire::{Eth, Ip, MacAddr, Psn};

use crate::messages::mad;

fn addresses() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    prop_oneof![
        any::<([u8; 4], [u8; 4])>().prop_map(|(a, b)| (a.into(), b.into())),
        any::<([u8; 16], [u8; 16])>().prop_map(|(a, b)| (a.into(), b.into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// WIRE-CM-1.
    // Covers: WIRE-CM-1
    #[test]
    fn parse_undoes_emit(mad in mad()) {
        prop_assert_eq!(Mad::parse(&mad.emit()), Ok(mad));
    }

    /// Reserved bits are all that is lost.
    #[test]
    fn emit_undoes_parse_up_to_reserved_bits(mad in mad(), flips in vec(0..MAD_LEN * 8, 1..20)) {
        let mut bytes = mad.emit();
        for flip in flips {
            bytes[flip / 8] ^= 0x80 >> (flip % 8);
        }
        if let Ok(mad) = Mad::parse(&bytes) {
            let clean = mad.emit();
            prop_assert!(clean.iter().zip(&bytes).all(|(clean, bytes)| clean & !bytes == 0));
            prop_assert_eq!(Mad::parse(&clean), Ok(mad));
        }
    }

    /// WIRE-CM-5.
    // Covers: WIRE-CM-5
    #[test]
    fn addresses_survive(
        (source, destination) in addresses(),
        port: u16,
        data in vec(any::<u8>(), 56),
    ) {
        let ip = IpCm {
            source: SocketAddr::new(source, port),
            destination,
            consumer_data: data.try_into().unwrap(),
        };
        prop_assert_eq!(IpCm::parse(&ip.emit()), Ok(ip));
    }

    #[test]
    fn frames_survive(
        (source, destination) in addresses(),
        (src, dst) in any::<([u8; 6], [u8; 6])>(),
        psn: u32,
        mad in mad(),
    ) {
        let datagram = Datagram {
            eth: Eth { dst: MacAddr(dst), src: MacAddr(src), vlan: None },
            ip: Ip::between(source, destination).unwrap(),
            psn: Psn::new(psn),
            mad,
        };
        prop_assert_eq!(Datagram::parse(&datagram.emit()), Ok(datagram));
    }

    #[test]
    fn nothing_panics_on_bytes(bytes in vec(any::<u8>(), 0..300)) {
        let _ = Mad::parse(&bytes);
        let _ = Datagram::parse(&bytes);
    }

    #[test]
    fn nothing_panics_on_private_data(bytes in vec(any::<u8>(), 92)) {
        let _ = IpCm::parse(&bytes.try_into().unwrap());
    }
}
