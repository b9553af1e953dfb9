//! Lines of results: what each program appends to the file of its shard.
//!
//! A line is whole or it does not count. A program that is killed leaves at most a part of its last line, and the next one that opens
//! the file takes that away.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{RegressError, Result, Shard, at};
use crate::world::FailureKind;

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Line {
    /// A program begins to run a shard.
    Opened(Opened),
    /// A run begins. If none that has ended follows, it was under way when the program was killed.
    Began {
        /// Its number in the suite.
        run: usize,
    },
    /// A run has ended.
    Ended(Box<Ended>),
    /// A program has done all that was left of its shard.
    Closed {
        /// When (RFC 3339).
        at: String,
    },
    /// A run that had failed was done again.
    Again(Again),
}

/// Who runs a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The shard.
    pub shard: Shard,
    /// Fingerprint of the suite.
    pub suite: String,
    /// Fingerprint of the program.
    pub program: String,
    /// Commit.
    pub commit: Option<String>,
    /// Machine.
    pub host: String,
    /// Process.
    pub process: u32,
    /// Job of a farm, if it is one.
    pub job: Option<String>,
    /// When (RFC 3339).
    pub at: String,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Its number in the suite.
    pub run: usize,
    /// Fingerprint of the suite.
    pub suite: String,
    /// File of the vector.
    pub file: PathBuf,
    /// Its name, with the case.
    pub title: String,
    /// Seed.
    pub seed: u64,
    /// What nodes ran on.
    pub target: String,
    /// The shard in which it ran.
    pub shard: Shard,
    /// Whether it passed.
    pub passed: bool,
    /// How long it took.
    pub seconds: f64,
    /// Frames.
    pub frames: u64,
    /// Clocks.
    pub clocks: u64,
    /// Decisions of engines that were checked.
    pub actions: u64,
    /// How it failed.
    pub failure: Option<Told>,
    /// The command that does it again.
    pub command: String,
    /// Name of the coverage that it is counted in; without that, it does not count itself.
    pub part: Option<String>,
}

/// How a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// What sort of failure it is.
    pub kind: FailureKind,
    /// In a sentence.
    pub message: String,
    /// Without what is other from run to run.
    pub gist: String,
    /// What a person is told.
    pub report: String,
}

/// A run that was done again because it had failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// Its number in the suite.
    pub run: usize,
    /// Fingerprint of the suite.
    pub suite: String,
    /// Whether it passed now.
    pub passed: bool,
    /// Files that are kept of it.
    pub files: Vec<PathBuf>,
    /// What there is to say about it.
    pub note: Option<String>,
    /// The command that does it again.
    pub command: String,
}

/// A file of lines that belongs to this program as long as the value lives.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
    path: PathBuf,
}

impl Writer {
    /// Opens a file behind its last whole line; `what` is said to run if another program has it.
    pub(super) fn open(path: PathBuf, what: &str) -> Result<Self> {
        let opened = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path);
        let mut file = opened.map_err(at(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(RegressError::Busy {
                    path,
                    what: what.into(),
                });
            }
            // A file system that has no locks: the farm runs each shard once at a time.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let whole = whole(&mut file).map_err(at(&path))?;
        file.set_len(whole).map_err(at(&path))?;
        Ok(Self { file, path })
    }

    /// Appends lines, at once.
    pub(super) fn write(&mut self, lines: &[Line]) -> Result<()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line).map_err(|error| RegressError::Content {
                path: self.path.clone(),
                cause: error.to_string(),
            })?;
            text.push(b'\n');
        }
        self.file.write_all(&text).map_err(at(&self.path))
    }
}

/// Bytes up to the end of the last whole line.
fn whole(file: &mut File) -> std::io::Result<u64> {
    const BLOCK: usize = 1 << 16;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = vec![0; BLOCK];
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let bytes = block.get_mut(..(end - start) as usize).unwrap_or_default();
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(bytes)?;
        if let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Whether a program writes a file now.
pub(super) fn is_busy(path: &Path) -> Result<bool> {
    let file = File::open(path).map_err(at(path))?;
    Ok(matches!(
        file.try_lock_shared(),
        Err(TryLockError::WouldBlock)
    ))
}

/// The lines of a file, and how many there are that nobody can read. A part of a line at the end is neither.
pub(super) fn read(path: &Path) -> Result<(Vec<Line>, usize)> {
    let bytes = std::fs::read(path).map_err(at(path))?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = bytes.get(..end.unwrap_or(0)).unwrap_or_default();
    let (mut lines, mut damaged) = (Vec::new(), 0);
    let texts = whole.split(|byte| *byte == b'\n');
    for text in texts.filter(|text| !text.is_empty()) {
        match serde_json::from_slice(text) {
            Ok(line) => lines.push(line),
            Err(_) => damaged += 1,
        }
    }
    Ok((lines, damaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_line_does_not_count_and_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let open = || Writer::open(path.clone(), "this test").unwrap();
        let began = |run| Line::Began { run };
        open().write(&[began(1), began(2)]).unwrap();
        let mut text = std::fs::read(&path).unwrap();
        text.extend(br#"{"record":"began","ru"#);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read(&path).unwrap(), (vec![began(1), began(2)], 0));
        open().write(&[began(3)]).unwrap();
        assert_eq!(
            read(&path).unwrap(),
            (vec![began(1), began(2), began(3)], 0)
        );
        // A long part, of more than a block.
        let mut text = std::fs::read(&path).unwrap();
        text.extend(vec![b'x'; 200_000]);
        std::fs::write(&path, &text).unwrap();
        open().write(&[began(4)]).unwrap();
        assert_eq!(read(&path).unwrap().0.len(), 4);
        // Nothing but a part.
        std::fs::write(&path, "{").unwrap();
        open().write(&[began(5)]).unwrap();
        assert_eq!(read(&path).unwrap(), (vec![began(5)], 0));
    }

    #[test]
    fn a_line_that_was_damaged_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, b"\0\0\0\n{\"record\":\"began\",\"run\":7}\n").unwrap();
        assert_eq!(read(&path).unwrap(), (vec![Line::Began { run: 7 }], 1));
    }

    #[test]
    fn a_file_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let first = Writer::open(path.clone(), "shard 1/2").unwrap();
        assert!(is_busy(&path).unwrap());
        let second = Writer::open(path.clone(), "shard 1/2").unwrap_err();
        assert!(
            second.to_string().contains("shard 1/2 runs already"),
            "{second}"
        );
        drop(first);
        assert!(!is_busy(&path).unwrap());
        Writer::open(path, "shard 1/2").unwrap();
    }
}
