//! The client over a stream of the operating system, in real time.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tandem_link::model::{Board as Model, Scratch, Shape};
use tandem_link::{Board, Client, Error, Operation, Policy, Port};

/// A model at the other end; it ends after some bytes, or with the stream.
fn board(mut stream: UnixStream, mut bytes: usize) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut model = Model::new(Scratch::new(4096), Shape::default());
        let mut buffer = [0; 256];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            for byte in &buffer[..count] {
                model.receive(Some(*byte));
            }
            let out: Vec<u8> = std::iter::from_fn(|| model.take()).collect();
            if stream.write_all(&out).is_err() || bytes < count {
                break;
            }
            bytes -= count;
        }
    })
}

fn pair() -> (Port<UnixStream>, UnixStream) {
    let (host, far) = UnixStream::pair().unwrap();
    host.set_read_timeout(Some(Duration::from_millis(2)))
        .unwrap();
    (Port::new(host), far)
}

#[test]
fn a_bench_works_over_a_stream() {
    let (line, far) = pair();
    let ended = board(far, usize::MAX);
    let mut board = Board::open(line, Policy::default()).unwrap();
    for value in 0..500 {
        board
            .write_memory(u64::from(value), &[value as u8])
            .unwrap();
        board.write_register(0x10, value).unwrap();
        assert_eq!(board.read_register(0x10).unwrap(), value);
    }
    // A write of memory goes with the register behind it.
    assert_eq!(board.client().seen().sent, 2 + 2 * 500);
    drop(board);
    ended.join().unwrap();
}

#[test]
fn a_stream_that_ends_is_an_error_at_once() {
    let (line, far) = pair();
    let ended = board(far, 100);
    let mut board = Board::open(line, Policy::default()).unwrap();
    let error = (0..1000)
        .find_map(|value| board.write_register(0x10, value).err())
        .unwrap();
    assert!(matches!(error, Error::Line(_)), "{error}");
    ended.join().unwrap();
}

#[test]
fn silence_ends_in_time() {
    let (line, _far) = pair();
    let start = Instant::now();
    let error = Client::new(line, Policy::default()).open().unwrap_err();
    assert!(matches!(error, Error::Silent { baud: None }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn an_echo_is_named() {
    let (line, mut far) = pair();
    let ended = thread::spawn(move || {
        let mut buffer = [0; 256];
        while let Ok(count @ 1..) = far.read(&mut buffer) {
            if far.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    });
    let mut client = Client::new(line, Policy::default());
    let error = client.open().unwrap_err();
    assert!(matches!(error, Error::Echo), "{error}");
    assert!(
        client
            .request(vec![Operation::TakeFrame { most: 1 }])
            .is_err()
    );
    drop(client);
    ended.join().unwrap();
}

#[test]
fn a_port_that_is_not_there_is_an_error() {
    assert!(Port::open("/dev/tandem-no-such-port", 3_000_000).is_err());
}
