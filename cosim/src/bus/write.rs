//! AXI4 write channels: host memory as the engine writes it.

use std::collections::VecDeque;

use super::fuzz::Dice;
use super::{BEAT, HostMemory, Stable, Traffic, Violation};
use crate::ports::{WriteIn, WriteOut};

/// What happened on the write channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteEvent {
    /// The last beat of a burst was taken; memory holds it from now on.
    Written {
        /// AWID.
        id: u8,
        /// Address of the first byte that was strobed.
        address: u64,
        /// The strobed bytes.
        bytes: Vec<u8>,
    },
    /// The oldest unanswered burst of an ID was answered on B.
    Answered {
        /// AWID.
        id: u8,
    },
}

#[derive(Debug)]
struct Burst {
    id: u8,
    address: u64,
    beats: usize,
}

/// The memory's side of AW, W and B.
#[derive(Debug)]
pub struct WriteSlave {
    memory: HostMemory,
    traffic: Traffic,
    dice: Dice,
    bursts: VecDeque<Burst>,
    beats: VecDeque<(u64, u8, bool)>,
    answers: [VecDeque<(u64, u8)>; 2],
    offered: Option<usize>,
    aw: Stable<(u8, u64, u8)>,
    w: Stable<(u64, u8, bool)>,
}

/// Bursts whose data beats may wait for their address, and the other way round.
const DEPTH: usize = 16;
/// Beats that may run ahead of their address.
const BEATS_AHEAD: usize = 8;

impl WriteSlave {
    /// A slave on this memory.
    pub fn new(memory: HostMemory, traffic: Traffic, seed: u64) -> Self {
        Self {
            memory,
            traffic,
            dice: Dice::new(seed, 2),
            bursts: VecDeque::new(),
            beats: VecDeque::new(),
            answers: Default::default(),
            offered: None,
            aw: Stable::new("m_axi_aw"),
            w: Stable::new("m_axi_w"),
        }
    }

    /// Bursts under way: address, data or response still to come.
    pub fn outstanding(&self) -> usize {
        self.bursts.len() + self.beats.len() + self.answers.iter().map(VecDeque::len).sum::<usize>()
    }

    /// One clock: `now` is driven in it; what happened is pushed to `events` in order.
    pub fn clock(
        &mut self,
        cycle: u64,
        engine: &WriteOut,
        now: &mut WriteIn,
        events: &mut Vec<WriteEvent>,
    ) -> Result<(), Violation> {
        self.aw.check(
            cycle,
            engine.awvalid,
            now.awready,
            &(engine.awid, engine.awaddr, engine.awlen),
        )?;
        self.w.check(
            cycle,
            engine.wvalid,
            now.wready,
            &(engine.wdata, engine.wstrb, engine.wlast),
        )?;
        if now.bvalid && engine.bready {
            if let Some(id) = self.offered.take() {
                self.answers[id].pop_front();
                events.push(WriteEvent::Answered { id: id as u8 });
            }
            now.bvalid = false;
        }
        if engine.awvalid && now.awready {
            let beats = usize::from(engine.awlen) + 1;
            let violation = |rule: String| {
                Err(Violation {
                    cycle,
                    port: "m_axi_aw",
                    rule,
                })
            };
            check_burst(engine.awaddr, beats, engine.awsize, engine.awburst).or_else(violation)?;
            if usize::from(engine.awid) >= self.answers.len() {
                return violation(format!("ID {} has no meaning", engine.awid));
            }
            self.bursts.push_back(Burst {
                id: engine.awid,
                address: engine.awaddr,
                beats,
            });
        }
        if engine.wvalid && now.wready {
            self.beats
                .push_back((engine.wdata, engine.wstrb, engine.wlast));
        }
        self.complete_burst(cycle, events)?;
        now.awready = self.bursts.len() < DEPTH && !self.dice.hit(self.traffic.back_pressure);
        let room = !self.bursts.is_empty() || self.beats.len() < BEATS_AHEAD;
        now.wready = room && !self.dice.hit(self.traffic.back_pressure);
        if !now.bvalid {
            self.offer(cycle, now);
        }
        Ok(())
    }

