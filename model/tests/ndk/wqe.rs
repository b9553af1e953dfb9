//! Encoding of requests.

use tandem_model::hal::Hal;
use tandem_model::ndk::{AdapterConfig, OpFlags, RemoteToken, Sge};

use proptest::prelude::*;

use crate::fake::{Bed, Fake, sge};

#[test]
fn ndk_send_1_every_byte() {
    let mut bed = Bed::new();
    let sgl = [sge(0x1122_3344_5566_7788, 0x99, 0xAABB_CCDD), sge(1, 2, 3)];
    let flags = OpFlags::READ_FENCE | OpFlags::SEND_AND_SOLICIT_EVENT | OpFlags::SILENT_SUCCESS;
    bed.nic.send(bed.qp, 0, &[], OpFlags::NONE).unwrap();
    bed.nic.send(bed.qp, 0, &sgl, flags).unwrap();
    let mut expected = [0u8; 64];
    expected[..12].copy_from_slice(&[1, 0b0111, 2, 0, 1, 0, 0, 0, 0x9B, 0, 0, 0]);
    expected[32..48].copy_from_slice(&[
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x99, 0, 0, 0, 0xDD, 0xCC, 0xBB, 0xAA,
    ]);
    expected[48..64].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(bed.nic.hal().sq_bytes(bed.qpn, 1)[..64], expected);
}

/// NDK-READ-7, NDK-READ-9: the address is a number, the token a string of octets.
#[test]
fn ndk_read_9_token_and_address() {
    let mut bed = Bed::new();
    let token = RemoteToken(u32::from_le_bytes([0x00, 0x12, 0x34, 0xAB]));
    let address = 0x0102_0304_0506_0708;
    let flags = OpFlags::NONE;
    bed.nic
        .read(bed.qp, 0, &[sge(4, 5, 6)], address, token, flags)
        .unwrap();
    bed.nic
        .write(bed.qp, 0, &[], address, token, flags)
        .unwrap();
    bed.nic
        .send_and_invalidate(bed.qp, 0, &[], flags, token)
        .unwrap();
    let hal = bed.nic.hal();
    let (read, write, sinv) = (
        hal.sq_wqe(bed.qpn, 0),
        hal.sq_wqe(bed.qpn, 1),
        hal.sq_wqe(bed.qpn, 2),
    );
    assert_eq!(
        [&read, &write, &sinv].map(|wqe| wqe.get("opcode")),
        [3, 4, 2]
    );
    for wqe in [&read, &write] {
        assert_eq!(wqe.get("remote_address"), address.into());
        // The engine sends the number big-endian: 00 12 34 AB.
        assert_eq!(wqe.get("remote_token"), 0x0012_34AB);
        assert_eq!(wqe.get("object_token"), 0);
    }
    assert_eq!(sinv.get("object_token"), 0x0012_34AB);
    assert_eq!(sinv.get("remote_token"), 0);
}

#[test]
fn ndk_sge_6_inline_bytes_are_taken_during_the_call() {
    let mut bed = Bed::with(AdapterConfig::default(), |p| {
        p.inline_data_size = 224;
        p.max_initiator_request_sge = 0;
    });
    let address = bed.nic.hal_mut().allocate(256, 8).unwrap();
    let data: Vec<u8> = (0..224).collect();
    bed.nic.hal_mut().write_memory(address, &data).unwrap();
    let sgl = [
        sge(address + 200, 24, 9),
        sge(0, 0, 0),
        sge(address, 200, 9),
    ];
    bed.nic.send(bed.qp, 0, &sgl, OpFlags::INLINE).unwrap();
    bed.nic
        .hal_mut()
        .write_memory(address, &[0xEE; 224])
        .unwrap();
    let wqe = bed.nic.hal().sq_wqe(bed.qpn, 0);
    assert_eq!(
        ["inline_data", "num_sge", "length"].map(|field| wqe.get(field)),
        [1, 0, 224]
    );
    let bytes = bed.nic.hal().sq_bytes(bed.qpn, 0);
    assert_eq!(bytes.len(), 256);
    assert_eq!(bytes[32..56], data[200..]);
    assert_eq!(bytes[56..], data[..200]);
}

#[test]
fn ndk_recv_1_elements() {
    let mut bed = Bed::new();
    bed.nic.receive(bed.qp, 0, &[sge(1, 2, 3); 4]).unwrap();
    bed.nic.receive(bed.qp, 0, &[sge(7, 8, 9)]).unwrap();
    let first = bed.nic.hal().rq_wqe(bed.qpn, 0);
    assert_eq!(first.get("sge3"), 1 | 2 << 64 | 3 << 96);
    let second = bed.nic.hal().rq_wqe(bed.qpn, 1);
    assert_eq!(second.get("sge0"), 7 | 8 << 64 | 9 << 96);
    assert_eq!(second.get("sge1"), 0);
}

/// Entries of former passes leave nothing behind.
#[test]
fn receive_entries_are_whole() {
    let mut bed = Bed::with(AdapterConfig::default(), |p| p.receive_queue_depth = 1);
    bed.nic.receive(bed.qp, 0, &[sge(1, 2, 3); 4]).unwrap();
    let entry = crate::fake::receive_cqe(bed.qpn, 0, 0, tandem_model::abi::Status::Success);
    bed.complete(entry);
    bed.nic.receive(bed.qp, 0, &[sge(1, 2, 3)]).unwrap();
    assert_eq!(bed.nic.hal().rq_wqe(bed.qpn, 1).get("sge1"), 0);
}

proptest! {
    #[test]
    fn every_field_arrives(
        address: u64,
        token: u32,
        flags in (0u32..0x400).prop_map(|flags| OpFlags(flags & 0x203)),
        sgl in prop::collection::vec((any::<u64>(), 0u32..1 << 27, any::<u32>()), 0..15),
    ) {
        // Pages for requests of 2 GiB.
        let mut hal = Fake::new();
        hal.registers.insert(0x008, 6 | 5 << 8 | 8 << 16 | 19 << 24);
        let mut bed = Bed::on(hal, AdapterConfig::default(), |p| p.max_initiator_request_sge = 14);
        let sgl: Vec<Sge> = sgl.iter().map(|(a, l, t)| sge(*a, *l, *t)).collect();
        bed.nic.write(bed.qp, 0, &sgl, address, RemoteToken(token), flags).unwrap();
        let hal = bed.nic.hal();
        let wqe = hal.sq_wqe(bed.qpn, 0);
        let length: u64 = sgl.iter().map(|sge| u64::from(sge.length)).sum();
        prop_assert_eq!(wqe.get("opcode"), 4);
        prop_assert_eq!(wqe.get("silent"), u128::from(flags.0 & 1));
        prop_assert_eq!(wqe.get("read_fence"), u128::from(flags.0 >> 1 & 1));
        prop_assert_eq!(wqe.get("solicited"), 0);
        prop_assert_eq!(wqe.get("inline_data"), 0);
        prop_assert_eq!(wqe.get("local_invalidate"), 0);
        prop_assert_eq!(wqe.get("num_sge"), sgl.len() as u128);
        prop_assert_eq!(wqe.get("length"), u128::from(length));
        prop_assert_eq!(wqe.get("remote_address"), u128::from(address));
        prop_assert_eq!(wqe.get("remote_token"), u128::from(token.swap_bytes()));
        for (element, sge) in sgl.iter().enumerate() {
            prop_assert_eq!(hal.sq_sge(bed.qpn, 0, element), *sge);
        }
    }
}
