//! A board as a bench sees it: registers, host memory, frames, commit log, time.
//!
//! What needs no answer (writes of memory, frames) is kept and goes with the next request that has to
//! wait for one, so that a doorbell and everything before it is one packet. [`Board::flush`] sends it at once.

use std::collections::VecDeque;

use crate::client::{Client, Policy};
use crate::error::Error;
use crate::line::Line;
use crate::op::{Operation, Outcome, RECORD, Record};
use crate::packet::{Code, HEADER, REPLY_TAIL, REQUEST_TAIL, Status};

/// First link register: what says that this is a board.
const MAGIC: u32 = 0x4B4C_444E;
const CONTROL: u8 = 9;
const CLOCK: u8 = 10;
const COUNTERS: u8 = 16;
/// Pieces of captured frames asked for at once.
const PIECES: usize = 4;
/// How often a frame is tried for which there is no room, with a wait between.
const FRAME_TRIES: u32 = 8;

/// What a board says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Bytes of a beat.
    pub beat: usize,
    /// Bytes of the longest packet.
    pub max_packet: usize,
    /// Clock in Hz.
    pub clock_hz: u32,
    /// Bytes of host memory.
    pub memory: u64,
    /// Where the core sees them.
    pub memory_base: u64,
    /// Bytes of the buffer for frames to the core.
    pub inject: usize,
    /// Bytes of the buffer for frames from it.
    pub capture: usize,
    /// Records of the commit log.
    pub log: usize,
    /// Build number of the bitstream.
    pub build: u32,
}

/// The control bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// The core is in reset.
    pub reset: bool,
    /// The core's network is the link, not the MAC.
    pub link_only: bool,
    /// The commit log is on.
    pub log: bool,
    /// What the core sends to the MAC is captured too.
    pub copy: bool,
}

impl Control {
    fn bits(self) -> u32 {
        let bit = |on: bool, place: u32| u32::from(on) << place;
        bit(self.reset, 0) | bit(self.link_only, 1) | bit(self.log, 2) | bit(self.copy, 3)
    }
}

/// What the link counted since the board's reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "fields are the registers of the book's page on the link"
)]
pub struct Counters {
    pub good: u32,
    pub repeated: u32,
    pub refused: u32,
    pub broken: u32,
    pub malformed: u32,
    pub line_errors: u32,
    pub busy: u32,
    pub captured: u32,
    pub capture_dropped: u32,
    pub injected: u32,
    pub mac_dropped: u32,
    pub commits: u32,
    pub commits_lost: u32,
}

/// A board with an open session.
#[derive(Debug)]
pub struct Board<L> {
    client: Client<L>,
    info: Info,
    posted: Vec<Operation>,
    frames: VecDeque<Vec<u8>>,
    partial: Vec<u8>,
}

impl<L: Line> Board<L> {
    /// Opens a session and asks the board what it is.
    pub fn open(line: L, policy: Policy) -> Result<Self, Error> {
        Self::over(Client::new(line, policy))
    }

    /// Opens a session of a client.
    pub fn over(mut client: Client<L>) -> Result<Self, Error> {
        client.open()?;
        let read = Operation::ReadLink { index: 0, count: 9 };
        let words = words(client.request(vec![read])?)?;
        let [
            magic,
            version,
            clock_hz,
            memory,
            low,
            high,
            fifos,
            log,
            build,
        ] = words[..]
        else {
            return Err(Error::Nonsense("it has other registers"));
        };
        if magic != MAGIC {
            return Err(Error::NoBoard { magic });
        }
        let beat = (version >> 8 & 0xFF) as usize;
        let info = Info {
            beat,
            max_packet: (version >> 16) as usize,
            clock_hz,
            memory: memory.into(),
            memory_base: u64::from(high) << 32 | u64::from(low),
            inject: (fifos & 0xFFFF) as usize * beat,
            capture: (fifos >> 16) as usize * beat,
            log: (log & 0xFFFF) as usize,
            build,
        };
        client.policy.max_packet = info.max_packet;
        client.policy.clock_hz = clock_hz;
        Ok(Self {
            client,
            info,
            posted: Vec::new(),
            frames: VecDeque::new(),
            partial: Vec::new(),
        })
    }

    /// What the board is.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The client below: what it saw on the line, its policy, the request that has no answer.
    pub fn client(&mut self) -> &mut Client<L> {
        &mut self.client
    }

    /// The state in the last reply; costs nothing.
    pub fn status(&self) -> Status {
        self.client.status()
    }

