//! Tokens that live short lives: windows and regions for fast registration, made, told to the peer, used, invalidated
//! and made again with the next key, all by requests.
//!
//! What is noted here is what may be posted next; the provider and the engines are compared with it, and never asked.

use std::collections::BTreeMap;

use tandem_model::ndk::{InvalidateTarget, LocalToken, Mr, Mw, RemoteToken};

use super::arena::{EMPTY, MARGIN, Slice};
use super::dice::Dice;
use super::side::Source;

/// A life, by the order in which they began.
pub(super) type LifeId = u64;

/// How often everything had settled.
type Epoch = u64;

/// What is made valid again and again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Object {
    /// A region for fast registration.
    Region {
        mr: Mr,
        /// Pages that it can have.
        pages: u32,
        /// Whether the peer may be given rights.
        remote: bool,
    },
    /// A memory window.
    Window(Mw),
}

impl Object {
    /// As NdkInvalidate takes it.
    pub(super) fn target(self) -> InvalidateTarget {
        match self {
            Self::Region { mr, .. } => InvalidateTarget::Mr(mr),
            Self::Window(mw) => InvalidateTarget::Mw(mw),
        }
    }
}

/// Where an object is, for requests that are posted now on its queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not valid.
    Free,
    /// A read under way invalidates it: what makes it valid again must be fenced.
    Ending(LifeId),
    /// Valid.
    Alive(LifeId),
}

/// An object, and the queue pair on which it is made valid.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) lane: usize,
    pub(super) object: Object,
    pub(super) stage: Stage,
}

/// What ends a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// NdkInvalidate.
    Invalidate,
    /// A send of the peer.
    Send,
    /// A read into it.
    Read,
}

impl End {
    /// For reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Invalidate => "ended by an invalidate",
            Self::Send => "ended by the peer's send",
            Self::Read => "ended by a read",
        }
    }
}

/// Memory under a token.
#[derive(Clone, Debug)]
pub(super) enum Under {
    /// Bytes that never change.
    Source(Source),
    /// A place that fills up.
    Landing {
        place: Slice,
        /// First byte into which nothing was asked for as yet.
        next: u32,
        /// What must be in the place once all requests are done.
        content: Vec<u8>,
    },
}

impl Under {
    /// A place into which nothing was asked for.
    pub(super) fn landing(place: Slice) -> Self {
        Self::Landing {
            place,
            next: 0,
            content: vec![EMPTY; place.length as usize],
        }
    }
}

/// Rights of a token.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rights {
    pub(super) local_write: bool,
    pub(super) remote_read: bool,
    pub(super) remote_write: bool,
}

/// Requests of one queue pair under way that use a token.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    all: u32,
    reads: u32,
}

/// One life of an object.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) holder: usize,
    /// The queue pair that made it.
    pub(super) lane: usize,
    pub(super) node: usize,
    pub(super) object: Object,
    pub(super) token: RemoteToken,
    /// Address of the first byte.
    pub(super) base: u64,
    pub(super) length: u32,
    pub(super) under: Under,
    pub(super) rights: Rights,
    /// The region of a window, if that has a short life too, and the window's first byte there.
    pub(super) parent: Option<(LifeId, u32)>,
    /// Whether the peer may know the token.
    told: bool,
    /// The request that ends it was posted.
    pub(super) end: Option<End>,
    /// It was seen to have ended.
    gone: bool,
    users: BTreeMap<usize, Users>,
    /// When a queue pair of the peer last read from it.
    read: Option<Epoch>,
    /// Windows on it.
    windows: Vec<LifeId>,
    had_windows: bool,
}

/// How a request uses a token.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) life: LifeId,
    /// Whether it is a read of the peer.
    pub(super) read: bool,
    /// What arrives in it.
    pub(super) arrives: Option<Vec<u8>>,
}

impl Life {
    /// A life that is about to begin.
    pub(super) fn new(holder: usize, made: &Holder, node: usize, base: u64, under: Under) -> Self {
        let length = match &under {
            Under::Source(source) => source.length,
            Under::Landing { place, .. } => place.length,
        };
        Self {
            holder,
            lane: made.lane,
            node,
            object: made.object,
            token: RemoteToken(0),
            base,
            length,
            under,
            rights: Rights::default(),
            parent: None,
            told: false,
            end: None,
            gone: false,
            users: BTreeMap::new(),
            read: None,
            windows: Vec::new(),
            had_windows: false,
        }
    }

    /// Whether it is a region's.
    pub(super) fn is_region(&self) -> bool {
        matches!(self.object, Object::Region { .. })
    }

    /// The token as the own node's elements have it.
    pub(super) fn local_token(&self) -> LocalToken {
        LocalToken(self.token.to_engine())
    }

