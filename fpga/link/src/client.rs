//! Sessions, sequence numbers, deadlines and retries: each request is executed once, or an error says what is known.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::time::Duration;

use crate::error::Error;
use crate::line::Line;
use crate::op::{Operation, Outcome, outcomes};
use crate::packet::{self, Code, Finder, Found, HEADER, REPLY_TAIL, REQUEST_TAIL, Reply, Status};

/// How long and how often the board is asked.
#[derive(Clone, Debug)]
pub struct Policy {
    /// How often a request is sent before it fails, at least once.
    pub attempts: u32,
    /// How long a reply may take besides its bytes and what the request waits for by itself.
    pub deadline: Duration,
    /// How long to listen on after something broken came, before the request is sent again.
    pub quiet: Duration,
    /// The board's clock, by which waits are reckoned; taken from the board when it told.
    pub clock_hz: u32,
    /// The most bytes of a packet; taken from the board when it told.
    pub max_packet: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            attempts: 5,
            deadline: Duration::from_millis(150),
            quiet: Duration::from_millis(20),
            clock_hz: 1_000_000,
            max_packet: 192,
        }
    }
}

/// What was seen on the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Requests that were sent, repetitions included.
    pub sent: u64,
    /// Bytes that came.
    pub bytes: u64,
    /// Replies that belonged to the request under way.
    pub replies: u64,
    /// Replies to others: late ones, of repetitions.
    pub stale: u64,
    /// Packets that came broken.
    pub garbage: u64,
    /// Times that the board said that something came broken to it.
    pub broken: u64,
    /// Own requests that came back.
    pub echoes: u64,
}

#[derive(Debug)]
struct Pending {
    operations: Vec<Operation>,
    bytes: Vec<u8>,
    sequence: u16,
    /// It was sent before this call.
    repeated: bool,
}

/// The host's end of a link.
#[derive(Debug)]
pub struct Client<L> {
    line: L,
    /// May be changed between requests.
    pub policy: Policy,
    finder: Finder,
    session: u16,
    open: bool,
    last: u16,
    status: Status,
    pending: Option<Pending>,
    seen: Seen,
}

/// Session numbers that are drawn before giving up.
const DRAWS: u32 = 4;

impl<L: Line> Client<L> {
    /// A client without a session.
    pub fn new(line: L, policy: Policy) -> Self {
        Self::numbered(
            line,
            policy,
            RandomState::new().build_hasher().finish() as u16,
        )
    }

    /// A client whose first session has a given number, for tests.
    pub fn numbered(line: L, policy: Policy, session: u16) -> Self {
        Self {
            line,
            policy,
            finder: Finder::default(),
            session,
            open: false,
            last: 0,
            status: Status::default(),
            pending: None,
            seen: Seen::default(),
        }
    }

    /// Opens a new session. What the session before left unanswered is never executed after this.
    pub fn open(&mut self) -> Result<(), Error> {
        self.open = false;
        self.finder.clear();
        for _ in 0..DRAWS {
            self.session = self.session.wrapping_add(0x9E37);
            self.pending = Some(self.packed(Vec::new(), 0));
            match self.exchange() {
                Ok(_) => {
                    self.open = true;
                    self.last = 0;
                    return Ok(());
                }
                Err(Error::OutOfStep { .. }) => {}
                Err(error) => {
                    self.pending = None;
                    return Err(error);
                }
            }
        }
        self.pending = None;
        Err(Error::OutOfStep { repeated: false })
    }

    /// Does operations in one request, in order.
    pub fn request(&mut self, operations: Vec<Operation>) -> Result<Vec<Outcome>, Error> {
        if self.pending.is_some() {
            return Err(Error::Unsettled);
        }
        if !self.open {
            return Err(Error::Closed);
        }
        let there: usize = operations.iter().map(Operation::request_bytes).sum();
        let back: usize = operations.iter().map(Operation::reply_bytes).sum();
        let bytes = HEADER + (there + REQUEST_TAIL).max(back + REPLY_TAIL);
        if bytes > self.policy.max_packet {
            return Err(Error::TooLong {
                bytes,
                most: self.policy.max_packet,
            });
        }
        let sequence = self.last.checked_add(1).unwrap_or(1);
        self.pending = Some(self.packed(operations, sequence));
        self.exchange()
    }

    /// Asks again for the answer to the request that had none; it is executed now if it was not before.
    pub fn resume(&mut self) -> Result<Vec<Outcome>, Error> {
        if self.pending.is_none() {
            return Err(Error::Closed);
        }
        self.finder.clear();
        self.exchange()
    }

    /// Whether a request has no answer.
    pub fn unsettled(&self) -> bool {
        self.pending.is_some()
    }

    /// The status in the last reply.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What was seen on the line.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// The line.
    pub fn line(&mut self) -> &mut L {
        &mut self.line
    }

