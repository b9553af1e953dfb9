//! What the operations do.

use std::collections::VecDeque;

use super::Shape;
use super::core::{Core, Fault};

const MALFORMED: u8 = 1;
const ARGUMENT: u8 = 2;
const RANGE: u8 = 3;
const REPLY_FULL: u8 = 4;
const NO_ROOM: u8 = 5;
const BUS_ERROR: u8 = 6;
const BUS_TIMEOUT: u8 = 7;

/// What a request gave.
#[derive(Debug, Default)]
pub(super) struct Execution {
    pub results: Vec<u8>,
    pub count: u16,
    pub code: u8,
}

impl Execution {
    pub fn refusal(code: u8) -> Self {
        Self {
            code,
            ..Self::default()
        }
    }
}

/// What the link counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub good: u32,
    pub repeated: u32,
    pub refused: u32,
    pub broken: u32,
    pub malformed: u32,
    pub line: u32,
    captured: u32,
    capture_dropped: u32,
    injected: u32,
    commits: u32,
    commits_lost: u32,
}

/// The core, and what the link keeps for it.
#[derive(Debug)]
pub struct Parts<C> {
    /// The core.
    pub core: C,
    /// Clocks since the reset.
    pub clock: u64,
    pub(super) shape: Shape,
    pub(super) count: Count,
    control: u32,
    clock_high: u32,
    stuck: bool,
    /// Pieces of a frame to the core, without the last.
    coming: Vec<u8>,
    captured: VecDeque<Vec<u8>>,
    /// Bytes taken of the oldest captured frame.
    taken: usize,
    log: VecDeque<[u8; 18]>,
    gap: bool,
    lost: bool,
    dropped: bool,
    interrupt: u8,
}

/// An operation's arguments.
struct Arguments<'a> {
    n: usize,
    bytes: &'a [u8],
}

impl Arguments<'_> {
    fn number(&self, from: usize, bytes: usize) -> u32 {
        let bytes = &self.bytes[from..from + bytes];
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u32::from(*byte))
    }
}

