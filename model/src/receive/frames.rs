//! Whole Ethernet frames, which queue pair 1 takes: what is not RoCEv2, and what is for it.

use super::posted::SharedEntry;
use super::verdict::{Outcome, Verdict, View};
use super::{Receive, Receiver};
use crate::abi::{CommitKind, DropCause, Fault, QpState, Status};
use crate::complete::Completion;
use crate::context::{Chunk, QpContext, Right, pieces};
use crate::engine::{Action, InputError, Inputs};
use crate::send::{FRAME_QPN, MAX_FRAME};
use crate::wire::{Frame, Psn, Qpn};

/// A frame that queue pair 1 takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    /// The entry of a shared queue that it takes.
    pub shared: Option<SharedEntry>,
    /// Why it is not placed.
    pub fault: Option<Fault>,
    byte_len: u32,
}

impl Whole {
    /// Status of its receive.
    pub fn status(&self) -> Status {
        match self.fault {
            None => Status::Success,
            Some(_) => Status::LocalProtection,
        }
    }
}

impl View<'_> {
    /// Judges a frame for queue pair 1. `None` if it is none, or if there is no such queue pair now.
    pub(super) fn judge_whole(
        &self,
        bytes: &[u8],
        parsed: &Result<Frame<'_>, DropCause>,
        inputs: &mut dyn Inputs,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Option<Verdict>, InputError> {
        let (qpn, psn) = match parsed {
            Err(DropCause::NotRoce) => (Qpn::default(), Psn::ZERO),
            Ok(frame) if frame.bth.dest_qp.get() == FRAME_QPN => (frame.bth.dest_qp, frame.bth.psn),
            _ => return Ok(None),
        };
        let (Some(qp), Some(receiver)) = (
            self.context.qp(FRAME_QPN),
            self.receivers.get(FRAME_QPN as usize),
        ) else {
            return Ok(None);
        };
        if !matches!(qp.state, QpState::Rtr | QpState::Rts) {
            return Ok(None);
        }
        let dropped = |why| Ok(Some(Verdict::drop(DropCause::NoBuffer, qpn, psn, why)));
        let Some(posted) = receiver.posted(qp, self.context, self.shared) else {
            return dropped("no receive is posted for the frame");
        };
        if bytes.len() > MAX_FRAME as usize {
            return dropped("the frame is too long");
        }
        let receive = posted.read(inputs)?;
        if bytes.len() as u64 > receive.length() {
            return dropped("the frame is longer than the receive");
        }
        let whole = Whole {
            shared: posted.shared,
            fault: self.place(&receive, bytes.len(), qp, chunks).err(),
            byte_len: bytes.len() as u32,
        };
        let action = Action::new(CommitKind::RxFrame, FRAME_QPN)
            .with_index(posted.index)
            .with_cause(whole.status() as u8);
        Ok(Some(Verdict {
            action,
            outcome: Outcome::Frame(whole),
            why: "a frame for queue pair 1",
            is_request: false,
        }))
    }

    /// Appends where a frame goes.
    fn place(
        &self,
        receive: &Receive,
        length: usize,
        qp: &QpContext,
        chunks: &mut Vec<Chunk>,
    ) -> Result<(), Fault> {
        for piece in pieces(receive.elements(), 0, length as u64) {
            let placed = self.context.translate(piece, qp, Right::LocalWrite, chunks);
            if placed.is_err() {
                chunks.clear();
            }
            placed?;
        }
        Ok(())
    }
}

impl Receiver {
    /// Takes a whole frame. `placed`: payload writes so far, its own included, if it had any.
    pub fn take_whole(&mut self, whole: &Whole, qp: &QpContext, placed: Option<u64>) -> Completion {
        self.hold(whole.shared);
        self.placed = placed.unwrap_or(self.placed);
        let mut completion = self.finish_receive(qp, whole.status());
        match whole.fault {
            None => {
                completion.byte_len = whole.byte_len;
                completion.solicited = true;
            }
            Some(fault) => completion.error_code = fault as u8,
        }
        completion
    }
}
