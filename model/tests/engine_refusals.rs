//! What an engine refuses of a peer whose frames are made by hand, and its choices in answering.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{CommitKind, DropCause, QpState, RespondKind, RxResult, Status};
use tandem_model::engine::{Action, Illegal, InputError, Inputs, ReadChannel};
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;
use tandem_model::wire::{Aeth, Ext, Msn, NakCode, Opcode, Syndrome, Token};

const MTU: usize = 256;

fn world() -> World {
    let options = QpOptions {
        mtu: 1,
        ..QpOptions::default()
    };
    World::connected(Scheduler::Fair, options)
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

/// What the bus has read, which is nothing.
struct Nothing;

impl Inputs for Nothing {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        Err(InputError {
            channel,
            address,
            length: bytes.len(),
            cause: "nothing was read".into(),
        })
    }
}

/// A step that lacks a read is made again when it has come: nobody else had a turn meanwhile.
#[test]
fn a_step_that_lacks_a_read_keeps_its_turn() {
    let mut w = world();
    w.connect(QA + 2, QB + 2, QpOptions::default());
    for qpn in [QA, QA + 2] {
        w.a.post(qpn, &Request::send(vec![]));
    }
    let mut engine = w.a.target.engine().clone();
    let mut effects = Vec::new();
    let mut step = || engine.step(&mut Nothing, &mut effects);
    let first = loop {
        match step() {
            Ok(done) => assert!(done.is_some(), "nothing was to be read"),
            Err(lacking) => break lacking,
        }
    };
    assert!(matches!(first, Illegal::Input { .. }), "{first}");
    assert_eq!(step(), Err(first.clone()));
    assert_eq!(step(), Err(first));
}
