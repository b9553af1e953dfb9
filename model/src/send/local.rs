//! Requests that send no packet: local ones, executed when their turn comes, and the whole frames of queue
//! pair 1. They take no PSN and wait for nothing of the peer.

use super::wqe::LIST_UNIT;
use super::{Current, Next, Request, SendQueue};
use crate::abi::{Fault, Status, WqeOpcode};
use crate::context::{Binding, Context, QpContext, Registration};
use crate::engine::{BusAnswer, InputError, Inputs};
use crate::wire::Token;

/// A local request that passed its checks.
#[derive(Debug)]
pub(crate) struct Local {
    pub request: Unsent,
    /// Its `object_token`.
    pub token: Token,
    pub change: Change,
}

/// What a local request does to the tables.
#[derive(Debug)]
pub(crate) enum Change {
    Bind(Binding),
    /// The pages are those of its list.
    Register(Registration, Vec<u64>),
    Invalidate(Token),
}

/// A request that is done with its action.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    pub index: u16,
    opcode: WqeOpcode,
    silent: bool,
}

/// Numbers of reads and writes that must have been answered before a completion entry is seen: the oldest so
/// many of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Barriers {
    /// Payload writes.
    pub payload: u64,
    /// Gather reads.
    pub gathers: u64,
}

impl Barriers {
    /// Both have to be waited for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            payload: self.payload.max(other.payload),
            gathers: self.gathers.max(other.gathers),
        }
    }

    /// So many of the oldest have been answered, and count no more.
    pub fn forget(&mut self, answered: Self) {
        self.payload = self.payload.saturating_sub(answered.payload);
        self.gathers = self.gathers.saturating_sub(answered.gathers);
    }
}

impl Unsent {
    pub(super) fn of(current: &Current) -> Self {
        Self {
            index: current.index,
            opcode: current.wqe.opcode,
            silent: current.wqe.silent,
        }
    }
}

impl SendQueue {
    /// Checks the local request whose turn it is. Reads its page list; changes nothing.
    pub(super) fn local(
        &self,
        current: &Current,
        qp: &QpContext,
        context: &Context,
        inputs: &mut dyn Inputs,
    ) -> Result<Next, InputError> {
        let wqe = &current.wqe;
        let token = Token(wqe.object_token);
        let change = match wqe.opcode {
            WqeOpcode::Bind => {
                let asked = wqe.binding();
                context
                    .check_binding(&asked, qp)
                    .map(|()| Change::Bind(asked))
            }
            WqeOpcode::FastRegister => {
                let (asked, list) = wqe.registration();
                match context.check_registration(&asked, qp) {
                    Ok(()) => page_list(list, asked.page_count, inputs)?
                        .map(|pages| Change::Register(asked, pages)),
                    Err(fault) => Err(fault),
                }
            }
            _ => context
                .check_invalidation(token, qp)
                .map(|()| Change::Invalidate(token)),
        };
        Ok(match change {
            Ok(change) => Next::Local(Local {
                request: Unsent::of(current),
                token,
                change,
            }),
            // WIRE-MW-2, WIRE-INV-9.
            Err(fault) => Next::Fail {
                index: current.index,
                opcode: wqe.opcode as u8,
                status: if wqe.opcode == WqeOpcode::Bind {
                    Status::Bind
                } else {
                    Status::LocalQpOperation
                },
                fault,
            },
        })
    }

    /// The request at `next` is done; its completion entry waits for `told_after`.
    pub fn executed(&mut self, request: &Unsent, told_after: Barriers) {
        self.in_flight.push_back(Request {
            index: request.index,
            opcode: request.opcode as u8,
            silent: request.silent,
            is_read: false,
            is_unsent: true,
            first: self.top,
            end: self.top,
            placed: 0,
            told_after,
        });
        self.next_index = request.index.wrapping_add(1);
    }
}

/// Reads a page list; a fault if the bus answers with an error.
fn page_list(
    list: u64,
    count: u16,
    inputs: &mut dyn Inputs,
) -> Result<Result<Vec<u64>, Fault>, InputError> {
    let mut pages = Vec::with_capacity(count.into());
    let mut unit = [0; LIST_UNIT as usize];
    let mut address = list;
    while pages.len() < count.into() {
        if inputs.read_list(address, &mut unit)? == BusAnswer::Error {
            return Ok(Err(Fault::PageList));
        }
        let left = usize::from(count) - pages.len();
        let entries = unit.as_chunks::<8>().0.iter().take(left);
        pages.extend(entries.map(|bytes| u64::from_le_bytes(*bytes)));
        address = address.wrapping_add(LIST_UNIT);
    }
    Ok(Ok(pages))
}
