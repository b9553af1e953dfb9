//! The memory of nodes: which bytes nothing places into yet, and what was made of it.

use super::moves::{Local, Piece, Region, Rights};
use super::spec::{FAST, FAST_BYTES, REGISTERED, SOURCE, TARGET, WINDOWS};

/// A queue of initiator requests: a link and a side.
pub(super) type Queue = (usize, usize);

/// What a FastRegister or a Bind made last, if it succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) length: u32,
    pub(super) rights: Rights,
    /// First of its bytes that nothing places into.
    pub(super) free: u32,
    /// Of a window: what it lies in.
    pub(super) over: Option<Region>,
    /// Whether no request since then took it back.
    pub(super) live: bool,
    /// Who made it, and who changed it last.
    pub(super) owner: Queue,
    changer: Queue,
    /// Whether something has changed since everything settled.
    pub(super) fresh: bool,
    /// How often it was made.
    pub(super) times: u32,
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostState {
    /// First byte of the target that nothing places into.
    pub(super) free: u32,
    /// The same of regions that can be invalidated.
    fast: [u32; FAST],
    pub(super) doomed: bool,
    registered: [Option<Span>; REGISTERED],
    windows: [Option<Span>; WINDOWS],
    /// Receives of the shared queue, and sends for them.
    pub(super) shared: Shared,
}

/// What was posted to a shared receive queue and for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) receives: usize,
    pub(super) sends: usize,
}

impl Shared {
    /// Whether each send has found a receive.
    pub(super) fn suffices(self) -> bool {
        self.sends <= self.receives
    }
}

impl HostState {
    pub(super) const NEW: Self = Self {
        // Behind the regions that can be invalidated.
        free: FAST as u32 * FAST_BYTES + 64,
        fast: [0; FAST],
        doomed: true,
        registered: [None; REGISTERED],
        windows: [None; WINDOWS],
        shared: Shared {
            receives: 0,
            sends: 0,
        },
    };

    /// What was made of a region for FastRegister or a window.
    pub(super) fn span(&self, region: Region) -> Option<&Span> {
        match region {
            Region::Registered(number) => self.registered.get(number)?.as_ref(),
            Region::Window(number) => self.windows.get(number)?.as_ref(),
            _ => None,
        }
    }

    fn span_mut(&mut self, region: Region) -> Option<&mut Span> {
        match region {
            Region::Registered(number) => self.registered.get_mut(number)?.as_mut(),
            Region::Window(number) => self.windows.get_mut(number)?.as_mut(),
            _ => None,
        }
    }

    /// Bytes of a region.
    pub(super) fn bytes(&self, region: Region) -> u32 {
        match region {
            Region::Fast(_) => FAST_BYTES,
            Region::Source | Region::Privileged => SOURCE,
            Region::Target | Region::Local | Region::Doomed => TARGET,
            Region::Registered(_) | Region::Window(_) => {
                self.span(region).map_or(0, |span| span.length)
            }
        }
    }

    /// The first byte of a region that nothing places into.
    pub(super) fn free(&self, region: Region) -> u32 {
        match region {
            Region::Fast(number) => self.fast.get(number).copied().unwrap_or(FAST_BYTES),
            Region::Source | Region::Privileged => 0,
            Region::Target | Region::Local | Region::Doomed => self.free,
            Region::Registered(_) | Region::Window(_) => {
                self.span(region).map_or(0, |span| span.free)
            }
        }
    }

    /// Whether bytes lie in their region, and nothing else uses those that are to be placed.
    pub(super) fn is_free(&self, piece: &Piece) -> bool {
        piece.offset >= self.free(piece.region)
            && piece.offset + piece.length <= self.bytes(piece.region)
    }

    /// Whether bytes lie in their region.
    pub(super) fn holds(&self, piece: &Piece) -> bool {
        piece.offset + piece.length <= self.bytes(piece.region)
    }

    /// Something places there.
    pub(super) fn take(&mut self, piece: &Piece) {
        let end = piece.offset + piece.length;
        match piece.region {
            Region::Fast(number) => {
                if let Some(free) = self.fast.get_mut(number) {
                    *free = end;
                }
            }
            Region::Target | Region::Local | Region::Doomed => self.free = end,
            Region::Source | Region::Privileged => {}
            Region::Registered(_) | Region::Window(_) => {
                let source = self.is_in_source(piece.region);
                if let Some(span) = self.span_mut(piece.region).filter(|_| !source) {
                    span.free = end;
                }
            }
        }
    }

