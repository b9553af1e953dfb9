//! Host memory of one node.

use std::cell::RefCell;
use std::rc::Rc;

use tandem_model::hal::HalError;
use tandem_model::target::Memory;

/// Byte-addressed memory, shared by the bus models and the driver of one node.
#[derive(Clone, Debug)]
pub struct HostMemory(Rc<RefCell<Memory>>);

impl HostMemory {
    /// Memory that grows to at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self(Rc::new(RefCell::new(Memory::new(limit))))
    }

    /// Reserves zeroed bytes, aligned.
    pub fn allocate(&self, length: usize, align: u64) -> Result<u64, HalError> {
        self.0.borrow_mut().allocate(length, align)
    }

    /// Copies memory out.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), HalError> {
        let length = bytes.len();
        let memory = self.0.borrow();
        let from = memory.get(address, length);
        bytes.copy_from_slice(from.ok_or(HalError::Memory { address, length })?);
        Ok(())
    }

    /// Copies bytes in.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), HalError> {
        let length = bytes.len();
        let mut memory = self.0.borrow_mut();
        let to = memory.get_mut(address, length);
        to.ok_or(HalError::Memory { address, length })?
            .copy_from_slice(bytes);
        Ok(())
    }

    /// One bus beat at an aligned address; bytes beyond the end read as zero. `None` if all of it is outside.
    pub fn read_beat(&self, address: u64) -> Option<u64> {
        let memory = self.0.borrow();
        let present = (1..=8)
            .rev()
            .find_map(|length| memory.get(address, length))?;
        let mut beat = [0; 8];
        beat[..present.len()].copy_from_slice(present);
        Some(u64::from_le_bytes(beat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_an_error() {
        let memory = HostMemory::new(4096);
        let address = memory.allocate(100, 64).unwrap();
        memory.write(address + 99, &[1]).unwrap();
        assert!(memory.write(address + 99, &[1, 2]).is_err());
        assert!(memory.read(0, &mut [0]).is_err());
        assert!(memory.read(u64::MAX, &mut [0; 2]).is_err());
        assert_eq!(
            memory.allocate(5000, 1),
            Err(HalError::OutOfMemory { length: 5000 })
        );
        assert_eq!(memory.read_beat(address + 96), Some(1 << 24));
    }
}