impl<C: Core> Parts<C> {
    pub(super) fn new(mut core: C, shape: Shape) -> Self {
        core.reset();
        Self {
            core,
            clock: 0,
            shape,
            count: Count::default(),
            control: 0,
            clock_high: 0,
            stuck: false,
            coming: Vec::new(),
            captured: VecDeque::new(),
            taken: 0,
            log: VecDeque::new(),
            gap: false,
            lost: false,
            dropped: false,
            interrupt: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.reset_core();
        self.core.reset();
        self.count = Count::default();
        self.control = 0;
        self.clock = 0;
    }

    fn reset_core(&mut self) {
        self.stuck = false;
        self.coming.clear();
        self.captured.clear();
        self.taken = 0;
        self.log.clear();
        self.gap = false;
        self.lost = false;
        self.dropped = false;
    }

    fn in_reset(&self) -> bool {
        self.control & 1 != 0
    }

    /// The status byte.
    pub fn status(&self) -> u8 {
        let bit = |on: bool, place: u32| u8::from(on) << place;
        bit(self.captured.front().is_some(), 1)
            | bit(!self.log.is_empty(), 2)
            | bit(self.lost, 3)
            | bit(self.dropped, 4)
            | bit(true, 5)
            | bit(self.stuck, 6)
            | bit(self.in_reset(), 7)
            | self.interrupt
    }

    pub(super) fn execute(&mut self, mut rest: &[u8], opens: bool) -> Execution {
        let mut all = Execution::default();
        if opens {
            self.coming.clear();
            if !rest.is_empty() {
                all.code = MALFORMED;
            }
            return all;
        }
        while !rest.is_empty() {
            if let Err(code) = self.operation(&mut rest, &mut all.results) {
                all.code = code;
                break;
            }
            all.count += 1;
        }
        self.settle();
        all
    }

    /// What the core does by itself: its frames and actions come.
    fn settle(&mut self) {
        while let Some(frame) = self.core.send() {
            self.capture(frame);
        }
        while let Some(action) = self.core.act() {
            self.note(action);
        }
        self.interrupt = u8::from(self.core.interrupt());
    }

    fn capture(&mut self, frame: Vec<u8>) {
        let beats = |frame: &Vec<u8>| frame.len().div_ceil(self.shape.beat);
        if self.control & 0b1010 == 0 {
            return;
        }
        let held: usize = self.captured.iter().map(beats).sum();
        if held + beats(&frame) > self.shape.beats {
            self.count.capture_dropped += 1;
            self.dropped = true;
        } else {
            self.count.captured += 1;
            self.captured.push_back(frame);
        }
    }

    fn note(&mut self, action: [u8; 14]) {
        if self.control & 4 == 0 {
            return;
        }
        if self.log.len() == self.shape.log {
            self.count.commits_lost += 1;
            self.gap = true;
            self.lost = true;
            return;
        }
        self.count.commits += 1;
        let time = self.clock as u32 & 0x7FFF_FFFF | u32::from(self.gap) << 31;
        self.gap = false;
        let mut record = [0; 18];
        record[..14].copy_from_slice(&action);
        record[14..].copy_from_slice(&time.to_le_bytes());
        self.log.push_back(record);
    }

    fn operation(&mut self, rest: &mut &[u8], results: &mut Vec<u8>) -> Result<(), u8> {
        let (&number, after) = rest.split_first().ok_or(MALFORMED)?;
        let length = match number {
            1 | 2 => 4,
            3 | 4 => 6,
            5 => 7,
            6 | 9 | 10 | 11 => 3,
            7 | 8 => 2,
            _ => return Err(MALFORMED),
        };
        let (arguments, after) = after.split_at_checked(length).ok_or(MALFORMED)?;
        let n = usize::from(u16::from_le_bytes([arguments[0], arguments[1]]));
        let args = Arguments {
            n,
            bytes: arguments,
        };
        let takes = match number {
            2 | 10 => 4 * n,
            4 | 6 => n,
            _ => 0,
        };
        let (data, after) = after.split_at_checked(takes).ok_or(MALFORMED)?;
        *rest = after;
        if n == 0 && !matches!(number, 7 | 8 | 11) {
            return Err(ARGUMENT);
        }
        let gives = match number {
            1 | 9 => 4 * n,
            3 => n,
            7 => n + 3,
            8 => 18 * n + 2,
            11 => 1,
            _ => 0,
        };
        if 5 + results.len() + gives + 8 > self.shape.max_packet {
            return Err(REPLY_FULL);
        }
        match number {
            1 | 2 => self.registers(&args, number == 2, data, results),
            3..=5 => self.memory(number, &args, data, results),
            6 => self.send_frame(data, arguments[2]),
            7 => {
                self.settle();
                self.take_frame(n, results);
                Ok(())
            }
            8 => {
                self.settle();
                self.take_commits(n, results);
                Ok(())
            }
            9 | 10 => self.link(&args, number == 10, data, results),
            _ => {
                self.settle();
                if self.status() & arguments[2] == 0 {
                    self.clock += 64 * n as u64;
                }
                results.push(self.status());
                Ok(())
            }
        }
    }

    fn registers(
        &mut self,
        args: &Arguments,
        write: bool,
        data: &[u8],
        results: &mut Vec<u8>,
    ) -> Result<(), u8> {
        let offset = args.number(2, 2);
        if !offset.is_multiple_of(4) {
            return Err(ARGUMENT);
        }
        if offset + 4 * args.n as u32 > self.shape.registers {
            return Err(RANGE);
        }
        for i in 0..args.n {
            if self.stuck || self.in_reset() {
                return Err(BUS_TIMEOUT);
            }
            let place = offset + 4 * i as u32;
            let done = if write {
                let value = word(data, i);
                self.core.write(place, value)
            } else {
                self.core
                    .read(place)
                    .map(|value| results.extend(value.to_le_bytes()))
            };
            // What an access causes comes before the next access.
            self.settle();
            match done {
                Ok(()) => {}
                Err(Fault::Error) => return Err(BUS_ERROR),
                Err(Fault::Silent) => {
                    self.stuck = true;
                    return Err(BUS_TIMEOUT);
                }
            }
        }
        Ok(())
    }

    fn memory(
        &mut self,
        number: u8,
        args: &Arguments,
        data: &[u8],
        results: &mut Vec<u8>,
    ) -> Result<(), u8> {
        let start = args.number(2, 4) as usize;
        let length = if number == 5 { 8 * args.n } else { args.n };
        let place = self
            .core
            .memory()
            .get_mut(start..start + length)
            .ok_or(RANGE)?;
        match number {
            3 => results.extend_from_slice(place),
            4 => place.copy_from_slice(data),
            _ => place.fill(args.bytes[6]),
        }
        Ok(())
    }

    fn send_frame(&mut self, data: &[u8], flags: u8) -> Result<(), u8> {
        if self.in_reset() {
            return Ok(());
        }
        self.coming.extend_from_slice(data);
        if self.coming.len().div_ceil(self.shape.beat) > self.shape.beats {
            self.coming.clear();
            return Err(NO_ROOM);
        }
        if flags & 1 != 0 {
            let frame = std::mem::take(&mut self.coming);
            self.count.injected += 1;
            self.core.receive(&frame, flags & 2 != 0);
        }
        Ok(())
    }

    fn take_frame(&mut self, most: usize, results: &mut Vec<u8>) {
        let taken = self.taken;
        let Some(frame) = self.captured.front() else {
            results.extend([0, 0, 0]);
            return;
        };
        let piece = most.min(frame.len() - taken);
        let last = taken + piece == frame.len();
        results.extend((piece as u16).to_le_bytes());
        results.push(u8::from(last));
        results.extend(&frame[taken..taken + piece]);
        self.taken += piece;
        if last {
            self.captured.pop_front();
            self.taken = 0;
        }
    }

    fn take_commits(&mut self, most: usize, results: &mut Vec<u8>) {
        let count = most.min(self.log.len());
        results.extend((count as u16).to_le_bytes());
        results.extend(self.log.drain(..count).flatten());
    }

    fn link(
        &mut self,
        args: &Arguments,
        write: bool,
        data: &[u8],
        results: &mut Vec<u8>,
    ) -> Result<(), u8> {
        let first = usize::from(args.bytes[2]);
        if first + args.n > 64 {
            return Err(RANGE);
        }
        for i in 0..args.n {
            let index = first + i;
            if !write {
                let value = self.link_register(index);
                results.extend(value.to_le_bytes());
            } else if index == 9 {
                let control = word(data, i) & 0xF;
                if control & 1 != 0 && !self.in_reset() {
                    self.reset_core();
                    self.core.reset();
                }
                self.control = control;
                self.settle();
            }
        }
        Ok(())
    }

    fn link_register(&mut self, index: usize) -> u32 {
        let shape = self.shape;
        let count = self.count;
        match index {
            0 => 0x4B4C_444E,
            1 => 1 | (shape.beat as u32) << 8 | (shape.max_packet as u32) << 16,
            2 => shape.clock_hz,
            3 => self.core.memory().len() as u32,
            4 => shape.memory_base as u32,
            5 => (shape.memory_base >> 32) as u32,
            6 => shape.beats as u32 | (shape.beats as u32) << 16,
            7 => shape.log as u32 | u32::from(shape.timeout_bits) << 16,
            9 => self.control,
            10 => {
                self.clock_high = (self.clock >> 32) as u32;
                self.clock as u32
            }
            11 => self.clock_high,
            16 => count.good,
            17 => count.repeated,
            18 => count.refused,
            19 => count.broken,
            20 => count.malformed,
            21 => count.line,
            23 => count.captured,
            24 => count.capture_dropped,
            25 => count.injected,
            27 => count.commits,
            28 => count.commits_lost,
            _ => 0,
        }
    }
}

fn word(data: &[u8], index: usize) -> u32 {
    let bytes = &data[4 * index..4 * index + 4];
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
