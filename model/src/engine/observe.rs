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

/// Inputs whose ring entries are noted down ([`Watch::over`]).
pub struct Noted<'a> {
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

/// An observer and what it needs between two actions.
pub struct Watch {
    observer: Box<dyn Observer>,
    /// What was read since the last action.
    entries: Entries,
    frame: Option<Vec<u8>>,
}

impl Watch {
    /// Nothing seen yet.
    pub fn new(observer: Box<dyn Observer>) -> Self {
        Self {
            observer,
            entries: Entries::default(),
            frame: None,
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
        self.begin(engine.next_frame());
        engine.apply(action, &mut self.over(inputs), effects)?;
        self.end(*action, effects, engine);
        Ok(())
    }

    /// Inputs that are noted down.
    pub fn over<'a>(&'a mut self, inputs: &'a mut dyn Inputs) -> Noted<'a> {
        Noted {
            inputs,
            entries: &mut self.entries,
        }
    }

    /// An action may follow that takes this frame.
    pub fn begin(&mut self, frame: Option<&[u8]>) {
        self.entries.0.clear();
        self.frame = frame.map(<[u8]>::to_vec);
    }

    /// The action was executed.
    pub fn end(&mut self, action: Action, effects: &[Effect], engine: &Engine) {
        self.observer.observe(&Observed {
            action,
            frame: self.frame.as_deref().filter(|_| action.takes_frame()),
            entries: &self.entries,
            effects,
            engine,
        });
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
