//! What leaves in answer to the peer: responses and congestion notifications. Execution.

use super::apply::{Done, compare};
use super::expect::answer;
use super::ready::{Work, Works};
use super::{Action, Effect, Engine, Illegal, Inputs, Room};
use crate::abi::{RespondKind, Status};
use crate::context::Chunk;
use crate::receive::Step;
use crate::wire::{Bth, Ext, Opcode, Psn};

/// Status of the event of a queue pair whose read was refused while it was answered.
const READ_REFUSED: Status = Status::RemoteInvalidRequest;

/// What a response may bring about.
const ANSWERED: Works = Works::of(&[Work::Respond]);

impl Engine {
    pub(super) fn do_respond(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
    ) -> Done {
        let mut chunks = std::mem::take(&mut self.scratch.chunks);
        chunks.clear();
        let is_cnp = wanted.is_some_and(|wanted| wanted.cause == RespondKind::Cnp as u8);
        let done = if is_cnp {
            self.do_cnp(wanted, qpn, effects)
        } else {
            self.respond_with(wanted, qpn, inputs, effects, &mut chunks)
        };
        self.scratch.chunks = chunks;
        done
    }

    /// The congestion notification of a queue pair leaves (WIRE-CNP-1).
    fn do_cnp(&mut self, wanted: Option<&Action>, qpn: usize, effects: &mut Vec<Effect>) -> Done {
        let action = match self.expect_cnp(qpn) {
            Ok(action) => action,
            Err(why) => return Ok(Err(why)),
        };
        compare(
            wanted,
            &action,
            Room::Receive,
            "the notification that is due",
        )?;
        let Some(qp) = self.context.qp(qpn as u32).copied() else {
            return Ok(Err("there is no such queue pair"));
        };
        self.begin(0);
        self.scratch.payload.clear();
        let bth = Bth::new(Opcode::Cnp, qp.remote_qpn, Psn::ZERO);
        self.emit(&qp, bth, Ext::Cnp([0; 16]), effects);
        self.host.counters.cnp_out();
        if let Some(receiver) = self.receivers.get_mut(qpn) {
            receiver.unmark();
        }
        Ok(Ok(action))
    }

    fn respond_with(
        &mut self,
        wanted: Option<&Action>,
        qpn: usize,
        inputs: &mut dyn Inputs,
        effects: &mut Vec<Effect>,
        chunks: &mut Vec<Chunk>,
    ) -> Done {
        let room = Room::Receive;
        let (action, step): (Action, Step) =
            match self.expect_respond(qpn, wanted.and_then(answer), chunks) {
                Ok(expected) => expected,
                Err(why) => return Ok(Err(why)),
            };
        compare(wanted, &action, room, "the oldest response")?;
        let Some(qp) = self.context.qp(qpn as u32).copied() else {
            return Ok(Err("there is no such queue pair"));
        };
        if step.packet.is_some() {
            self.gather(chunks, inputs)
                .map_err(|source| Illegal::Input {
                    room,
                    action,
                    source,
                })?;
        }
        self.begin(step.barrier);
        if let Some((opcode, ext)) = step.packet {
            let psn = Psn::new(action.psn);
            let bth = Bth {
                pad: Bth::pad_for(self.scratch.payload.len()),
                ..Bth::new(opcode, qp.remote_qpn, psn)
            };
            self.emit(&qp, bth, ext, effects);
        }
        if let Some(receiver) = self.receivers.get_mut(qpn) {
            let left = receiver.stepped(&step);
            self.responses = self.responses.saturating_sub(left);
        }
        if step.fails {
            self.fail_qp(qpn, READ_REFUSED);
        }
        self.ready.touch(qpn, ANSWERED);
        Ok(Ok(action))
    }
}
