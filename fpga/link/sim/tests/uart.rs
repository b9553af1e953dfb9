//! The link on its UART: jitter, wrong baud rates, breaks.

#[path = "../../tests/scenario/mod.rs"]
mod scenario;

use std::time::Duration;

use scenario::policy;
use tandem_link::model::{Access, Channel, Noise, Scratch};
use tandem_link::{Board, Client, Error, Policy};
use tandem_link_sim::{Uart, Wave};

fn uart(wave: Wave, seed: u64) -> Channel<Uart<Scratch>> {
    let board = Uart::new(Scratch::new(65536), wave, seed).unwrap();
    Channel::new(board, Noise::default(), seed)
}

/// A byte has 80 clocks here.
fn slow() -> Policy {
    Policy {
        deadline: Duration::from_millis(20),
        attempts: 3,
        ..policy()
    }
}

fn works(wave: Wave) {
    let mut board = Board::open(uart(wave, 1), slow()).unwrap();
    let bytes: Vec<u8> = (0..=255).collect();
    for value in 0..8 {
        board.write_memory(0x1000_0000, &bytes).unwrap();
        board.write_register(0x10, value).unwrap();
        let mut read = vec![0; 256];
        board.read_memory(0x1000_0000, &mut read).unwrap();
        assert_eq!(read, bytes, "{wave:?}");
    }
    let counters = board.counters().unwrap();
    assert_eq!(
        (counters.line_errors, counters.malformed, counters.repeated),
        (0, 0, 0),
        "{wave:?}"
    );
}

#[test]
fn two_percent_and_jitter_are_borne() {
    for bit in [0.98, 1.0, 1.02] {
        works(Wave { bit, jitter: 0.0 });
        works(Wave { bit, jitter: 0.05 });
    }
}

#[test]
fn a_wrong_baud_rate_is_named_and_does_nothing() {
    for bit in [0.1, 0.5, 0.8, 1.25, 2.0, 3.3, 8.0, 26.0] {
        let mut client = Client::numbered(uart(Wave { bit, jitter: 0.0 }, 3), slow(), 9);
        let error = client.open().unwrap_err();
        // Far too fast, nothing looks like a byte; else the board says something, which cannot be read.
        let named = matches!(error, Error::Garbage { .. })
            || (bit < 0.5 && matches!(error, Error::Silent { .. }));
        assert!(named, "{bit}: {error}");
        assert_eq!(client.line().peer().behind().core.accesses, [Access::Reset]);
        // With the right one it works, whatever came before.
        client.line().peer().set_shape(Wave::default());
        client.open().unwrap();
    }
}

#[test]
fn a_break_costs_a_request_at_most() {
    let mut board = Board::open(uart(Wave::default(), 5), slow()).unwrap();
    for bits in [0.3, 1.0, 5.0, 9.5, 11.0, 300.0] {
        board.client().line().peer().hold_low(bits);
        board.write_register(0x20, bits as u32).unwrap();
        assert_eq!(board.read_register(0x20).unwrap(), bits as u32);
    }
    let counters = board.counters().unwrap();
    assert!(counters.line_errors >= 2, "{counters:?}");
    let writes = |access: &&Access| matches!(access, Access::Write(..));
    let accesses = &board.client().line().peer().behind().core.accesses;
    assert_eq!(accesses.iter().filter(writes).count(), 6);
}

#[test]
fn line_errors_in_the_middle_are_got_over() {
    let noise = Noise {
        errors: 4000,
        lost: 2000,
        ..Noise::default()
    };
    let mut channel = uart(
        Wave {
            bit: 1.01,
            jitter: 0.05,
        },
        7,
    );
    channel.set_noise(noise);
    let mut policy = slow();
    policy.attempts = 8;
    let mut board = Board::open(channel, policy).unwrap();
    for value in 0..100 {
        board.write_register(0x20, value).unwrap();
    }
    assert!(board.counters().unwrap().line_errors > 5);
    let accesses = board.client().line().peer().behind().core.accesses.clone();
    let written = accesses.iter().filter_map(|access| match access {
        Access::Write(_, value) => Some(*value),
        _ => None,
    });
    assert_eq!(
        written.collect::<Vec<u32>>(),
        (0..100).collect::<Vec<u32>>()
    );
}
