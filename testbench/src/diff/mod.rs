//! Where two runs first differ: two captures, two kept failures, or two JSON files.

mod fields;
mod frames;
mod json;
mod lines;

use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::blackbox::file::{self, FileError, Packet};
use crate::failures::{FRAMES, RECORD, Record, RecordError, VECTOR, cause};

/// Why two things cannot be compared.
#[derive(Debug, Error)]
pub enum DiffError {
    /// A capture is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// A kept failure is wrong.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file begins as JSON, and is none.
    #[error("{}, line {line}, column {column}: {cause}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
        /// Where in it.
        column: usize,
        /// What is wrong.
        cause: String,
    },
    /// They are of different kinds.
    #[error("{} is {}, {} is {}: only two of a kind can be compared", a.display(), kinds[0], b.display(), kinds[1])]
    Kinds {
        /// The first.
        a: PathBuf,
        /// The second.
        b: PathBuf,
        /// What they are.
        kinds: [&'static str; 2],
    },
}

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether frames that are the same but came at other times differ.
    pub times: bool,
    /// Frames or lines that are shown around a difference.
    pub context: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            times: false,
            context: 3,
        }
    }
}

/// The first difference in words; `None` if there is none.
///
/// # Errors
/// They cannot be compared.
pub fn diff(a: &Path, b: &Path, options: Options) -> Result<Option<String>, DiffError> {
    match (Given::read(a)?, Given::read(b)?) {
        (Given::Json(a), Given::Json(b)) => Ok(json::difference(&a, &b)),
        (Given::Kept, Given::Kept) => kept(a, b, options),
        (Given::Capture(a), Given::Capture(b)) => Ok(frames::difference(&a, &b, options)),
        (Given::Kept, Given::Capture(b)) => {
            let a = file::read(&a.join(FRAMES))?;
            Ok(frames::difference(&a, &b, options))
        }
        (Given::Capture(a), Given::Kept) => {
            let b = file::read(&b.join(FRAMES))?;
            Ok(frames::difference(&a, &b, options))
        }
        (one, other) => Err(DiffError::Kinds {
            a: a.into(),
            b: b.into(),
            kinds: [one.name(), other.name()],
        }),
    }
}

/// What a path leads to.
enum Given {
    Capture(Vec<Packet>),
    Kept,
    Json(Value),
}

impl Given {
    fn name(&self) -> &'static str {
        match self {
            Self::Capture(_) => "a capture",
            Self::Kept => "a kept failure",
            Self::Json(_) => "JSON",
        }
    }

    fn read(path: &Path) -> Result<Self, DiffError> {
        if path.is_dir() {
            Record::read(path)?;
            return Ok(Self::Kept);
        }
        let bytes = bytes(path)?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(first, Some(b'{' | b'[')) || bytes.starts_with(&[0x0A, 0x0D]) {
            return Ok(Self::Capture(file::read(path)?));
        }
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Self::Json).map_err(|error| DiffError::Json {
            path: path.into(),
            line: error.line(),
            column: error.column(),
            cause: cause(&error),
        })
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, DiffError> {
    std::fs::read(path).map_err(|source| DiffError::Read {
        path: path.into(),
        source,
    })
}

fn text(path: &Path) -> Result<String, DiffError> {
    Ok(String::from_utf8_lossy(&bytes(path)?).into_owned())
}

/// Two kept failures: how they ran and failed, their vectors, their frames. The first difference of each.
fn kept(a: &Path, b: &Path, options: Options) -> Result<Option<String>, DiffError> {
    let parse = |path: &Path| match Given::read(&path.join(RECORD))? {
        Given::Json(value) => Ok(value),
        _ => Ok::<_, DiffError>(Value::Null),
    };
    let (vector_a, vector_b) = (text(&a.join(VECTOR))?, text(&b.join(VECTOR))?);
    let found = [
        (RECORD, json::difference(&parse(a)?, &parse(b)?)),
        (VECTOR, lines::difference(&vector_a, &vector_b, options)),
        (
            FRAMES,
            match (a.join(FRAMES), b.join(FRAMES)) {
                (a, b) if !a.exists() && !b.exists() => None,
                (a, b) => frames::difference(&file::read(&a)?, &file::read(&b)?, options),
            },
        ),
    ];
    let found: Vec<String> = found
        .into_iter()
        .filter_map(|(name, words)| Some(format!("{name}:\n{}", words?)))
        .collect();
    Ok((!found.is_empty()).then(|| found.join("\n")))
}
