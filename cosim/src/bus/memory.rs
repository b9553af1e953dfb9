//! Host memory of one node.

use std::cell::RefCell;
use std::rc::Rc;

use tandem_model::hal::HalError;

/// Where host memory begins; address 0 stays invalid, so a null pointer is caught.
const BASE: u64 = 0x1_0000;

/// Byte-addressed memory, shared by the bus models and the driver of one node.
#[derive(Clone, Debug)]
pub struct HostMemory(Rc<RefCell<Store>>);

#[derive(Debug)]
struct Store {
    bytes: Vec<u8>,
    limit: usize,
}

impl HostMemory {
    /// Memory that grows to at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self(Rc::new(RefCell::new(Store {
            bytes: Vec::new(),
            limit,
        })))
    }

    /// Reserves zeroed bytes, aligned.
    pub fn allocate(&self, length: usize, align: u64) -> Result<u64, HalError> {
        let mut store = self.0.borrow_mut();
        let end = BASE + store.bytes.len() as u64;
        let start = end.next_multiple_of(align.max(1));
        let size = usize::try_from(start - BASE)
            .ok()
            .and_then(|offset| offset.checked_add(length));
        match size {
            Some(size) if size <= store.limit => {
                store.bytes.resize(size, 0);
                Ok(start)
            }
            _ => Err(HalError::OutOfMemory { length }),
        }
    }

    /// Copies memory out.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), HalError> {
        let store = self.0.borrow();
        let range = store.range(address, bytes.len())?;
        bytes.copy_from_slice(&store.bytes[range]);
        Ok(())
    }

    /// Copies bytes in.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), HalError> {
        let mut store = self.0.borrow_mut();
        let range = store.range(address, bytes.len())?;
        store.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    /// One bus beat at an aligned address; bytes beyond the end read as zero. `None` if all of it is outside.
    pub fn read_beat(&self, address: u64) -> Option<u64> {
        let store = self.0.borrow();
        let offset = usize::try_from(address.checked_sub(BASE)?).ok()?;
        let present = store.bytes.get(offset..)?;
        if present.is_empty() {
            return None;
        }
        let mut beat = [0; 8];
        let n = present.len().min(8);
        beat[..n].copy_from_slice(&present[..n]);
        Some(u64::from_le_bytes(beat))
    }
}

impl Store {
    fn range(&self, address: u64, length: usize) -> Result<std::ops::Range<usize>, HalError> {
        let error = HalError::Memory { address, length };
        let start = address
            .checked_sub(BASE)
            .and_then(|o| usize::try_from(o).ok());
        match start.and_then(|start| Some(start..start.checked_add(length)?)) {
            Some(range) if range.end <= self.bytes.len() => Ok(range),
            _ => Err(error),
        }
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
