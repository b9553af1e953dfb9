//! AXI4 read channels: host memory as the engine reads it.

use std::collections::VecDeque;

use super::fuzz::Dice;
use super::{BEAT, HostMemory, ReadBurst, Stable, Traffic, Violation};
use crate::ports::{ReadIn, ReadOut};

#[derive(Debug)]
struct Pending {
    due: u64,
    burst: ReadBurst,
    beats: usize,
    sent: usize,
}

/// The memory's side of AR and R.
///
/// Bursts of one ID are answered in order; bursts of different IDs in any order, beat by beat, as the
/// seed says. The bytes of a burst are taken from memory when its first beat is offered.
#[derive(Debug)]
pub struct ReadSlave {
    memory: HostMemory,
    traffic: Traffic,
    dice: Dice,
    queues: [VecDeque<Pending>; 4],
    offered: Option<usize>,
    watch: Stable<(u8, u64, u8)>,
}

impl ReadSlave {
    /// A slave on this memory.
    pub fn new(memory: HostMemory, traffic: Traffic, seed: u64) -> Self {
        Self {
            memory,
            traffic,
            dice: Dice::new(seed, 1),
            queues: Default::default(),
            offered: None,
            watch: Stable::new("m_axi_ar"),
        }
    }

    /// Bursts taken and not answered yet.
    pub fn outstanding(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    /// One clock: `now` is driven in it; returns the burst whose last beat was taken.
    pub fn clock(
        &mut self,
        cycle: u64,
        engine: &ReadOut,
        now: &mut ReadIn,
    ) -> Result<Option<ReadBurst>, Violation> {
        self.watch.check(
            cycle,
            engine.arvalid,
            now.arready,
            &(engine.arid, engine.araddr, engine.arlen),
        )?;
        if engine.arvalid && now.arready {
            self.accept(cycle, engine)?;
        }
        let done = if now.rvalid && engine.rready {
            self.beat_taken()
        } else {
            None
        };
        now.arready = !self.dice.hit(self.traffic.back_pressure);
        if !now.rvalid || engine.rready {
            self.offer(cycle, now);
        }
        Ok(done)
    }

    fn accept(&mut self, cycle: u64, engine: &ReadOut) -> Result<(), Violation> {
        let beats = usize::from(engine.arlen) + 1;
        let violation = |rule: String| {
            Err(Violation {
                cycle,
                port: "m_axi_ar",
                rule,
            })
        };
        let address = engine.araddr;
        let Some(queue) = self.queues.get_mut(usize::from(engine.arid)) else {
            return violation(format!("ID {} has no meaning", engine.arid));
        };
        super::write::check_burst(address, beats, engine.arsize, engine.arburst)
            .or_else(violation)?;
        let due = cycle + self.dice.between(self.traffic.read_latency);
        let burst = ReadBurst {
            id: engine.arid,
            address,
            bytes: Vec::with_capacity(beats * BEAT),
            error: false,
            asked: cycle,
        };
        queue.push_back(Pending {
            due,
            burst,
            beats,
            sent: 0,
        });
        Ok(())
    }

    fn beat_taken(&mut self) -> Option<ReadBurst> {
        let id = self.offered.take()?;
        let pending = self.queues[id].front_mut()?;
        pending.sent += 1;
        if pending.sent < pending.beats {
            return None;
        }
        self.queues[id].pop_front().map(|pending| pending.burst)
    }

    fn offer(&mut self, cycle: u64, now: &mut ReadIn) {
        *now = ReadIn {
            arready: now.arready,
            ..ReadIn::default()
        };
        if self.dice.hit(self.traffic.gaps) {
            return;
        }
        let ready = |q: &VecDeque<Pending>| q.front().is_some_and(|p| p.due <= cycle);
        let first = self.dice.below(self.queues.len());
        let Some(id) = (0..self.queues.len())
            .map(|i| (first + i) % self.queues.len())
            .find(|&i| ready(&self.queues[i]))
        else {
            return;
        };
        let Some(pending) = self.queues[id].front_mut() else {
            return;
        };
        if pending.sent == 0 {
            for beat in 0..pending.beats {
                let word = self
                    .memory
                    .read_beat(pending.burst.address + (beat * BEAT) as u64);
                pending.burst.error |= word.is_none();
                pending
                    .burst
                    .bytes
                    .extend_from_slice(&word.unwrap_or(0).to_le_bytes());
            }
        }
        let at = pending.sent * BEAT;
        let mut beat = [0; BEAT];
        beat.copy_from_slice(&pending.burst.bytes[at..at + BEAT]);
        *now = ReadIn {
            arready: now.arready,
            rvalid: true,
            rid: id as u8,
            rdata: u64::from_le_bytes(beat),
            rresp: if pending.burst.error { 2 } else { 0 },
            rlast: pending.sent + 1 == pending.beats,
        };
        self.offered = Some(id);
    }
}
