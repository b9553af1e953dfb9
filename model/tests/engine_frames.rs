//! One engine against a peer whose frames are made by hand: drops, order, reads.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{CommitKind, DropCause, QpState, RxResult};
use tandem_model::engine::Action;
use tandem_model::target::Scheduler;
use tandem_model::wire::{
    Aeth, Deth, Ext, Frame, Ip, Ipv4, Msn, NakCode, Opcode, Pkey, Qpn, Syndrome, VlanTag, seal,
};

fn world() -> World {
    let options = QpOptions {
        mtu: 1,
        ..QpOptions::default()
    };
    World::connected(Scheduler::Fair, options)
}

// Covers: WIRE-FRM-13, WIRE-FRM-14, WIRE-BTH-4, WIRE-BTH-9
#[test]
fn drops_in_their_order() {
    type Change = fn(&mut Frame<'_>);
    let cases: [(Opcode, Ext, Change, DropCause); 9] = [
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.eth.dst.0[5] = 9,
            DropCause::DestAddress,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.ip = Ip::V4(Ipv4::new([192, 0, 2, 1].into(), [192, 0, 2, 9].into())),
            DropCause::DestAddress,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.bth.dest_qp = Qpn::new(QB + 1),
            DropCause::Qpn,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.bth.dest_qp = Qpn::new(0),
            DropCause::Qpn,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.bth.dest_qp = Qpn::new(1),
            DropCause::Qpn,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.bth.dest_qp = Qpn::new(64),
            DropCause::Qpn,
        ),
        (
            Opcode::UdSendOnly,
            Ext::Deth(Deth::GSI),
            |_| {},
            DropCause::Service,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.ip = Ip::V4(Ipv4::new([192, 0, 2, 3].into(), [192, 0, 2, 2].into())),
            DropCause::SourceAddress,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.bth.pkey = Pkey(0x1234),
            DropCause::Pkey,
        ),
    ];
    let mut w = world();
    for (opcode, ext, change, cause) in cases {
        let mut qpn = 0;
        let bytes = built(opcode, PSN, ext, &[], |f| {
            change(f);
            qpn = f.bth.dest_qp.get();
        });
        let (verdict, answers) = give(&mut w, &bytes);
        let expected = Action {
            qpn,
            ..dropped(PSN, cause)
        };
        assert_eq!((verdict, answers), (expected, vec![]));
        assert!(w.b.read(reg::DROP + 4 * cause as u32) > 0);
    }
    let ext = Ext::AethAtomicAck(
        Aeth {
            syndrome: Syndrome::ACK,
            msn: Msn::ZERO,
        },
        0,
    );
    let (verdict, _) = give(&mut w, &frame(Opcode::AtomicAcknowledge, PSN, ext, &[]));
    assert_eq!(verdict, dropped(PSN, DropCause::Unsupported));
    // 0x7FFF matches; a wrong ICRC is the wire's and names no queue pair.
    w.b.receive(QB, &[]);
    let bytes = built(Opcode::SendOnly, PSN, Ext::None, &[], |f| {
        f.bth.pkey = Pkey(0x7FFF)
    });
    assert_eq!(give(&mut w, &bytes).0, request(PSN, RxResult::Accept));
    let mut bytes = frame(Opcode::SendOnly, PSN + 1, Ext::None, &[]);
    bytes[57] ^= 1;
    let icrc = Action::new(CommitKind::RxDrop, 0).with_cause(DropCause::Icrc as u8);
    assert_eq!(give(&mut w, &bytes).0, icrc);
    seal(&mut bytes);
    assert_eq!(give(&mut w, &[0; 9]).0.cause, DropCause::FrameShort as u8);
    assert_eq!(w.b.read(reg::RX_FRAMES), 13);
    assert_eq!(w.b.read(reg::DROP), 1);
}