    fn complete_burst(
        &mut self,
        cycle: u64,
        events: &mut Vec<WriteEvent>,
    ) -> Result<(), Violation> {
        let Some(burst) = self.bursts.front() else {
            return Ok(());
        };
        let violation = |rule: String| {
            Err(Violation {
                cycle,
                port: "m_axi_w",
                rule,
            })
        };
        let seen = self.beats.len().min(burst.beats);
        if let Some(at) = self.beats.iter().take(seen).position(|beat| beat.2)
            && at + 1 != burst.beats
        {
            return violation(format!("WLAST on beat {} of {}", at + 1, burst.beats));
        }
        if self.beats.len() < burst.beats {
            return Ok(());
        }
        if !self.beats[burst.beats - 1].2 {
            return violation(format!("no WLAST on beat {}", burst.beats));
        }
        let mut bytes = Vec::with_capacity(burst.beats * BEAT);
        let mut first = None;
        let mut offset = 0;
        for (data, strobe, _) in self.beats.drain(..burst.beats) {
            for (lane, byte) in data.to_le_bytes().into_iter().enumerate() {
                if strobe >> lane & 1 == 1 {
                    let start = *first.get_or_insert(offset + lane);
                    if start + bytes.len() != offset + lane {
                        return violation(format!(
                            "strobes with a hole before byte {}",
                            offset + lane
                        ));
                    }
                    bytes.push(byte);
                }
            }
            offset += BEAT;
        }
        let base = burst.address & !(BEAT as u64 - 1);
        let (id, address) = (burst.id, base + first.unwrap_or(0) as u64);
        self.bursts.pop_front();
        let response = if self.memory.write(address, &bytes).is_ok() {
            0
        } else {
            2
        };
        let due = cycle + self.dice.between(self.traffic.write_latency);
        self.answers[usize::from(id)].push_back((due, response));
        events.push(WriteEvent::Written { id, address, bytes });
        Ok(())
    }

    fn offer(&mut self, cycle: u64, now: &mut WriteIn) {
        let first = self.dice.below(self.answers.len());
        for i in 0..self.answers.len() {
            let id = (first + i) % self.answers.len();
            if let Some(&(due, response)) = self.answers[id].front()
                && due <= cycle
            {
                (now.bvalid, now.bid, now.bresp) = (true, id as u8, response);
                self.offered = Some(id);
                return;
            }
        }
    }
}

/// The rules of an AXI4 burst that the engine may use: INCR, full-size beats, inside one 4 KiB page.
pub(super) fn check_burst(address: u64, beats: usize, size: u8, burst: u8) -> Result<(), String> {
    let first = address & !(BEAT as u64 - 1);
    if burst != 1 {
        return Err(format!("burst type {burst} is not INCR"));
    }
    if 1usize << size != BEAT {
        return Err(format!("size {size} is not that of the bus"));
    }
    if first >> 12 != (first + (beats * BEAT) as u64 - 1) >> 12 {
        return Err(format!(
            "burst of {beats} beats from {address:#x} crosses a 4 KiB boundary"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(slave: &mut WriteSlave, script: &[WriteOut]) -> Result<Vec<WriteEvent>, Violation> {
        let (mut now, mut events) = (WriteIn::default(), Vec::new());
        now.awready = true;
        now.wready = true;
        for (cycle, out) in script
            .iter()
            .chain(
                [&WriteOut {
                    bready: true,
                    ..WriteOut::default()
                }; 4],
            )
            .enumerate()
        {
            slave.clock(cycle as u64, out, &mut now, &mut events)?;
        }
        Ok(events)
    }

    fn beat(address: u64, wdata: u64, wstrb: u8, wlast: bool) -> WriteOut {
        WriteOut {
            awvalid: address != 0,
            awaddr: address,
            awsize: 3,
            awburst: 1,
            wvalid: true,
            wdata,
            wstrb,
            wlast,
            bready: true,
            ..WriteOut::default()
        }
    }

    #[test]
    fn strobed_bytes_land_and_are_answered() {
        let memory = HostMemory::new(4096);
        let address = memory.allocate(64, 64).unwrap();
        let mut slave = WriteSlave::new(memory.clone(), Traffic::IDEAL, 1);
        let events = drive(
            &mut slave,
            &[beat(address, 0x0807_0605_0403_0201, 0b0111_1000, true)],
        )
        .unwrap();
        let written = WriteEvent::Written {
            id: 0,
            address: address + 3,
            bytes: vec![4, 5, 6, 7],
        };
        assert_eq!(events, [written, WriteEvent::Answered { id: 0 }]);
        let mut bytes = [0; 8];
        memory.read(address, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 0, 0, 4, 5, 6, 7, 0]);
    }

    #[test]
    fn a_missing_wlast_a_hole_and_a_crossing_are_violations() {
        let memory = HostMemory::new(8192);
        let address = memory.allocate(8192, 4096).unwrap();
        let new = || WriteSlave::new(memory.clone(), Traffic::IDEAL, 1);
        let rule = |script: &[WriteOut]| drive(&mut new(), script).unwrap_err().rule;
        assert!(rule(&[beat(address, 0, 0xFF, false)]).contains("no WLAST"));
        assert!(rule(&[beat(address, 0, 0b101, true)]).contains("hole"));
        let crossing = WriteOut {
            awlen: 1,
            ..beat(address + 4088, 0, 0xFF, true)
        };
        assert!(rule(&[crossing]).contains("4 KiB"));
    }
}
