//! Two nodes and what joins them.

use super::{Cqe, Node, QpOptions};
use tandem_model::abi::{QpState, Status};
use tandem_model::engine::Config;
use tandem_model::hal::Target;
use tandem_model::target::Scheduler;

/// Two nodes and a lossless pipe.
pub struct World {
    pub a: Node,
    pub b: Node,
    /// Frames that have crossed, with the number of their sender.
    pub frames: Vec<(u8, Vec<u8>)>,
    pub record: bool,
}

/// Queue pair numbers of the first connection.
pub const QA: u32 = 2;
pub const QB: u32 = 5;
/// Completion queues of send and receive queue.
pub const SEND_CQ: u16 = 1;
pub const RECV_CQ: u16 = 2;

impl World {
    pub fn new(scheduler: Scheduler) -> Self {
        let config = Config::default();
        let b_scheduler = match scheduler {
            Scheduler::Random(seed) => Scheduler::Random(seed ^ 0xB),
            other => other,
        };
        Self {
            a: Node::new(1, config, scheduler),
            b: Node::new(2, config, b_scheduler),
            frames: Vec::new(),
            record: true,
        }
    }

    /// Two nodes with one connection, two completion queues of 64 entries each.
    pub fn connected(scheduler: Scheduler, options: QpOptions) -> Self {
        let mut world = Self::new(scheduler);
        for node in [&mut world.a, &mut world.b] {
            node.create_cq(7);
            node.create_cq(7);
        }
        world.connect(QA, QB, options);
        world
    }

    pub fn connect(&mut self, qa: u32, qb: u32, options: QpOptions) {
        self.connect_on(qa, qb, options, options, SEND_CQ, RECV_CQ);
    }

    pub fn connect_on(
        &mut self,
        qa: u32,
        qb: u32,
        a: QpOptions,
        b: QpOptions,
        send_cq: u16,
        recv_cq: u16,
    ) {
        let b = QpOptions {
            psn: b.psn.wrapping_add(0x5000) & 0xFF_FFFF,
            ..b
        };
        self.a.create_qp(qa, send_cq, recv_cq, a);
        self.b.create_qp(qb, send_cq, recv_cq, b);
        for state in [QpState::Init, QpState::Rtr, QpState::Rts] {
            self.a.set_state(qa, &self.b, qb, state);
            self.b.set_state(qb, &self.a, qa, state);
        }
    }

    /// Runs until nothing happens any more, by a timer either.
    pub fn run(&mut self) {
        for _ in 0..20_000 {
            self.settle();
            if !self.skip() {
                self.a.target.finish().unwrap();
                self.b.target.finish().unwrap();
                return;
            }
        }
        panic!("never idle");
    }

    /// Runs until nothing happens before the first deadline.
    pub fn settle(&mut self) {
        loop {
            let mut busy = false;
            busy |= self.a.target.advance(16).unwrap();
            busy |= self.b.target.advance(16).unwrap();
            for frame in self.a.target.take_frames().unwrap() {
                self.b.target.send_frame(&frame).unwrap();
                if self.record {
                    self.frames.push((self.a.number, frame));
                }
                busy = true;
            }
            for frame in self.b.target.take_frames().unwrap() {
                self.a.target.send_frame(&frame).unwrap();
                if self.record {
                    self.frames.push((self.b.number, frame));
                }
                busy = true;
            }
            if !busy {
                break;
            }
        }
    }

    /// Lets time pass to the first deadline; `false` if there is none.
    pub fn skip(&mut self) -> bool {
        let left = |node: &Node| {
            let deadline = node.target.next_deadline()?;
            Some(deadline.saturating_sub(node.target.now()))
        };
        let Some(mut clocks) = [left(&self.a), left(&self.b)].into_iter().flatten().min() else {
            return false;
        };
        while clocks > 0 {
            let steps = clocks.min(u32::MAX.into());
            self.a.target.advance(steps as u32).unwrap();
            self.b.target.advance(steps as u32).unwrap();
            clocks -= steps;
        }
        true
    }
}

/// Bytes that tell their place.
pub fn pattern(length: usize, seed: u32) -> Vec<u8> {
    (0..length as u32)
        .map(|i| {
            (i.wrapping_mul(0x9E37_79B9)
                .wrapping_add(seed.wrapping_mul(77))
                >> 13) as u8
        })
        .collect()
}

pub fn statuses(entries: &[Cqe]) -> Vec<(u16, Status)> {
    entries.iter().map(|e| (e.index, e.status)).collect()
}
