//! Frames in: which frame is whose, and what becomes of it.

use super::request::{self, Taken};
use super::{Receiver, Refused, SharedQueues, Whole};
use crate::abi::{CommitKind, DropCause, QpState, RxResult};
use crate::context::{Chunk, Context, QpContext};
use crate::engine::{Action, InputError, Inputs};
use crate::host::Port;
use crate::send::{Response, SendQueue};
use crate::wire::{Frame, Ip, Opcode, Operation, Pkey, Psn, Qpn, Reth, Service};

/// What becomes of a frame.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Nothing but the counter.
    Drop(DropCause),
    /// An older send or write, acknowledged again; or a read that is remembered, answered again.
    Duplicate(Option<(Psn, Reth)>),
    /// The first request after a gap: NAK 0x60.
    NakSequence,
    /// RNR NAK.
    Rnr,
    /// Fatal NAK.
    Refuse(Refused),
    /// The request is executed.
    Take(Taken),
    /// A response, other than a stale one.
    Response(Response),
    /// A congestion notification.
    Cnp,
    /// A whole frame, for queue pair 1.
    Frame(Whole),
}

/// The verdict on a frame: its action, and what the action does. Where its payload goes is in the chunks
/// that were collected.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub action: Action,
    pub outcome: Outcome,
    /// Why, in words.
    pub why: &'static str,
    /// Whether the frame is a request that came as far as to need an answer's place
    /// (`DropNoBuffer` is then legal too).
    pub is_request: bool,
}

impl Verdict {
    pub(super) fn drop(cause: DropCause, qpn: Qpn, psn: Psn, why: &'static str) -> Self {
        Self {
            action: Action::new(CommitKind::RxDrop, qpn.get())
                .with_psn(psn.get())
                .with_cause(cause as u8),
            outcome: Outcome::Drop(cause),
            why,
            is_request: false,
        }
    }
}

/// What the checks of a frame look at, besides the frame.
pub(crate) struct View<'a> {
    pub port: &'a Port,
    pub context: &'a Context,
    pub senders: &'a [SendQueue],
    pub receivers: &'a [Receiver],
    pub shared: &'a SharedQueues,
    pub max_read: u8,
}

impl View<'_> {
    /// Judges a frame: all checks in their order (WIRE-FRM-13, -14, WIRE-BTH-4, -9, WIRE-QP-1).
    /// Reads the receive's entry if the verdict needs it; changes nothing.
    pub fn judge(
        &self,
        bytes: &[u8],
        parsed: &Result<Frame<'_>, DropCause>,
        inputs: &mut dyn Inputs,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Verdict, InputError> {
        if let Some(verdict) = self.judge_whole(bytes, parsed, inputs, chunks)? {
            return Ok(verdict);
        }
        let frame = match parsed {
            Ok(frame) => frame,
            Err(cause) => {
                let why = "a check of the wire failed";
                return Ok(Verdict::drop(*cause, Qpn::default(), Psn::ZERO, why));
            }
        };
        let (qpn, psn) = (frame.bth.dest_qp, frame.bth.psn);
        let (index, qp) = match self.find(frame) {
            Ok(found) => found,
            Err((cause, why)) => return Ok(Verdict::drop(cause, qpn, psn, why)),
        };
        let (Some(sender), Some(receiver)) = (self.senders.get(index), self.receivers.get(index))
        else {
            let why = "no such queue pair";
            return Ok(Verdict::drop(DropCause::Qpn, qpn, psn, why));
        };
        let responded = |result: RxResult, outcome, why| Verdict {
            action: Action::new(CommitKind::RxResponse, qpn.get())
                .with_psn(psn.get())
                .with_cause(result as u8),
            outcome,
            why,
            is_request: false,
        };
        if frame.bth.opcode == Opcode::Cnp {
            // WIRE-CNP-2.
            let why = "congestion notification";
            return Ok(responded(RxResult::Cnp, Outcome::Cnp, why));
        }
        if frame.bth.opcode.is_response() {
            let (response, why) = sender.judge(frame, qp, self.context, chunks);
            let Some(result) = response.result() else {
                return Ok(Verdict::drop(DropCause::StaleResponse, qpn, psn, why));
            };
            return Ok(responded(result, Outcome::Response(response), why));
        }
        let input = request::Input {
            receiver,
            posted: receiver.posted(qp, self.context, self.shared),
            qp,
            context: self.context,
            max_read: self.max_read,
            frame,
        };
        let (outcome, why) = input.judge(inputs, chunks)?;
        if !matches!(outcome, Outcome::Take(_)) {
            chunks.clear();
        }
        let result = match &outcome {
            Outcome::Drop(cause) => {
                return Ok(Verdict {
                    is_request: true,
                    ..Verdict::drop(*cause, qpn, psn, why)
                });
            }
            Outcome::Duplicate(_) => RxResult::Duplicate,
            Outcome::NakSequence => RxResult::NakSequence,
            Outcome::Rnr => RxResult::Rnr,
            Outcome::Refuse(refused) => refused.result(),
            Outcome::Take(_) | Outcome::Response(_) | Outcome::Cnp | Outcome::Frame(_) => {
                RxResult::Accept
            }
        };
        Ok(Verdict {
            action: Action::new(CommitKind::RxRequest, qpn.get())
                .with_psn(psn.get())
                .with_cause(result as u8),
            outcome,
            why,
            is_request: true,
        })
    }

    /// The queue pair of a frame, or why it is not for one.
    fn find(&self, frame: &Frame<'_>) -> Result<(usize, &QpContext), (DropCause, &'static str)> {
        use DropCause as Cause;
        if frame.eth.dst != self.port.mac {
            return Err((Cause::DestAddress, "the destination MAC is not ours"));
        }
        let (source, is_ours) = match &frame.ip {
            Ip::V4(ip) => (
                ip.src.to_ipv6_mapped().octets(),
                ip.dst.octets() == self.port.ipv4,
            ),
            Ip::V6(ip) => (ip.src.octets(), ip.dst.octets() == self.port.ipv6),
        };
        if !is_ours {
            return Err((Cause::DestAddress, "the destination IP address is not ours"));
        }
        let qpn = frame.bth.dest_qp.get();
        let qp = match self.context.qp(qpn) {
            Some(qp) if qpn > 1 && qp.state != QpState::Reset => qp,
            _ => return Err((Cause::Qpn, "no such queue pair")),
        };
        let opcode = frame.bth.opcode;
        if !matches!(opcode.service(), Service::Rc | Service::Cnp) {
            return Err((Cause::Service, "the opcode is of another service"));
        }
        if opcode.operation() == Operation::AtomicAcknowledge {
            return Err((Cause::Unsupported, "atomics are not implemented"));
        }
        if !self.takes(qpn as usize, qp, opcode) {
            return Err((Cause::QpState, "the queue pair does not take it now"));
        }
        if source != qp.remote_ip || matches!(frame.ip, Ip::V6(_)) != qp.ipv6 {
            return Err((Cause::SourceAddress, "the source is not the peer"));
        }
        if !frame.bth.pkey.matches(Pkey::DEFAULT) {
            return Err((Cause::Pkey, "the partition key does not match"));
        }
        Ok((qpn as usize, qp))
    }

    fn takes(&self, qpn: usize, qp: &QpContext, opcode: Opcode) -> bool {
        if opcode == Opcode::Cnp {
            qp.state == QpState::Rts
        } else if opcode.is_response() {
            qp.state == QpState::Rts && self.senders.get(qpn).is_some_and(|send| !send.is_fatal())
        } else {
            matches!(qp.state, QpState::Rtr | QpState::Rts)
        }
    }
}