    /// Address of a byte.
    pub(super) fn address(&self, offset: u32) -> u64 {
        self.base + u64::from(offset)
    }

    /// Whether requests may still use it.
    pub(super) fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// Whether no queue pair but one uses it.
    pub(super) fn is_used_only_by(&self, lane: usize) -> bool {
        self.users.keys().all(|user| *user == lane)
    }

    /// Whether reads of a queue pair from it are under way.
    pub(super) fn is_read_by(&self, lane: usize) -> bool {
        self.users.get(&lane).is_some_and(|users| users.reads > 0)
    }

    /// Whether no window is on it, as far as anybody can tell.
    pub(super) fn has_no_window(&self) -> bool {
        self.windows.is_empty()
    }

    /// Bytes into which something can still be asked for.
    pub(super) fn room(&self) -> u32 {
        match &self.under {
            Under::Source(_) => 0,
            Under::Landing { next, .. } => self.length.saturating_sub(*next),
        }
    }

    /// The next part of its place, and its first byte.
    pub(super) fn next_part(&self, length: u32) -> Option<(u32, Slice)> {
        match &self.under {
            Under::Landing { place, next, .. } if length <= self.room() => {
                Some((*next, place.part(*next, length)))
            }
            _ => None,
        }
    }

    /// Bytes that can be read back: what arrived, and nothing else arrives in them.
    pub(super) fn settled(&self, reader: usize) -> Option<&[u8]> {
        match &self.under {
            Under::Landing { next, content, .. }
                if self.is_used_only_by(reader) && !self.had_windows =>
            {
                let end = next.saturating_sub(MARGIN as u32).min(self.length);
                content.get(..end as usize)
            }
            _ => None,
        }
    }

