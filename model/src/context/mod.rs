//! Room `context`: queue pairs, completion queues, shared receive queues, memory tokens and pages; lookups,
//! checks, changes.

mod entries;
mod tokens;
mod windows;

pub(crate) use entries::{
    CqContext, ENTRY_BYTES, Moderation, QpContext, Sge, SrqContext, Staged, TokenContext,
};
pub(crate) use tokens::{Chunk, Right, pieces, split};
pub(crate) use windows::{Binding, Registration, Rights};

use crate::abi::{QpState, Table};
use crate::engine::Config;

/// Pages that one command can write.
const PAGES: usize = ENTRY_BYTES / 8;

/// A context command, as it was staged.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Command {
    /// Table code.
    pub table: u8,
    /// Index of the (first) entry.
    pub index: u32,
    /// Entries: number of pages as written, 1 for the other tables.
    pub count: u8,
    /// The entry.
    pub data: Staged,
    /// Number of doorbells of completion queues that were written before it and still wait.
    pub doorbells: usize,
}

impl Command {
    /// The command that a write of CTX_COMMAND gives.
    pub fn new(value: u32, index: u32, data: &Staged, doorbells: usize) -> Self {
        let table = (value & 0xF) as u8;
        let count = if table == Table::Page as u8 {
            (value >> 4 & 0xF) as u8
        } else {
            1
        };
        Self {
            table,
            index,
            count,
            data: *data,
            doorbells,
        }
    }

    /// Whether it comes after the doorbells of completion queues that were written before it: a consumer index of
    /// the old ring must not be taken for one of the new.
    pub fn follows_doorbells(&self) -> bool {
        self.table == Table::CqRing as u8
    }
}

/// What a command changed, for the rooms that keep state of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Nothing that another room knows of.
    Nothing,
    /// A queue pair; in `QpInit` its run-time state is cleared.
    Qp(usize),
    /// A completion queue, whose state is cleared.
    Cq(usize),
    /// A completion queue goes on in another ring.
    CqRing(usize),
    /// The moderation of a completion queue.
    CqModeration(usize),
    /// A shared receive queue, whose state is cleared.
    Srq(usize),
}

/// The tables.
#[derive(Clone, Hash)]
pub(crate) struct Context {
    qps: Vec<QpContext>,
    cqs: Vec<CqContext>,
    srqs: Vec<SrqContext>,
    tokens: Vec<TokenContext>,
    pages: Vec<u64>,
}

impl Context {
    pub fn new(config: &Config) -> Self {
        let none = [0; ENTRY_BYTES];
        Self {
            qps: (0..1 << config.log2_qps)
                .map(|number| QpContext::parse(number, &none))
                .collect(),
            cqs: vec![CqContext::default(); 1 << config.log2_cqs],
            srqs: vec![SrqContext::default(); 1 << config.log2_srqs],
            tokens: vec![TokenContext::parse(&none); 1 << config.log2_tokens],
            pages: vec![0; 1 << config.log2_pages],
        }
    }

    /// The queue pair of a number, if the table has it.
    pub fn qp(&self, qpn: u32) -> Option<&QpContext> {
        self.qps.get(usize::try_from(qpn).ok()?)
    }

    /// State of a queue pair; `QpReset` outside the table.
    pub fn state(&self, qpn: u32) -> QpState {
        self.qp(qpn).map_or(QpState::Reset, |qp| qp.state)
    }

    /// Puts a queue pair into `QpErr`; returns whether it was not there already.
    pub fn fail_qp(&mut self, qpn: usize) -> bool {
        match self.qps.get_mut(qpn) {
            Some(qp) if qp.state != QpState::Err => {
                qp.state = QpState::Err;
                true
            }
            _ => false,
        }
    }

    /// The completion queue of a number, if the table has it.
    pub fn cq(&self, number: u32) -> Option<&CqContext> {
        self.cqs.get(usize::try_from(number).ok()?)
    }

    /// The shared receive queue of a number, if it is in the table and exists.
    pub fn srq(&self, number: u16) -> Option<&SrqContext> {
        self.srqs.get(usize::from(number)).filter(|srq| srq.valid)
    }

    /// A page address, a multiple of 4096; page numbers wrap at the size of the table.
    fn page(&self, number: u64) -> u64 {
        let index = number & (self.pages.len() as u64 - 1);
        self.pages
            .get(index as usize)
            .map_or(0, |page| page & !0xFFF)
    }

    /// Sets a page address; page numbers wrap.
    fn set_page(&mut self, number: u64, address: u64) {
        let index = number & (self.pages.len() as u64 - 1);
        if let Some(page) = self.pages.get_mut(index as usize) {
            *page = address;
        }
    }

    /// Writes a staged entry. What lies outside its table is ignored.
    pub fn write(&mut self, command: &Command) -> Written {
        let index = command.index as usize;
        let data = &command.data;
        match Table::from_bits(command.table.into()) {
            Some(Table::Qp) => {
                if let Some(qp) = self.qps.get_mut(index) {
                    *qp = QpContext::parse(command.index, data);
                    return Written::Qp(index);
                }
            }
            Some(Table::Cq) => {
                if let Some(cq) = self.cqs.get_mut(index) {
                    *cq = CqContext::parse(data);
                    return Written::Cq(index);
                }
            }
            Some(Table::Token) => {
                self.write_token(index, TokenContext::parse(data));
            }
            Some(Table::Page) => {
                let count = usize::from(command.count);
                let count = if count <= PAGES { count } else { 0 };
                let pages = self.pages.iter_mut().skip(index).take(count);
                for (page, bytes) in pages.zip(data.as_chunks::<8>().0) {
                    *page = u64::from_le_bytes(*bytes);
                }
            }
            Some(Table::Srq) => {
                if let Some(srq) = self.srqs.get_mut(index) {
                    *srq = SrqContext::parse(data);
                    return Written::Srq(index);
                }
            }
            Some(Table::CqRing) => {
                if let Some(cq) = self.cqs.get_mut(index).filter(|cq| cq.valid) {
                    let CqContext { log_size, base, .. } = CqContext::parse(data);
                    (cq.log_size, cq.base) = (log_size, base);
                    return Written::CqRing(index);
                }
            }
            Some(Table::CqModeration) => {
                if let Some(cq) = self.cqs.get_mut(index).filter(|cq| cq.valid) {
                    cq.moderation = CqContext::parse(data).moderation;
                    return Written::CqModeration(index);
                }
            }
            None => {}
        }
        Written::Nothing
    }
}
