//! Conversations of the Linux peer.

use std::fs::File;
use std::path::Path;

use pcap_file::pcap::PcapReader;
use tandem_model::cm::{Datagram, IpCm, Mad, Message, RejectReason, RejectedMessage, ServiceId};
use tandem_model::wire::{Frame, Qpn};

/// The datagrams to queue pair 1 in a capture; each must come apart and together.
fn conversation(name: &str) -> Vec<Mad> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/rxe-captures")
        .join(name);
    let mut reader = PcapReader::new(File::open(path).unwrap()).unwrap();
    let mut mads = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.unwrap();
        let Ok(frame) = Frame::parse(&packet.data) else {
            continue;
        };
        if frame.bth.dest_qp == Qpn::GSI {
            let datagram = Datagram::parse(&packet.data).unwrap();
            assert_eq!(datagram.mad.emit(), frame.payload);
            mads.push(datagram.mad);
        }
    }
    mads
}

/// WIRE-CM-9, -10: ids, transaction ids and queue pair numbers as Linux has them.
#[test]
fn a_connection_is_made_and_ended() {
    let mads = conversation("cm_rping.pcap");
    let [req, rep, rtu, dreq, drep] = &mads[..] else {
        panic!("{} datagrams", mads.len());
    };
    let (Message::Req(a), Message::Rep(b), Message::Rtu(c)) =
        (&req.message, &rep.message, &rtu.message)
    else {
        panic!("{req:?}\n{rep:?}\n{rtu:?}");
    };
    assert_eq!(a.service_id, ServiceId::tcp(7174));
    let ip = IpCm::parse(&a.private_data).unwrap();
    assert_eq!(ip.source.ip().to_string(), "10.77.0.1");
    assert_eq!(ip.destination.to_string(), "10.77.0.2");
    assert_eq!(b.remote_comm_id, a.local_comm_id);
    assert_eq!(
        (c.local_comm_id, c.remote_comm_id),
        (a.local_comm_id, b.local_comm_id)
    );
    assert_eq!(rep.transaction_id, req.transaction_id);
    assert_eq!(rtu.transaction_id, req.transaction_id);

    let (Message::Dreq(d), Message::Drep(e)) = (&dreq.message, &drep.message) else {
        panic!("{dreq:?}\n{drep:?}");
    };
    assert_eq!(
        (d.local_comm_id, d.remote_comm_id),
        (e.remote_comm_id, e.local_comm_id)
    );
    let receiver = match d.remote_comm_id == a.local_comm_id {
        true => a.local_qpn,
        false => b.local_qpn,
    };
    assert_eq!(d.remote_qpn, receiver);
    assert_eq!(drep.transaction_id, dreq.transaction_id);
}

/// WIRE-CM-12.
#[test]
fn nobody_listens() {
    let mads = conversation("cm_reject.pcap");
    let [req, rej] = &mads[..] else {
        panic!("{} datagrams", mads.len());
    };
    let (Message::Req(a), Message::Rej(b)) = (&req.message, &rej.message) else {
        panic!("{req:?}\n{rej:?}");
    };
    assert_eq!(
        (b.local_comm_id, b.remote_comm_id),
        (None, Some(a.local_comm_id))
    );
    assert_eq!(b.reason, RejectReason::INVALID_SERVICE_ID);
    assert_eq!(b.message, RejectedMessage::Req);
    assert_eq!(rej.transaction_id, req.transaction_id);
}
