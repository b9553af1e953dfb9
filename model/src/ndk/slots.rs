//! Objects behind handles.

use std::collections::VecDeque;
use std::fmt;

/// Place and generation: a handle of a closed object never finds its successor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    index: u32,
    generation: u32,
}

/// A kind of handle.
pub(super) trait Handle: Copy {
    /// Name of the object in errors.
    const OBJECT: &'static str;
    fn from_key(key: Key) -> Self;
    fn key(self) -> Key;
}

macro_rules! handles {
    ($( $(#[doc = $doc:literal])+ $name:ident, $alias:literal, $object:literal; )+) => { $(
        $(#[doc = $doc])+
        #[doc(alias = $alias)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Key);

        impl Handle for $name {
            const OBJECT: &'static str = $object;
            fn from_key(key: Key) -> Self {
                Self(key)
            }
            fn key(self) -> Key {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({}.{})", stringify!($name), self.0.index, self.0.generation)
            }
        }
    )+ };
}

handles! {
    /// Protection domain.
    Pd, "NDK_PD", "protection domain";
    /// Completion queue.
    Cq, "NDK_CQ", "completion queue";
    /// Queue pair.
    Qp, "NDK_QP", "queue pair";
    /// Connector.
    Connector, "NDK_CONNECTOR", "connector";
    /// Listener.
    Listener, "NDK_LISTENER", "listener";
    /// Shared endpoint.
    SharedEndpoint, "NDK_SHARED_ENDPOINT", "shared endpoint";
    /// Shared receive queue.
    Srq, "NDK_SRQ", "shared receive queue";
    /// Memory region.
    Mr, "NDK_MR", "memory region";
    /// Memory window.
    Mw, "NDK_MW", "memory window";
}

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Objects of one kind, numbered `first..limit`. The number of an object is its place, so it can be
/// the number by which the engine knows it. A place is reused as late as possible.
pub(super) struct Slots<T> {
    first: u32,
    limit: u32,
    slots: Vec<Slot<T>>,
    free: VecDeque<u32>,
}

impl<T> Slots<T> {
    pub(super) fn new(first: u32, limit: u32) -> Self {
        Self {
            first,
            limit,
            slots: Vec::new(),
            free: VecDeque::new(),
        }
    }

    /// Number that the next [`Slots::insert`] gives, or `None` if all are taken.
    pub(super) fn next_number(&self) -> Option<u32> {
        let fresh = self.first + self.slots.len() as u32;
        (fresh < self.limit)
            .then_some(fresh)
            .or_else(|| self.free.front().copied())
    }

    pub(super) fn insert<K: Handle>(&mut self, value: T) -> Option<K> {
        let number = self.next_number()?;
        let place = (number - self.first) as usize;
        if place == self.slots.len() {
            self.slots.push(Slot {
                generation: 0,
                value: None,
            });
        } else {
            self.free.pop_front();
        }
        let slot = self.slots.get_mut(place)?;
        slot.value = Some(value);
        Some(K::from_key(Key {
            index: number,
            generation: slot.generation,
        }))
    }

    fn slot(&self, number: u32) -> Option<&Slot<T>> {
        self.slots.get(number.checked_sub(self.first)? as usize)
    }

    fn slot_mut(&mut self, number: u32) -> Option<&mut Slot<T>> {
        self.slots.get_mut(number.checked_sub(self.first)? as usize)
    }

    pub(super) fn get<K: Handle>(&self, handle: K) -> Option<&T> {
        let key = handle.key();
        let slot = self.slot(key.index)?;
        slot.value
            .as_ref()
            .filter(|_| slot.generation == key.generation)
    }

    pub(super) fn get_mut<K: Handle>(&mut self, handle: K) -> Option<&mut T> {
        let key = handle.key();
        let slot = self.slot_mut(key.index)?;
        if slot.generation == key.generation {
            slot.value.as_mut()
        } else {
            None
        }
    }

    pub(super) fn number_mut(&mut self, number: u32) -> Option<&mut T> {
        self.slot_mut(number)?.value.as_mut()
    }

    pub(super) fn number<K: Handle>(handle: K) -> u32 {
        handle.key().index
    }

    /// The handle of the object with that number, if it is open.
    pub(super) fn handle<K: Handle>(&self, number: u32) -> Option<K> {
        let slot = self.slot(number)?;
        slot.value.as_ref().map(|_| {
            K::from_key(Key {
                index: number,
                generation: slot.generation,
            })
        })
    }

    /// All objects.
    pub(super) fn values(&self) -> impl Iterator<Item = &T> + '_ {
        self.slots.iter().filter_map(|slot| slot.value.as_ref())
    }

    /// The first object that fits.
    pub(super) fn find<K: Handle>(&self, fits: impl Fn(&T) -> bool) -> Option<K> {
        let fits = |number: &u32| {
            let value = self.slot(*number).and_then(|slot| slot.value.as_ref());
            value.is_some_and(&fits)
        };
        let number = self.numbers().find(fits)?;
        self.handle(number)
    }

    /// Whether the number is in range.
    pub(super) fn in_range(&self, number: u32) -> bool {
        (self.first..self.limit).contains(&number)
    }

    pub(super) fn remove<K: Handle>(&mut self, handle: K) -> Option<T> {
        let key = handle.key();
        let slot = self.slot_mut(key.index)?;
        if slot.generation != key.generation {
            return None;
        }
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push_back(key.index);
        Some(value)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (self.first..)
            .zip(&self.slots)
            .filter(|(_, slot)| slot.value.is_some())
            .map(|(number, _)| number)
    }
}
