//! What is covered and what is not: holes, shares by room and by file, waivers that are wrong.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::code::{Kind, Spot, room};
use super::data::Data;
use super::waivers::{Claim, Waivers};

/// A share: so many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Covered.
    pub covered: usize,
    /// All that are to be covered: waived ones are not.
    pub total: usize,
    /// Waived, or known to be impossible.
    pub waived: usize,
}

impl Share {
    /// In percent; nothing is 100.
    pub fn percent(self) -> f64 {
        match self.total {
            0 => 100.0,
            total => 100.0 * self.covered as f64 / total as f64,
        }
    }

    fn count(&mut self, state: &State) {
        match state {
            State::Covered => {
                self.covered += 1;
                self.total += 1;
            }
            State::Hole => self.total += 1,
            State::Waived | State::Refuted(_) => self.waived += 1,
        }
    }
}

/// How it stands with something that is to be covered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Covered,
    Hole,
    Waived,
    /// It was covered, and a waiver says that it cannot be.
    Refuted(String),
}

/// Something that is not covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "of", rename_all = "lowercase")]
pub enum Hole {
    /// A bin of a cover point.
    Bin {
        /// The point.
        point: String,
        /// The bin.
        bin: String,
    },
    /// A point of the code.
    Code {
        /// Kind.
        kind: Kind,
        /// File, from `rtl/` on.
        file: String,
        /// Line.
        line: u32,
        /// What of the line.
        what: String,
    },
}

/// Something that is covered, although it is said that it cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refuted {
    /// What.
    pub what: String,
    /// Why it was thought impossible.
    pub reason: String,
}

/// Shares by kind.
pub type Shares = BTreeMap<Kind, Share>;

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Commands that were added up.
    pub commands: Vec<String>,
    /// Bins of all cover points.
    pub functional: Share,
    /// Bins by point.
    pub points: BTreeMap<String, Share>,
    /// Points of the code, by kind; nothing if none were counted.
    pub code: Shares,
    /// By room.
    pub rooms: BTreeMap<String, Shares>,
    /// By file.
    pub files: BTreeMap<String, Shares>,
    /// What is not covered.
    pub holes: Vec<Hole>,
    /// What cannot be and is.
    pub refuted: Vec<Refuted>,
}

impl Report {
    /// Looks at data with waivers; the source files lie below `root`.
    pub fn new(data: &Data, waivers: &Waivers, root: &Path) -> Self {
        let mut report = Self {
            commands: data.commands.clone(),
            functional: Share::default(),
            points: BTreeMap::new(),
            code: Shares::new(),
            rooms: BTreeMap::new(),
            files: BTreeMap::new(),
            holes: Vec::new(),
            refuted: Vec::new(),
        };
        report.add_functional(data, waivers);
        report.add_code(data, waivers, root);
        report
    }

    fn add_functional(&mut self, data: &Data, waivers: &Waivers) {
        for (point, bins) in data.functional.bins() {
            let share = self.points.entry(point.name.to_owned()).or_default();
            for bin in bins {
                let name = bin.name();
                let mut waivers = waivers.functional.iter();
                let waiver = waivers.find(|waiver| waiver.fits(point.name, &name));
                let never = bin
                    .never
                    .map(|why| (Claim::Unreachable, why))
                    .or(waiver.map(|waiver| (waiver.claim, waiver.reason.as_str())));
                let state = state(bin.count, never);
                share.count(&state);
                self.functional.count(&state);
                match state {
                    State::Hole => self.holes.push(Hole::Bin {
                        point: point.name.to_owned(),
                        bin: name,
                    }),
                    State::Refuted(reason) => self.refuted.push(Refuted {
                        what: format!("{}: {name}", point.name),
                        reason,
                    }),
                    _ => {}
                }
            }
        }
    }

    fn add_code(&mut self, data: &Data, waivers: &Waivers, root: &Path) {
        let mut sources = Sources::new(root);
        let mut lines: BTreeMap<(String, u32), State> = BTreeMap::new();
        for (spot, count) in data.code.iter() {
            let source = sources.line(spot);
            let waiver = waivers.code.iter().find(|waiver| waiver.fits(spot, source));
            let state = state(
                count,
                waiver.map(|waiver| (waiver.claim, waiver.reason.as_str())),
            );
            if let State::Refuted(reason) = &state {
                let Spot {
                    file,
                    line,
                    what,
                    kind,
                    ..
                } = spot;
                self.refuted.push(Refuted {
                    what: format!("{file}:{line}: {kind} {what}"),
                    reason: reason.clone(),
                });
            }
            if matches!(spot.kind, Kind::Line | Kind::Branch) {
                for line in spot.lines() {
                    let slot = lines.entry((spot.file.clone(), line));
                    let slot = slot.or_insert_with(|| state.clone());
                    // A line is executed if one of its blocks is.
                    if state == State::Covered || *slot == State::Hole {
                        *slot = state.clone();
                    }
                }
            }
            if spot.kind != Kind::Line {
                self.count(spot.kind, &spot.file, &state);
                if state == State::Hole {
                    self.holes.push(Hole::Code {
                        kind: spot.kind,
                        file: spot.file.clone(),
                        line: spot.line,
                        what: spot.what.clone(),
                    });
                }
            }
        }
        for ((file, line), state) in lines {
            self.count(Kind::Line, &file, &state);
            if state == State::Hole {
                self.holes.push(Hole::Code {
                    kind: Kind::Line,
                    file,
                    line,
                    what: String::new(),
                });
            }
        }
    }

    fn count(&mut self, kind: Kind, file: &str, state: &State) {
        let files = self.files.entry(file.to_owned()).or_default();
        let rooms = self.rooms.entry(room(file).to_owned()).or_default();
        for shares in [&mut self.code, files, rooms] {
            shares.entry(kind).or_default().count(state);
        }
    }
}

/// How it stands with something that was covered so often, and is waived or not.
fn state(count: u64, waiver: Option<(Claim, &str)>) -> State {
    match (count, waiver) {
        (0, None) => State::Hole,
        (0, Some(_)) => State::Waived,
        (_, Some((Claim::Unreachable, reason))) => State::Refuted(reason.to_owned()),
        _ => State::Covered,
    }
}

/// Source files, read once.
struct Sources<'a> {
    root: &'a Path,
    files: BTreeMap<String, Vec<String>>,
}

impl<'a> Sources<'a> {
    fn new(root: &'a Path) -> Self {
        let files = BTreeMap::new();
        Self { root, files }
    }

    /// The text of the line that a point is on; `None` if the file is not there.
    fn line(&mut self, spot: &Spot) -> Option<&str> {
        if !self.files.contains_key(&spot.file) {
            let text = std::fs::read_to_string(self.root.join(&spot.file)).unwrap_or_default();
            let lines = text.lines().map(str::to_owned).collect();
            self.files.insert(spot.file.clone(), lines);
        }
        let lines = self.files.get(&spot.file)?;
        lines
            .get(spot.line.saturating_sub(1) as usize)
            .map(String::as_str)
    }
}