    /// Asks for bytes behind all that was asked for before.
    fn ask(&mut self, bytes: &[u8]) {
        if let Under::Landing { next, content, .. } = &mut self.under {
            let start = *next as usize;
            if let Some(part) = content.get_mut(start..start + bytes.len()) {
                part.copy_from_slice(bytes);
            }
            *next += bytes.len() as u32 + MARGIN as u32;
        }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Lives {
    pub(super) holders: Vec<Holder>,
    /// Whether frames may be lost, or come late.
    late: bool,
    epoch: Epoch,
    lives: BTreeMap<LifeId, Life>,
    next: LifeId,
}

impl Lives {
    /// None, on a network that may lose frames, or bring them late.
    pub(super) fn new(late: bool) -> Self {
        Self {
            late,
            ..Self::default()
        }
    }

    /// Nothing is under way any more, not even a frame.
    pub(super) fn settled(&mut self) {
        self.epoch += 1;
    }

    /// Whether no read from it can be asked for once more. A read is done for its queue pair when its responses are
    /// there; if the network was slow, or has one to spare, its request may still come again, and is checked anew
    /// (WIRE-DUP-4): without its token it would end the connection.
    pub(super) fn is_read_no_more(&self, life: &Life) -> bool {
        !self.late || life.read.is_none_or(|read| read < self.epoch)
    }

    /// A life, if it is not over.
    pub(super) fn get(&self, id: LifeId) -> Option<&Life> {
        self.lives.get(&id)
    }

    /// One of those that are as they should be.
    pub(super) fn pick(
        &self,
        dice: &mut Dice,
        fits: impl Fn(&Life) -> bool,
    ) -> Option<(LifeId, &Life)> {
        let fitting = self.lives.iter().filter(|(_, life)| fits(life));
        let mut all: Vec<(LifeId, &Life)> = fitting.map(|(id, life)| (*id, life)).collect();
        match all.is_empty() {
            true => None,
            false => Some(all.swap_remove(dice.below(all.len() as u32) as usize)),
        }
    }

    /// One of those whose token a queue pair of the peer may use. A region's is known to all of them, a window's to one.
    pub(super) fn pick_for_peer(
        &self,
        dice: &mut Dice,
        (user, owner, node): (usize, usize, usize),
        fits: impl Fn(&Life) -> bool,
    ) -> Option<(LifeId, &Life)> {
        let any = dice.percent(25);
        self.pick(dice, |life| {
            let its = life.lane == owner || any && life.node == node && life.is_region();
            its && life.told && life.is_open() && life.lane != user && fits(life)
        })
    }

    /// An object of a queue pair that is not valid.
    pub(super) fn pick_free(&self, dice: &mut Dice, lane: usize) -> Option<usize> {
        let free =
            |holder: &Holder| holder.lane == lane && !matches!(holder.stage, Stage::Alive(_));
        let all: Vec<usize> = (0..self.holders.len())
            .filter(|index| self.holders.get(*index).is_some_and(free))
            .collect();
        all.get(dice.below(all.len() as u32) as usize).copied()
    }

    /// Whether the owner may end it by a request behind all others on its queue pair.
    pub(super) fn may_be_ended(&self, life: &Life) -> bool {
        let ends_before = |window: &LifeId| {
            let window = self.lives.get(window);
            window.is_none_or(|window| window.end == Some(End::Invalidate))
        };
        life.is_open()
            && life.is_used_only_by(life.lane)
            && life.windows.iter().all(ends_before)
            && self.is_read_no_more(life)
    }

    /// A request that begins a life was posted.
    pub(super) fn begin(&mut self, life: Life) -> LifeId {
        let id = self.next;
        self.next += 1;
        if let Some(holder) = self.holders.get_mut(life.holder) {
            holder.stage = Stage::Alive(id);
        }
        if let Some((parent, _)) = life.parent
            && let Some(parent) = self.lives.get_mut(&parent)
        {
            parent.windows.push(id);
            parent.had_windows = true;
            parent.ask(&vec![EMPTY; life.length as usize]);
        }
        self.lives.insert(id, life);
        id
    }

    /// A request that uses a token was posted.
    pub(super) fn used(&mut self, lane: usize, used: &Use) {
        if let Some(life) = self.lives.get_mut(&used.life) {
            let users = life.users.entry(lane).or_default();
            users.all += 1;
            users.reads += u32::from(used.read);
            if used.read {
                life.read = Some(self.epoch);
            }
            if let Some(bytes) = &used.arrives {
                life.ask(bytes);
            }
        }
    }

    /// A request that ends a life was posted.
    pub(super) fn ending(&mut self, id: LifeId, end: End) {
        let Some(life) = self.lives.get_mut(&id) else {
            return;
        };
        life.end = Some(end);
        if let Some(holder) = self.holders.get_mut(life.holder) {
            match end {
                End::Invalidate => holder.stage = Stage::Free,
                End::Read => holder.stage = Stage::Ending(id),
                // The owner knows when it has the message.
                End::Send => {}
            }
        }
    }

    /// Tokens of a queue pair that nobody was told.
    pub(super) fn untold(&self, lane: usize) -> Vec<LifeId> {
        let untold = |life: &Life| life.lane == lane && life.is_open() && !life.told;
        let untold = self.lives.iter().filter(|(_, life)| untold(life));
        untold.map(|(id, _)| *id).collect()
    }

    /// The peer knows a token, and it is valid.
    pub(super) fn tell(&mut self, id: LifeId) {
        if let Some(life) = self.lives.get_mut(&id) {
            life.told = true;
        }
    }

    /// A request that used a token is done. The life, if nothing more can come of it.
    pub(super) fn leave(&mut self, lane: usize, used: &Use) -> Option<Life> {
        let life = self.lives.get_mut(&used.life)?;
        if let Some(users) = life.users.get_mut(&lane) {
            users.all -= 1;
            users.reads -= u32::from(used.read);
            if users.all == 0 {
                life.users.remove(&lane);
            }
        }
        self.take_if_done(used.life)
    }

    /// A life was seen to have ended. The life, if nothing more can come of it.
    pub(super) fn ended(&mut self, id: LifeId) -> Option<Life> {
        let life = self.lives.get_mut(&id)?;
        life.gone = true;
        if let Some(holder) = self.holders.get_mut(life.holder) {
            match holder.stage {
                Stage::Ending(now) | Stage::Alive(now) if now == id => holder.stage = Stage::Free,
                // Another life has begun behind its end, or it was free since the end was posted.
                _ => {}
            }
        }
        self.take_if_done(id)
    }

    /// The newest one, whatever its state: a window always before its region.
    pub(super) fn take_newest(&mut self) -> Option<Life> {
        let (id, _) = self.lives.last_key_value()?;
        self.take(*id)
    }

    fn take_if_done(&mut self, id: LifeId) -> Option<Life> {
        let life = self.lives.get(&id)?;
        match life.gone && life.users.is_empty() {
            true => self.take(id),
            false => None,
        }
    }

    fn take(&mut self, id: LifeId) -> Option<Life> {
        let life = self.lives.remove(&id)?;
        if let Some((parent, at)) = life.parent
            && let Some(parent) = self.lives.get_mut(&parent)
        {
            parent.windows.retain(|window| *window != id);
            if let (Under::Landing { content, .. }, Under::Landing { content: all, .. }) =
                (&life.under, &mut parent.under)
                && let Some(part) = all.get_mut(at as usize..at as usize + content.len())
            {
                part.copy_from_slice(content);
            }
        }
        Some(life)
    }
}
