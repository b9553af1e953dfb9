//! The chart as SVG: one file without others, for bright and for dark pages.

use maud::{PreEscaped, html};

use super::{Chart, Row, Tone, Way};

/// Left of the first column: number and time.
const GUTTER: usize = 150;
/// From column to column: as far as the longest words of an arrow need, within bounds.
const DISTANCES: std::ops::RangeInclusive<usize> = 320..=760;
/// Width of a character.
const CHARACTER: usize = 8;
/// From arrow to arrow.
const LINE: usize = 34;
/// Above the first arrow: the names.
const TOP: usize = 56;

const STYLE: &str = "
svg { --page: #ffffff; --ink: #1f2328; --dim: #6e7781; --lane: #d0d7de; --request: #0550ae; --response: #116329;
  --refusal: #b35900; --management: #6639ba; --broken: #cf222e; background: var(--page);
  font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3; --dim: #8d96a0; --lane: #30363d;
  --request: #79c0ff; --response: #7ee787; --refusal: #ffa657; --management: #d2a8ff; --broken: #ff7b72 } }
.page { fill: var(--page) } .lane { stroke: var(--lane) } text { fill: var(--ink) } .dim { fill: var(--dim) }
.name { font-weight: bold; text-anchor: middle } .label { text-anchor: middle; fill: var(--tone) }
.line { stroke: var(--tone); stroke-width: 1.5 } .tip { fill: var(--tone) } .arrival { stroke-dasharray: 4 3 }
.request { --tone: var(--request) } .response { --tone: var(--response) } .refusal { --tone: var(--refusal) }
.management { --tone: var(--management) } .broken { --tone: var(--broken) } .other { --tone: var(--dim) }
";

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Refusal => "refusal",
            Self::Management => "management",
            Self::Broken => "broken",
            Self::Other => "other",
        }
    }
}

impl Chart {
    /// The file. Each arrow has all headers of its frame as a tooltip.
    pub fn svg(&self, title: &str) -> String {
        let gaps = self.columns.len().saturating_sub(1).max(1);
        let lanes = Lanes::of(self);
        let width = GUTTER + gaps * lanes.distance + 80;
        let height =
            TOP + self.rows.len() * LINE + if self.end.is_some() { 2 * LINE } else { LINE };
        let page = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}"))
                width=(width) height=(height) role="img" {
                title { (title) }
                style { (PreEscaped(STYLE)) }
                rect class="page" width=(width) height=(height) {}
                @for (column, name) in self.columns.iter().enumerate() {
                    text class="name" x=(lanes.at(column)) y="24" { (name) }
                    line class="lane" x1=(lanes.at(column)) x2=(lanes.at(column)) y1="34" y2=(height - LINE / 2) {}
                }
                @for (place, row) in self.rows.iter().enumerate() {
                    (lanes.arrow(row, TOP + place * LINE))
                }
                @if let Some(end) = &self.end {
                    text class="broken label" style="text-anchor: start" x="8" y=(height - LINE) { "✗ " (end) }
                }
            }
        };
        page.into_string()
    }
}

/// Where the columns are.
struct Lanes {
    distance: usize,
    columns: usize,
}

impl Lanes {
    fn of(chart: &Chart) -> Self {
        let longest = chart
            .rows
            .iter()
            .map(|row| words(row).chars().count())
            .max();
        let wanted = longest.unwrap_or(0) * CHARACTER + 40;
        Self {
            distance: wanted.clamp(*DISTANCES.start(), *DISTANCES.end()),
            columns: chart.columns.len(),
        }
    }

    fn at(&self, column: usize) -> usize {
        GUTTER + column * self.distance
    }

    fn arrow(&self, row: &Row, y: usize) -> PreEscaped<String> {
        let from = self.at(row.from);
        let farthest = if row.from == 0 {
            self.columns.saturating_sub(1)
        } else {
            0
        };
        let to = self.at(row.to.unwrap_or(farthest));
        let start = if row.way == Way::Arrival {
            (from + to) / 2
        } else {
            from
        };
        let right = from <= to;
        let end = match (row.way, right) {
            (Way::Lost, true) => to.saturating_sub(self.distance / 5),
            (Way::Lost, false) => to + self.distance / 5,
            (_, true) => to - 8,
            (_, false) => to + 8,
        };
        let line = y + 14;
        let tip = match right {
            true => format!(
                "{to},{line} {},{} {},{}",
                to - 9,
                line - 5,
                to - 9,
                line + 5
            ),
            false => format!(
                "{to},{line} {},{} {},{}",
                to + 9,
                line - 5,
                to + 9,
                line + 5
            ),
        };
        let cross = format!("M{} {}l10 10m0 -10l-10 10", end - 5, line - 5);
        let dashes = if row.way == Way::Arrival {
            "line arrival"
        } else {
            "line"
        };
        html! {
            g class=(row.tone.class()) {
                title { (row.detail) }
                text class="dim" x="8" y=(y + 18) { (row.number) }
                text class="dim" x="138" y=(y + 18) style="text-anchor: end" {
                    (format!("{:.3} µs", row.time.as_nanos() as f64 / 1000.0))
                }
                text class="label" x=((from + to) / 2) y=(y + 8) {
                    (words(row))
                }
                line class=(dashes) x1=(start) x2=(end) y1=(line) y2=(line) {}
                @if row.way == Way::Lost {
                    path class="line" d=(cross) {}
                } @else {
                    polygon class="tip" points=(tip) {}
                }
            }
        }
    }
}

/// What stands at an arrow.
fn words(row: &Row) -> String {
    let notes = row.notes.iter().map(|note| format!(" [{note}]"));
    format!("{}{}", row.label, notes.collect::<String>())
}
