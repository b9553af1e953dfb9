//! What a check finds.

use std::time::Duration;

use super::file::Packet;
use super::quirks::Quirk;

/// A frame of the capture: its number, and when it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Number, from 1.
    pub number: usize,
    /// Time stamp.
    pub time: Duration,
}

impl From<&Packet> for At {
    fn from(packet: &Packet) -> Self {
        Self {
            number: packet.number,
            time: packet.time,
        }
    }
}

/// How a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Nothing that the network may do explains it.
    Violation,
    /// It breaks a requirement, in a way that Linux is known for.
    Quirk(&'static Quirk),
    /// Loss, duplication, reordering or damage on the way explains it.
    Explained,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The frame that shows it.
    pub at: At,
    /// The connection, if it is of one: its place in the report.
    pub connection: Option<usize>,
    /// The requirement.
    pub id: &'static str,
    /// What is the case, in words.
    pub message: String,
    /// How it counts.
    pub weight: Weight,
}

/// Why nothing is certain on a connection from a frame on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// The frame.
    pub at: At,
    /// What is the matter with it, to be said behind its number.
    pub why: &'static str,
}

/// Findings as they are made.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The connection that is looked at.
    pub(super) connection: Option<usize>,
    /// Why nothing counts as a violation any more.
    pub(super) excuse: Option<Excuse>,
    pub(super) all: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, at: At, id: &'static str, message: String, weight: Weight) {
        self.all.push(Finding {
            at,
            connection: self.connection,
            id,
            message,
            weight,
        });
    }

    /// A requirement is broken for certain.
    pub(super) fn violation(&mut self, at: At, id: &'static str, message: impl Into<String>) {
        let message = message.into();
        match self.excuse {
            None => self.add(at, id, message, Weight::Violation),
            Some(Excuse { at: frame, why }) => {
                let message = format!("{message}; but frame {} {why}", frame.number);
                self.add(at, id, message, Weight::Explained);
            }
        }
    }

    /// A requirement is broken in a way that Linux is known for.
    pub(super) fn quirk(
        &mut self,
        at: At,
        id: &'static str,
        quirk: &'static Quirk,
        message: impl Into<String>,
    ) {
        self.add(at, id, message.into(), Weight::Quirk(quirk));
    }

    /// What the network explains.
    pub(super) fn explained(&mut self, at: At, id: &'static str, message: impl Into<String>) {
        self.add(at, id, message.into(), Weight::Explained);
    }

    /// A violation if nothing can have been lost or exchanged before the frame was captured, else explained by it.
    pub(super) fn unless_lost(
        &mut self,
        complete: bool,
        at: At,
        id: &'static str,
        message: impl Into<String>,
    ) {
        match complete {
            true => self.violation(at, id, message),
            false => self.explained(at, id, message),
        }
    }
}
