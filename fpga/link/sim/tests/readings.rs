//! Two readings of one page: the RTL and the model get the same packets, good and bad, and must give the same
//! replies and ask the same of their cores.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use tandem_link::model::{Board, Core, Peer, Scratch, Shape};
use tandem_link::packet::{Finder, Found, request};
use tandem_link_sim::Link;

/// What is sent.
#[derive(Clone, Debug)]
enum Sent {
    /// Operations, in the right session with a sequence number so far behind the last.
    Request(u16, Vec<u8>),
    /// Another session, version or number.
    Stranger(u8, u16, u16),
    /// Some bytes and line errors.
    Garbage(Vec<Option<u8>>),
    /// A request of which one byte is another.
    Damaged(Vec<u8>, proptest::sample::Index, u8),
}

fn number(bytes: &mut Vec<u8>, op: u8, n: u16, rest: &[u8]) {
    bytes.push(op);
    bytes.extend(n.to_le_bytes());
    bytes.extend(rest);
}

/// An operation, mostly one that makes sense. Frames, and registers of the core that act, come last in
/// a request: when their effects are seen depends on clocks.
fn operation() -> impl Strategy<Value = Vec<u8>> {
    let address = prop_oneof![0..900u32, 65400..65600u32, any::<u32>()];
    let offset = prop_oneof![8 => (0..300u16).prop_map(|w| 4 * w), 1 => Just(0xFF0), 1 => Just(0xFEC), 1 => any::<u16>()
        .prop_filter("acts", |o| *o < 0xF00 || *o > 0x1000)];
    (
        prop_oneof![16 => 1..=11u8, 1 => any::<u8>()],
        prop_oneof![12 => 0..20u16, 2 => 0..400u16, 1 => any::<u16>()],
        address,
        offset,
        vec(any::<u8>(), 400),
        any::<u8>(),
    )
        .prop_map(|(op, n, address, offset, data, some)| {
            let mut bytes = Vec::new();
            let length = usize::from(n).min(300);
            match op {
                1 => number(&mut bytes, op, n, &offset.to_le_bytes()),
                2 => {
                    // Not up to the registers that act.
                    let words = n.min(20);
                    number(&mut bytes, op, words, &(offset & 0x3FF).to_le_bytes());
                    bytes.extend(&data[..4 * usize::from(words)]);
                }
                3 => number(&mut bytes, op, n, &address.to_le_bytes()),
                4 => {
                    number(&mut bytes, op, length as u16, &address.to_le_bytes());
                    bytes.extend(&data[..length]);
                }
                5 => {
                    number(&mut bytes, op, n, &address.to_le_bytes());
                    bytes.push(some);
                }
                6 => {
                    number(&mut bytes, op, length as u16, &[some & 2]);
                    bytes.extend(&data[..length]);
                }
                9 => {
                    // Not the clock.
                    let index = if some & 1 == 0 {
                        some % 6
                    } else {
                        16 + some % 9
                    };
                    number(&mut bytes, op, n % 5, &[index]);
                }
                10 => {
                    number(&mut bytes, op, 1, &[9]);
                    // Not the log: its records have clocks in them.
                    bytes.extend([some & 0b1010, 0, 0, 0]);
                }
                11 => number(&mut bytes, op, n % 4, &[0]),
                _ => number(&mut bytes, op, n, &[]),
            }
            bytes
        })
}

fn last() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        vec(any::<u8>(), 1..300).prop_map(|data| {
            let mut bytes = Vec::new();
            number(&mut bytes, 6, data.len() as u16, &[1]);
            bytes.extend(data);
            bytes
        }),
        any::<u32>().prop_map(|value| {
            let mut bytes = vec![2, 1, 0, 0xF8, 0x0F];
            bytes.extend(value.to_le_bytes());
            bytes
        }),
        any::<bool>().prop_map(|on| vec![2, 1, 0, 0xFC, 0x0F, u8::from(on), 0, 0, 0]),
        // Reset, and again out of it.
        Just(vec![
            10, 1, 0, 9, 1, 0, 0, 0, 11, 1, 0, 0, 10, 1, 0, 9, 2, 0, 0, 0
        ]),
        Just(vec![1, 1, 0, 0xF4, 0x0F]),
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    (vec(operation(), 0..4), last())
        .prop_map(|(operations, last)| [operations.concat(), last].concat())
}

