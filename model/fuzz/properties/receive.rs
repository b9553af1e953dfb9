//! A connected engine takes any frames: it does not panic and comes to rest; a frame that it drops changes nothing but
//! counters, now and later; afterwards it takes a valid send.
//!
//! "Now and later": a second engine gets all but the frames that the first one drops, and must look the same, do the
//! same, and have the same memory.

use std::cell::OnceCell;

use tandem_model::abi::{CommitKind, RxResult};
use tandem_model::engine::Action;
use tandem_model::wire::{Bth, Eth, Ext, ExtKind, Frame, Ip, MacAddr, Opcode, Psn, Qpn, eth, seal};

use super::rig::{FAST, MTU, OWN, PEER, QPS, RECEIVE, REGION, RQ_PSN, Rig, SQ_PSN, TOKEN};
use super::script::{self, Control};

/// Bytes of the send at the end: no other has so many.
const LENGTH: u32 = 77;

thread_local! {
    static CONNECTED: OnceCell<Rig> = const { OnceCell::new() };
}

fn connected() -> Rig {
    CONNECTED.with(|rig| rig.get_or_init(Rig::new).clone())
}

/// The property, of the bytes of a [`script`]; returns what the engine did with each frame.
pub fn check(bytes: &[u8]) -> Vec<Action> {
    let (mut rig, mut twin) = (connected(), connected());
    let mut peers = [Peer::default(); 2];
    let mut verdicts = Vec::new();
    for (control, frame) in script::read(bytes) {
        let mut frame = frame.to_vec();
        let qp = usize::from(is_ipv6(&frame));
        for rig in [&mut rig, &mut twin] {
            drive(rig, qp, control);
        }
        peers[qp].listen(&rig, qp);
        prepare(&mut frame, control, qp, &peers[qp]);
        let verdict = rig.take(&frame);
        verdicts.push(verdict);
        match verdict.kind {
            CommitKind::RxDrop => {
                if let Err(cause) = Frame::parse(&frame) {
                    assert_eq!(verdict.cause, cause as u8, "{verdict}");
                }
            }
            _ => {
                assert_eq!(twin.take(&frame), verdict);
                let accepted = verdict.cause == RxResult::Accept as u8;
                if accepted && let Ok(frame) = Frame::parse(&frame) {
                    peers[qp].accepted(&frame);
                }
            }
        }
        assert_eq!(rig.sent, twin.sent, "after {verdict}");
        if verdict.kind == CommitKind::RxDrop {
            same(&mut rig, &mut twin);
        }
    }
    same(&mut rig, &mut twin);
    for frame in &rig.sent {
        assert!(Frame::parse(frame).is_ok(), "an ill-formed frame was sent");
    }
    // It may have failed by the requests of its driver.
    let dropped = |verdict: &Action| verdict.kind == CommitKind::RxDrop;
    if verdicts.iter().all(dropped) && rig.works(0) {
        takes_a_send(&mut rig, 0);
    }
    rig.begin();
    for qp in 0..QPS.len() {
        takes_a_send(&mut rig, qp);
    }
    verdicts
}

fn same(rig: &mut Rig, twin: &mut Rig) {
    assert_eq!(rig.seen(), twin.seen());
    assert!(rig.memory() == twin.memory(), "memory differs");
}

fn is_ipv6(frame: &[u8]) -> bool {
    let view = eth::EthView::new_checked(frame);
    view.is_ok_and(|view| view.ethertype() == eth::ETHERTYPE_IPV6)
}

/// What happens before a frame.
fn drive(rig: &mut Rig, qp: usize, control: Control) {
    if control.has(Control::RECEIVE) {
        rig.post_receive(qp);
    }
    if let Some(what) = control.sends() {
        rig.post_send(qp, what);
    }
    if control.has(Control::TIME) {
        rig.pass_time();
    }
}

/// What a peer knows.
#[derive(Clone, Copy)]
struct Peer {
    /// PSN of the next request that the engine takes.
    expected: u32,
    /// PSN of the last request that the engine sent.
    last: u32,
    /// Frames of the engine that it has seen.
    heard: usize,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            expected: RQ_PSN,
            last: SQ_PSN,
            heard: 0,
        }
    }
}

impl Peer {
    fn listen(&mut self, rig: &Rig, qp: usize) {
        for bytes in &rig.sent[self.heard..] {
            if let Ok(frame) = Frame::parse(bytes)
                && frame.bth.dest_qp.get() == QPS[qp] + 10
                && frame.bth.opcode.is_request()
            {
                self.last = frame.bth.psn.get();
            }
        }
        self.heard = rig.sent.len();
    }

