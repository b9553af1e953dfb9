//! Packets on the line: what is written is read, and what is damaged is not.

use proptest::collection::vec;
use proptest::prelude::*;
use tandem_link::model::{Board, Scratch, Shape};
use tandem_link::packet::{Finder, Found, request};
use tandem_link::{Code, Operation, Outcome, Status};

fn operation() -> impl Strategy<Value = Operation> {
    let words = || vec(any::<u32>(), 1..20);
    let bytes = || vec(any::<u8>(), 1..300);
    prop_oneof![
        (0..64u16, 1..9u16).prop_map(|(word, count)| Operation::ReadRegisters {
            offset: 4 * word,
            count
        }),
        (0..64u16, words()).prop_map(|(word, values)| Operation::WriteRegisters {
            offset: 4 * word,
            values
        }),
        (0..4000u32, 1..99u16)
            .prop_map(|(address, length)| Operation::ReadMemory { address, length }),
        (0..4000u32, bytes())
            .prop_map(|(address, bytes)| Operation::WriteMemory { address, bytes }),
        (0..4000u32, 1..99u16, any::<u8>()).prop_map(|(address, units, value)| {
            Operation::FillMemory {
                address,
                units,
                value,
            }
        }),
        (bytes(), any::<bool>(), any::<bool>())
            .prop_map(|(bytes, last, bad)| Operation::SendFrame { bytes, last, bad }),
        (0..200u16).prop_map(|most| Operation::TakeFrame { most }),
        (0..9u16).prop_map(|most| Operation::TakeCommits { most }),
        (0..50u8, 1..9u16).prop_map(|(index, count)| Operation::ReadLink { index, count }),
        (9..10u8, 0..4u32).prop_map(|(index, bits)| Operation::WriteLink {
            index,
            values: vec![bits << 1]
        }),
        (0..9u16, any::<u8>()).prop_map(|(units, mask)| Operation::Wait {
            units,
            mask: Status(mask)
        }),
    ]
}

fn found(board: &mut Board<Scratch>, finder: &mut Finder, bytes: &[u8]) -> Vec<Found> {
    bytes.iter().for_each(|byte| board.receive(Some(*byte)));
    std::iter::from_fn(|| board.take())
        .filter_map(|byte| finder.push(byte))
        .collect()
}

fn board() -> Board<Scratch> {
    Board::new(Scratch::new(65536), Shape::default())
}

proptest! {
    #[test]
    fn operations_have_the_sizes_they_say(operation in operation()) {
        let mut bytes = Vec::new();
        operation.emit(&mut bytes);
        prop_assert_eq!(bytes.len(), operation.request_bytes());
    }

    #[test]
    fn operations_arrive_and_results_come_back(operations in vec(operation(), 1..5)) {
        let mut body = Vec::new();
        operations.iter().for_each(|op| op.emit(&mut body));
        let (mut board, mut finder) = (board(), Finder::default());
        found(&mut board, &mut finder, &request(9, 0, &[]));
        let replies = found(&mut board, &mut finder, &request(9, 1, &body));
        let [Found::Reply(reply)] = &replies[..] else { panic!("{replies:?}") };
        prop_assert_eq!((reply.session, reply.sequence, reply.code), (9, 1, Code::Done));
        prop_assert_eq!(usize::from(reply.count), operations.len());
        let mut results = &reply.results[..];
        for operation in &operations {
            prop_assert!(operation.parse(&mut results).is_some());
        }
        prop_assert!(results.is_empty());
    }

    #[test]
    fn damage_is_never_taken_for_a_packet(
        body in vec(any::<u8>(), 0..300),
        at: proptest::sample::Index,
        to: u8,
    ) {
        let mut bytes = request(1, 0, &body);
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        bytes.push(0);
        let outer = at == 0 || at == bytes.len() - 2;
        let (mut board, mut finder) = (board(), Finder::default());
        board.receive(Some(0));
        for found in found(&mut board, &mut finder, &bytes) {
            let Found::Reply(reply) = found else { panic!("{found:?}") };
            // A zero byte around the packet may be another byte in front of it or behind it, not in it.
            prop_assert!(outer || reply.code == Code::Broken, "{:?}", reply);
        }
    }

    #[test]
    fn after_garbage_the_next_packet_is_found(garbage in vec(any::<Option<u8>>(), 0..3000)) {
        let (mut board, mut finder) = (board(), Finder::default());
        garbage.iter().for_each(|byte| board.receive(*byte));
        let replies = found(&mut board, &mut finder, &request(5, 0, &[]));
        let last = replies.last();
        prop_assert!(
            matches!(last, Some(Found::Reply(r)) if r.code == Code::Done && r.session == 5),
            "{:?}", last
        );
        let mut host = Finder::default();
        for byte in garbage.into_iter().flatten() {
            host.push(byte);
        }
        let mut reply = found_bytes(&mut board);
        reply.retain(|found| *found != Found::Garbage);
        prop_assert_eq!(reply.len(), 1);
    }

    #[test]
    fn no_bytes_make_a_board_or_a_host_stumble(bytes in vec(any::<u8>(), 0..4000)) {
        let (mut board, mut finder) = (board(), Finder::default());
        found(&mut board, &mut finder, &bytes);
        let mut host = Finder::default();
        for byte in bytes {
            host.push(byte);
            prop_assert!(host.held() <= 4200);
        }
    }

    #[test]
    fn no_operations_make_a_board_stumble(body in vec(any::<u8>(), 0..600)) {
        let (mut board, mut finder) = (board(), Finder::default());
        found(&mut board, &mut finder, &request(9, 0, &[]));
        let replies = found(&mut board, &mut finder, &request(9, 1, &body));
        prop_assert_eq!(replies.len(), 1);
        // Whatever was asked is answered again, not done again.
        board.parts().core.accesses.clear();
        let again = found(&mut board, &mut finder, &request(9, 1, &body));
        prop_assert_eq!(again, replies);
        prop_assert!(board.parts().core.accesses.is_empty());
    }
}

/// What the host finds in the answer to one more request, with garbage held before it.
fn found_bytes(board: &mut Board<Scratch>) -> Vec<Found> {
    let mut host = Finder::default();
    [1, 2, 3]
        .iter()
        .for_each(|byte| assert_eq!(host.push(*byte), None));
    found(board, &mut host, &request(5, 1, &[]))
}

#[test]
fn bytes_as_the_book_has_them() {
    let operation = Operation::WriteRegisters {
        offset: 0x120,
        values: vec![0xDEAD_BEEF],
    };
    let mut body = Vec::new();
    operation.emit(&mut body);
    assert_eq!(body, [2, 1, 0, 0x20, 0x01, 0xEF, 0xBE, 0xAD, 0xDE]);
    let bytes = request(0x1234, 7, &body);
    assert_eq!(bytes[..6], [0, 5, 1, 0x34, 0x12, 7]);
    assert_eq!((bytes.first(), bytes.last()), (Some(&0), Some(&0)));
    assert_eq!(bytes.len(), 12 + operation.request_bytes());
    let mut results = &[0x78, 0x56, 0x34, 0x12][..];
    let read = Operation::ReadRegisters {
        offset: 0,
        count: 1,
    };
    assert_eq!(
        read.parse(&mut results),
        Some(Outcome::Words(vec![0x1234_5678]))
    );
}
