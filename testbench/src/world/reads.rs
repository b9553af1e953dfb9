//! How many reads are in progress at once.

use tandem_model::wire::{Frame, Opcode, Psn};

use super::nodes::World;
use super::state::{Peer, Result, State, StepError};
use crate::vector::step::ExpectReads;

/// Compares how many reads of the peer were in progress at once.
pub(super) fn at_once(state: &mut State, step: &ExpectReads) -> Result {
    state.world.settle()?;
    let name = &step.expect_reads;
    let (node, peer) = {
        let qp = state.qp(name)?;
        let missing = || StepError::new("this queue pair is not connected");
        (qp.node, qp.peer.ok_or_else(missing)?)
    };
    let number = state.qp_number(name)?;
    let most = most(&state.world, node, number, peer);
    if step.at_once.fits(most) {
        return Ok(());
    }
    Err(StepError::new(format!(
        "up to {most} reads were in progress at queue pair `{}`, expected {}",
        name.value(),
        step.at_once
    )))
}

/// A read that is answered to its end: places of its request and of its last response among the frames that passed.
struct Answered {
    last: Psn,
    from: usize,
    to: usize,
}

/// The greatest number of reads in progress at once at the queue pair `number` of a node.
fn most(world: &World, node: usize, number: u32, peer: Peer) -> u32 {
    let of = |from: usize, to: u32| {
        let passed = world.passed.iter().enumerate();
        passed.filter_map(move |(place, passed)| {
            let frame = Frame::parse(&passed.frame).ok()?;
            let is_meant = passed.from == from && frame.bth.dest_qp.get() == to;
            is_meant.then_some((place, frame.bth))
        })
    };
    let mut reads: Vec<Answered> = Vec::new();
    for (to, bth) in of(node, peer.number) {
        let ends = matches!(
            bth.opcode,
            Opcode::ReadResponseLast | Opcode::ReadResponseOnly
        );
        // An answer to a repeat ends where the first one did.
        if ends && reads.iter().all(|read| read.last != bth.psn) {
            let (last, from) = (bth.psn, usize::MAX);
            reads.push(Answered { last, from, to });
        }
    }
    for (from, bth) in of(peer.node, number) {
        if bth.opcode != Opcode::ReadRequest {
            continue;
        }
        // It has the responses up to the next end.
        let behind = |read: &Answered| read.last.distance(bth.psn);
        let own = reads.iter_mut().filter(|read| behind(read) >= 0);
        if let Some(read) = own.min_by_key(|read| behind(read)) {
            read.from = read.from.min(from);
        }
    }
    let open = |place: usize| {
        reads
            .iter()
            .filter(move |r| r.from <= place && place < r.to)
    };
    let counts = reads.iter().map(|read| open(read.from).count() as u32);
    counts.max().unwrap_or(0)
}