    fn accepted(&mut self, frame: &Frame<'_>) {
        if !frame.bth.opcode.is_request() {
            return;
        }
        let packets = match (frame.bth.opcode, frame.ext) {
            (Opcode::ReadRequest, Ext::Reth(reth)) => reth.length.div_ceil(MTU).max(1),
            _ => 1,
        };
        self.expected = frame.bth.psn.get().wrapping_add(packets) & 0xFF_FFFF;
    }
}

/// Gives a frame what a fuzzer does not find.
fn prepare(frame: &mut [u8], control: Control, qp: usize, peer: &Peer) {
    let ip = eth::EthView::new_checked(&*frame).map_or(eth::ETH_LEN, |view| view.header_len());
    let put = |frame: &mut [u8], at: usize, bytes: &[u8]| {
        if let Some(to) = frame.get_mut(at..at + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    };
    let ipv6 = qp == 1;
    let bth = ip + if ipv6 { 40 } else { 20 } + 8;
    if control.has(Control::AIM) {
        put(frame, 0, &[2, 0, 0, 0, 0, OWN]);
        for (turn, last) in [PEER, OWN].into_iter().enumerate() {
            match ipv6 {
                true => {
                    let mut address = [0; 16];
                    address[..4].copy_from_slice(&[0x20, 1, 0xD, 0xB8]);
                    address[15] = last;
                    put(frame, ip + 8 + 16 * turn, &address);
                }
                false => put(frame, ip + 12 + 4 * turn, &[192, 0, 2, last]),
            }
        }
        put(frame, bth + 5, &QPS[qp].to_be_bytes()[1..]);
    }
    if control.has(Control::EXPECTED) {
        let opcode = frame.get(bth).and_then(|byte| Opcode::from_u8(*byte));
        let psn = match opcode.is_some_and(Opcode::is_response) {
            true => peer.last,
            false => peer.expected,
        };
        put(frame, bth + 9, &psn.to_be_bytes()[1..]);
        match opcode.map(Opcode::ext) {
            Some(ExtKind::Reth) => {
                // Somewhere on the first page.
                let low = frame.get(bth + 18..bth + 20).map_or(0, |at| at[1]);
                let address = REGION + u64::from(low);
                put(frame, bth + 12, &address.to_be_bytes());
                put(frame, bth + 20, &TOKEN.to_be_bytes());
            }
            Some(ExtKind::Ieth) => put(frame, bth + 12, &FAST.to_be_bytes()),
            _ => {}
        }
    }
    if control.has(Control::SEAL) {
        seal(frame);
    }
}

/// A queue pair that expects its first PSN takes a send: places it, acknowledges it, and completes its receive.
fn takes_a_send(rig: &mut Rig, qp: usize) {
    let payload: Vec<u8> = (0..LENGTH as u8)
        .map(|at| at.wrapping_mul(7) ^ 0xA5)
        .collect();
    let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
    let ip = |last: u8| match qp {
        0 => std::net::IpAddr::from([192, 0, 2, last]),
        _ => std::net::IpAddr::from([0x2001, 0xDB8, 0, 0, 0, 0, 0, last.into()]),
    };
    let eth = Eth {
        dst: mac(OWN),
        src: mac(PEER),
        vlan: None,
    };
    let ip = Ip::between(ip(PEER), ip(OWN)).expect("of one kind");
    let mut bth = Bth::new(Opcode::SendOnly, Qpn::new(QPS[qp]), Psn::new(RQ_PSN));
    bth.ack_req = true;
    let frame = Frame::new(eth, ip, 0xC005, bth, Ext::None).with_payload(&payload);
    let before = rig.sent.len();
    rig.post_receive(qp);
    let verdict = rig.take(&frame.to_vec());
    assert_eq!(verdict.kind, CommitKind::RxRequest, "{verdict}");
    let acknowledges = |bytes: &Vec<u8>| {
        let frame = Frame::parse(bytes).expect("well-formed");
        frame.bth.dest_qp.get() == QPS[qp] + 10
            && frame.bth.opcode == Opcode::Acknowledge
            && frame.bth.psn.get() == RQ_PSN
            && matches!(frame.ext, Ext::Aeth(aeth) if aeth.syndrome.is_ack())
    };
    assert!(
        rig.sent[before..].iter().any(acknowledges),
        "a send is not acknowledged"
    );
    assert_eq!(
        rig.region(RECEIVE.0, LENGTH),
        payload,
        "a send is not placed as it came"
    );
    assert!(rig.has_received(LENGTH), "a receive is not completed");
}
