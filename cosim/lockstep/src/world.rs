//! What the ports showed: records in order, the reads among them that no action has used yet, and the model's inputs
//! out of them.

use std::collections::VecDeque;

use crossbeam_channel::{Receiver, Sender};
use tandem_model::engine::{Action, BusAnswer, Engine, InputError, Inputs, ReadChannel};

use super::divergence::Difference;
use super::rings::Rings;
use super::{BEAT, ReadBurst, Record, Standing};

/// The records that have come, and the reads among them that no action has used yet.
pub(super) struct World {
    inbox: Receiver<Vec<Record>>,
    recycle: Sender<Vec<Record>>,
    standing: Sender<Standing>,
    waiting: VecDeque<(u64, Record)>,
    reads: [VecDeque<(u64, ReadBurst)>; 3],
    rings: Rings,
    broken_off: bool,
    /// Number of the next record that comes, and of the one that is looked at.
    coming: u64,
    now: u64,
    /// Number of the record of the newest gather read that an action has used.
    gathered: u64,
    /// The newest read of a receive that an action has used.
    receive: Option<(u64, ReadBurst)>,
    pub(super) frames_in: VecDeque<Vec<u8>>,
}

impl World {
    pub(super) fn new(
        inbox: Receiver<Vec<Record>>,
        recycle: Sender<Vec<Record>>,
        standing: Sender<Standing>,
    ) -> Self {
        Self {
            inbox,
            recycle,
            standing,
            waiting: VecDeque::new(),
            reads: Default::default(),
            rings: Rings::default(),
            broken_off: false,
            coming: 0,
            now: 0,
            gathered: 0,
            receive: None,
            frames_in: VecDeque::new(),
        }
    }

    /// Answers the bench.
    pub(super) fn answer(&self, standing: Standing) {
        // Nobody may be there to hear it.
        let _ = self.standing.send(standing);
    }

    /// The next record, in order.
    pub(super) fn next(&mut self) -> Option<Record> {
        if self.waiting.is_empty() {
            self.pull()?;
        }
        let (number, record) = self.waiting.pop_front()?;
        self.now = number;
        Some(record)
    }

    /// Waits for one more batch.
    fn pull(&mut self) -> Option<()> {
        let Ok(mut batch) = self.inbox.recv() else {
            self.broken_off = true;
            return None;
        };
        let numbers = self.coming..;
        self.coming += batch.len() as u64;
        self.waiting.extend(numbers.zip(batch.drain(..)));
        // Nobody may be there to take it back; then it is freed.
        let _ = self.recycle.try_send(batch);
        Some(())
    }

    /// Whether the records ended without an end: what is missing may have been on its way.
    pub(super) fn broken_off(&self) -> bool {
        self.broken_off
    }

    /// Keeps the read that is looked at.
    pub(super) fn store(&mut self, burst: ReadBurst) {
        self.store_as(self.now, burst);
    }

    fn store_as(&mut self, number: u64, burst: ReadBurst) {
        if !self.rings.counts(&burst) {
            return;
        }
        if let Some(queue) = self.reads.get_mut(usize::from(burst.id)) {
            queue.push_back((number, burst));
        }
    }

    /// Number of the record that is looked at.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Number of the record that showed the newest gather read that an action has used: all before it are shown earlier.
    pub(super) fn gathered(&self) -> u64 {
        self.gathered
    }

    /// Forgets the fetches that do not count any more after an action that the model has applied.
    pub(super) fn applied(&mut self, action: &Action, clock: u64, engine: &Engine) {
        if let Some(channel) = self.rings.applied(action, clock, engine) {
            let rings = &self.rings;
            self.reads[channel as usize].retain(|(_, burst)| rings.counts(burst));
        }
    }

    /// An action begins that may use a receive.
    pub(super) fn begin(&mut self) {
        self.receive = None;
    }

    /// The receive that the action looked at stays as it is, and is not fetched again.
    pub(super) fn keep_receive(&mut self) {
        if let Some(read) = self.receive.take() {
            self.reads[ReadChannel::RqFetch as usize].push_front(read);
        }
    }

    /// The oldest gather read that no action has used.
    pub(super) fn gather_left(&self) -> Option<&ReadBurst> {
        let queue = &self.reads[ReadChannel::Gather as usize];
        queue.front().map(|(_, burst)| burst)
    }

    /// The frame that an action takes, if it takes one.
    pub(super) fn frame_of(&mut self, action: &Action) -> Option<Vec<u8>> {
        action
            .takes_frame()
            .then(|| self.frames_in.pop_front())
            .flatten()
    }

