//! Requests of a queue pair about windows and regions of its own node that live short lives: making them, reading into
//! them, sending from them, invalidating them.

use tandem_model::hal::Hal;
use tandem_model::ndk::{
    InvalidateTarget, Mr, Mw, NdkError, OpFlags, OperationType, PAGE_SIZE, Provider, Qp,
    RemoteToken, Sge,
};

use super::lane::Pending;
use super::lives::{End, Life, LifeId, Object, Rights, Stage, Under, Use};
use super::make::{FEW, Kind, Local, Request};
use super::side::Source;
use super::{Result, Traffic};

/// Greatest window.
const WINDOW: u32 = 16384;
/// How often something else is drawn in place of what is not possible.
const DRAWS: u32 = 3;

/// What a request that concerns only its own adapter names.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Bind {
        mr: Mr,
        mw: Mw,
        address: u64,
        length: u32,
    },
    FastRegister {
        mr: Mr,
        pages: Vec<u64>,
        offset: u32,
        length: u32,
        base: u64,
    },
    Invalidate(InvalidateTarget),
}

impl Call {
    /// Makes the call.
    pub(super) fn post<H: Hal>(
        &self,
        nic: &mut Provider<H>,
        qp: Qp,
        context: u64,
        flags: OpFlags,
    ) -> std::result::Result<(), NdkError> {
        match self {
            Self::Bind {
                mr,
                mw,
                address,
                length,
            } => nic.bind(qp, context, *mr, *mw, *address, (*length).into(), flags),
            Self::FastRegister {
                mr,
                pages,
                offset,
                length,
                base,
            } => nic.fast_register(
                qp,
                context,
                *mr,
                pages,
                *offset,
                (*length).into(),
                *base,
                flags,
            ),
            Self::Invalidate(target) => nic.invalidate(qp, context, *target, flags),
        }
    }

    /// The token that the object has now.
    pub(super) fn token<H: Hal>(
        &self,
        nic: &Provider<H>,
    ) -> std::result::Result<RemoteToken, NdkError> {
        match self {
            Self::Bind { mw, .. } | Self::Invalidate(InvalidateTarget::Mw(mw)) => {
                nic.remote_token_from_mw(*mw)
            }
            Self::FastRegister { mr, .. } | Self::Invalidate(InvalidateTarget::Mr(mr)) => {
                nic.remote_token_from_mr(*mr)
            }
        }
    }
}

impl Traffic {
    /// A request that makes, uses or ends something that lives a short life; `None` if nothing that was drawn is
    /// possible now.
    pub(super) fn short_lived(&mut self, lane: usize) -> Result<Option<Request>> {
        for _ in 0..DRAWS {
            let drawn = self.draw_short_lived(lane)?;
            if drawn.is_some() {
                return Ok(drawn);
            }
        }
        Ok(None)
    }

    fn draw_short_lived(&mut self, lane: usize) -> Result<Option<Request>> {
        match self.dice.below(100) {
            0..35 => self.make_request(lane),
            35..55 => self.write_through(lane),
            55..70 => self.read_through(lane),
            70..82 => self.invalidate_through(lane),
            82..92 => self.sink_request(lane),
            _ => self.invalidate_request(lane),
        }
    }