    fn packed(&self, operations: Vec<Operation>, sequence: u16) -> Pending {
        let mut body = Vec::new();
        operations.iter().for_each(|op| op.emit(&mut body));
        Pending {
            bytes: packet::request(self.session, sequence, &body),
            operations,
            sequence,
            repeated: false,
        }
    }

    /// Sends the pending request until it is answered, and takes the answer.
    fn exchange(&mut self) -> Result<Vec<Outcome>, Error> {
        let Some(mut pending) = self.pending.take() else {
            return Err(Error::Closed);
        };
        let before = self.seen;
        for _ in 0..self.policy.attempts.max(1) {
            self.seen.sent += 1;
            let answer = match self.attempt(&pending) {
                Ok(answer) => answer,
                Err(error) => {
                    pending.repeated = true;
                    self.pending = Some(pending);
                    return Err(error.into());
                }
            };
            if let Some(reply) = answer {
                return self.settle(pending, reply);
            }
            pending.repeated = true;
        }
        self.pending = Some(pending);
        Err(self.verdict(before))
    }

    /// What it means that no attempt was answered.
    fn verdict(&self, before: Seen) -> Error {
        let attempts = self.policy.attempts.max(1);
        let seen = self.seen;
        let baud = self.line.baud();
        if seen.echoes > before.echoes {
            return Error::Echo;
        }
        let broken = seen.garbage + seen.broken - before.garbage - before.broken;
        let known = seen.replies + seen.stale + seen.broken > 0;
        match (known, seen.bytes - before.bytes) {
            (true, 0) => Error::Hung { attempts },
            (true, _) if broken > 0 => Error::Noisy { broken, attempts },
            (true, _) => Error::Hung { attempts },
            (false, 0) => Error::Silent { baud },
            (false, bytes) => Error::Garbage { bytes, baud },
        }
    }

    /// Sends once and listens until the deadline.
    fn attempt(&mut self, pending: &Pending) -> io::Result<Option<Reply>> {
        match self.line.send(&pending.bytes) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Ok(None),
            sent => sent?,
        }
        let mut end = self.line.now() + self.patience(pending);
        let mut buffer = [0; 512];
        loop {
            let now = self.line.now();
            if now >= end {
                return Ok(None);
            }
            let count = self.line.receive(&mut buffer, end - now)?;
            self.seen.bytes += count as u64;
            let mut answer = None;
            for byte in &buffer[..count] {
                match self.finder.push(*byte) {
                    None => {}
                    Some(Found::Reply(reply)) => {
                        if reply.code == Code::Broken {
                            self.seen.broken += 1;
                        } else if (reply.session, reply.sequence)
                            == (self.session, pending.sequence)
                        {
                            answer = Some(reply);
                            continue;
                        } else {
                            self.seen.stale += 1;
                            continue;
                        }
                        end = end.min(self.line.now() + self.policy.quiet);
                    }
                    Some(Found::Echo) => self.seen.echoes += 1,
                    Some(Found::Garbage) => {
                        self.seen.garbage += 1;
                        end = end.min(self.line.now() + self.policy.quiet);
                    }
                }
            }
            if answer.is_some() {
                return Ok(answer);
            }
        }
    }

    /// How long the answer may take.
    fn patience(&self, pending: &Pending) -> Duration {
        let back: usize = pending.operations.iter().map(Operation::reply_bytes).sum();
        let bits = 10 * (pending.bytes.len() + back + HEADER + REPLY_TAIL) as u64;
        let clocks: u64 = pending.operations.iter().map(Operation::clocks).sum();
        let line = self.line.baud().map_or(Duration::ZERO, |baud| {
            Duration::from_micros(bits * 1_100_000 / u64::from(baud.max(1)))
        });
        let waits =
            Duration::from_micros(clocks * 1_000_000 / u64::from(self.policy.clock_hz.max(1)));
        self.policy.deadline + line + waits
    }

    fn settle(&mut self, pending: Pending, reply: Reply) -> Result<Vec<Outcome>, Error> {
        self.seen.replies += 1;
        self.status = reply.status;
        let repeated = pending.repeated;
        match reply.code {
            Code::Version => {
                return Err(Error::Version {
                    board: reply.version,
                });
            }
            Code::NoSession => {
                self.open = false;
                return Err(Error::Restarted { repeated });
            }
            Code::Sequence => {
                self.open = false;
                return Err(Error::OutOfStep { repeated });
            }
            _ => {}
        }
        self.last = pending.sequence;
        let count = usize::from(reply.count);
        let Some(outcomes) = outcomes(&pending.operations, count, &reply.results, reply.code)
        else {
            return Err(Error::Nonsense("its results do not fit the operations"));
        };
        match reply.code {
            Code::Done => Ok(outcomes),
            code => Err(Error::Failed { index: count, code }),
        }
    }
}
