//! Takes the actions of one engine apart, with what it remembers of earlier ones.

use std::collections::HashMap;
use std::sync::Arc;

use tandem_model::abi::{
    Arm, CQE, CommitKind, DropCause, EQE, Fault, QpState, RQ_WQE, Record, RespondKind, RxResult,
    Status, Table, WqeOpcode,
};
use tandem_model::engine::{Action, Effect, Observed, Observer, WriteChannel};
use tandem_model::wire::{Aeth, Ext, Frame, Ip, Psn, Token};

use super::seen::{Entry, Packet, Receive, Request, Seen, event_of};
use crate::coverage::Cover;

/// ECN field of a traffic class; all ones: congestion experienced.
const ECN: u8 = 3;
/// Cause of a `Flush` of the send queue.
const SEND_QUEUE: u8 = 0;

/// See the module.
pub struct Onlooker {
    cover: Arc<Cover>,
    pairs: HashMap<u32, Pair>,
    /// Producer index of each ring that was rung for.
    rung: HashMap<(CommitKind, u32), u16>,
}

/// What is known of a queue pair.
#[derive(Default)]
struct Pair {
    state: Option<QpState>,
    /// Requests that the engine has read and that have not left the queue.
    begun: HashMap<u16, WqeOpcode>,
    /// PSN after the newest request packet, and after the newest read response.
    next: [Option<Psn>; 2],
}

impl Pair {
    /// Whether a packet left before; notes it.
    fn again(&mut self, way: usize, psn: Psn) -> bool {
        let Some(next) = self.next.get_mut(way) else {
            return false;
        };
        let again = next.is_some_and(|next| psn.older(next));
        if !again {
            *next = Some(psn.next());
        }
        again
    }
}

impl Onlooker {
    /// Nothing seen yet.
    pub fn new(cover: Arc<Cover>) -> Self {
        Self {
            cover,
            pairs: HashMap::new(),
            rung: HashMap::new(),
        }
    }

    fn look(&mut self, at: &Observed<'_>) -> Seen {
        let action = at.action;
        let mut seen = Seen {
            kind: Some(action.kind),
            mtu: at.engine.path_mtu(action.qpn),
            ..Seen::default()
        };
        let bits = u128::from(action.cause);
        match action.kind {
            CommitKind::Context => self.context(at, &mut seen),
            CommitKind::SqDoorbell | CommitKind::RqDoorbell | CommitKind::SrqDoorbell => {
                let before = self.rung.insert((action.kind, action.qpn), action.index);
                seen.rung = Some(action.index.wrapping_sub(before.unwrap_or(0)));
            }
            CommitKind::Arm => seen.arm = Arm::from_bits(bits),
            CommitKind::SqEmit | CommitKind::SqLocal | CommitKind::SqFail => {
                self.began(at, &mut seen);
            }
            CommitKind::RxDrop => seen.dropped = DropCause::from_bits(bits),
            CommitKind::RxRequest | CommitKind::RxResponse => {
                seen.result = RxResult::from_bits(bits);
            }
            CommitKind::Respond => seen.responded = RespondKind::from_bits(bits),
            CommitKind::Retire => {
                seen.retired = Status::from_bits(bits);
                seen.opcode = self.ended(&action);
            }
            CommitKind::Flush => {
                seen.flushed = Some(action.cause);
                if action.cause == SEND_QUEUE {
                    seen.opcode = self.ended(&action);
                }
            }
            CommitKind::Complete => seen.lost = Some(action.cause != 0),
            CommitKind::Timeout => seen.gave_up = Some(action.cause != 0),
            _ => {}
        }
        if let Some(frame) = at.frame {
            self.frame(at, frame, &mut seen);
        }
        self.effects(at, &mut seen);
        self.changed(at, &mut seen);
        seen
    }

    /// A context entry was written.
    fn context(&mut self, at: &Observed<'_>, seen: &mut Seen) {
        seen.table = Table::from_bits(at.action.cause.into());
        let qpn = at.action.qpn;
        if seen.table == Some(Table::Qp) && at.engine.qp_state(qpn) == Some(QpState::Init) {
            let state = self.pairs.remove(&qpn).and_then(|pair| pair.state);
            let pair = Pair {
                state,
                ..Pair::default()
            };
            self.pairs.insert(qpn, pair);
            for kind in [CommitKind::SqDoorbell, CommitKind::RqDoorbell] {
                self.rung.remove(&(kind, qpn));
            }
        }
        if seen.table == Some(Table::Srq) {
            self.rung.remove(&(CommitKind::SrqDoorbell, qpn));
        }
    }