    /// Does operations after everything posted, in as few requests as they fit in.
    pub fn run(&mut self, operations: Vec<Operation>) -> Result<Vec<Outcome>, Error> {
        let posted = self.posted.len();
        let mut all = std::mem::take(&mut self.posted);
        all.extend(operations);
        let mut outcomes = Vec::with_capacity(all.len());
        let most = self.info.max_packet;
        let (mut batch, mut there, mut back) = (Vec::new(), 0, 0);
        for operation in all {
            let (more, gives) = (operation.request_bytes(), operation.reply_bytes());
            let fits = HEADER + there + more + REQUEST_TAIL <= most
                && HEADER + back + gives + REPLY_TAIL <= most;
            if !fits && !batch.is_empty() {
                outcomes.extend(self.client.request(std::mem::take(&mut batch))?);
                (there, back) = (0, 0);
            }
            there += more;
            back += gives;
            batch.push(operation);
        }
        if !batch.is_empty() {
            outcomes.extend(self.client.request(batch)?);
        }
        outcomes.drain(..posted);
        Ok(outcomes)
    }

    /// Keeps an operation whose result is of no interest; it is done before whatever is done next. If it
    /// fails, that fails.
    pub fn post(&mut self, operation: Operation) -> Result<(), Error> {
        self.posted.push(operation);
        let held: usize = self.posted.iter().map(Operation::request_bytes).sum();
        if held > self.info.max_packet {
            self.flush()?;
        }
        Ok(())
    }