    /// Whether the bytes of a region are those of the source, into which nothing is placed.
    pub(super) fn is_in_source(&self, region: Region) -> bool {
        match self.span(region).and_then(|span| span.over) {
            Some(over) => over.is_source(),
            None => region.is_source(),
        }
    }

    /// Whether a call is taken.
    pub(super) fn permits(&self, local: &Local) -> bool {
        match local {
            Local::Bind {
                window,
                over,
                rights,
            } => {
                let writable = match over.region {
                    Region::Local => true,
                    region => self
                        .span(region)
                        .is_some_and(|span| span.rights.local_write),
                };
                let fits = match over.region.is_source() {
                    true => self.holds(over),
                    false => self.is_free(over),
                };
                *window < WINDOWS && over.length > 0 && fits && (writable || !rights.remote_write)
            }
            Local::FastRegister {
                region,
                offset,
                length,
                ..
            } => {
                let memory = match Region::Registered(*region).is_source() {
                    true => 0..SOURCE,
                    false => self.free..TARGET,
                };
                *region < REGISTERED
                    && *length > 0
                    && *offset >= memory.start
                    && offset + length <= memory.end
            }
            Local::Invalidate(region) => region.comes_and_goes(),
        }
    }

    /// A call was taken.
    pub(super) fn make(&mut self, local: &Local, queue: Queue) {
        let new = |before: Option<Span>, length, rights, over| Span {
            length,
            rights,
            free: 0,
            over,
            live: true,
            owner: queue,
            changer: queue,
            fresh: true,
            times: before.map_or(0, |before| before.times) + 1,
        };
        match local {
            Local::Bind {
                window,
                over,
                rights,
            } => {
                if !over.region.is_source() {
                    self.take(over);
                }
                if let Some(span) = self.windows.get_mut(*window) {
                    *span = Some(new(*span, over.length, *rights, Some(over.region)));
                }
            }
            Local::FastRegister {
                region,
                offset,
                length,
                rights,
            } => {
                if !Region::Registered(*region).is_source() {
                    self.free = offset + length;
                }
                if let Some(span) = self.registered.get_mut(*region) {
                    *span = Some(new(*span, *length, *rights, None));
                }
            }
            Local::Invalidate(region) => self.invalidate(*region, queue),
        }
    }

    /// A request that takes a region or a window back was posted, here or at the peer.
    pub(super) fn invalidate(&mut self, region: Region, queue: Queue) {
        if let Some(span) = self.span_mut(region) {
            span.live = false;
            span.changer = queue;
            span.fresh = true;
        }
    }

    /// Everything has ended.
    pub(super) fn settle(&mut self) {
        let all = self.registered.iter_mut().chain(&mut self.windows);
        for span in all.flatten() {
            span.fresh = false;
        }
    }

    /// Whether something was made or taken back since.
    pub(super) fn is_fresh(&self) -> bool {
        let all = self.registered.iter().chain(&self.windows);
        all.flatten().any(|span| span.fresh)
    }

    /// A queue pair is gone, and its windows with it.
    pub(super) fn leave(&mut self, queue: Queue) {
        for span in self.windows.iter_mut().flatten() {
            span.live &= span.owner != queue;
        }
    }

    /// Windows that lie in a region.
    pub(super) fn windows_over(&self, region: Region) -> impl Iterator<Item = usize> {
        let windows = self.windows.iter().enumerate();
        windows.filter_map(move |(number, span)| {
            let over = span.is_some_and(|span| span.live && span.over == Some(region));
            over.then_some(number)
        })
    }

    /// Regions for FastRegister, or windows, that are valid as far as is known, or are not, and that a queue finds so;
    /// without a queue, everybody.
    pub(super) fn known(&self, windows: bool, live: bool, queue: Option<Queue>) -> Vec<Region> {
        let (count, name): (_, fn(usize) -> Region) = match windows {
            true => (WINDOWS, Region::Window),
            false => (REGISTERED, Region::Registered),
        };
        let fits = |region: &Region| match self.span(*region) {
            Some(span) => {
                let settled = !span.fresh || queue == Some(span.changer);
                span.live == live && settled
            }
            None => !live,
        };
        (0..count).map(name).filter(fits).collect()
    }
}
