//! One engine against a peer whose frames are made by hand.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{CommitKind, DropCause, QpState, RespondKind, RxResult, Status};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;
use tandem_model::wire::{
    Aeth, Bth, Eth, Ext, Frame, Ip, Ipv4, MacAddr, Msn, NakCode, Opcode, Pkey, Psn, Qpn, Reth,
    Syndrome, Token, seal,
};

const MTU: usize = 256;
/// PSN that node b expects first, and that node a sends first.
const PSN: u32 = 0x100;

fn world() -> World {
    let options = QpOptions {
        mtu: 1,
        ..QpOptions::default()
    };
    World::connected(Scheduler::Fair, options)
}

/// A frame that node b sends: opcode, PSN, syndrome and MSN (0 without AETH).
type Answer = (Opcode, u32, Option<Syndrome>, u32);

/// A frame from node a to queue pair QB.
fn frame(opcode: Opcode, psn: u32, ext: Ext, payload: &[u8]) -> Vec<u8> {
    built(opcode, psn, ext, payload, |_| {})
}

fn built(
    opcode: Opcode,
    psn: u32,
    ext: Ext,
    payload: &[u8],
    change: impl FnOnce(&mut Frame<'_>),
) -> Vec<u8> {
    let eth = Eth {
        dst: MacAddr([2, 0, 0, 0, 0, 2]),
        src: MacAddr([2, 0, 0, 0, 0, 1]),
        vlan: None,
    };
    let ip = Ip::V4(Ipv4::new([192, 0, 2, 1].into(), [192, 0, 2, 2].into()));
    let bth = Bth {
        pad: Bth::pad_for(payload.len()),
        ack_req: true,
        ..Bth::new(opcode, Qpn::new(QB), Psn::new(psn))
    };
    let mut frame = Frame {
        payload,
        ..Frame::new(eth, ip, 0xC123, bth, ext)
    };
    change(&mut frame);
    frame.to_vec()
}

fn reth(va: u64, token: u32, length: u32) -> Ext {
    Ext::Reth(Reth {
        va,
        token: Token(token),
        length,
    })
}

/// Node b's verdict on a frame, and the frames that it sends then.
fn give(w: &mut World, frame: &[u8]) -> (Action, Vec<Answer>) {
    w.b.target.send_frame(frame).unwrap();
    let mut verdict = None;
    while w.b.target.step().unwrap() {
        let action = *w.b.target.last_action().unwrap();
        if matches!(
            action.kind,
            CommitKind::RxDrop | CommitKind::RxRequest | CommitKind::RxResponse
        ) {
            verdict = Some(action);
        }
    }
    let answers = w.b.target.take_frames().unwrap();
    let answers = answers
        .iter()
        .map(|bytes| {
            let frame = Frame::parse(bytes).unwrap();
            let aeth = frame.ext.aeth();
            (
                frame.bth.opcode,
                frame.bth.psn.get(),
                aeth.map(|aeth| aeth.syndrome),
                aeth.map_or(0, |aeth| aeth.msn.get()),
            )
        })
        .collect();
    (verdict.unwrap(), answers)
}

fn request(psn: u32, result: RxResult) -> Action {
    Action::new(CommitKind::RxRequest, QB)
        .with_psn(psn)
        .with_cause(result as u8)
}

fn dropped(psn: u32, cause: DropCause) -> Action {
    Action::new(CommitKind::RxDrop, QB)
        .with_psn(psn)
        .with_cause(cause as u8)
}

fn ack(psn: u32, msn: u32) -> Vec<Answer> {
    vec![(Opcode::Acknowledge, psn, Some(Syndrome::ACK), msn)]
}

fn nak(code: NakCode, psn: u32, msn: u32) -> Vec<Answer> {
    vec![(Opcode::Acknowledge, psn, Some(Syndrome::Nak(code)), msn)]
}

#[test]
fn drops_in_their_order() {
    type Change = fn(&mut Frame<'_>);
    let cases: [(Opcode, Ext, Change, DropCause); 8] = [
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
            |f| f.bth.dest_qp = Qpn::new(1),
            DropCause::Qpn,
        ),
        (
            Opcode::SendOnly,
            Ext::None,
            |f| f.bth.dest_qp = Qpn::new(64),
            DropCause::Qpn,
        ),
        (Opcode::Cnp, Ext::Cnp([0; 16]), |_| {}, DropCause::Service),
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
    assert_eq!(w.b.read(reg::RX_FRAMES), 12);
    assert_eq!(w.b.read(reg::DROP), 1);
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

/// What is refused with a fatal NAK, and whether a receive completes with it.
#[test]
fn refused_requests() {
    use NakCode::{InvalidRequest, RemoteAccess};
    use RxResult::{NakAccess, NakInvalid};
    const FULL: [u8; MTU] = [7; MTU];
    struct Case<'a> {
        before: &'a [Vec<u8>],
        bad: Vec<u8>,
        result: RxResult,
        code: NakCode,
        completes: bool,
    }
    let make = || {
        let mut w = world();
        let theirs = w.b.region(10_000, Access::ALL);
        w.b.receive(QB, &[theirs.sge(0, 10_000)]);
        w.b.receive(QB, &[theirs.sge(0, 10_000)]);
        (w, theirs)
    };
    let (_, r) = make();
    let to = |length| reth(r.address, r.token, length);
    let send_first = [frame(Opcode::SendFirst, PSN, Ext::None, &FULL)];
    let write_first = [frame(Opcode::WriteFirst, PSN, to(3 * MTU as u32), &FULL)];
    let n = |opcode, ext, payload: &[u8]| frame(opcode, PSN + 1, ext, payload);
    let f = |opcode, ext, payload: &[u8]| frame(opcode, PSN, ext, payload);
    let case = |before, bad, completes| Case {
        before,
        bad,
        result: NakInvalid,
        code: InvalidRequest,
        completes,
    };
    let long = [1u8; MTU + 4];
    let imm = Ext::Imm([0; 4]);
    let atomic = Ext::Atomic(tandem_model::wire::AtomicEth {
        va: r.address,
        token: Token(r.token),
        swap_or_add: 0,
        compare: 0,
    });
    let wrong_pad = built(Opcode::WriteOnly, PSN, to(4), b"wxyz", |f| f.bth.pad = 1);
    let cases = [
        // Sequence (WIRE-SEG-11).
        case(&[], f(Opcode::SendMiddle, Ext::None, &FULL), false),
        case(&[], f(Opcode::SendLast, Ext::None, b"x"), false),
        case(&[], f(Opcode::WriteLast, Ext::None, b"x"), false),
        case(&send_first, n(Opcode::SendOnly, Ext::None, b"x"), true),
        case(&send_first, n(Opcode::WriteOnly, to(1), b"x"), true),
        case(&send_first, n(Opcode::WriteLast, Ext::None, b"x"), true),
        case(&send_first, n(Opcode::ReadRequest, to(1), &[]), true),
        case(&write_first, n(Opcode::SendLast, Ext::None, b"x"), false),
        case(&write_first, n(Opcode::SendOnly, Ext::None, b"x"), false),
        case(&write_first, n(Opcode::ReadRequest, to(1), &[]), false),
        // Not implemented.
        case(&[], f(Opcode::SendOnlyImmediate, imm, b"x"), true),
        case(&send_first, n(Opcode::SendLastImmediate, imm, b"x"), true),
        case(
            &write_first,
            n(Opcode::WriteLastImmediate, imm, b"x"),
            false,
        ),
        case(&[], f(Opcode::FetchAdd, atomic, &[]), false),
        // Lengths (WIRE-SEG-5 to -8, -10).
        case(&[], f(Opcode::SendFirst, Ext::None, b"short"), true),
        case(&[], f(Opcode::SendOnly, Ext::None, &long), true),
        case(
            &send_first,
            n(Opcode::SendMiddle, Ext::None, b"short"),
            true,
        ),
        case(&send_first, n(Opcode::SendLast, Ext::None, &[]), true),
        case(&send_first, n(Opcode::SendLast, Ext::None, &long), true),
        case(&[], f(Opcode::WriteFirst, to(MTU as u32), &FULL), false),
        case(&[], f(Opcode::WriteFirst, to(600), b"short"), false),
        case(&[], f(Opcode::WriteOnly, to(5), b"wxyz"), false),
        case(&[], f(Opcode::WriteOnly, to(3), b"wxyz"), false),
        case(&[], f(Opcode::WriteFirst, to(0x8000_0001), &FULL), false),
        case(&[], f(Opcode::ReadRequest, to(0x8000_0001), &[]), false),
        case(&write_first, n(Opcode::WriteLast, Ext::None, b"x"), false),
        case(&[], wrong_pad, false),
        // Tokens.
        Case {
            result: NakAccess,
            code: RemoteAccess,
            ..case(&[], f(Opcode::WriteFirst, to(10_001), &FULL), false)
        },
        Case {
            result: NakAccess,
            code: RemoteAccess,
            ..case(&[], f(Opcode::ReadRequest, to(10_001), &[]), false)
        },
        Case {
            result: NakAccess,
            code: RemoteAccess,
            ..case(
                &[],
                f(Opcode::SendOnlyInvalidate, Ext::Ieth(Token(r.token)), b"x"),
                true,
            )
        },
    ];
    for (i, case) in cases.into_iter().enumerate() {
        let (mut w, theirs) = make();
        assert_eq!((theirs.address, theirs.token), (r.address, r.token));
        for bytes in case.before {
            assert_eq!(give(&mut w, bytes).0, request(PSN, RxResult::Accept));
        }
        let psn = PSN + case.before.len() as u32;
        let (verdict, answers) = give(&mut w, &case.bad);
        assert_eq!(verdict, request(psn, case.result), "case {i}");
        assert_eq!(answers, nak(case.code, psn, 0), "case {i}");
        assert_eq!(w.b.state(QB), QpState::Err as u32);
        let received = w.b.poll(RECV_CQ);
        let first = if case.completes {
            (
                Status::RemoteInvalidRequest,
                0x60 + u32::from(case.code.encode()),
            )
        } else {
            (Status::Flushed, 0)
        };
        assert_eq!(
            (received[0].status, received[0].error_code),
            first,
            "case {i}"
        );
        assert_eq!(received[1].status, Status::Flushed, "case {i}");
        let again = give(&mut w, &case.bad);
        assert_eq!(again, (dropped(psn, DropCause::QpState), vec![]));
    }
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

/// One ACK may stand for several; none passes a read.
#[test]
fn acknowledges_may_be_coalesced() {
    let mut w = world();
    let theirs = w.b.region(1000, Access::ALL);
    let ext = reth(theirs.address, theirs.token, 4);
    for i in 0..3 {
        let bytes = frame(Opcode::WriteOnly, PSN + i, ext, b"wxyz");
        w.b.target.send_frame(&bytes).unwrap();
    }
    let bytes = frame(Opcode::ReadRequest, PSN + 3, ext, &[]);
    w.b.target.send_frame(&bytes).unwrap();
    let bytes = frame(Opcode::WriteOnly, PSN + 4, ext, b"wxyz");
    w.b.target.send_frame(&bytes).unwrap();
    let mut engine = Driver::new(w);
    for _ in 0..5 {
        engine.take_frame();
    }
    let respond = |kind: RespondKind, psn| {
        Action::new(CommitKind::Respond, QB)
            .with_psn(psn)
            .with_cause(kind as u8)
    };
    let listed = engine.listed(CommitKind::Respond);
    let all: Vec<Action> = (0..3).map(|i| respond(RespondKind::Ack, PSN + i)).collect();
    assert_eq!(listed, all);
    engine.refused(respond(RespondKind::Ack, PSN + 4));
    engine.refused(respond(RespondKind::Read, PSN + 3));
    engine.accepted(respond(RespondKind::Ack, PSN + 1));
    engine.refused(respond(RespondKind::Ack, PSN + 1));
    engine.accepted(respond(RespondKind::Ack, PSN + 2));
    engine.refused(respond(RespondKind::Ack, PSN + 4));
    engine.accepted(respond(RespondKind::Read, PSN + 3));
    engine.accepted(respond(RespondKind::Ack, PSN + 4));
    engine.refused(respond(RespondKind::Ack, PSN + 4));
}

/// Which of several acknowledges of one PSN left cannot be told apart: the rest may leave, or not.
#[test]
fn equal_acknowledges_are_not_told_apart() {
    for again in 0..3 {
        let mut w = world();
        let theirs = w.b.region(1000, Access::ALL);
        let ext = reth(theirs.address, theirs.token, 4);
        let bytes = frame(Opcode::WriteOnly, PSN, ext, b"wxyz");
        for _ in 0..3 {
            w.b.target.send_frame(&bytes).unwrap();
        }
        let bytes = frame(Opcode::ReadRequest, PSN + 1, ext, &[]);
        w.b.target.send_frame(&bytes).unwrap();
        let mut engine = Driver::new(w);
        for _ in 0..4 {
            engine.take_frame();
        }
        let respond = |kind: RespondKind, psn| {
            Action::new(CommitKind::Respond, QB)
                .with_psn(psn)
                .with_cause(kind as u8)
        };
        for _ in 0..=again {
            engine.accepted(respond(RespondKind::Ack, PSN));
        }
        engine.accepted(respond(RespondKind::Read, PSN + 1));
        assert!(engine.listed(CommitKind::Respond).is_empty());
        engine.refused(respond(RespondKind::Ack, PSN));
    }
}

/// A request may always find no room; nothing else may.
#[test]
fn no_buffer() {
    let mut w = world();
    let theirs = w.b.region(1000, Access::ALL);
    let ext = reth(theirs.address, theirs.token, 4);
    let write = frame(Opcode::WriteOnly, PSN, ext, b"wxyz");
    w.b.target.send_frame(&write).unwrap();
    w.b.target.send_frame(&write).unwrap();
    let ack = Ext::Aeth(Aeth {
        syndrome: Syndrome::ACK,
        msn: Msn::ZERO,
    });
    let bytes = frame(Opcode::Acknowledge, PSN, ack, &[]);
    w.b.target.send_frame(&bytes).unwrap();
    let mut engine = Driver::new(w);
    let no_buffer = dropped(PSN, DropCause::NoBuffer);
    engine.refused(Action {
        qpn: QB + 1,
        ..no_buffer
    });
    engine.refused(Action {
        psn: PSN + 1,
        ..no_buffer
    });
    engine.accepted(no_buffer);
    engine.accepted(request(PSN, RxResult::Accept));
    engine.refused(no_buffer);
    engine.accepted(dropped(PSN, DropCause::StaleResponse));
}

/// Node b alone, action by action, on an engine made of the target's register writes.
struct Driver {
    world: World,
}

impl Driver {
    fn new(world: World) -> Self {
        Self { world }
    }

    fn listed(&mut self, kind: CommitKind) -> Vec<Action> {
        let mut all = self.world.b.target.enabled().unwrap();
        all.retain(|action| action.kind == kind);
        all
    }

    fn take_frame(&mut self) {
        let all = self.world.b.target.enabled().unwrap();
        let frame = all
            .into_iter()
            .find(|action| matches!(action.kind, CommitKind::RxRequest | CommitKind::RxDrop));
        self.accepted(frame.unwrap());
    }

    fn accepted(&mut self, action: Action) {
        if let Err(illegal) = self.world.b.target.apply(&action) {
            panic!("{illegal}");
        }
    }

    fn refused(&mut self, action: Action) {
        let before = self.world.b.target.enabled().unwrap();
        let illegal = self.world.b.target.apply(&action);
        assert!(illegal.is_err(), "{action} was accepted");
        assert_eq!(self.world.b.target.enabled().unwrap(), before);
    }
}
