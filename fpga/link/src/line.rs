//! Byte streams with an end to waiting.

use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use serialport::{ClearBuffer, SerialPort};

/// A byte stream to a board, and the clock by which deadlines count.
pub trait Line {
    /// Sends bytes.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits at most `wait` for bytes; returns how many came, 0 if none. An end of the stream is an error.
    fn receive(&mut self, into: &mut [u8], wait: Duration) -> io::Result<usize>;

    /// Time since some point.
    fn now(&self) -> Duration;

    /// Bits a second, if that is how fast it is.
    fn baud(&self) -> Option<u32> {
        None
    }
}

/// A [`Line`] over anything that reads and writes.
///
/// Neither may block for long: a read ends with `TimedOut` or `WouldBlock` if there is nothing, a write if nothing
/// is taken. Writes must not be kept back: nothing is flushed, as that waits for a line without an end.
#[derive(Debug)]
pub struct Port<S> {
    stream: S,
    start: Instant,
    baud: Option<u32>,
}

/// How long a look at a stream that does not wait by itself leaves the processor to others.
const PAUSE: Duration = Duration::from_micros(50);

impl<S: Read + Write> Port<S> {
    /// Over a stream.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            start: Instant::now(),
            baud: None,
        }
    }
}

impl Port<Box<dyn SerialPort>> {
    /// Opens a serial port; what came before is thrown away.
    pub fn open(path: &str, baud: u32) -> io::Result<Self> {
        let stream = serialport::new(path, baud)
            .timeout(Duration::from_millis(2))
            .open()?;
        stream.clear(ClearBuffer::All)?;
        Ok(Self {
            baud: Some(baud),
            ..Self::new(stream)
        })
    }
}

impl<S: Read + Write> Line for Port<S> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    fn receive(&mut self, into: &mut [u8], wait: Duration) -> io::Result<usize> {
        let end = Instant::now() + wait;
        loop {
            match self.stream.read(into) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => return Ok(count),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
                    io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
            if Instant::now() >= end {
                return Ok(0);
            }
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn baud(&self) -> Option<u32> {
        self.baud
    }
}