    /// Makes something valid.
    fn make_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let Some(index) = self.lives.pick_free(&mut self.dice, lane) else {
            return Ok(None);
        };
        let holder = &self.lives.holders[index];
        let (object, stage) = (holder.object, holder.stage);
        let made = match object {
            Object::Region { mr, pages, remote } => self.registration(index, mr, pages, remote),
            Object::Window(mw) => self.binding(index, mw),
        };
        let Some((call, life)) = made else {
            return Ok(None);
        };
        let mut flags = self.common_flags() | rights_flags(life.rights, life.is_region());
        if matches!(stage, Stage::Ending(_)) {
            flags |= OpFlags::READ_FENCE;
        }
        let (kind, operation) = match object {
            Object::Region { .. } => (Kind::FastRegister, OperationType::FastRegister),
            Object::Window(_) => (Kind::Bind, OperationType::Bind),
        };
        Ok(Some(self.local_request(
            kind,
            (flags, operation),
            Local {
                call,
                life: Some(life),
            },
        )))
    }

    fn local_request(
        &mut self,
        kind: Kind,
        (flags, operation): (OpFlags, OperationType),
        local: Local,
    ) -> Request {
        Request {
            kind,
            sgl: Vec::new(),
            remote: Default::default(),
            flags,
            pending: Pending::new(self.context(), flags, operation),
            message: None,
            local: Some(Box::new(local)),
        }
    }

    /// A fast registration of memory to send from, or of a place for what arrives.
    fn registration(
        &mut self,
        index: usize,
        mr: Mr,
        most: u32,
        remote: bool,
    ) -> Option<(Call, Life)> {
        let lane = self.lives.holders[index].lane;
        let node = self.lanes[lane].node;
        let page = PAGE_SIZE as u32;
        let length = 1 + self.dice.below(most * page);
        let is_source = self.dice.percent(40);
        let (under, mdl) = if is_source {
            let source = self.sides[node].source(&mut self.dice, length, false);
            let mdl = self.sides[node].source_mdl(&source);
            (Under::Source(source), mdl)
        } else {
            let place = self.sides[node].take(&mut self.dice, length, false)?;
            let memory = &self.sides[node].arena(&place).memory;
            let mdl = memory.mdl(place.offset, length.into());
            (Under::landing(place), mdl)
        };
        let mut pages = mdl.pages;
        pages.truncate(most as usize);
        let covered = length.min(pages.len() as u32 * page - mdl.byte_offset);
        if (pages.len() as u32) < most
            && self.dice.percent(20)
            && let Some(first) = pages.first().copied()
        {
            // One that the length does not reach.
            pages.push(first);
        }
        let base = match self.dice.below(20) {
            0 => 0,
            // Just below the end of all addresses.
            1 => u64::MAX - (1 << 24) + 1,
            _ => u64::from(self.dice.any()) * PAGE_SIZE,
        } + u64::from(mdl.byte_offset);
        let mut life = Life::new(index, &self.lives.holders[index], node, base, under);
        life.length = covered;
        let mut right = |percent| self.dice.percent(percent);
        life.rights = match is_source {
            true => Rights {
                local_write: right(20),
                remote_read: remote && right(90),
                remote_write: false,
            },
            false => Rights {
                local_write: right(60),
                remote_read: remote && right(50),
                remote_write: remote && right(75),
            },
        };
        life.rights.local_write |= life.rights.remote_write;
        let call = Call::FastRegister {
            mr,
            pages,
            offset: mdl.byte_offset,
            length: covered,
            base,
        };
        Some((call, life))
    }

    /// A window on memory that is registered for long, or on a region that lives a short life itself.
    fn binding(&mut self, index: usize, mw: Mw) -> Option<(Call, Life)> {
        let lane = self.lives.holders[index].lane;
        let node = self.lanes[lane].node;
        let length = 1 + self.dice.below(WINDOW);
        let both = self.dice.percent(30);
        let write = self.dice.percent(70);
        let side = &mut self.sides[node];
        let (mr, base, under, parent, can_write) = match self.dice.below(3) {
            0 => {
                let source = Source {
                    privileged: false,
                    ..side.source(&mut self.dice, length, false)
                };
                let (base, _) = side.source_remote(&source);
                (side.source_mr, base, Under::Source(source), None, false)
            }
            1 => {
                let place = side.take(&mut self.dice, length, true)?;
                let (base, _) = side.landing_remote(&place);
                (side.landing_mr, base, Under::landing(place), None, true)
            }
            _ => {
                let region = |life: &Life| life.lane == lane && life.is_region() && life.is_open();
                let (id, life) = self.lives.pick(&mut self.dice, region)?;
                let Object::Region { mr, .. } = life.object else {
                    return None;
                };
                let (at, under) = match &life.under {
                    Under::Source(source) => {
                        let length = length.min(life.length);
                        let at = self.dice.below(life.length - length + 1);
                        (at, Under::Source(source.part(at, length)))
                    }
                    Under::Landing { .. } => {
                        let length = length.min(life.room());
                        let (at, part) = life.next_part(length).filter(|_| length > 0)?;
                        (at, Under::landing(part))
                    }
                };
                let can_write = life.rights.local_write && life.room() > 0;
                (mr, life.address(at), under, Some((id, at)), can_write)
            }
        };
        let mut life = Life::new(index, &self.lives.holders[index], node, base, under);
        life.parent = parent;
        let write = can_write && write;
        life.rights = Rights {
            local_write: write,
            remote_read: both || !write,
            remote_write: write,
        };
        let call = Call::Bind {
            mr,
            mw,
            address: base,
            length: life.length,
        };
        Some((call, life))
    }

    /// An invalidation of something that nobody uses any more.
    fn invalidate_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let ending = |life: &Life| life.lane == lane && self.lives.may_be_ended(life);
        let Some((id, life)) = self.lives.pick(&mut self.dice, ending) else {
            return Ok(None);
        };
        let call = Call::Invalidate(life.object.target());
        let flags = self.common_flags();
        let how = (flags, OperationType::Invalidate);
        let local = Local { call, life: None };
        let mut request = self.local_request(Kind::Invalidate, how, local);
        request.pending.ends = Some((id, End::Invalidate));
        Ok(Some(request))
    }

    /// A read into a region; most of them invalidate it.
    fn sink_request(&mut self, lane: usize) -> Result<Option<Request>> {
        let sink = |life: &Life| {
            let its = life.lane == lane && life.is_open() && life.is_region();
            its && life.rights.local_write && life.room() > 0
        };
        let Some((id, life)) = self.lives.pick(&mut self.dice, sink) else {
            return Ok(None);
        };
        let invalidate = life.has_no_window() && self.lives.may_be_ended(life);
        let first = 1 + self.dice.below(life.room());
        let Some((at, part)) = life.next_part(first) else {
            return Ok(None);
        };
        let element = Sge {
            address: life.address(at),
            length: first,
            token: life.local_token(),
        };
        let node = self.lanes[lane].node;
        let most = self.lanes[lane].max_sge.min(FEW) - 1;
        let mut lengths = Vec::new();
        if most > 0 && self.dice.percent(40) {
            let more = self.dice.length(self.wanted.max_size, 0);
            lengths = self.dice.cut(more, most);
        }
        let Some(rest) = self.take_places(node, &lengths, false) else {
            return Ok(None);
        };
        let mut sgl = vec![element];
        sgl.extend(rest.iter().map(|place| self.sides[node].landing_sge(place)));
        let mut places = vec![part];
        places.extend(rest);
        let mut flags = self.common_flags();
        let invalidate = invalidate && self.dice.percent(70);
        if invalidate {
            flags |= OpFlags::RDMA_READ_LOCAL_INVALIDATE;
        }
        let length = first + lengths.iter().sum::<u32>();
        let (remote, sent, bytes) = self.far_source(lane, length);
        let mut request = self.read_into(sgl, flags, (remote, sent), (node, places));
        request.pending.uses.push(Use {
            life: id,
            read: false,
            arrives: bytes.get(..first as usize).map(<[u8]>::to_vec),
        });
        request.pending.ends = invalidate.then_some((id, End::Read));
        Ok(Some(request))
    }

    /// A piece to send from a region that lives a short life, if there is one.
    pub(super) fn own_source(
        &mut self,
        lane: usize,
        length: u32,
        inline: bool,
    ) -> Option<(Source, Sge, Use)> {
        if self.wanted.tokens == 0 || inline || length == 0 || !self.dice.percent(20) {
            return None;
        }
        let fits = |life: &Life| {
            let its = life.lane == lane && life.is_open() && life.is_region();
            its && life.length >= length && matches!(life.under, Under::Source(_))
        };
        let (id, life) = self.lives.pick(&mut self.dice, fits)?;
        let Under::Source(source) = &life.under else {
            return None;
        };
        let at = self.dice.below(life.length - length + 1);
        let element = Sge {
            address: life.address(at),
            length,
            token: life.local_token(),
        };
        Some((source.part(at, length), element, used(id, false)))
    }
}

/// A use into which nothing arrives.
pub(super) fn used(life: LifeId, read: bool) -> Use {
    Use {
        life,
        read,
        arrives: None,
    }
}

fn rights_flags(rights: Rights, region: bool) -> OpFlags {
    let mut flags = OpFlags::NONE;
    if rights.remote_read {
        flags |= OpFlags::ALLOW_REMOTE_READ;
    }
    match (rights.remote_write, rights.local_write) {
        (true, _) => flags |= OpFlags::ALLOW_REMOTE_WRITE,
        // Either flag gives the right.
        (false, true) if region && rights.remote_read => flags |= OpFlags::RDMA_READ_SINK,
        (false, true) if region => flags |= OpFlags::ALLOW_LOCAL_WRITE,
        (false, _) => {}
    }
    flags
}
