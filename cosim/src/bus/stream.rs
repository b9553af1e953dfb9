//! AXI4-Stream: frames into the engine and out of it.

use std::collections::VecDeque;

use super::fuzz::Dice;
use super::{BEAT, Stable, Traffic, Violation};
use crate::ports::Beat;

/// Sends frames to the engine's receive stream.
#[derive(Debug)]
pub struct FrameSource {
    traffic: Traffic,
    dice: Dice,
    frames: VecDeque<Vec<u8>>,
    sent: usize,
}

impl FrameSource {
    /// A source without frames.
    pub fn new(traffic: Traffic, seed: u64) -> Self {
        Self {
            traffic,
            dice: Dice::new(seed, 3),
            frames: VecDeque::new(),
            sent: 0,
        }
    }

    /// Queues a frame of at least one byte; an empty one is not a frame and is ignored.
    pub fn push(&mut self, frame: Vec<u8>) {
        if !frame.is_empty() {
            self.frames.push_back(frame);
        }
    }

    /// Frames not taken completely.
    pub fn pending(&self) -> usize {
        self.frames.len()
    }

    /// One clock: `now` is driven in it; returns the frame whose last beat was taken.
    pub fn clock(&mut self, ready: bool, now: &mut Beat) -> Option<Vec<u8>> {
        let mut done = None;
        if now.valid && !ready {
            return None;
        }
        if now.valid {
            self.sent += BEAT;
            if now.last {
                self.sent = 0;
                done = self.frames.pop_front();
            }
        }
        *now = match self.frames.front() {
            Some(frame) if !self.dice.hit(self.traffic.gaps) => {
                let rest = &frame[self.sent..];
                let n = rest.len().min(BEAT);
                let mut data = [0; BEAT];
                data[..n].copy_from_slice(&rest[..n]);
                Beat {
                    valid: true,
                    data: u64::from_le_bytes(data),
                    keep: (0xFFu16 >> (BEAT - n)) as u8,
                    last: rest.len() <= BEAT,
                    user: false,
                }
            }
            _ => Beat::default(),
        };
        done
    }
}

/// What came out of the engine's transmit stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkEvent {
    /// The first beat of a frame was taken.
    Started,
    /// A whole frame.
    Frame(Vec<u8>),
}

/// Takes frames from the engine's transmit stream.
#[derive(Debug)]
pub struct FrameSink {
    traffic: Traffic,
    dice: Dice,
    frame: Vec<u8>,
    paused: bool,
    stalled: u64,
    watch: Stable<(u64, u8, bool)>,
}

impl FrameSink {
    /// A sink.
    pub fn new(traffic: Traffic, seed: u64) -> Self {
        Self {
            traffic,
            dice: Dice::new(seed, 4),
            frame: Vec::new(),
            paused: false,
            stalled: 0,
            watch: Stable::new("m_axis"),
        }
    }

    /// Whether a frame is under way.
    pub fn busy(&self) -> bool {
        !self.frame.is_empty()
    }

    /// Whether it takes nothing.
    pub fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// Clocks so far in which a beat was offered and not taken.
    pub fn stalled(&self) -> u64 {
        self.stalled
    }

    /// One clock: `ready` is driven in it.
    pub fn clock(
        &mut self,
        cycle: u64,
        beat: &Beat,
        ready: &mut bool,
        events: &mut Vec<SinkEvent>,
    ) -> Result<(), Violation> {
        self.watch.check(
            cycle,
            beat.valid,
            *ready,
            &(beat.data, beat.keep, beat.last),
        )?;
        if beat.valid && *ready {
            let n = beat.keep.trailing_ones() as usize;
            let whole = if beat.last { n > 0 } else { n == BEAT };
            if !whole || beat.keep.count_ones() as usize != n {
                let rule = format!("tkeep {:#010b} with tlast {}", beat.keep, beat.last);
                return Err(Violation {
                    cycle,
                    port: "m_axis",
                    rule,
                });
            }
            if self.frame.is_empty() {
                events.push(SinkEvent::Started);
            }
            self.frame.extend_from_slice(&beat.data.to_le_bytes()[..n]);
            if beat.last {
                events.push(SinkEvent::Frame(std::mem::take(&mut self.frame)));
            }
        }
        self.stalled += u64::from(beat.valid && !*ready);
        *ready = !self.dice.hit(self.traffic.back_pressure) && !self.paused;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_every_length_cross_a_disturbed_stream() {
        for length in 1..=40usize {
            let frame: Vec<u8> = (0..length as u8).collect();
            let mut source = FrameSource::new(Traffic::RANDOM, length as u64);
            let mut sink = FrameSink::new(Traffic::RANDOM, length as u64);
            source.push(frame.clone());
            source.push(frame.clone());
            let (mut beat, mut ready, mut events) = (Beat::default(), false, Vec::new());
            for cycle in 0..1000 {
                let (offered, taken) = (beat, ready);
                sink.clock(cycle, &offered, &mut ready, &mut events)
                    .unwrap();
                source.clock(taken, &mut beat);
            }
            let one = [SinkEvent::Started, SinkEvent::Frame(frame)];
            assert_eq!(events, [one.clone(), one].concat());
            assert_eq!(source.pending(), 0);
        }
    }

    #[test]
    fn a_paused_sink_takes_nothing_and_counts_the_clocks() {
        let mut sink = FrameSink::new(Traffic::IDEAL, 0);
        let beat = Beat {
            valid: true,
            keep: 0xFF,
            last: true,
            ..Beat::default()
        };
        let (mut ready, mut events) = (true, Vec::new());
        sink.pause(true);
        for cycle in 0..10 {
            sink.clock(cycle, &beat, &mut ready, &mut events).unwrap();
        }
        // What was ready in the first clock was ready before the pause.
        assert_eq!((sink.stalled(), events.len()), (9, 2));
        sink.pause(false);
        sink.clock(10, &beat, &mut ready, &mut events).unwrap();
        assert!(ready && sink.stalled() == 10);
    }

    #[test]
    fn a_sparse_keep_is_a_violation() {
        let mut sink = FrameSink::new(Traffic::IDEAL, 0);
        let beat = Beat {
            valid: true,
            keep: 0b101,
            last: true,
            ..Beat::default()
        };
        assert!(sink.clock(7, &beat, &mut true, &mut Vec::new()).is_err());
    }
}
