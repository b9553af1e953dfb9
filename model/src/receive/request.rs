//! Requests of the peer: order, sequence, lengths, tokens; then execution.

use super::posted::{Posted, Receive, SharedEntry};
use super::verdict::Outcome;
use super::{Message, Receiver, Refused};
use crate::abi::{DropCause, Status};
use crate::context::{Chunk, Context, QpContext, Right, pieces};
use crate::engine::{InputError, Inputs};
use crate::send::MAX_MESSAGE;
use crate::wire::{Bth, Frame, NakCode, Opcode, Operation, Reth, Token};

/// An executed request packet: the state after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Message that goes on after it.
    pub message: Message,
    /// PSNs that it took.
    pub psns: u32,
    /// Receive of a send.
    pub receive: Option<Receive>,
    /// The entry of a shared queue that its receive is taken from.
    pub shared: Option<SharedEntry>,
    pub kind: TakenKind,
}

/// What an executed packet was.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TakenKind {
    /// Of a send that goes on, or of a write; `ends`: the last of its message.
    Placed { ends: bool },
    /// The last of a send.
    Received {
        byte_len: u32,
        invalidate: Option<Token>,
    },
    /// A read; of all accepted so many are remembered.
    Read { reth: Reth, remember: usize },
}

/// What the checks of a request look at.
pub(super) struct Input<'a> {
    pub receiver: &'a Receiver,
    /// The receive that a send uses or would get.
    pub posted: Option<Posted>,
    pub qp: &'a QpContext,
    pub context: &'a Context,
    pub max_read: u8,
    pub frame: &'a Frame<'a>,
}

