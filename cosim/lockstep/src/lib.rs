//! Lockstep: the golden model beside the engine, action by action.
//!
//! The bench records what happens at the engine's ports, in order, and sends it in batches to a checker in a
//! thread of its own. The checker owns a golden model. Each commit record is applied to it; what
//! the model needs of the world (bytes that DMA read, frames that came in) is what the ports showed, and what
//! the model says the world must see (frames, DMA writes) is compared with what the ports showed. The
//! first difference ends the run: a [`Divergence`].

mod burst;
mod channels;
mod checker;
mod divergence;
mod pace;
mod placement;
mod rings;
mod service;
mod suspect;
mod timing;
mod undone;
mod untimely;
mod whole;
mod world;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use std::thread::JoinHandle;
use tandem_model::engine::{Action, Config, Watch};

pub use burst::{BEAT, ReadBurst};
pub use checker::Summary;
pub use divergence::{Difference, Divergence};
pub use untimely::Untimely;
pub use whole::spoil;

use checker::Checker;
use world::World;

/// Something that happened at the engine's ports.
#[derive(Clone, Debug)]
pub enum Record {
    /// The driver began to write a register.
    Register {
        /// Byte offset.
        offset: u32,
        /// Value.
        value: u32,
    },
    /// A frame was taken by the engine.
    FrameIn(Vec<u8>),
    /// The engine committed an action.
    Commit {
        /// Clock.
        cycle: u64,
        /// In how many clocks so far the transmit stream was stalled.
        stalled: u64,
        /// The action.
        action: Action,
    },
    /// A commit record that is no action: its 112 bits.
    BadCommit {
        /// Clock.
        cycle: u64,
        /// The record.
        bits: u128,
        /// What is wrong with it.
        cause: String,
    },
    /// A read burst was answered completely.
    Read(ReadBurst),
    /// A write burst reached memory.
    Written {
        /// AWID.
        id: u8,
        /// Address of the first byte.
        address: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The oldest unanswered write burst of an ID was answered.
    Answered {
        /// AWID.
        id: u8,
    },
    /// The first beat of a frame left the engine.
    FrameStarted,
    /// A whole frame left the engine.
    FrameOut(Vec<u8>),
    /// The bench asks what still runs; the checker answers with a [`Standing`].
    Ask {
        /// Clock.
        cycle: u64,
        /// In how many clocks so far the transmit stream was stalled.
        stalled: u64,
    },
    /// The run ends; the interrupt line as it is.
    End {
        /// Clock.
        cycle: u64,
        /// In how many clocks so far the transmit stream was stalled.
        stalled: u64,
        /// Level of the interrupt line.
        interrupt: bool,
    },
}

/// How the model stands when everything so far was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// A timer runs, or an action waits for a read of the engine: something will happen.
    pub busy: bool,
}

/// Batches that may wait for the checker.
const BATCHES: usize = 64;

/// The bench's end of a checker.
#[derive(Debug)]
pub struct Lockstep {
    batches: Sender<Vec<Record>>,
    recycled: Receiver<Vec<Record>>,
    standing: Receiver<Standing>,
    /// The last answer, if nothing was committed since, and its clock.
    known: Option<(u64, Standing)>,
    verdict: Receiver<Result<Summary, Box<Divergence>>>,
    thread: Option<JoinHandle<()>>,
    batch: Vec<Record>,
}

/// Clocks after which a timer that runs is looked at again.
const ASK_AGAIN: u64 = 512;
/// Records that go to the checker at once.
const BATCH: usize = 256;

impl Lockstep {
    /// Starts a checker for an engine of this size; `seed` is printed in a divergence, `watch` sees what the model confirms.
    pub fn start(
        config: Config,
        node: &str,
        seed: u64,
        watch: Option<Watch>,
    ) -> std::io::Result<Self> {
        let (batches, inbox) = bounded::<Vec<Record>>(BATCHES);
        let (recycle, recycled) = bounded(BATCHES);
        let (tell, verdict) = bounded(1);
        let (answer, standing) = bounded(1);
        let node = node.to_owned();
        let run = move || {
            let world = World::new(inbox, recycle, answer);
            let mut checker = Checker::new(config, node, seed, world, watch);
            let result = checker.run();
            // The bench may have gone; then nobody asks.
            let _ = tell.send(result);
        };
        let thread = std::thread::Builder::new()
            .name("lockstep".into())
            .spawn(run)?;
        Ok(Self {
            batches,
            recycled,
            standing,
            known: None,
            verdict,
            thread: Some(thread),
            batch: Vec::with_capacity(BATCH),
        })
    }

    /// Adds a record; a full batch goes to the checker.
    pub fn push(&mut self, record: Record) {
        if matches!(record, Record::Commit { .. }) {
            self.known = None;
        }
        self.batch.push(record);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Sends what has gathered.
    pub fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let next = self
            .recycled
            .try_recv()
            .unwrap_or_else(|_| Vec::with_capacity(BATCH));
        // A checker that has found a divergence takes no more; its verdict says so.
        let _ = self.batches.send(std::mem::replace(&mut self.batch, next));
    }

    /// How the model stands, when everything so far was applied; `None` if the checker has ended.
    ///
    /// The checker needs the time, too: an overdue timer is found at the next commit, question, or end.
    pub fn ask(&mut self, cycle: u64, stalled: u64) -> Option<Standing> {
        // A timer that runs may be overdue.
        let fresh = |known: &(u64, Standing)| !known.1.busy || cycle < known.0 + ASK_AGAIN;
        if !self.known.as_ref().is_some_and(fresh) {
            self.push(Record::Ask { cycle, stalled });
            self.flush();
            let standing = self.standing.recv().ok();
            self.known = standing.map(|standing| (cycle, standing));
        }
        self.known.map(|(_, standing)| standing)
    }

    /// The divergence, if the checker has found one by now.
    pub fn poll(&mut self) -> Option<Box<Divergence>> {
        match self.verdict.try_recv() {
            Ok(Err(divergence)) => Some(divergence),
            Ok(Ok(_)) | Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }

    /// Ends a run that cannot go on; returns the divergence in what was recorded so far, if there is one.
    pub fn break_off(mut self) -> Option<Box<Divergence>> {
        self.flush();
        // Without a sender the records end.
        drop(self.batches);
        let verdict = self.verdict.recv();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let divergence = verdict.ok()?.err()?;
        (divergence.difference != Difference::Unfinished).then_some(divergence)
    }

    /// Ends the run and waits for the verdict.
    pub fn finish(
        mut self,
        cycle: u64,
        stalled: u64,
        interrupt: bool,
    ) -> Result<Summary, Box<Divergence>> {
        self.push(Record::End {
            cycle,
            stalled,
            interrupt,
        });
        self.flush();
        let verdict = self.verdict.recv();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        verdict.unwrap_or_else(|_| Err(Box::new(Divergence::checker_lost(cycle))))
    }
}
