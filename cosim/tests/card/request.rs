//! Work requests as the rings hold them.

use tandem_model::abi::{RQ_WQE, Record, SGE, SQ_WQE, WqeOpcode};

use super::STRIDE;

/// Bytes of a send-queue entry.
pub const ENTRY: usize = 64 << STRIDE;
/// Where elements and inline bytes begin in it.
pub const HEAD: usize = 32;

/// An element: address, length, token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Element {
    pub address: u64,
    pub length: u32,
    pub token: u32,
}

impl Element {
    fn bytes(&self) -> Vec<u8> {
        let record = Record::new(&SGE)
            .with("address", self.address)
            .with("length", self.length)
            .with("token", self.token);
        record.as_bytes().to_vec()
    }
}

/// A receive.
pub fn receive(elements: &[Element]) -> Vec<u8> {
    let mut entry: Vec<u8> = elements.iter().flat_map(Element::bytes).collect();
    entry.resize(RQ_WQE.bytes(), 0);
    entry
}

/// A send-queue request. Nothing in it is checked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub opcode: u8,
    pub silent: bool,
    pub fence: bool,
    pub solicited: bool,
    pub index: u16,
    pub length: u32,
    pub invalidate: u32,
    pub remote: (u64, u32),
    pub elements: Vec<Element>,
    pub inline: Option<Vec<u8>>,
}

impl Request {
    /// A well-formed one from elements.
    pub fn new(opcode: WqeOpcode, index: u16, elements: Vec<Element>) -> Self {
        Self {
            opcode: opcode as u8,
            index,
            length: elements.iter().map(|element| element.length).sum(),
            elements,
            ..Self::default()
        }
    }

    /// As the ring holds it.
    pub fn bytes(&self) -> Vec<u8> {
        let record = Record::new(&SQ_WQE)
            .with("opcode", self.opcode)
            .with("silent", self.silent)
            .with("read_fence", self.fence)
            .with("solicited", self.solicited)
            .with("inline_data", self.inline.is_some())
            .with("num_sge", self.elements.len() as u8)
            .with("index", self.index)
            .with("length", self.length)
            .with("object_token", self.invalidate)
            .with("remote_address", self.remote.0)
            .with("remote_token", self.remote.1);
        let mut entry = record.as_bytes()[..HEAD].to_vec();
        match &self.inline {
            Some(data) => entry.extend(data),
            None => entry.extend(self.elements.iter().flat_map(Element::bytes)),
        }
        entry.resize(ENTRY, 0);
        entry
    }
}
