//! The chart in characters.

use super::{Chart, Row, Way};

/// Columns are at least so far from each other.
const LEAST_DISTANCE: usize = 16;

impl Chart {
    /// Lines of about `width` characters; more if the columns need them.
    pub fn text(&self, width: usize) -> String {
        let times: Vec<String> = self.rows.iter().map(micros).collect();
        let number = self.rows.iter().map(|row| row.number.to_string().len());
        let number = number.max().unwrap_or(0).max("frame".len());
        let time = times
            .iter()
            .map(String::len)
            .max()
            .unwrap_or(0)
            .max("µs".len());
        let gutter = number + 2 + time + 2;
        let canvas = Lanes::new(self.columns.len(), width.saturating_sub(gutter));
        let mut lines = vec![format!(
            "{:>number$}  {:>time$}  {}",
            "frame",
            "µs",
            canvas.names(&self.columns)
        )];
        for (row, passed) in self.rows.iter().zip(&times) {
            let [above, arrow] = canvas.arrow(row);
            if let Some(above) = above {
                lines.push(format!("{:gutter$}{above}", ""));
            }
            let arrow = arrow.unwrap_or_default();
            lines.push(format!("{:>number$}  {passed:>time$}  {arrow}", row.number));
        }
        if let Some(end) = &self.end {
            lines.push(format!("{:gutter$}✗ {end}", ""));
        }
        let mut text = String::new();
        for line in lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        if self.rows.len() < self.frames {
            text.push_str(&format!("{} of {} frames\n", self.rows.len(), self.frames));
        }
        text
    }
}

/// Microseconds, to the nanosecond.
fn micros(row: &Row) -> String {
    let nanos = row.time.as_nanos();
    format!("{}.{:03}", nanos / 1000, nanos % 1000)
}

/// Where the columns are.
struct Lanes {
    places: Vec<usize>,
    width: usize,
}

impl Lanes {
    fn new(columns: usize, width: usize) -> Self {
        let gaps = columns.saturating_sub(1).max(1);
        let distance = (width.saturating_sub(1) / gaps).max(LEAST_DISTANCE);
        Self {
            places: (0..columns).map(|column| column * distance).collect(),
            width: gaps * distance + 1,
        }
    }

    /// The names, each at its column, the last one before it.
    fn names(&self, names: &[String]) -> String {
        let mut line = vec![' '; self.width];
        for (place, name) in self.places.iter().zip(names) {
            let most = LEAST_DISTANCE - 2;
            let shown = shorten(name, most);
            let start = (*place).min(self.width.saturating_sub(shown.chars().count()));
            write(&mut line, start, &shown);
        }
        line.into_iter().collect()
    }

    fn blank(&self) -> Vec<char> {
        let mut line = vec![' '; self.width];
        for place in &self.places {
            write(&mut line, *place, "│");
        }
        line
    }

    /// The line above an arrow, if its words need one, and the arrow.
    fn arrow(&self, row: &Row) -> [Option<String>; 2] {
        let mut words = row.label.clone();
        for note in &row.notes {
            words.push_str(&format!(" [{note}]"));
        }
        let at = |column: usize| self.places.get(column).copied().unwrap_or(0);
        let from = at(row.from);
        let farthest = || {
            let ends = [0, self.width - 1];
            let far = ends.into_iter().max_by_key(|end| end.abs_diff(from));
            far.unwrap_or(0)
        };
        let to = row.to.map_or_else(farthest, at);
        let mut line = self.blank();
        if from == to {
            write(&mut line, from + 1, &format!(" ↺ {words}"));
            return [None, Some(line.into_iter().collect())];
        }
        let (middle, dash) = (
            (from + to) / 2,
            if row.way == Way::Arrival {
                '╌'
            } else {
                '─'
            },
        );
        let start = if row.way == Way::Arrival {
            middle
        } else {
            from
        };
        let (low, high) = (start.min(to), start.max(to));
        let inner = low + usize::from(low == from || low == to)..high;
        for place in inner.clone() {
            if let Some(cell) = line.get_mut(place) {
                *cell = dash;
            }
        }
        let right = from < to;
        let (head, tip) = (
            if right { to - 1 } else { to + 1 },
            if right { "▶" } else { "◀" },
        );
        match row.way {
            Way::Lost => {
                write(&mut line, head, "✕");
            }
            Way::Through | Way::Arrival => write(&mut line, head, tip),
        }
        let room = inner.len().saturating_sub(6);
        let length = words.chars().count();
        if length <= room {
            let start = low + (high - low).saturating_sub(length + 2) / 2;
            write(&mut line, start.max(low + 2), &format!(" {words} "));
            return [None, Some(line.into_iter().collect())];
        }
        let shown = shorten(&words, self.width.saturating_sub(4));
        let left = self.width.saturating_sub(shown.chars().count() + 2);
        let mut above = self.blank();
        write(&mut above, (from.min(to) + 2).min(left), &shown);
        [above, line].map(|line| Some(line.into_iter().collect()))
    }
}

/// Puts text into a line, as far as the line goes.
fn write(line: &mut [char], start: usize, text: &str) {
    let cells = line.iter_mut().skip(start);
    cells.zip(text.chars()).for_each(|(cell, c)| *cell = c);
}

/// The beginning of a text that is too long.
fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}