    /// Takes a burst from the channel, waiting for it if need be: of the gather channel the oldest one, of the
    /// others the newest at this address that came before the action, or the first one after it. What was
    /// fetched there before, and thrown away, is forgotten. Records that come meanwhile keep their
    /// order, but reads are stored at once.
    fn burst(&mut self, channel: ReadChannel, address: u64) -> Option<ReadBurst> {
        let ordered = matches!(channel, ReadChannel::Gather);
        let mut looked = 0;
        loop {
            let (now, queue) = (self.now, &mut self.reads[channel as usize]);
            if ordered {
                if let Some((number, burst)) = queue.pop_front() {
                    self.gathered = number;
                    return Some(burst);
                }
            } else {
                let fits = |(_, burst): &(u64, ReadBurst)| burst.address == address;
                let before = queue.iter().rposition(|read| read.0 < now && fits(read));
                if let Some(at) = before.or_else(|| queue.iter().position(fits)) {
                    let (number, burst) = queue.remove(at)?;
                    queue.retain(|read| read.0 > number || !fits(read));
                    if matches!(channel, ReadChannel::RqFetch) {
                        self.receive = Some((number, burst.clone()));
                    }
                    return Some(burst);
                }
            }
            while looked < self.waiting.len() {
                match &self.waiting[looked].1 {
                    Record::End { .. } => return None,
                    Record::Ask { .. } => {
                        // The action waits for a read that the engine has not made: it is not idle.
                        self.waiting.remove(looked);
                        self.answer(Standing { busy: true });
                    }
                    Record::Read(_) => {
                        if let Some((number, Record::Read(burst))) = self.waiting.remove(looked) {
                            self.store_as(number, burst);
                        }
                        break;
                    }
                    _ => looked += 1,
                }
            }
            let found = self.reads[channel as usize]
                .iter()
                .any(|(_, burst)| ordered || burst.address == address);
            if !found && looked >= self.waiting.len() {
                self.pull()?;
            }
        }
    }
}

/// The model's inputs, out of what the ports showed.
pub(super) struct Recorded<'a> {
    pub(super) world: &'a mut World,
    pub(super) failure: Option<Difference>,
    /// The bus answered a gather read of the action with an error.
    pub(super) spoiled: bool,
}

impl Inputs for Recorded<'_> {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        let mut first = address & !(BEAT as u64 - 1);
        let end = (address + bytes.len() as u64).next_multiple_of(BEAT as u64);
        let mut skip = (address - first) as usize;
        let mut filled = 0;
        while first < end {
            let burst = self.world.burst(channel, first);
            let fits = |burst: &ReadBurst| {
                burst.address == first && burst.bytes.len() as u64 <= end - first
            };
            let Some(burst) = burst else {
                return Err(self.fail(channel, address, bytes.len(), None));
            };
            if !fits(&burst) {
                return Err(self.fail(channel, address, bytes.len(), Some(&burst)));
            }
            self.spoiled |= channel == ReadChannel::Gather && burst.error;
            let useful = &burst.bytes[skip.min(burst.bytes.len())..];
            let n = useful.len().min(bytes.len() - filled);
            bytes[filled..filled + n].copy_from_slice(&useful[..n]);
            filled += n;
            first += burst.bytes.len() as u64;
            skip = 0;
        }
        Ok(())
    }

    fn read_list(&mut self, address: u64, bytes: &mut [u8]) -> Result<BusAnswer, InputError> {
        let channel = ReadChannel::SqFetch;
        let burst = self.world.burst(channel, address);
        match burst {
            Some(burst) if burst.error => Ok(BusAnswer::Error),
            Some(burst) if burst.bytes.len() == bytes.len() => {
                bytes.copy_from_slice(&burst.bytes);
                Ok(BusAnswer::Data)
            }
            burst => Err(self.fail(channel, address, bytes.len(), burst.as_ref())),
        }
    }
}

impl Recorded<'_> {
    fn fail(
        &mut self,
        channel: ReadChannel,
        address: u64,
        length: usize,
        burst: Option<&ReadBurst>,
    ) -> InputError {
        self.failure = Some(Difference::Read {
            channel,
            address,
            length,
            observed: burst.map(|burst| (burst.address, burst.bytes.len())),
        });
        let cause = "the ports showed no such read".to_owned();
        InputError {
            channel,
            address,
            length,
            cause,
        }
    }
}

/// Inputs that are only looked at: what the ports have not shown is not there, and nothing is used up.
pub(super) struct Glance<'a>(pub(super) &'a World);

impl Inputs for Glance<'_> {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        let mut filled = 0;
        while filled < bytes.len() {
            let at = address + filled as u64;
            let bursts = self.0.reads.get(channel as usize).into_iter().flatten();
            let found = bursts.into_iter().rev().find_map(|(_, burst)| {
                let skip = at.checked_sub(burst.address)?;
                burst.bytes.get(usize::try_from(skip).ok()?..)
            });
            let Some(useful) = found.filter(|useful| !useful.is_empty()) else {
                return Err(InputError {
                    channel,
                    address,
                    length: bytes.len(),
                    cause: "the ports have not shown it yet".into(),
                });
            };
            let n = useful.len().min(bytes.len() - filled);
            bytes[filled..filled + n].copy_from_slice(&useful[..n]);
            filled += n;
        }
        Ok(())
    }
}
