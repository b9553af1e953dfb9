//! Scenarios that hold for every board, whether model or RTL.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::HashMap;
use std::time::Duration;

use tandem_link::model::{Access, Channel, Noise, Peer};
use tandem_link::{
    Board, Client, Code, Control, Error, Executed, Line, Operation, Outcome, Policy, Seen, Status,
};

/// A board of which a test sees what was asked of its core.
pub trait Bench: Peer {
    /// What was asked so far.
    fn accesses(&mut self) -> Vec<Access>;
}

/// Deadlines for boards in simulation: short, as simulated time costs.
pub fn policy() -> Policy {
    Policy {
        attempts: 8,
        deadline: Duration::from_millis(8),
        quiet: Duration::from_millis(1),
        ..Policy::default()
    }
}

fn step(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

/// What came of the requests of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub done: u32,
    pub failed: u32,
    pub resumed: u32,
    pub resets: u32,
    pub seen: Seen,
}

/// Requests over a bad line: each is done once, or an error says what is known, in bounded time.
pub fn exactly_once<P: Bench>(board: P, noise: Noise, seed: u64, requests: u32) -> Tally {
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let channel = Channel::new(board, noise, seed);
    let mut client = Client::numbered(channel, policy(), seed as u16);
    let mut tally = Tally::default();
    let mut known: HashMap<u32, Executed> = HashMap::new();
    let limit = policy().attempts * Duration::from_millis(16);
    let mut unique = 0;
    while client.open().is_err() {
        tally.failed += 1;
        assert!(tally.failed < 100, "no session opens on this line");
    }
    for _ in 0..requests {
        let count = 1 + step(&mut random) as u32 % 3;
        let values: Vec<u32> = (unique..unique + count).collect();
        unique += count;
        let offset = (step(&mut random) % 256 * 4) as u16;
        let write = Operation::WriteRegisters {
            offset,
            values: values.clone(),
        };
        let read = Operation::ReadRegisters {
            offset,
            count: count as u16,
        };
        let before = client.line().now();
        let mut result = client.request(vec![write, read]);
        assert!(client.line().now() - before < limit, "a request hung");
        if result.is_err() && client.unsettled() && step(&mut random) & 1 == 0 {
            tally.resumed += 1;
            result = client.resume();
        }
        let executed = match result {
            Ok(outcomes) => {
                tally.done += 1;
                assert_eq!(outcomes, [Outcome::Done, Outcome::Words(values.clone())]);
                None
            }
            Err(error) => {
                tally.failed += 1;
                let executed = error.executed();
                assert!(!error.to_string().is_empty());
                let mut opens = 0;
                while client.open().is_err() {
                    opens += 1;
                    assert!(opens < 100, "no session opens again after {error}");
                }
                Some(executed)
            }
        };
        for value in values {
            known.insert(value, executed.unwrap_or(Executed::Operations(2)));
        }
    }
    tally.seen = client.seen();
    tally.resets = client.line().resets;
    let accesses = client.line().peer().accesses();
    let written: Vec<u32> = accesses
        .iter()
        .filter_map(|access| match access {
            Access::Write(_, value) => Some(*value),
            _ => None,
        })
        .collect();
    assert!(written.is_sorted(), "requests were executed out of order");
    for (value, executed) in known {
        let times = written.iter().filter(|v| **v == value).count();
        match executed {
            Executed::Operations(_) => assert_eq!(times, 1, "{value}"),
            Executed::No => assert_eq!(times, 0, "{value}"),
            Executed::Unknown => assert!(times <= 1, "{value}"),
        }
    }
    tally
}

