//! Requests as a driver writes them.

use tandem_model::abi::{Record, SGE, SQ_WQE, WqeOpcode};

/// A send-queue request.
#[derive(Clone, Debug)]
pub struct Request {
    pub opcode: WqeOpcode,
    pub sges: Vec<(u64, u32, u32)>,
    pub inline: Option<Vec<u8>>,
    pub remote: (u64, u32),
    pub invalidate: u32,
    pub silent: bool,
    pub fence: bool,
    pub solicited: bool,
    pub local_invalidate: bool,
    /// Another length than the sum of the elements.
    pub length: Option<u32>,
}

impl Request {
    pub fn new(opcode: WqeOpcode, sges: Vec<(u64, u32, u32)>) -> Self {
        Self {
            opcode,
            sges,
            inline: None,
            remote: (0, 0),
            invalidate: 0,
            silent: false,
            fence: false,
            solicited: false,
            local_invalidate: false,
            length: None,
        }
    }

    pub fn send(sges: Vec<(u64, u32, u32)>) -> Self {
        Self::new(WqeOpcode::Send, sges)
    }

    pub fn write(sges: Vec<(u64, u32, u32)>, remote: (u64, u32)) -> Self {
        Self {
            remote,
            ..Self::new(WqeOpcode::Write, sges)
        }
    }

    pub fn read(sges: Vec<(u64, u32, u32)>, remote: (u64, u32)) -> Self {
        Self {
            remote,
            ..Self::new(WqeOpcode::Read, sges)
        }
    }

    pub fn record(&self, index: u16) -> Vec<u8> {
        let sum: u64 = self.sges.iter().map(|sge| u64::from(sge.1)).sum();
        let inline = self.inline.as_ref();
        let length = inline.map_or(sum as u32, |data| data.len() as u32);
        let mut bytes = Record::new(&SQ_WQE)
            .with("opcode", self.opcode)
            .with("silent", self.silent)
            .with("read_fence", self.fence)
            .with("solicited", self.solicited)
            .with("inline_data", inline.is_some())
            .with("local_invalidate", self.local_invalidate)
            .with("num_sge", self.sges.len() as u8)
            .with("index", index)
            .with("length", self.length.unwrap_or(length))
            .with("object_token", self.invalidate)
            .with("remote_address", self.remote.0)
            .with("remote_token", self.remote.1)
            .as_bytes()[..32]
            .to_vec();
        match inline {
            Some(data) => bytes.extend(data),
            None => bytes.extend(self.sges.iter().flat_map(|sge| sge_bytes(*sge))),
        }
        bytes
    }
}

pub fn sge_bytes((address, length, token): (u64, u32, u32)) -> Vec<u8> {
    Record::new(&SGE)
        .with("address", address)
        .with("length", length)
        .with("token", token)
        .as_bytes()
        .to_vec()
}