    /// A request goes on: it is seen where its entry is read the first time.
    fn began(&mut self, at: &Observed<'_>, seen: &mut Seen) {
        let action = at.action;
        let pair = self.pairs.entry(action.qpn).or_default();
        if let Some(request) = at.request().and_then(Request::of)
            && !pair.begun.contains_key(&action.index)
        {
            pair.begun.insert(action.index, request.opcode);
            seen.request = Some(request);
        }
        seen.opcode = pair.begun.get(&action.index).copied();
        if action.kind == CommitKind::SqFail {
            seen.fault = Fault::from_bits(action.token.into());
        }
    }

    /// A request left the send queue.
    fn ended(&mut self, action: &Action) -> Option<WqeOpcode> {
        self.pairs.get_mut(&action.qpn)?.begun.remove(&action.index)
    }

    /// A frame was judged.
    fn frame(&mut self, at: &Observed<'_>, bytes: &[u8], seen: &mut Seen) {
        let Ok(frame) = Frame::parse(bytes) else {
            return;
        };
        seen.taken = Some(packet(&frame, seen.result == Some(RxResult::Duplicate)));
        let named = match frame.ext {
            Ext::Reth(reth) | Ext::RethImm(reth, _) if reth.length > 0 => Some(reth.token),
            Ext::Ieth(token) => Some(token),
            _ => None,
        };
        let kind = |token: Token| at.engine.token_kind(token);
        seen.token = named.and_then(kind);
        if let Some(entry) = at.receive() {
            let entry = Record::from_bytes(&RQ_WQE, entry);
            let has_bytes = |name: &&str| entry.get(name) >> 64 & 0xFFFF_FFFF != 0;
            let elements = ["sge0", "sge1", "sge2", "sge3"];
            seen.receive = Some(Receive {
                elements: elements.into_iter().filter(has_bytes).count(),
                shared: at.engine.shares_receives(at.action.qpn),
            });
        }
    }

    /// What left, and what was written.
    fn effects(&mut self, at: &Observed<'_>, seen: &mut Seen) {
        for effect in at.effects {
            match effect {
                Effect::Frame(bytes) => {
                    let Ok(frame) = Frame::parse(bytes) else {
                        continue;
                    };
                    let pair = self.pairs.entry(at.action.qpn).or_default();
                    let again = match at.action.kind {
                        CommitKind::SqEmit => pair.again(0, frame.bth.psn),
                        CommitKind::Respond if seen.responded == Some(RespondKind::Read) => {
                            pair.again(1, frame.bth.psn)
                        }
                        _ => false,
                    };
                    seen.sent = Some(packet(&frame, again));
                }
                Effect::Write {
                    channel: WriteChannel::Completion,
                    bytes,
                    ..
                } => match bytes.len() {
                    length if length == CQE.bytes() => seen.entry = Entry::of(bytes),
                    length if length == EQE.bytes() => seen.event = event_of(bytes),
                    _ => {}
                },
                Effect::Write { .. } => {}
            }
        }
    }

    /// Whether the state of the queue pair is another one now.
    fn changed(&mut self, at: &Observed<'_>, seen: &mut Seen) {
        let about_a_queue_pair = match at.action.kind {
            CommitKind::Context => seen.table == Some(Table::Qp),
            CommitKind::SqFail | CommitKind::RxRequest | CommitKind::RxResponse => true,
            CommitKind::Timeout | CommitKind::Retire => true,
            _ => false,
        };
        let Some(now) = at
            .engine
            .qp_state(at.action.qpn)
            .filter(|_| about_a_queue_pair)
        else {
            return;
        };
        let pair = self.pairs.entry(at.action.qpn).or_default();
        let before = pair.state.replace(now).unwrap_or(QpState::Reset);
        let written = at.action.kind == CommitKind::Context;
        if before != now || written {
            seen.states = Some([before, now]);
        }
    }
}

/// The packet of a frame.
fn packet(frame: &Frame<'_>, again: bool) -> Packet {
    let syndrome = match frame.ext {
        Ext::Aeth(Aeth { syndrome, .. }) | Ext::AethAtomicAck(Aeth { syndrome, .. }, _) => {
            Some(syndrome)
        }
        _ => None,
    };
    Packet {
        opcode: frame.bth.opcode,
        psn: frame.bth.psn.get(),
        payload: frame.payload.len(),
        pad: frame.bth.pad,
        syndrome,
        ipv6: matches!(frame.ip, Ip::V6(_)),
        asks: frame.bth.ack_req,
        marked: frame.ip.traffic_class() & ECN == ECN,
        again,
    }
}

impl Observer for Onlooker {
    fn observe(&mut self, seen: &Observed<'_>) {
        let event = self.look(seen);
        self.cover.see(&event);
    }
}
