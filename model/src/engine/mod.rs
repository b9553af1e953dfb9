//! The golden engine: a transition system.
//!
//! The engine makes no choice. [`Engine::enabled`] lists the actions that are legal now,
//! [`Engine::apply`] executes the one it is given or says why it is illegal. There is no clock, thread,
//! I/O, log or randomness in it, and nothing panics on any input.

mod action;
mod config;
mod illegal;
mod io;

pub use action::{Action, UnknownKind};
pub use config::Config;
pub use illegal::{Illegal, Room};
pub use io::{Effect, InputError, Inputs, ReadChannel, WriteChannel};

/// The golden engine.
pub struct Engine {
    config: Config,
}

impl Engine {
    /// An engine after reset.
    pub fn new(config: Config) -> Self {
        Self {
            config: config.bounded(),
        }
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A register write of the driver. Doorbells, arms and context commands wait for their action;
    /// all other registers act at once.
    pub fn write_register(&mut self, _offset: u32, _value: u32) {}

    /// The value of a register.
    pub fn read_register(&self, _offset: u32) -> u32 {
        0
    }

    /// A frame arrives; its action is `RxDrop`, `RxRequest` or `RxResponse`.
    pub fn receive_frame(&mut self, _frame: Vec<u8>) {}

    /// Appends all actions that are legal now, fully filled in. Looking at requests in host memory is
    /// done through `inputs` and changes nothing.
    ///
    /// # Errors
    /// What `inputs` could not read.
    pub fn enabled(
        &self,
        _inputs: &mut dyn Inputs,
        _out: &mut Vec<Action>,
    ) -> Result<(), InputError> {
        Ok(())
    }

    /// Executes one action, and appends what the world must see of it.
    ///
    /// # Errors
    /// Why it is not legal; the state is then as before.
    pub fn apply(
        &mut self,
        action: &Action,
        _inputs: &mut dyn Inputs,
        _effects: &mut Vec<Effect>,
    ) -> Result<(), Illegal> {
        Err(Illegal::Refused {
            room: Room::Host,
            action: *action,
            why: "not implemented".into(),
        })
    }

    /// Executes one action of a fair choice: rooms and queue pairs take turns. Cheaper than
    /// [`Engine::enabled`] and [`Engine::apply`], since it looks only where something may have become
    /// enabled. `None` if no action is legal.
    ///
    /// # Errors
    /// [`Illegal::Input`] if the world has not read what the action needs.
    pub fn step(
        &mut self,
        _inputs: &mut dyn Inputs,
        _effects: &mut Vec<Effect>,
    ) -> Result<Option<Action>, Illegal> {
        Ok(None)
    }

    /// Gives a buffer of an effect back for reuse.
    pub fn recycle(&mut self, _buffer: Vec<u8>) {}

    /// The interrupt line: the event queue holds entries that the driver has not consumed.
    pub fn interrupt(&self) -> bool {
        false
    }

    /// Number of payload writes among all effects so far.
    pub fn payload_writes(&self) -> u64 {
        0
    }

    /// Placement: how many of all payload writes (the oldest so many) must have been answered before
    /// the frame or the completion entry of the last applied action may be seen; 0 if it need not wait.
    /// For a `Retire` of a read, before the action itself.
    pub fn barrier(&self) -> u64 {
        0
    }

    /// Whether everything that was started has been finished: no doorbell, frame, response,
    /// completion or event waits.
    pub fn is_idle(&self) -> bool {
        true
    }

    /// The state of a queue pair in words.
    pub fn describe_qp(&self, _qpn: u32) -> String {
        String::new()
    }
}
