//! Breaches of rules at the borders of a target and of its provider: what the world sees is what a provider or an engine
//! would do that keeps a rule no more. With them one sees that what claims to cover the rule finds it broken.

use std::collections::BTreeMap;
use std::ops::Range;

use tandem_model::abi::regs::{CtxCommand, CtxDataWord, CtxIndex};
use tandem_model::abi::{
    CQ_CONTEXT, CQE, Layout, QP_CONTEXT, Record, SQ_WQE, SRQ_CONTEXT, TOKEN_CONTEXT, Table,
};
use tandem_model::ndk::{AdapterConfig, Notification, OidOutcome};
use tandem_model::wire::{Bth, Ext, Frame};

/// Bytes of a completion entry.
const CQE_BYTES: usize = 32;
/// Bytes of a request without its further elements.
const REQUEST_BYTES: usize = 64;
/// Words of a staged entry.
const WORDS: usize = 16;

/// A RoCE frame that leaves a node.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Base header.
    pub bth: Bth,
    /// Further headers.
    pub ext: Ext,
    /// Payload.
    pub payload: Vec<u8>,
}

/// Something wrong, the same on all nodes of a world.
#[derive(Clone, Copy, Debug)]
pub enum Breach {
    /// Of what an engine sends; `false`: it does not.
    Sent(fn(&mut Sent) -> bool),
    /// Of what an engine takes a request for.
    Request(fn(&mut Record)),
    /// Of what an engine has in a table; `false`: it stays as it is.
    Entry(fn(Table, &mut Record) -> bool),
    /// Of a doorbell; `false`: nobody hears it.
    Doorbell(fn(u32, &mut u32) -> bool),
    /// Of a completion entry.
    Completion(fn(&mut Record)),
    /// Of a notification; `false`: it never comes.
    Told(fn(&mut Notification) -> bool),
    /// Of the answer to an OID request.
    Answer(fn(&mut OidOutcome, &mut [u8])),
    /// Of how the adapter was opened.
    Config(fn(&mut AdapterConfig)),
}

impl Breach {
    /// What leaves in place of a frame.
    pub(crate) fn sent(self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let (Self::Sent(change), Ok(frame)) = (self, Frame::parse(&bytes)) else {
            return Some(bytes);
        };
        let mut sent = Sent {
            bth: frame.bth,
            ext: frame.ext,
            payload: frame.payload.to_vec(),
        };
        let leaves = change(&mut sent);
        let frame = Frame {
            bth: sent.bth,
            ext: sent.ext,
            ..frame
        };
        leaves.then(|| frame.with_payload(&sent.payload).to_vec())
    }

    /// Whether a notification comes.
    pub(crate) fn told(self, notification: &mut Notification) -> bool {
        match self {
            Self::Told(change) => change(notification),
            _ => true,
        }
    }

    /// Changes an answer.
    pub(crate) fn answer(self, outcome: &mut OidOutcome, buffer: &mut [u8]) {
        if let Self::Answer(change) = self {
            change(outcome, buffer);
        }
    }

    /// Changes a configuration.
    pub(crate) fn config(self, config: &mut AdapterConfig) {
        if let Self::Config(change) = self {
            change(config);
        }
    }
}

/// A breach in what goes between a provider and its engine: registers, and the rings in host memory.
#[derive(Clone, Debug)]
pub(crate) struct Border {
    breach: Breach,
    index: u32,
    staged: [u32; WORDS],
    /// Send rings, by the numbers of queue pairs.
    sends: BTreeMap<u32, Range<u64>>,
    /// Rings of completion queues.
    completions: BTreeMap<u32, Range<u64>>,
}

impl Border {
    pub(crate) fn new(breach: Breach) -> Self {
        Self {
            breach,
            index: 0,
            staged: [0; WORDS],
            sends: BTreeMap::new(),
            completions: BTreeMap::new(),
        }
    }

    pub(crate) fn breach(&self) -> Breach {
        self.breach
    }

    /// The register writes in place of one.
    pub(crate) fn register_writes(&mut self, offset: u32, value: u32) -> Vec<(u32, u32)> {
        let word = offset.wrapping_sub(CtxDataWord::OFFSET) as usize / 4;
        let mut changed = value;
        match (self.breach, offset) {
            (_, CtxIndex::OFFSET) => self.index = value,
            (_, CtxCommand::OFFSET) => return self.command(value),
            (_, CtxDataWord::OFFSET..) if word < WORDS => self.staged[word] = value,
            (Breach::Doorbell(change), _) if !change(offset, &mut changed) => return Vec::new(),
            _ => {}
        }
        vec![(offset, changed)]
    }

    fn command(&mut self, value: u32) -> Vec<(u32, u32)> {
        let as_it_is = vec![(CtxCommand::OFFSET, value)];
        let Some((table, layout)) = Table::from_bits((value & 0xF).into()).and_then(layout) else {
            return as_it_is;
        };
        let bytes: Vec<u8> = self.staged.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut entry = Record::from_bytes(layout, &bytes);
        self.learn(table, &entry);
        let Breach::Entry(change) = self.breach else {
            return as_it_is;
        };
        if !change(table, &mut entry) {
            return Vec::new();
        }
        let words = entry.as_bytes().chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word.iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = *from);
            u32::from_le_bytes(word)
        });
        let offsets = (CtxDataWord::OFFSET..).step_by(4);
        offsets.zip(words).chain(as_it_is).collect()
    }

    /// Where rings are.
    fn learn(&mut self, table: Table, entry: &Record) {
        let ring = |base: &str, bytes: u64| {
            let base = entry.get(base) as u64;
            base..base + bytes
        };
        match table {
            Table::Qp => {
                let entries = 1 << entry.get("sq_log");
                let bytes = (REQUEST_BYTES as u64) << entry.get("sq_stride");
                let ring = ring("sq_base", bytes * entries);
                self.sends.insert(self.index, ring);
            }
            Table::Cq | Table::CqRing => {
                let ring = ring("base", (CQE_BYTES as u64) << entry.get("log_size"));
                self.completions.insert(self.index, ring);
            }
            _ => {}
        }
    }

    /// What is in memory in place of what the provider wrote.
    pub(crate) fn written(&self, address: u64, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        if let Breach::Request(change) = self.breach
            && self.sends.values().any(|ring| ring.contains(&address))
            && let Some(request) = bytes.get_mut(..REQUEST_BYTES)
        {
            rewrite(&SQ_WQE, request, change);
        }
        bytes
    }

    /// What the provider reads in place of what is in memory.
    pub(crate) fn read(&self, address: u64, bytes: &mut [u8]) {
        if let Breach::Completion(change) = self.breach
            && self
                .completions
                .values()
                .any(|ring| ring.contains(&address))
        {
            for entry in bytes.chunks_exact_mut(CQE_BYTES) {
                rewrite(&CQE, entry, change);
            }
        }
    }
}

/// A table whose entries are records of their own.
fn layout(table: Table) -> Option<(Table, &'static Layout)> {
    let layout = match table {
        Table::Qp => &QP_CONTEXT,
        Table::Cq | Table::CqRing | Table::CqModeration => &CQ_CONTEXT,
        Table::Srq => &SRQ_CONTEXT,
        Table::Token => &TOKEN_CONTEXT,
        Table::Page => return None,
    };
    Some((table, layout))
}

fn rewrite(layout: &'static Layout, bytes: &mut [u8], change: fn(&mut Record)) {
    let mut record = Record::from_bytes(layout, bytes);
    change(&mut record);
    bytes.copy_from_slice(record.as_bytes());
}
