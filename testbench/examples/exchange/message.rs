//! What the two say to each other.

use tandem_model::hal::Hal;
use tandem_model::ndk::{LocalToken, NdkError, Pd, Provider, Sge};

/// Bytes of a request.
const BYTES: usize = 20;

/// A request for an answer, with where to put it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of the answer.
    pub number: u32,
    /// Its length.
    pub length: u32,
    /// Virtual address of the memory that is lent for it.
    pub address: u64,
    /// Token of that memory, as the client's provider gave it: its octets mean nothing to anybody else.
    pub token: u32,
}

impl Request {
    /// As it is sent.
    pub fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.address.to_le_bytes());
        bytes[16..].copy_from_slice(&self.token.to_le_bytes());
        bytes
    }

    /// As it came.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Self {
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        Self {
            number: word(0),
            length: word(4),
            address: u64::from(word(8)) | u64::from(word(12)) << 32,
            token: word(16),
        }
    }
}

/// The bytes of an answer.
pub fn content(number: u32, length: usize) -> Vec<u8> {
    let byte = |i: usize| {
        (i as u32)
            .wrapping_mul(7)
            .wrapping_add(number * 31 + i as u32 / 251) as u8
    };
    (0..length).map(byte).collect()
}

/// A buffer for what is sent, and one for what comes, known by logical addresses and the privileged token.
pub struct Buffers {
    outgoing: u64,
    incoming: u64,
    token: LocalToken,
}

impl Buffers {
    /// Takes both.
    pub fn new<H: Hal>(nic: &mut Provider<H>, pd: Pd) -> Result<Self, NdkError> {
        let token = nic.privileged_memory_region_token(pd)?;
        let [outgoing, incoming] = [
            nic.hal_mut().allocate(BYTES, 64)?,
            nic.hal_mut().allocate(BYTES, 64)?,
        ];
        Ok(Self {
            outgoing,
            incoming,
            token,
        })
    }

    /// Where a message comes to.
    pub fn incoming(&self) -> Sge {
        self.element(self.incoming)
    }

    /// Writes a message; where it is.
    pub fn write<H: Hal>(
        &self,
        nic: &mut Provider<H>,
        bytes: &[u8; BYTES],
    ) -> Result<Sge, NdkError> {
        nic.hal_mut().write_memory(self.outgoing, bytes)?;
        Ok(self.element(self.outgoing))
    }

    /// Reads the message that came.
    pub fn read<H: Hal>(&self, nic: &mut Provider<H>) -> Result<[u8; BYTES], NdkError> {
        let mut bytes = [0; BYTES];
        nic.hal_mut().read_memory(self.incoming, &mut bytes)?;
        Ok(bytes)
    }

    fn element(&self, address: u64) -> Sge {
        Sge {
            address,
            length: BYTES as u32,
            token: self.token,
        }
    }
}