// Covers: WIRE-FRM-12, WIRE-FRM-15, WIRE-BTH-6
#[test]
fn what_is_not_looked_at() {
    type Change = fn(&mut Frame<'_>);
    let changes: [Change; 4] = [
        |f| {
            f.eth.vlan = Some(VlanTag {
                pcp: 5,
                dei: false,
                vid: 77,
            })
        },
        |f| f.udp_sport = 0,
        |f| f.udp_sport = 4791,
        |f| f.bth.migration = true,
    ];
    let mut w = world();
    for (change, psn) in changes.into_iter().zip(PSN..) {
        w.b.receive(QB, &[]);
        let bytes = built(Opcode::SendOnly, psn, Ext::None, &[], change);
        let (verdict, answers) = give(&mut w, &bytes);
        assert_eq!(verdict, request(psn, RxResult::Accept));
        assert_eq!(answers, ack(psn, psn - PSN + 1));
    }
}

#[test]
fn states() {
    for (state, cause) in [
        (QpState::Reset, DropCause::Qpn),
        (QpState::Init, DropCause::QpState),
        (QpState::Err, DropCause::QpState),
    ] {
        let mut w = world();
        w.b.set_state(QB, &w.a, QA, state);
        let (verdict, answers) = give(&mut w, &frame(Opcode::SendOnly, PSN, Ext::None, &[]));
        assert_eq!(
            (verdict, answers),
            (dropped(PSN, cause), vec![]),
            "{state:?}"
        );
    }
    let mut w = world();
    w.b.set_state(QB, &w.a, QA, QpState::Rtr);
    w.b.receive(QB, &[]);
    let (verdict, answers) = give(&mut w, &frame(Opcode::SendOnly, PSN, Ext::None, &[]));
    assert_eq!(
        (verdict, answers),
        (request(PSN, RxResult::Accept), ack(PSN, 1))
    );
    let ext = Ext::Aeth(Aeth {
        syndrome: Syndrome::ACK,
        msn: Msn::ZERO,
    });
    let (verdict, _) = give(&mut w, &frame(Opcode::Acknowledge, PSN, ext, &[]));
    assert_eq!(verdict, dropped(PSN, DropCause::QpState));
}

/// WIRE-NAK-1 to -3, WIRE-DUP-1, -2, -9.
#[test]
fn order_of_requests() {
    let mut w = world();
    let theirs = w.b.region(1000, Access::ALL);
    w.b.receive(QB, &[theirs.sge(0, 100)]);
    w.b.receive(QB, &[theirs.sge(0, 100)]);
    let send = |psn| frame(Opcode::SendOnly, psn, Ext::None, b"abc");
    let write = |psn| {
        frame(
            Opcode::WriteOnly,
            psn,
            reth(theirs.address, theirs.token, 4),
            b"wxyz",
        )
    };
    let read = |psn| {
        frame(
            Opcode::ReadRequest,
            psn,
            reth(theirs.address, theirs.token, 4),
            &[],
        )
    };
    assert_eq!(
        give(&mut w, &send(PSN)),
        (request(PSN, RxResult::Accept), ack(PSN, 1))
    );
    // Duplicates: the newest executed PSN is acknowledged again; a read is dropped.
    assert_eq!(
        give(&mut w, &send(PSN)),
        (request(PSN, RxResult::Duplicate), ack(PSN, 1))
    );
    let old = PSN.wrapping_sub(0x7F_FFFF) & 0xFF_FFFF;
    assert_eq!(
        give(&mut w, &write(old)),
        (request(old, RxResult::Duplicate), ack(PSN, 1))
    );
    assert_eq!(w.b.bytes(&theirs, 0, 3), b"abc");
    assert_eq!(
        give(&mut w, &read(PSN)),
        (dropped(PSN, DropCause::Sequence), vec![])
    );
    // A gap: one NAK, then silence; duplicates are answered; the expected PSN ends it.
    let gap = PSN + 3;
    let result = (
        request(gap, RxResult::NakSequence),
        nak(NakCode::PsnSequence, PSN + 1, 1),
    );
    assert_eq!(give(&mut w, &send(gap)), result);
    assert_eq!(
        give(&mut w, &send(gap)),
        (dropped(gap, DropCause::Sequence), vec![])
    );
    assert_eq!(
        give(&mut w, &read(gap)),
        (dropped(gap, DropCause::Sequence), vec![])
    );
    assert_eq!(
        give(&mut w, &send(PSN)),
        (request(PSN, RxResult::Duplicate), ack(PSN, 1))
    );
    assert_eq!(
        give(&mut w, &write(PSN + 1)),
        (request(PSN + 1, RxResult::Accept), ack(PSN + 1, 2))
    );
    let result = (
        request(gap, RxResult::NakSequence),
        nak(NakCode::PsnSequence, PSN + 2, 2),
    );
    assert_eq!(give(&mut w, &send(gap)), result);
    assert_eq!(w.b.poll(RECV_CQ).len(), 1);
}

/// WIRE-RNR-1, -3, -4.
#[test]
fn receiver_not_ready() {
    let mut w = world();
    let send = |psn| frame(Opcode::SendOnly, psn, Ext::None, b"abc");
    let rnr = vec![(
        Opcode::Acknowledge,
        PSN,
        Some(Syndrome::Rnr { timer: 12 }),
        0,
    )];
    assert_eq!(
        give(&mut w, &send(PSN)),
        (request(PSN, RxResult::Rnr), rnr.clone())
    );
    assert_eq!(
        give(&mut w, &send(PSN + 1)),
        (dropped(PSN + 1, DropCause::Sequence), vec![])
    );
    assert_eq!(give(&mut w, &send(PSN)), (request(PSN, RxResult::Rnr), rnr));
    let theirs = w.b.region(1000, Access::ALL);
    w.b.receive(QB, &[theirs.sge(0, 100)]);
    assert_eq!(
        give(&mut w, &send(PSN)),
        (request(PSN, RxResult::Accept), ack(PSN, 1))
    );
}

/// A read request costs its responses' PSNs; zero bytes get one Only response (WIRE-RD-6, WIRE-PSN-6).
#[test]
fn reads_are_answered() {
    let mut w = world();
    let theirs = w.b.region(1000, Access::ALL);
    let read = |psn, length| {
        let ext = reth(theirs.address, theirs.token, length);
        frame(Opcode::ReadRequest, psn, ext, &[])
    };
    let (verdict, answers) = give(&mut w, &read(PSN, 600));
    assert_eq!(verdict, request(PSN, RxResult::Accept));
    let ack = Some(Syndrome::ACK);
    assert_eq!(
        answers,
        [
            (Opcode::ReadResponseFirst, PSN, ack, 1),
            (Opcode::ReadResponseMiddle, PSN + 1, None, 0),
            (Opcode::ReadResponseLast, PSN + 2, ack, 1),
        ]
    );
    let bytes = frame(Opcode::ReadRequest, PSN + 3, reth(1, 0xFFFF_FFFF, 0), &[]);
    let (_, answers) = give(&mut w, &bytes);
    assert_eq!(answers, [(Opcode::ReadResponseOnly, PSN + 3, ack, 2)]);
    let (verdict, _) = give(&mut w, &read(PSN + 4, 256));
    assert_eq!(verdict, request(PSN + 4, RxResult::Accept));
}