fn sent() -> impl Strategy<Value = Sent> {
    prop_oneof![
        12 => (prop_oneof![9 => Just(1u16), 1 => Just(0), 1 => any::<u16>()], body())
            .prop_map(|(ahead, body)| Sent::Request(ahead, body)),
        1 => (prop_oneof![Just(1u8), any::<u8>()], 0..3u16, 0..3u16)
            .prop_map(|(version, session, number)| Sent::Stranger(version, session, number)),
        1 => vec(prop_oneof![9 => any::<u8>().prop_map(Some), 1 => Just(None)], 1..40)
            .prop_map(Sent::Garbage),
        1 => (body(), any::<proptest::sample::Index>(), any::<u8>())
            .prop_map(|(body, at, to)| Sent::Damaged(body, at, to)),
    ]
}

/// The replies so far, without those bits of the status that depend on clocks.
fn replies(peer: &mut impl Peer) -> Vec<Found> {
    let mut finder = Finder::default();
    std::iter::from_fn(|| peer.take())
        .filter_map(|byte| finder.push(byte))
        .map(|mut found| {
            if let Found::Reply(reply) = &mut found {
                reply.status.0 &= 0b1101_1000;
            }
            found
        })
        .collect()
}

const SESSION: u16 = 0x5AA5;

fn compare(sent: Vec<Sent>, seed: u64) -> Result<(), TestCaseError> {
    let shape = Shape {
        max_packet: 960,
        beats: 128,
        log: 128,
        memory_base: 0x1000_0000,
        clock_hz: 3_000_000,
        timeout_bits: 8,
        ..Shape::default()
    };
    let mut model = Board::new(Scratch::new(65536), shape);
    let mut rtl = Link::new(Scratch::new(65536), seed).unwrap();
    let mut number = 0u16;
    for (at, sent) in std::iter::once(Sent::Stranger(1, SESSION, 0))
        .chain(sent)
        .enumerate()
    {
        let bytes: Vec<Option<u8>> = match &sent {
            Sent::Request(ahead, body) => {
                let sequence = number.wrapping_add(*ahead);
                if *ahead == 1 {
                    number = sequence;
                }
                request(SESSION, sequence, body)
                    .into_iter()
                    .map(Some)
                    .collect()
            }
            Sent::Stranger(version, session, sequence) => {
                // A session of one's own is opened by the first only.
                let sequence = if at == 0 { *sequence } else { sequence + 1 };
                let mut packet = vec![*version];
                packet.extend(session.to_le_bytes());
                packet.extend(sequence.to_le_bytes());
                packet.extend(crc32fast::hash(&packet).to_le_bytes());
                let mut bytes = vec![Some(0)];
                bytes.extend(cobs::encode_vec(&packet).into_iter().map(Some));
                bytes.push(Some(0));
                bytes
            }
            Sent::Garbage(bytes) => bytes.clone(),
            Sent::Damaged(body, at, to) => {
                let mut bytes = request(SESSION, number.wrapping_add(1), body);
                let at = at.index(bytes.len() - 2) + 1;
                if bytes[at] == *to {
                    continue;
                }
                bytes[at] = *to;
                bytes.into_iter().map(Some).collect()
            }
        };
        let (mut from_model, mut from_rtl) = (Vec::new(), Vec::new());
        for byte in bytes {
            Peer::receive(&mut model, byte);
            Peer::receive(&mut rtl, byte);
            // A line error is answered at once: its answer must not be in the way of the next.
            if byte.is_none() || byte == Some(0) {
                rtl.pass(Duration::from_micros(4000));
                while rtl.busy() {
                    rtl.pass(Duration::from_micros(1000));
                }
            }
        }
        from_model.extend(replies(&mut model));
        from_rtl.extend(replies(&mut rtl));
        prop_assert_eq!(&from_rtl, &from_model, "RTL, model after {:?}", sent);
    }
    let from_rtl = &mut rtl.behind().core;
    let from_model = &mut model.parts().core;
    prop_assert_eq!(&from_rtl.accesses, &from_model.accesses);
    prop_assert!(
        from_rtl.memory() == from_model.memory(),
        "host memory differs"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rtl_and_model_read_alike(sent in vec(sent(), 1..25), seed: u64) {
        compare(sent, seed)?;
    }
}
