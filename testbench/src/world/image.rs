//! What memories must hold, from all that was posted.
//!
//! A byte that one request alone places, from where nothing is placed, is known: if the request has succeeded, it is
//! that of the source; if it has failed or is under way, that one or the one before; and where no request places
//! anything, what the processor wrote. Other bytes are not compared.

use std::collections::BTreeMap;

use super::ledger::{Entry, Ledger, Outcome, Stretch, What, shadows};
use super::state::State;

/// A byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    /// What the processor wrote last.
    Untouched,
    /// This one.
    Is(u8),
    /// This one, or what the processor wrote last.
    Maybe(u8),
    /// Several requests place it.
    Any,
}

/// What memories must hold, by their names.
pub(super) struct Image {
    memories: BTreeMap<String, Vec<Byte>>,
}

/// Bytes that a request places: where, which ones, and how many of them for certain.
struct Placed<'a> {
    entry: &'a Entry,
    /// `None`: not from memories of the vector alone.
    source: Option<&'a (Vec<Stretch>, Vec<u8>)>,
    certain: usize,
}

/// All that requests place.
fn placed(ledger: &Ledger) -> Vec<Placed<'_>> {
    let mut all = Vec::new();
    for life in &ledger.lives {
        let own = life.queues[0]
            .iter()
            .filter_map(|index| ledger.entry(*index));
        for entry in own.filter(|entry| matches!(entry.what, What::Read | What::Write)) {
            all.push(Placed {
                entry,
                source: entry.source.as_ref(),
                certain: if entry.succeeded() { usize::MAX } else { 0 },
            });
        }
        for (receive, send) in ledger.pairs(life) {
            let certain = match &receive.outcome {
                Outcome::Result(result) if result.status.is_success() => {
                    result.bytes_transferred as usize
                }
                _ => 0,
            };
            all.push(Placed {
                entry: receive,
                source: send.source.as_ref(),
                certain,
            });
        }
    }
    // Whose it is, nobody knows yet.
    all.extend(ledger.held().map(|entry| Placed {
        entry,
        source: None,
        certain: 0,
    }));
    all
}

/// The bytes of some places, one by one.
fn bytes(stretches: &[Stretch]) -> impl Iterator<Item = (&str, usize)> {
    stretches.iter().flat_map(|stretch| {
        let start = stretch.offset as usize;
        (start..start + stretch.length as usize).map(|at| (stretch.memory.as_str(), at))
    })
}

impl Image {
    /// The image as it must be now.
    pub(super) fn of(state: &State) -> Self {
        let mut image = Self {
            memories: state
                .memories
                .iter()
                .map(|(name, memory)| {
                    (name.clone(), vec![Byte::Untouched; memory.bytes() as usize])
                })
                .collect(),
        };
        let all = placed(&state.ledger);
        for placed in &all {
            image.claim(state, placed);
        }
        // What is placed somewhere and taken from there again is the newer or the older.
        for placed in &all {
            let Some((source, _)) = placed.source else {
                continue;
            };
            let changes = bytes(source).any(|(memory, at)| {
                image
                    .byte(memory, at)
                    .is_some_and(|byte| *byte != Byte::Untouched)
            });
            if changes {
                image.give_up(placed.entry);
            }
        }
        image
    }

    fn byte(&mut self, memory: &str, at: usize) -> Option<&mut Byte> {
        self.memories.get_mut(memory)?.get_mut(at)
    }

    /// Nothing is known of what a request places.
    fn give_up(&mut self, entry: &Entry) {
        let sink = entry.sink.iter().flat_map(|(sink, _)| bytes(sink));
        for (memory, at) in sink {
            if let Some(byte) = self.byte(memory, at) {
                *byte = Byte::Any;
            }
        }
    }

    fn claim(&mut self, state: &State, placed: &Placed<'_>) {
        let Some((sink, before)) = &placed.entry.sink else {
            return;
        };
        let Some((source, content)) = placed.source else {
            self.give_up(placed.entry);
            return;
        };
        // The processor must leave alone what requests use.
        let steady = shadows(state, sink).as_ref() == Some(before)
            && shadows(state, source).as_ref() == Some(content);
        for (number, ((memory, at), source)) in bytes(sink).zip(content).enumerate() {
            if let Some(byte) = self.byte(memory, at) {
                *byte = match *byte {
                    Byte::Untouched if steady && number < placed.certain => Byte::Is(*source),
                    Byte::Untouched if steady => Byte::Maybe(*source),
                    _ => Byte::Any,
                };
            }
        }
    }

    /// Compares a memory; how many bytes were, or what is wrong: where, what it is, and what it may be.
    pub(super) fn compare(
        &self,
        memory: &str,
        shadow: &[u8],
        got: &[u8],
    ) -> Result<u64, (usize, u8, Vec<u8>)> {
        let mut compared = 0;
        let image = self.memories.get(memory).into_iter().flatten();
        for (at, ((byte, before), got)) in image.zip(shadow).zip(got).enumerate() {
            let may = match byte {
                Byte::Untouched => vec![*before],
                Byte::Is(byte) => vec![*byte],
                Byte::Maybe(byte) => vec![*before, *byte],
                Byte::Any => continue,
            };
            if !may.contains(got) {
                return Err((at, *got, may));
            }
            compared += u64::from(!matches!(byte, Byte::Untouched));
        }
        Ok(compared)
    }
}
