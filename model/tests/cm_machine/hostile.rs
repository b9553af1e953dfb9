//! A peer that says anything at any time.

use proptest::collection::vec;
use proptest::prelude::*;
use tandem_model::cm::machine::{Event, State};
use tandem_model::cm::{CommId, IpCm, Mad, Message, ServiceId, TransportService, gid};

use crate::messages::mad;
use crate::pair::{PORT, Pair, Side, acceptance, caller, request};

/// Which ids a message names, and how much of it makes sense.
#[derive(Clone, Copy, Debug)]
enum Aim {
    /// Whatever it had.
    Nobody,
    /// Those of the conversation.
    Conversation,
    /// That of its receiver.
    Receiver,
}

/// A step of the peer.
#[derive(Clone, Debug)]
struct Move {
    mad: Mad,
    aim: Aim,
    /// Whether what this side says reaches the peer.
    heard: bool,
    /// Whether time passes to this side's next deadline.
    waits: bool,
}

prop_compose! {
    fn a_move()(
        mad in mad(),
        aim in prop_oneof![Just(Aim::Nobody), Just(Aim::Conversation), Just(Aim::Receiver)],
        (heard, waits) in any::<(bool, bool)>(),
    ) -> Move {
        Move { mad, aim, heard, waits }
    }
}

/// The message with ids that mean something to its receiver.
fn aimed(mut mad: Mad, aim: Aim, own: CommId, peer: CommId) -> Mad {
    let (local, remote) = match &mut mad.message {
        Message::Req(req) => {
            if matches!(aim, Aim::Conversation) {
                req.service_id = ServiceId::tcp(PORT);
                req.transport_service = TransportService::Rc;
                req.primary.local_gid = gid(Side::A.ip());
                req.primary.remote_gid = gid(Side::B.ip());
                let ip = IpCm {
                    source: caller(),
                    destination: Side::B.ip(),
                    consumer_data: [7; 56],
                };
                req.private_data = ip.emit();
            }
            return mad;
        }
        Message::Rej(rej) => {
            if !matches!(aim, Aim::Nobody) {
                rej.remote_comm_id = Some(own);
            }
            if matches!(aim, Aim::Conversation) {
                rej.local_comm_id = Some(peer);
            }
            return mad;
        }
        Message::Rep(m) => (&mut m.local_comm_id, &mut m.remote_comm_id),
        Message::Rtu(m) => (&mut m.local_comm_id, &mut m.remote_comm_id),
        Message::Mra(m) => (&mut m.local_comm_id, &mut m.remote_comm_id),
        Message::Dreq(m) => {
            if matches!(aim, Aim::Conversation) {
                m.remote_qpn = Side::B.qpn();
            }
            (&mut m.local_comm_id, &mut m.remote_comm_id)
        }
        Message::Drep(m) => (&mut m.local_comm_id, &mut m.remote_comm_id),
    };
    if !matches!(aim, Aim::Nobody) {
        *remote = own;
    }
    if matches!(aim, Aim::Conversation) {
        *local = peer;
    }
    mad
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever comes: nothing panics, nothing is told twice, a queue pair is made ready once, and in the end nothing is
    /// waited for but the consumer.
    #[test]
    fn anything_may_come(moves in vec(a_move(), 1..25), accepts: bool) {
        let mut pair = Pair::new();
        let peer = pair.connect(&request());
        pair.deliver();
        let (own, _) = pair.requested();
        if accepts {
            pair.accept(own, &acceptance());
        }
        pair.lose();
        for step in moves {
            let mad = aimed(step.mad, step.aim, own, peer);
            pair.give(Side::A, &mad);
            if step.heard {
                pair.deliver();
            }
            pair.lose();
            if step.waits && pair.b.manager.next_deadline().is_some() {
                pair.wait();
            }
        }
        let told = |which: fn(&Event) -> bool| {
            let events = pair.b.events.iter();
            events.filter(|(id, event)| *id == own && which(event)).count()
        };
        prop_assert_eq!(told(|event| matches!(event, Event::Requested(_))), 1);
        prop_assert!(told(|event| *event == Event::Established) <= 1);
        prop_assert!(told(|event| matches!(event, Event::Failed(_))) <= 1);
        prop_assert!(told(|event| matches!(event, Event::Disconnected | Event::Aborted)) <= 1);
        prop_assert_eq!(pair.b.ready.len(), usize::from(accepts));

        pair.b.manager.close(pair.now, own);
        for _ in 0..1000 {
            pair.lose();
            if pair.b.manager.next_deadline().is_none() {
                break;
            }
            pair.wait();
        }
        prop_assert_eq!(pair.b.manager.next_deadline(), None);
        // What is left are requests that wait for the consumer.
        for (id, _) in &pair.b.events {
            let state = pair.b.manager.state(*id);
            prop_assert!(matches!(state, None | Some(State::ReqReceived)), "{:?}", state);
        }
    }
}
