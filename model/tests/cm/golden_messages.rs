//! The golden packets of connection management, taken apart and put together.

use tandem_model::cm::{Datagram, Mad, Message};
use tandem_model::wire::Frame;

use crate::fields::fields;
use crate::golden::{Golden, hex, packet, packets};

fn management() -> Vec<Golden> {
    packets()
        .into_iter()
        .filter(|golden| golden.record["fields"].get("cm_mad").is_some())
        .collect()
}

#[test]
fn all_are_there() {
    assert_eq!(management().len(), 13);
}

/// WIRE-CM-1, -4 to -6, -15 (those of Linux have AckReq).
// Covers: WIRE-CM-1, WIRE-CM-4, WIRE-CM-5, WIRE-CM-6, WIRE-CM-15
#[test]
fn all_fields_are_read() {
    for golden in management() {
        let datagram = Datagram::parse(&golden.frame).unwrap();
        let expected = &golden.record["fields"]["cm_mad"];
        assert_eq!(fields(&datagram.mad), *expected, "{}", golden.name());
    }
}

/// WIRE-CM-1: 256 bytes, and each of them as it was. WIRE-EXT-8, WIRE-BTH-8: from and to queue pair 1.
// Covers: WIRE-CM-1, WIRE-EXT-8, WIRE-BTH-8
#[test]
fn all_are_emitted_byte_for_byte() {
    for golden in management() {
        let datagram = Datagram::parse(&golden.frame).unwrap();
        let mut frame = Frame::parse(&golden.frame).unwrap();
        assert_eq!(
            hex(&datagram.mad.emit()),
            hex(frame.payload),
            "{}",
            golden.name()
        );
        assert_eq!(Mad::parse(frame.payload), Ok(datagram.mad));
        // Linux asks for an acknowledge that does not exist; we do not.
        frame.bth.ack_req = false;
        assert_eq!(
            hex(&datagram.emit()),
            hex(&frame.to_vec()),
            "{}",
            golden.name()
        );
    }
}

/// WIRE-CM-2: what Linux answered to our request.
// Covers: WIRE-CM-2
#[test]
fn linux_took_the_request() {
    let [req, rep] = ["cm_req", "rxe_cm_rep"].map(|name| {
        let datagram = Datagram::parse(&packet(name).frame).unwrap();
        datagram.mad
    });
    let (Message::Req(ours), Message::Rep(theirs)) = (req.message, rep.message) else {
        panic!("{req:?}\n{rep:?}");
    };
    assert_eq!(rep.transaction_id, req.transaction_id);
    assert_eq!(theirs.remote_comm_id, ours.local_comm_id);
}
