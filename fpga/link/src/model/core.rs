//! What is behind a board's link.

use std::collections::{BTreeMap, VecDeque};

/// Why a register did not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It answered with an error.
    Error,
    /// It did not answer.
    Silent,
}

/// A core: what has registers, a network port, actions and an interrupt.
pub trait Core {
    /// Reads a register.
    fn read(&mut self, offset: u32) -> Result<u32, Fault>;

    /// Writes a register.
    fn write(&mut self, offset: u32, value: u32) -> Result<(), Fault>;

    /// Host memory.
    fn memory(&mut self) -> &mut Vec<u8>;

    /// Takes a frame from the network.
    fn receive(&mut self, frame: &[u8], bad: bool);

    /// The next frame that it sends.
    fn send(&mut self) -> Option<Vec<u8>>;

    /// The next action that it reports.
    fn act(&mut self) -> Option<[u8; 14]>;

    /// Whether its interrupt line is high.
    fn interrupt(&mut self) -> bool;

    /// Its reset.
    fn reset(&mut self);
}

/// Something that was asked of a [`Scratch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// A register was read.
    Read(u32),
    /// A register was written.
    Write(u32, u32),
    /// A frame came, good or bad.
    Frame(Vec<u8>, bool),
    /// A reset came.
    Reset,
}

/// A core for tests: registers are memory, frames come back, and everything is noted.
///
/// Register 0xFF0 answers with an error, 0xFF4 not at all. What is written to 0xFF8 is an action, and bit 0 of
/// 0xFFC is the interrupt.
#[derive(Debug, Default)]
pub struct Scratch {
    registers: BTreeMap<u32, u32>,
    memory: Vec<u8>,
    frames: VecDeque<Vec<u8>>,
    actions: VecDeque<[u8; 14]>,
    /// What was asked of it.
    pub accesses: Vec<Access>,
}

impl Scratch {
    /// With so much memory.
    pub fn new(memory: usize) -> Self {
        Self {
            memory: vec![0; memory],
            ..Self::default()
        }
    }
}

impl Core for Scratch {
    fn read(&mut self, offset: u32) -> Result<u32, Fault> {
        self.accesses.push(Access::Read(offset));
        match offset {
            0xFF0 => Err(Fault::Error),
            0xFF4 => Err(Fault::Silent),
            _ => Ok(self.registers.get(&offset).copied().unwrap_or_default()),
        }
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), Fault> {
        self.accesses.push(Access::Write(offset, value));
        match offset {
            0xFF0 => return Err(Fault::Error),
            0xFF4 => return Err(Fault::Silent),
            0xFF8 => {
                let mut action = [0; 14];
                action[..4].copy_from_slice(&value.to_le_bytes());
                action[13] = 0xA5;
                self.actions.push_back(action);
            }
            _ => {}
        }
        self.registers.insert(offset, value);
        Ok(())
    }

    fn memory(&mut self) -> &mut Vec<u8> {
        &mut self.memory
    }

    fn receive(&mut self, frame: &[u8], bad: bool) {
        self.accesses.push(Access::Frame(frame.to_vec(), bad));
        self.frames.push_back(frame.to_vec());
    }

    fn send(&mut self) -> Option<Vec<u8>> {
        self.frames.pop_front()
    }

    fn act(&mut self) -> Option<[u8; 14]> {
        self.actions.pop_front()
    }

    fn interrupt(&mut self) -> bool {
        self.registers
            .get(&0xFFC)
            .is_some_and(|value| value & 1 == 1)
    }

    fn reset(&mut self) {
        self.accesses.push(Access::Reset);
        self.registers.clear();
        self.frames.clear();
        self.actions.clear();
    }
}
