//! Node a as a requester whose peer is made by hand: what it sends, and what it makes of responses.

use super::{PSN, QA, World, response};
use tandem_model::abi::{CommitKind, DropCause, RxResult};
use tandem_model::engine::Action;
use tandem_model::hal::Target;
use tandem_model::wire::{Frame, Opcode};

/// A frame that node a sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub opcode: Opcode,
    pub psn: u32,
    pub ack_req: bool,
    /// Address and length of its RETH.
    pub reth: Option<(u64, u32)>,
    pub payload: Vec<u8>,
    /// The whole frame.
    pub bytes: Vec<u8>,
}

/// Lets node a work until nothing happens before the first deadline; what it sent.
pub fn sent(w: &mut World) -> Vec<Sent> {
    while w.a.target.step().unwrap() {}
    let frames = w.a.target.take_frames().unwrap();
    frames
        .into_iter()
        .map(|bytes| {
            let frame = Frame::parse(&bytes).unwrap();
            Sent {
                opcode: frame.bth.opcode,
                psn: frame.bth.psn.get(),
                ack_req: frame.bth.ack_req,
                reth: frame.ext.reth().map(|reth| (reth.va, reth.length)),
                payload: frame.payload.to_vec(),
                bytes: bytes.clone(),
            }
        })
        .collect()
}

/// PSNs of frames.
pub fn psns(sent: &[Sent]) -> Vec<u32> {
    sent.iter().map(|frame| frame.psn).collect()
}

/// What node a makes of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    GoBack,
    RnrWait,
    Fatal,
    Cnp,
    Stale,
    Drop(DropCause),
}

/// Node a's verdict on a frame; nothing else happens.
pub fn judged(w: &mut World, frame: &[u8]) -> Verdict {
    w.a.target.send_frame(frame).unwrap();
    let all = w.a.target.enabled().unwrap();
    let action = all.into_iter().find(is_verdict).unwrap();
    if let Err(illegal) = w.a.target.apply(&action) {
        panic!("{illegal}");
    }
    verdict(&action)
}

fn is_verdict(action: &Action) -> bool {
    use CommitKind::{RxDrop, RxRequest, RxResponse};
    matches!(action.kind, RxDrop | RxRequest | RxResponse)
}

fn verdict(action: &Action) -> Verdict {
    if action.kind == CommitKind::RxDrop {
        return match DropCause::from_bits(action.cause.into()).unwrap() {
            DropCause::StaleResponse => Verdict::Stale,
            other => Verdict::Drop(other),
        };
    }
    match RxResult::from_bits(action.cause.into()).unwrap() {
        RxResult::Accept => Verdict::Accept,
        RxResult::GoBack => Verdict::GoBack,
        RxResult::RnrWait => Verdict::RnrWait,
        RxResult::Fatal => Verdict::Fatal,
        RxResult::Cnp => Verdict::Cnp,
        other => panic!("{other:?} of a response"),
    }
}

/// An Acknowledge with a syndrome, for a PSN counted from node a's first one.
pub fn acknowledge(syndrome: u8, psn: u32) -> Vec<u8> {
    acknowledge_from(PSN, syndrome, psn)
}

/// The same for another first PSN.
pub fn acknowledge_from(first: u32, syndrome: u8, psn: u32) -> Vec<u8> {
    let psn = first.wrapping_add(psn) & 0xFF_FFFF;
    response(Opcode::Acknowledge, psn, syndrome, &[])
}

/// Syndromes of a positive ACK and of a NAK of a sequence error.
pub const ACK: u8 = 0x1F;
pub const NAK_SEQUENCE: u8 = 0x60;

/// The timer of node a's queue pair ends; its action.
pub fn expire(w: &mut World) -> Action {
    let action = w.a.target.engine().timer_action(QA).expect("no timer runs");
    if let Err(illegal) = w.a.target.apply(&action) {
        panic!("{illegal}");
    }
    action
}

/// A `Timeout` of node a's queue pair.
pub fn timeout(psn: u32, fails: bool) -> Action {
    Action::new(CommitKind::Timeout, QA)
        .with_psn(psn)
        .with_cause(fails.into())
}

/// An `RnrResume` of node a's queue pair.
pub fn resume(psn: u32) -> Action {
    Action::new(CommitKind::RnrResume, QA).with_psn(psn)
}
