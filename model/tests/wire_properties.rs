//! Properties of the parser and the builder over arbitrary frames and arbitrary bytes.

#[path = "wire_support/golden.rs"]
mod golden;

use proptest::collection::vec;
use proptest::prelude::*;
use tandem_model::wire::{
    Bth, DropCause, Eth, Ext, Frame, Ip, Ipv4, Ipv6, MacAddr, Opcode, Pkey, Psn, Qpn, UdpChecksum,
    VlanTag, dissect, icrc, seal,
};

fn eth() -> impl Strategy<Value = Eth> {
    let vlan =
        (0..8u8, any::<bool>(), 0..4096u16).prop_map(|(pcp, dei, vid)| VlanTag { pcp, dei, vid });
    (
        any::<[u8; 6]>(),
        any::<[u8; 6]>(),
        proptest::option::of(vlan),
    )
        .prop_map(|(dst, src, vlan)| Eth {
            dst: MacAddr(dst),
            src: MacAddr(src),
            vlan,
        })
}

fn ip() -> impl Strategy<Value = Ip> {
    let v4 = any::<([u8; 4], [u8; 4], u8, u16, bool, bool, u8)>().prop_map(
        |(src, dst, tos, ident, reserved_flag, dont_fragment, ttl)| {
            Ip::V4(Ipv4 {
                src: src.into(),
                dst: dst.into(),
                tos,
                ident,
                reserved_flag,
                dont_fragment,
                ttl,
            })
        },
    );
    let v6 = (any::<([u8; 16], [u8; 16], u8, u8)>(), 0..1u32 << 20).prop_map(
        |((src, dst, traffic_class, hop_limit), flow_label)| {
            Ip::V6(Ipv6 {
                src: src.into(),
                dst: dst.into(),
                traffic_class,
                flow_label,
                hop_limit,
            })
        },
    );
    prop_oneof![v4, v6]
}

fn bth() -> impl Strategy<Value = Bth> {
    (
        proptest::sample::select(Opcode::ALL),
        any::<[bool; 5]>(),
        (0..4u8, any::<u16>(), 0..64u8, 0..128u8),
        any::<(u32, u32)>(),
    )
        .prop_map(
            |(opcode, flags, (pad, pkey, reserved6, reserved7), (qpn, psn))| {
                let [solicited, migration, fecn, becn, ack_req] = flags;
                Bth {
                    opcode,
                    solicited,
                    migration,
                    pad,
                    pkey: Pkey(pkey),
                    fecn,
                    becn,
                    reserved6,
                    dest_qp: Qpn::new(qpn),
                    ack_req,
                    reserved7,
                    psn: Psn::new(psn),
                }
            },
        )
}

prop_compose! {
    /// The parts of a frame; payload and trailer are borrowed by the frame made of it.
    fn parts()(
        eth in eth(),
        ip in ip(),
        bth in bth(),
        ext in any::<[u8; 28]>(),
        (udp_sport, summed) in any::<(u16, bool)>(),
        payload in vec(any::<u8>(), 0..600),
        pad in any::<[u8; 3]>(),
        trailer in vec(any::<u8>(), 0..20),
    ) -> (Frame<'static>, Vec<u8>, Vec<u8>) {
        let ext = Ext::parse(bth.opcode.ext(), &ext).unwrap();
        let mut frame = Frame::new(eth, ip, udp_sport, bth, ext);
        if summed {
            frame.udp_checksum = UdpChecksum::Computed;
        }
        let used = usize::from(bth.pad);
        frame.pad_bytes[..used].copy_from_slice(&pad[..used]);
        (frame, payload, trailer)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20000))]

    #[test]
    fn parse_undoes_emit((frame, payload, trailer) in parts()) {
        let frame = Frame { payload: &payload, trailer: &trailer, ..frame };
        let bytes = frame.to_vec();
        prop_assert!(bytes.len() >= 60);
        let parsed = Frame::parse(&bytes);
        prop_assert!(parsed.is_ok(), "{}", dissect(&bytes));
        let parsed = parsed.unwrap();
        // Up to the zeros that fill a frame to 60 bytes.
        prop_assert!(parsed.trailer.starts_with(&trailer));
        prop_assert!(parsed.trailer[trailer.len()..].iter().all(|byte| *byte == 0));
        prop_assert_eq!(Frame { trailer: &trailer, ..parsed }, frame);
        prop_assert_eq!(parsed.to_vec(), bytes);
    }

    #[test]
    fn nothing_panics_on_bytes(mut bytes in vec(any::<u8>(), 0..200)) {
        read_everything(&mut bytes);
    }

    /// Bytes that reach the deep checks: golden packets with some bytes replaced, cut or extended,
    /// sealed or not.
    #[test]
    fn nothing_panics_on_damaged_packets(
        which in 0..111usize,
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        len in any::<prop::sample::Index>(),
        (cut, sealed) in any::<(bool, bool)>(),
    ) {
        let mut bytes = PACKETS.with(|packets| packets[which].clone());
        for (at, value) in damage {
            let at = at.index(bytes.len().min(80));
            bytes[at] = value;
        }
        if cut {
            bytes.resize(len.index(bytes.len() * 2), 0);
        }
        if sealed {
            seal(&mut bytes);
        }
        read_everything(&mut bytes);
    }

    /// A `seal`ed frame never fails for a checksum.
    #[test]
    fn sealed_frames_have_right_checksums(
        which in 0..111usize,
        damage in vec((14..80usize, any::<u8>()), 1..6),
    ) {
        let mut bytes = PACKETS.with(|packets| packets[which].clone());
        for (at, value) in damage {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        if seal(&mut bytes) {
            let cause = Frame::parse(&bytes).err();
            prop_assert!(
                !matches!(cause, Some(DropCause::IpChecksum | DropCause::Icrc)),
                "{}",
                dissect(&bytes)
            );
        }
    }
}

thread_local! {
    static PACKETS: Vec<Vec<u8>> =
        golden::packets().into_iter().map(|golden| golden.frame).collect();
}

/// Calls everything that takes bytes; an accepted frame must be emitted as it came.
fn read_everything(bytes: &mut [u8]) {
    if let Ok(frame) = Frame::parse(bytes) {
        assert_eq!(frame.to_vec()[..bytes.len()], *bytes);
    }
    assert!(!dissect(bytes).is_empty());
    icrc(bytes);
    seal(bytes);
}