    /// Does what is posted.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.run(Vec::new()).map(drop)
    }

    /// Reads a register.
    pub fn read_register(&mut self, offset: u16) -> Result<u32, Error> {
        let read = Operation::ReadRegisters { offset, count: 1 };
        words(self.run(vec![read])?)?
            .first()
            .copied()
            .ok_or(Error::Nonsense("no register in it"))
    }

    /// Writes a register, after everything posted; returns when the core has answered.
    pub fn write_register(&mut self, offset: u16, value: u32) -> Result<(), Error> {
        let values = vec![value];
        self.run(vec![Operation::WriteRegisters { offset, values }])
            .map(drop)
    }

    /// Reads host memory at an address as the core sees it.
    pub fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let start = self.place(address, bytes.len())?;
        let piece = self.info.max_packet - HEADER - REPLY_TAIL;
        let reads =
            pieces(start, bytes.len(), piece).map(|(address, length)| Operation::ReadMemory {
                address,
                length: length as u16,
            });
        let reads = reads.collect();
        let mut rest = bytes;
        for outcome in self.run(reads)? {
            let Outcome::Bytes(read) = outcome else {
                return Err(Error::Nonsense("no memory in it"));
            };
            let (front, back) = rest.split_at_mut(read.len().min(rest.len()));
            front.copy_from_slice(&read[..front.len()]);
            rest = back;
        }
        Ok(())
    }

    /// Writes host memory at an address as the core sees it: posted.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let start = self.place(address, bytes.len())?;
        let piece = self.info.max_packet - HEADER - REQUEST_TAIL - 7;
        let mut rest = bytes;
        for (address, length) in pieces(start, bytes.len(), piece) {
            let (front, back) = rest.split_at(length);
            rest = back;
            self.post(Operation::WriteMemory {
                address,
                bytes: front.to_vec(),
            })?;
        }
        Ok(())
    }

    /// Sets host memory to zero: posted.
    pub fn zero_memory(&mut self, address: u64, length: usize) -> Result<(), Error> {
        let start = self.place(address, length)?;
        let whole = length / 8 * 8;
        for (address, length) in pieces(start, whole, 8 * usize::from(u16::MAX)) {
            self.post(Operation::FillMemory {
                address,
                units: (length / 8) as u16,
                value: 0,
            })?;
        }
        self.write_memory(address + whole as u64, &vec![0; length - whole])
    }

    /// Sends a frame to the core; waits as long as the board has no room for it.
    pub fn send_frame(&mut self, frame: &[u8]) -> Result<(), Error> {
        self.flush()?;
        let piece = self.info.max_packet - HEADER - REQUEST_TAIL - 4;
        let count = frame.len().div_ceil(piece);
        let operations = frame.chunks(piece).enumerate().map(|(i, bytes)| {
            let bytes = bytes.to_vec();
            let last = i + 1 == count;
            Operation::SendFrame {
                bytes,
                last,
                bad: false,
            }
        });
        let operations: Vec<Operation> = operations.collect();
        let mut tries = FRAME_TRIES;
        loop {
            match self.run(operations.clone()) {
                Err(Error::Failed {
                    code: Code::NoRoom, ..
                }) if tries > 1 && frame.len() <= self.info.inject => {
                    tries -= 1;
                    self.wait(64 * u64::from(u16::MAX), Status::SENT)?;
                }
                result => return result.map(drop),
            }
        }
    }

    /// The frames that the core has sent since the last call, oldest first.
    pub fn take_frames(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let most = (self.info.max_packet - HEADER - REPLY_TAIL) / PIECES - 3;
        loop {
            let take = Operation::TakeFrame { most: most as u16 };
            for outcome in self.run(vec![take; PIECES])? {
                let Outcome::Frame { bytes, last, .. } = outcome else {
                    return Err(Error::Nonsense("no frame in it"));
                };
                self.partial.extend(bytes);
                if last {
                    self.frames.push_back(std::mem::take(&mut self.partial));
                }
            }
            if !self.status().has(Status::FRAME) {
                return Ok(self.frames.drain(..).collect());
            }
        }
    }

    /// The commit records since the last call, oldest first.
    pub fn take_commits(&mut self) -> Result<Vec<Record>, Error> {
        let most = ((self.info.max_packet - HEADER - REPLY_TAIL - 2) / RECORD) as u16;
        let mut records = Vec::new();
        loop {
            let Some(Outcome::Commits(more)) =
                self.run(vec![Operation::TakeCommits { most }])?.pop()
            else {
                return Err(Error::Nonsense("no records in it"));
            };
            let ended = more.len() < usize::from(most);
            records.extend(more);
            if ended {
                return Ok(records);
            }
        }
    }

    /// Lets at least so many clocks pass, less if a bit of the status comes.
    pub fn wait(&mut self, clocks: u64, mask: Status) -> Result<Status, Error> {
        let mut units = clocks.div_ceil(64);
        loop {
            let some = u16::try_from(units).unwrap_or(u16::MAX);
            units -= u64::from(some);
            let wait = Operation::Wait { units: some, mask };
            let Some(Outcome::Status(status)) = self.run(vec![wait])?.pop() else {
                return Err(Error::Nonsense("no status in it"));
            };
            if units == 0 || status.has(mask) {
                return Ok(status);
            }
        }
    }

    /// Whether the interrupt line is high now.
    pub fn interrupt(&mut self) -> Result<bool, Error> {
        let status = self.wait(0, Status::default())?;
        Ok(status.has(Status::INTERRUPT))
    }

    /// Sets the control bits.
    pub fn control(&mut self, control: Control) -> Result<(), Error> {
        self.run(vec![set(control)]).map(drop)
    }

    /// Resets the core, and leaves the control bits as given.
    pub fn reset(&mut self, control: Control) -> Result<(), Error> {
        self.frames.clear();
        self.partial.clear();
        let held = Control {
            reset: true,
            ..control
        };
        let wait = Operation::Wait {
            units: 1,
            mask: Status::default(),
        };
        self.run(vec![set(held), wait, set(control)]).map(drop)
    }

    /// Clocks since the board's reset.
    pub fn now(&mut self) -> Result<u64, Error> {
        let read = Operation::ReadLink {
            index: CLOCK,
            count: 2,
        };
        match words(self.run(vec![read])?)?[..] {
            [low, high] => Ok(u64::from(high) << 32 | u64::from(low)),
            _ => Err(Error::Nonsense("no clock in it")),
        }
    }

    /// What the link counted.
    pub fn counters(&mut self) -> Result<Counters, Error> {
        let read = Operation::ReadLink {
            index: COUNTERS,
            count: 13,
        };
        let words = words(self.run(vec![read])?)?;
        let count = |i: usize| words.get(i).copied().unwrap_or_default();
        Ok(Counters {
            good: count(0),
            repeated: count(1),
            refused: count(2),
            broken: count(3),
            malformed: count(4),
            line_errors: count(5),
            busy: count(6),
            captured: count(7),
            capture_dropped: count(8),
            injected: count(9),
            mac_dropped: count(10),
            commits: count(11),
            commits_lost: count(12),
        })
    }

    fn place(&self, address: u64, length: usize) -> Result<u32, Error> {
        let start = address.checked_sub(self.info.memory_base);
        let inside = start.filter(|start| {
            let end = start.checked_add(length as u64);
            end.is_some_and(|end| end <= self.info.memory)
        });
        inside
            .and_then(|start| u32::try_from(start).ok())
            .ok_or(Error::Memory { address, length })
    }
}

fn set(control: Control) -> Operation {
    Operation::WriteLink {
        index: CONTROL,
        values: vec![control.bits()],
    }
}

fn words(outcomes: Vec<Outcome>) -> Result<Vec<u32>, Error> {
    match outcomes.into_iter().next_back() {
        Some(Outcome::Words(words)) => Ok(words),
        _ => Err(Error::Nonsense("no registers in it")),
    }
}

/// A range in pieces: address and length of each.
fn pieces(start: u32, length: usize, most: usize) -> impl Iterator<Item = (u32, usize)> {
    (0..length)
        .step_by(most)
        .map(move |at| (start + at as u32, most.min(length - at)))
}
