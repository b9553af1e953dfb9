//! Source files of the RTL with what was executed of them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::coverage::code::{Kind, Points};

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// How often it was executed; `None`: nothing in it is.
    pub count: Option<u64>,
    /// What else of it was not covered: ways of branches, terms, bits.
    pub missing: Vec<String>,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotated {
    /// Its name, from `rtl/` on.
    pub file: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// All files that have points, as they lie below `root`; one that is not there has no lines.
pub fn annotate(points: &Points, root: &Path) -> Vec<Annotated> {
    let mut missing: BTreeMap<(&str, u32), Vec<String>> = BTreeMap::new();
    let holes = points
        .iter()
        .filter(|(spot, count)| *count == 0 && spot.kind != Kind::Line);
    for (spot, _) in holes {
        let place = missing.entry((&spot.file, spot.line)).or_default();
        place.push(format!("{} {}", spot.kind, spot.what));
    }
    let executed = points.executed();
    let mut files: Vec<&str> = points.iter().map(|(spot, _)| spot.file.as_str()).collect();
    files.dedup();
    let annotated = files.into_iter().map(|file| {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        let lines = text.lines().zip(1..).map(|(text, number)| Line {
            text: text.to_owned(),
            count: executed
                .get(file)
                .and_then(|lines| lines.get(&number))
                .copied(),
            missing: missing.remove(&(file, number)).unwrap_or_default(),
        });
        Annotated {
            file: file.to_owned(),
            lines: lines.collect(),
        }
    });
    annotated.collect()
}
