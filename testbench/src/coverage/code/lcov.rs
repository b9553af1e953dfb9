//! The format of LCOV: executed lines and ways of branches, file by file.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Kind, Points};

/// See the module.
pub(super) fn text(points: &Points) -> String {
    let mut branches: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let ways = points.iter().filter(|(spot, _)| spot.kind == Kind::Branch);
    let mut last = None;
    let mut way = 0;
    for (spot, count) in ways {
        let place = (spot.file.as_str(), spot.line, spot.column);
        way = if last == Some(place) { way + 1 } else { 0 };
        last = Some(place);
        let (line, block) = (spot.line, spot.column);
        let rows = branches.entry(&spot.file).or_default();
        rows.push(format!("BRDA:{line},{block},{way},{count}"));
    }
    let mut text = String::new();
    for (file, lines) in points.executed() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "TN:tandem\nSF:{file}");
        let rows = branches.get(file).map(Vec::as_slice).unwrap_or_default();
        for row in rows {
            let _ = writeln!(text, "{row}");
        }
        let taken = rows.iter().filter(|row| !row.ends_with(",0")).count();
        let _ = writeln!(text, "BRF:{}\nBRH:{taken}", rows.len());
        for (line, count) in &lines {
            let _ = writeln!(text, "DA:{line},{count}");
        }
        let hit = lines.values().filter(|count| **count > 0).count();
        let _ = writeln!(text, "LF:{}\nLH:{hit}\nend_of_record", lines.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::coverage::code::{Kind, Points, Spot};

    #[test]
    fn lines_and_branches_are_counted_by_file() {
        let spot = |line, kind, what: &str, lines: &str| Spot {
            file: "rtl/lib/nd_x.sv".into(),
            line,
            column: 3,
            kind,
            what: what.into(),
            lines: lines.into(),
        };
        let mut points = Points::default();
        points.count(spot(4, Kind::Line, "block", "4-5"), 9);
        points.count(spot(7, Kind::Branch, "else", "9"), 0);
        points.count(spot(7, Kind::Branch, "if", "7-8"), 2);
        points.count(spot(7, Kind::Toggle, "x[0]", ""), 5);
        let expected = "TN:tandem\nSF:rtl/lib/nd_x.sv\nBRDA:7,3,0,0\nBRDA:7,3,1,2\nBRF:2\nBRH:1\n\
                        DA:4,9\nDA:5,9\nDA:7,2\nDA:8,2\nDA:9,0\nLF:5\nLH:4\nend_of_record\n";
        assert_eq!(points.lcov(), expected);
    }
}
