//! An onlooker: what it sees of each action that an engine executes, whoever chose it.

use std::fmt;

use super::{Action, BusAnswer, Effect, Engine, Illegal, InputError, Inputs, ReadChannel};

/// One executed action, with what went in and what came out.
pub struct Observed<'a> {
    /// The action.
    pub action: Action,
    /// The frame that it took.
    pub frame: Option<&'a [u8]>,
    /// Ring entries that were read for it.
    pub entries: &'a Entries,
    /// What the world sees of it.
    pub effects: &'a [Effect],
    /// The engine after it.
    pub engine: &'a Engine,
}

impl Observed<'_> {
    /// The entry of the send queue that the action began with or went on with, if it was read for it.
    pub fn request(&self) -> Option<&[u8]> {
        let ring = self.engine.ring(self.action.qpn, ReadChannel::SqFetch)?;
        self.entries
            .find(ReadChannel::SqFetch, |at| ring.contains(&at))
    }

    /// The entry of the receive queue that the action looked at, if it was read for it.
    pub fn receive(&self) -> Option<&[u8]> {
        self.entries.find(ReadChannel::RqFetch, |_| true)
    }
}

/// Sees actions.
pub trait Observer: Send {
    /// An action was executed.
    fn observe(&mut self, seen: &Observed<'_>);
}

/// Ring entries in the order in which they were read.
#[derive(Clone, Debug, Default)]
pub struct Entries(Vec<(ReadChannel, u64, Vec<u8>)>);

impl Entries {
    /// The newest one of a channel at an address that fits.
    fn find(&self, channel: ReadChannel, fits: impl Fn(u64) -> bool) -> Option<&[u8]> {
        let mut newest = self.0.iter().rev();
        let (_, _, bytes) = newest.find(|(of, at, _)| *of == channel && fits(*at))?;
        Some(bytes)
    }
}

/// Inputs whose ring entries are noted down.
struct Noted<'a> {
    inputs: &'a mut dyn Inputs,
    entries: &'a mut Entries,
}

impl Inputs for Noted<'_> {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        self.inputs.read(channel, address, bytes)?;
        if channel != ReadChannel::Gather {
            self.entries.0.push((channel, address, bytes.to_vec()));
        }
        Ok(())
    }

    fn read_list(&mut self, address: u64, bytes: &mut [u8]) -> Result<BusAnswer, InputError> {
        self.inputs.read_list(address, bytes)
    }
}

/// An observer, at an engine.
pub struct Watch {
    observer: Box<dyn Observer>,
    /// What was read since the last action.
    entries: Entries,
}

impl Watch {
    /// Nothing seen yet.
    pub fn new(observer: Box<dyn Observer>) -> Self {
        Self {
            observer,
            entries: Entries::default(),
        }
    }

    /// [`Engine::apply`], seen.
    ///
    /// # Errors
    /// Why the action is not legal; nothing was executed, and nothing seen.
    pub fn apply(
        &mut self,
        engine: &mut Engine,
        action: &Action,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Illegal> {
        let execute = |engine: &mut Engine, inputs: &mut Noted<'_>, effects: &mut _| {
            engine.apply(action, inputs, effects)?;
            Ok(Some(*action))
        };
        self.see(engine, inputs, effects, execute).map(drop)
    }

    /// [`Engine::step`], seen.
    ///
    /// # Errors
    /// What the world has not read; nothing was executed, and nothing seen.
    pub fn step(
        &mut self,
        engine: &mut Engine,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Result<Option<Action>, Illegal> {
        self.see(engine, inputs, effects, |engine, inputs, effects| {
            engine.step(inputs, effects)
        })
    }

    /// Tells the observer of the action that is executed, if one is.
    fn see(
        &mut self,
        engine: &mut Engine,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
        execute: impl FnOnce(
            &mut Engine,
            &mut Noted<'_>,
            &mut Vec<Effect>,
        ) -> Result<Option<Action>, Illegal>,
    ) -> Result<Option<Action>, Illegal> {
        let frame = engine.next_frame().map(<[u8]>::to_vec);
        self.entries.0.clear();
        let mut noted = Noted {
            inputs,
            entries: &mut self.entries,
        };
        let done = execute(engine, &mut noted, effects)?;
        if let Some(action) = done {
            self.observer.observe(&Observed {
                action,
                frame: frame.as_deref().filter(|_| action.takes_frame()),
                entries: &self.entries,
                effects,
                engine,
            });
        }
        Ok(done)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
