//! What covers each requirement: vectors, proofs, properties, tests.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::claims::claims;
use super::error::{PlanError, Source};
use super::tables::{Requirement, Tables};
use crate::vector::{self, Fault};

/// What kind of thing covers a requirement, the one that shows most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A vector, on the model and on the engine.
    Vector,
    /// A proof of the engine.
    Proof,
    /// A property, tried with random input.
    Property,
    /// A test.
    Test,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Vector, Self::Proof, Self::Property, Self::Test];

    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Vector => "vector",
            Self::Proof => "proof",
            Self::Property => "property",
            Self::Test => "test",
        }
    }
}

/// Something that covers a requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cover {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub file: PathBuf,
    /// The line of the claim.
    pub line: usize,
}

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.kind {
            Kind::Vector => write!(f, "vector {file}"),
            kind => write!(f, "{} {} ({file}:{})", kind.word(), self.name, self.line),
        }
    }
}

/// How a provider duty stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Covered; by this, if by several by the first kind.
    Covered(Kind),
    /// Not covered, for a reason.
    Reason,
    /// Not covered.
    Open,
}

/// What covers each requirement of a repository.
#[derive(Debug, Default)]
pub struct Coverage {
    by: BTreeMap<String, Vec<Cover>>,
}

impl Coverage {
    /// Reads vectors, tests and proofs. Files are named as seen from the root.
    ///
    /// # Errors
    /// One of them cannot be read, a claim that points to nothing, or a reason for what is covered.
    pub fn read(root: &Path, tables: &Tables) -> Result<Self, PlanError> {
        let mut all = Vec::new();
        for path in vector::find(&[root.join("testbench/vectors")])? {
            let file = vector::load(&path)?;
            let Some(first) = file.vectors.first() else {
                continue;
            };
            let source = Source::new("", &file.text);
            for id in &first.head.covers {
                let cover = Cover {
                    kind: Kind::Vector,
                    name: first.head.name.value().clone(),
                    file: path.clone(),
                    line: source.line(&id.span()),
                };
                all.push((id.value().clone(), cover));
            }
        }
        all.extend(claims(root, tables)?);
        let mut coverage = Self::default();
        for (id, mut cover) in all {
            if let Ok(inside) = cover.file.strip_prefix(root) {
                cover.file = inside.into();
            }
            coverage.by.entry(id).or_default().push(cover);
        }
        for (id, source, span) in tables.reasons() {
            if let Some(cover) = coverage.of(id).first() {
                let message = format!("`{id}` is covered, and needs no reason");
                let fault = Fault::new(span, message).help(format!("by {cover}"));
                return Err(source.wrong(fault));
            }
        }
        Ok(coverage)
    }

    /// What covers a requirement.
    pub fn of(&self, id: &str) -> &[Cover] {
        self.by.get(id).map_or(&[], Vec::as_slice)
    }

    /// How a provider duty stands.
    pub fn state(&self, duty: &Requirement) -> State {
        let kinds = self.of(&duty.id).iter().map(|cover| cover.kind);
        match (kinds.min(), &duty.reason) {
            (Some(kind), _) => State::Covered(kind),
            (None, Some(_)) => State::Reason,
            (None, None) => State::Open,
        }
    }
}