/// All that a bench needs, on a line without noise.
pub fn everything<P: Bench>(peer: P, base: u64) {
    let mut board = Board::open(Channel::new(peer, Noise::default(), 1), policy()).unwrap();
    let info = board.info().clone();
    assert_eq!(info.memory_base, base);
    let control = Control {
        link_only: true,
        log: true,
        ..Control::default()
    };
    board.reset(control).unwrap();

    board.write_register(0x40, 0x1234_5678).unwrap();
    assert_eq!(board.read_register(0x40).unwrap(), 0x1234_5678);
    let failed = board.read_register(0xFF0).unwrap_err();
    assert!(
        matches!(
            failed,
            Error::Failed {
                index: 0,
                code: Code::BusError
            }
        ),
        "{failed}"
    );
    assert!(board.read_register(0x42).is_err());
    assert!(board.read_register(0x1000).is_err());

    let bytes: Vec<u8> = (0..3001u32).map(|i| (i * 7 % 251) as u8).collect();
    board.write_memory(base + 13, &bytes).unwrap();
    board.zero_memory(base + 1001, 1003).unwrap();
    let mut read = vec![0xEE; bytes.len() + 20];
    board.read_memory(base + 5, &mut read).unwrap();
    let mut expected = vec![0; 8];
    expected.extend(&bytes);
    expected.extend([0; 12]);
    expected[1001 - 5..1001 - 5 + 1003].fill(0);
    assert_eq!(read, expected);
    assert!(
        board
            .read_memory(base + info.memory - 1, &mut [0; 2])
            .is_err()
    );
    board
        .write_memory(base + info.memory - 3, &[1, 2, 3])
        .unwrap();
    let mut end = [0; 3];
    board.read_memory(base + info.memory - 3, &mut end).unwrap();
    assert_eq!(end, [1, 2, 3]);

    let frames: Vec<Vec<u8>> = [60, 61, 64, 999, 1, 1000]
        .iter()
        .map(|&length| bytes[..length].to_vec())
        .collect();
    let mut back = Vec::new();
    for frame in &frames {
        board.send_frame(frame).unwrap();
        board.wait(2000, Status::FRAME).unwrap();
        back.extend(board.take_frames().unwrap());
    }
    assert_eq!(back, frames);

    assert!(!board.interrupt().unwrap());
    board.write_register(0xFFC, 1).unwrap();
    assert!(board.interrupt().unwrap());
    assert!(
        board
            .wait(1 << 20, Status::INTERRUPT)
            .unwrap()
            .has(Status::INTERRUPT)
    );

    board.take_commits().unwrap();
    for value in 0..10 {
        board.write_register(0xFF8, value).unwrap();
    }
    let records = board.take_commits().unwrap();
    let numbers: Vec<u8> = records.iter().map(|record| record.commit[0]).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<u8>>());
    assert!(records.iter().all(|r| !r.gap && r.commit[13] == 0xA5));
    assert!(records.is_sorted_by_key(|record| record.clock));

    // The log has an end, and says so.
    let more = info.log as u32 + 5;
    for value in 0..more {
        board.write_register(0xFF8, value).unwrap();
    }
    assert!(board.status().has(Status::COMMITS_LOST));
    let records = board.take_commits().unwrap();
    assert!(
        records.len() >= info.log && records.len() < more as usize,
        "{}",
        records.len()
    );
    assert!(records.iter().all(|record| !record.gap));
    board.write_register(0xFF8, 77).unwrap();
    let last = board.take_commits().unwrap();
    assert_eq!((last.len(), last[0].commit[0], last[0].gap), (1, 77, true));
    let counters = board.counters().unwrap();
    assert_eq!(
        counters.commits_lost as usize + records.len(),
        more as usize
    );
    assert_eq!(counters.injected, 6);
    assert_eq!(counters.captured, 6);
    assert_eq!(
        counters.broken + counters.malformed + counters.refused + counters.repeated,
        0
    );

    // A frame that can never go in, and a core that does not take frames out of the way.
    assert!(board.send_frame(&vec![0; info.inject + 1]).is_err());
    board.send_frame(&frames[0]).unwrap();

    // A register that hangs, and the way out of it.
    let hung = board.read_register(0xFF4).unwrap_err();
    assert!(
        matches!(
            hung,
            Error::Failed {
                code: Code::BusTimeout,
                ..
            }
        ),
        "{hung}"
    );
    assert!(board.status().has(Status::STUCK));
    assert!(board.read_register(0x40).is_err());
    let before = board.now().unwrap();
    board.reset(control).unwrap();
    assert!(!board.status().has(Status::STUCK));
    assert_eq!(board.read_register(0x40).unwrap(), 0);
    assert!(board.now().unwrap() >= before);
    assert_eq!(board.take_frames().unwrap(), Vec::<Vec<u8>>::new());
    board
        .control(Control {
            reset: true,
            ..control
        })
        .unwrap();
    assert!(board.read_register(0x40).is_err());
}

/// Faults of the line that are not noise, and what the client says of each.
pub fn faults<P: Bench>(peer: P) {
    let mut client = Client::numbered(Channel::new(peer, Noise::default(), 3), policy(), 7);
    let write = |value| {
        vec![Operation::WriteRegisters {
            offset: 8,
            values: vec![value],
        }]
    };
    client.line().unplugged = true;
    let silent = client.open().unwrap_err();
    assert!(matches!(silent, Error::Silent { .. }), "{silent}");
    client.line().unplugged = false;
    client.open().unwrap();
    client.request(write(1)).unwrap();

    // Unplugged in the middle: asked again later, it is done once.
    client.line().unplugged = true;
    let hung = client.request(write(2)).unwrap_err();
    assert!(matches!(hung, Error::Hung { .. }), "{hung}");
    assert_eq!(hung.executed(), Executed::Unknown);
    assert!(matches!(client.request(write(3)), Err(Error::Unsettled)));
    client.line().unplugged = false;
    client.resume().unwrap();

    // Reset between two requests: the second is known not to be done.
    client.line().reset();
    let reset = client.request(write(4)).unwrap_err();
    assert!(
        matches!(reset, Error::Restarted { repeated: false }),
        "{reset}"
    );
    assert_eq!(reset.executed(), Executed::No);
    assert!(matches!(client.request(write(5)), Err(Error::Closed)));
    client.open().unwrap();
    client.request(write(6)).unwrap();

    // A host that starts again, without the board: sequence number 1 is not a repetition.
    client.open().unwrap();
    client.request(write(7)).unwrap();
    let written: Vec<u32> = client
        .line()
        .peer()
        .accesses()
        .iter()
        .filter_map(|access| match access {
            Access::Write(8, value) => Some(*value),
            _ => None,
        })
        .collect();
    assert_eq!(written, [1, 2, 6, 7]);
}
