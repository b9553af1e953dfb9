//! Host memory of a target.

use crate::engine::{BusAnswer, InputError, Inputs, ReadChannel};
use crate::hal::HalError;

/// Host memory: one range of bytes that grows as it is allocated.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Vec<u8>,
    limit: usize,
}

impl Memory {
    /// Logical address of the first byte; nothing lies below it.
    pub const BASE: u64 = 0x1000_0000;

    /// Memory of which at most `limit` bytes may be allocated.
    pub const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    /// Reserves zeroed bytes at a multiple of `align`.
    ///
    /// # Errors
    /// [`HalError::OutOfMemory`] beyond the limit.
    pub fn allocate(&mut self, length: usize, align: u64) -> Result<u64, HalError> {
        let align = align.max(1).next_power_of_two();
        let out_of_memory = HalError::OutOfMemory { length };
        let end = Self::BASE + self.bytes.len() as u64;
        let Some(start) = end.checked_next_multiple_of(align) else {
            return Err(out_of_memory);
        };
        let needed = usize::try_from(start - Self::BASE)
            .ok()
            .and_then(|offset| offset.checked_add(length))
            .filter(|needed| *needed <= self.limit)
            .ok_or(out_of_memory)?;
        self.bytes.resize(needed, 0);
        Ok(start)
    }

    /// The bytes of a range, if it is allocated.
    pub fn get(&self, address: u64, length: usize) -> Option<&[u8]> {
        let start = usize::try_from(address.checked_sub(Self::BASE)?).ok()?;
        self.bytes.get(start..start.checked_add(length)?)
    }

    /// The bytes of a range for writing, if it is allocated.
    pub fn get_mut(&mut self, address: u64, length: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address.checked_sub(Self::BASE)?).ok()?;
        self.bytes.get_mut(start..start.checked_add(length)?)
    }
}

impl Inputs for Memory {
    fn read(
        &mut self,
        channel: ReadChannel,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), InputError> {
        match self.get(address, bytes.len()) {
            Some(from) => {
                bytes.copy_from_slice(from);
                Ok(())
            }
            None => Err(InputError {
                channel,
                address,
                length: bytes.len(),
                cause: "no such memory".into(),
            }),
        }
    }

    fn read_list(&mut self, address: u64, bytes: &mut [u8]) -> Result<BusAnswer, InputError> {
        Ok(match self.get(address, bytes.len()) {
            Some(from) => {
                bytes.copy_from_slice(from);
                BusAnswer::Data
            }
            None => BusAnswer::Error,
        })
    }
}