type Judged = (Outcome, &'static str);

impl Input<'_> {
    /// Judges a request of a queue pair that takes it.
    pub fn judge(
        &self,
        inputs: &mut dyn Inputs,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Judged, InputError> {
        let distance = self.frame.bth.psn.distance(self.receiver.expected(self.qp));
        // WIRE-PSN-1, WIRE-NAK-1, -2, -3.
        if distance < 0 {
            return Ok(self.duplicate());
        }
        if distance > 0 {
            return Ok(if self.receiver.nak_sent {
                let why = "the psn is newer than expected, and a NAK was sent";
                (Outcome::Drop(DropCause::Sequence), why)
            } else {
                (Outcome::NakSequence, "the psn is newer than expected")
            });
        }
        self.expected(inputs, chunks)
    }

    /// A request that is older than expected (WIRE-DUP-1 to -6, -8).
    fn duplicate(&self) -> Judged {
        let psn = self.frame.bth.psn;
        match (self.opcode().operation(), self.frame.ext.reth()) {
            (Operation::Send | Operation::Write, _) => {
                (Outcome::Duplicate(None), "the psn is older than expected")
            }
            (Operation::Read, Some(reth))
                if self.receiver.remembered.contains(psn, &reth, self.qp) =>
            {
                let why = "the read is remembered";
                (Outcome::Duplicate(Some((psn, reth))), why)
            }
            _ => {
                let why = "an older request, not to be executed again";
                (Outcome::Drop(DropCause::Sequence), why)
            }
        }
    }

    fn opcode(&self) -> Opcode {
        self.frame.bth.opcode
    }

    fn payload(&self) -> u64 {
        self.frame.payload.len() as u64
    }

    /// A refusal; the receive of the message in progress, or of the one that the packet starts,
    /// completes with `status`.
    fn refuse(&self, code: NakCode, status: Status, why: &'static str) -> Judged {
        let in_send = match self.receiver.message {
            Message::Send { .. } => true,
            Message::Write { .. } => false,
            Message::None => {
                let opcode = self.opcode();
                opcode.operation() == Operation::Send && opcode.starts_message()
            }
        };
        let posted = self.posted.filter(|_| in_send);
        let refused = Refused {
            code,
            status,
            completes: posted.is_some(),
            shared: posted.and_then(|posted| posted.shared),
        };
        (Outcome::Refuse(refused), why)
    }

    /// Fatal NAK 0x61.
    fn invalid(&self, why: &'static str) -> Judged {
        self.refuse(NakCode::InvalidRequest, Status::RemoteInvalidRequest, why)
    }

    /// Fatal NAK 0x62.
    fn no_access(&self, why: &'static str) -> Judged {
        self.refuse(NakCode::RemoteAccess, Status::RemoteInvalidRequest, why)
    }

    /// The checks of the request with the expected PSN, in their order.
    fn expected(
        &self,
        inputs: &mut dyn Inputs,
        chunks: &mut Vec<Chunk>,
    ) -> Result<Judged, InputError> {
        let opcode = self.opcode();
        let operation = opcode.operation();
        // WIRE-SEG-11.
        let in_sequence = match self.receiver.message {
            Message::None => opcode.starts_message(),
            Message::Send { .. } => operation == Operation::Send && !opcode.starts_message(),
            Message::Write { .. } => operation == Operation::Write && !opcode.starts_message(),
        };
        if !in_sequence {
            return Ok(self.invalid("the opcode does not go on with the message"));
        }
        // WIRE-NAK-7.
        let allowed = match operation {
            Operation::Send => true,
            Operation::Write => self.qp.remote_write,
            Operation::Read => self.qp.remote_read,
            _ => false,
        };
        if !allowed || self.frame.ext.immediate().is_some() {
            return Ok(self.invalid("the operation is not implemented or not allowed"));
        }
        match operation {
            Operation::Send => self.send(inputs, chunks),
            Operation::Read => Ok(self.read()),
            _ => Ok(self.write(chunks)),
        }
    }

    /// WIRE-SEG-5, -6, -7.
    fn has_legal_payload(&self) -> bool {
        let rule = self.opcode().payload_rule();
        rule.allows(self.frame.payload.len(), self.qp.mtu as usize)
    }

    fn send(&self, inputs: &mut dyn Inputs, chunks: &mut Vec<Chunk>) -> Result<Judged, InputError> {
        let opcode = self.opcode();
        let received = match self.receiver.message {
            Message::Send { received } => received,
            _ => 0,
        };
        let Some(posted) = &self.posted else {
            // WIRE-RNR-1.
            return Ok((Outcome::Rnr, "no receive is posted"));
        };
        if !self.has_legal_payload() {
            return Ok(self.invalid("the payload does not fit the opcode"));
        }
        let receive = posted.read(inputs)?;
        let total = received + self.payload();
        if total > receive.length() {
            // WIRE-SEG-9.
            let (code, status) = (NakCode::InvalidRequest, Status::LocalLength);
            return Ok(self.refuse(code, status, "it is longer than the receive"));
        }
        for piece in pieces(receive.elements(), received, self.payload()) {
            let placed = self
                .context
                .translate(piece, self.qp, Right::LocalWrite, chunks);
            if placed.is_err() {
                let (code, status) = (NakCode::RemoteOperational, Status::LocalProtection);
                return Ok(self.refuse(code, status, "a token of the receive refuses it"));
            }
        }
        let invalidate = self.frame.ext.ieth();
        if let Some(token) = invalidate
            && self
                .context
                .check_remote_invalidation(token, self.qp)
                .is_err()
        {
            // WIRE-INV-3, -4.
            return Ok(self.no_access("the token must not be invalidated"));
        }
        let ends = opcode.ends_message();
        let taken = Taken {
            message: if ends {
                Message::None
            } else {
                Message::Send { received: total }
            },
            psns: 1,
            receive: Some(receive),
            shared: posted.shared,
            kind: if ends {
                TakenKind::Received {
                    byte_len: total as u32,
                    invalidate,
                }
            } else {
                TakenKind::Placed { ends: false }
            },
        };
        Ok((Outcome::Take(taken), "the expected send"))
    }

    fn write(&self, chunks: &mut Vec<Chunk>) -> Judged {
        let opcode = self.opcode();
        let payload = self.payload();
        let (reth, received) = match (self.receiver.message, self.frame.ext.reth()) {
            (Message::Write { reth, received }, _) => (reth, received),
            (_, Some(reth)) => (reth, 0),
            _ => return self.invalid("a write without RETH"),
        };
        let left = u64::from(reth.length).saturating_sub(received);
        let ends = opcode.ends_message();
        // WIRE-SEG-8, -10.
        let fits = if ends {
            payload == left
        } else {
            payload < left
        };
        if !self.has_legal_payload()
            || reth.length > MAX_MESSAGE
            || !fits
            || self.frame.bth.pad != Bth::pad_for(self.frame.payload.len())
        {
            return self.invalid("the payload does not fit the opcode or the RETH");
        }
        // WIRE-KEY-3, -4, -8, WIRE-SEG-12.
        let address = reth.va.wrapping_add(received);
        let checked = if opcode.starts_message() {
            u64::from(reth.length)
        } else {
            payload
        };
        if checked > 0 {
            let entry =
                self.context
                    .check(reth.token, address, checked, self.qp, Right::RemoteWrite);
            match entry {
                Ok(entry) => self.context.place(entry, address, payload, chunks),
                Err(_) => return self.no_access("the token refuses the write"),
            }
        }
        let taken = Taken {
            message: if ends {
                Message::None
            } else {
                Message::Write {
                    reth,
                    received: received + payload,
                }
            },
            psns: 1,
            receive: None,
            shared: None,
            kind: TakenKind::Placed { ends },
        };
        (Outcome::Take(taken), "the expected write")
    }

    fn read(&self) -> Judged {
        let Some(reth) = self.frame.ext.reth() else {
            return self.invalid("a read without RETH");
        };
        // WIRE-NAK-9.
        let limit = self.qp.max_ird.min(self.max_read);
        if self.receiver.reads >= limit.into() {
            return self.invalid("more reads than max_ird");
        }
        if reth.length > MAX_MESSAGE {
            return self.invalid("the read is too long");
        }
        if reth.length > 0 {
            let checked = self.context.check(
                reth.token,
                reth.va,
                reth.length.into(),
                self.qp,
                Right::RemoteRead,
            );
            if checked.is_err() {
                return self.no_access("the token refuses the read");
            }
        }
        let taken = Taken {
            message: Message::None,
            psns: self.qp.packets(reth.length),
            receive: None,
            shared: None,
            kind: TakenKind::Read {
                reth,
                remember: limit.into(),
            },
        };
        (Outcome::Take(taken), "the expected read")
    }
}
