//! The diagram as SVG, alone or in a page, for bright and for dark ones.

use maud::{Markup, PreEscaped, html};

use super::{Signal, Timing};

/// Left of the first clock: the names.
const GUTTER: usize = 140;
/// Width of a clock.
const CLOCK: usize = 8;
/// From line to line.
const LINE: usize = 20;
/// Above the first line: the clock to look at, the numbers.
const TOP: usize = 44;
/// Height of a wave.
const HEIGHT: usize = 12;
/// Clocks from number to number.
const NUMBERED: u64 = 8;
/// Right of the last clock.
const MARGIN: usize = 16;
/// A line of words below it at least as wide as this.
const LEAST_WIDTH: usize = 640;

/// Everything is said of `svg.timing`: a page has rules of its own.
const STYLE: &str = "
svg.timing { --page: #ffffff; --ink: #1f2328; --dim: #59636e; --grid: #d8dce2; --wave: #0550ae; --bad: #a8201a;
  --mark: #fbe0dd; background: var(--page); font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
@media (prefers-color-scheme: dark) { svg.timing { --page: #0d1117; --ink: #e6edf3; --dim: #9aa4b1; --grid: #30363d;
  --wave: #79c0ff; --bad: #ff8f86; --mark: #4a1d1a } }
svg.timing .page { fill: var(--page) } svg.timing text { fill: var(--ink) } svg.timing .dim { fill: var(--dim) }
svg.timing .group { font-weight: bold } svg.timing .grid { stroke: var(--grid) } svg.timing .mark { fill: var(--mark) }
svg.timing .bad { fill: var(--bad); font-weight: bold } svg.timing .middle { text-anchor: middle }
svg.timing .wave { stroke: var(--wave); stroke-width: 1.6; fill: none } svg.timing .small { font-size: 9px }
";

impl Timing {
    /// The file, or the element. Each decision has a number under its clock, and its words below.
    pub fn svg(&self, node: &str) -> String {
        let (groups, quiet) = self.groups();
        let mut lines: Vec<Markup> = Vec::new();
        let mut y = TOP;
        for (group, signals) in &groups {
            lines.push(html! { text class="group" x="8" y=(y + 14) { (group) } });
            y += LINE;
            for signal in signals {
                lines.push(wave(signal, y));
                y += LINE;
            }
        }
        if !self.decisions.is_empty() {
            lines.push(self.numbered(y));
            y += LINE;
        }
        let bottom = y;
        let notes = (!quiet.is_empty()).then(|| format!("nothing on: {}", quiet.join(", ")));
        let decisions = self.decisions.iter().zip(1..).map(|(decision, number)| {
            format!("{number:>2}  clock {}  {}", decision.clock, decision.action)
        });
        let words: Vec<String> = notes.into_iter().chain(decisions).collect();
        let width = (GUTTER + self.clocks() * CLOCK + MARGIN).max(LEAST_WIDTH);
        let height = bottom + words.len() * LINE + LINE;
        let page = html! {
            svg class="timing" xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height}"))
                width=(width) height=(height) role="img" aria-label=(self.title(node)) {
                title { (self.title(node)) }
                style { (PreEscaped(STYLE)) }
                rect class="page" width=(width) height=(height) {}
                (self.grid(node, bottom))
                @for line in &lines { (line) }
                @for (place, line) in words.iter().enumerate() {
                    text class="dim" xml:space="preserve" x="8" y=(bottom + (place + 1) * LINE) { (line) }
                }
            }
        };
        page.into_string()
    }

    /// Numbers, lines under them, and the clock to look at.
    fn grid(&self, node: &str, bottom: usize) -> Markup {
        let numbered =
            (0..self.clocks()).filter(|place| self.clock(*place).is_multiple_of(NUMBERED));
        html! {
            text class="group" x="8" y="16" { "node " (node) }
            @if let Some(place) = self.place(self.marked) {
                rect class="mark" x=(left(place)) y="20" width=(CLOCK) height=(bottom - 20) {}
                text class="bad middle" x=(left(place) + CLOCK / 2) y="14" { "clock " (self.marked) }
            }
            @for place in numbered {
                line class="grid" x1=(left(place)) x2=(left(place)) y1=(TOP - 6) y2=(bottom) {}
                text class="dim middle" x=(left(place) + CLOCK / 2) y=(TOP - 10) { (self.clock(place)) }
            }
        }
    }

    /// The numbers of the decisions, under their clocks.
    fn numbered(&self, y: usize) -> Markup {
        html! {
            text class="dim" x="20" y=(y + 14) { "decision" }
            @for (decision, number) in self.decisions.iter().zip(1..) {
                @if let Some(place) = self.place(decision.clock) {
                    text class="small middle" x=(left(place) + CLOCK / 2) y=(y + 14) {
                        title { (decision.action) }
                        (number)
                    }
                }
            }
        }
    }
}

/// Where a clock begins.
fn left(place: usize) -> usize {
    GUTTER + place * CLOCK
}

fn wave(signal: &Signal, y: usize) -> Markup {
    html! {
        text class="dim" x="20" y=(y + 14) { (signal.name) }
        path class="wave" data-signal=(signal.name) d=(path(signal, y + 4)) {}
    }
}

/// Along the levels; between two that differ there is an edge.
fn path(signal: &Signal, y: usize) -> String {
    let mut path = String::new();
    let mut before = None;
    for (place, high) in signal.highs().enumerate() {
        let at = if high { y } else { y + HEIGHT };
        match before {
            None => path.push_str(&format!("M{} {at}", left(place))),
            Some(before) if before != high => path.push_str(&format!("V{at}")),
            Some(_) => {}
        }
        path.push_str(&format!("H{}", left(place + 1)));
        before = Some(high);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn edges_are_where_levels_change() {
        let signal = Signal {
            group: String::new(),
            name: "x".into(),
            levels: "0110".into(),
        };
        assert_eq!(path(&signal, 10), "M140 22H148V10H156H164V22H172");
    }

    #[test]
    fn the_clock_to_look_at_is_marked_and_numbered() {
        let svg = example().svg("a");
        let x = left(4);
        assert!(
            svg.contains(&format!("<rect class=\"mark\" x=\"{x}\"")),
            "{svg}"
        );
        for part in [
            ">clock 100<",
            ">96<",
            "nothing on: memory read",
            " 2  clock 100  SqEmit",
        ] {
            assert!(svg.contains(part), "no {part:?} in\n{svg}");
        }
        assert!(!svg.contains("m_axi_arready"), "{svg}");
    }

    #[test]
    fn markup_in_a_name_is_no_markup() {
        let mut timing = example();
        timing.decisions[0].action = "<script>".into();
        timing.signals[0].name = "a\"<b>".into();
        let svg = timing.svg("<i>");
        assert!(
            !svg.contains("<script") && !svg.contains("<b>") && !svg.contains("<i>"),
            "{svg}"
        );
    }
}
