//! The reliable transport: losses, timers, receivers not ready, duplicates, congestion.
//!
//! `responses`, `go_back`, `resend`, `retries`, `reads`, `rnr`, `timers`: a requester (node a) whose peer is
//! made by hand. `duplicates`, `replays`: a responder (node b) whose peer is made by hand. `congestion`: both.
//! `field`: faults that real adapters had. `lossy`: two engines and a bad network.

#[path = "../engine_support/mod.rs"]
mod engine_support;

mod congestion;
mod duplicates;
mod field;
mod go_back;
mod lossy;
mod network;
mod reads;
mod replays;
mod resend;
mod responses;
mod retries;
mod rnr;
mod timers;

use engine_support::*;
use tandem_model::target::Scheduler;

/// First PSNs of a requester: one of them wraps among its first packets (WIRE-PSN-2).
const FIRST: [u32; 2] = [0x100, 0xFF_FFFD];

/// Small packets, an acknowledgement timer that never ends by itself within a test, seven retries.
fn options() -> QpOptions {
    QpOptions {
        mtu: 1,
        timeout: 20,
        ..QpOptions::default()
    }
}

/// A world in which node a has sent what `post` posts, and nothing has reached node b.
fn posted(
    options: QpOptions,
    post: impl FnOnce(&mut World, &Region),
) -> (World, Region, Vec<Sent>) {
    let mut w = World::connected(Scheduler::Fair, options);
    let mine = w.a.region(40_000, Access::ALL);
    w.a.fill(&mine, 0, &pattern(8000, 1));
    post(&mut w, &mine);
    let frames = sent(&mut w);
    (w, mine, frames)
}

/// The packet number of a PSN.
fn number(first: u32, psn: u32) -> u32 {
    psn.wrapping_sub(first) & 0xFF_FFFF
}

/// Packet numbers of frames.
fn numbers(first: u32, sent: &[Sent]) -> Vec<u32> {
    sent.iter().map(|frame| number(first, frame.psn)).collect()
}

/// The oldest packet of node a not acknowledged, while a timer runs.
fn oldest(w: &World, first: u32) -> u32 {
    let action = w.a.target.engine().timer_action(QA).expect("no timer runs");
    number(first, action.psn)
}
