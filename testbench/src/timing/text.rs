//! The diagram in characters.

use super::{Signal, Timing};

/// Before the first clock: the names.
const GUTTER: usize = 18;
/// Clocks from number to number.
const NUMBERED: u64 = 8;

impl Timing {
    /// Lines of about `width` characters, with as many clocks as fit, each one character wide; the one to look at is
    /// marked above and below.
    pub fn text(&self, node: &str, width: usize) -> String {
        let shown = width.saturating_sub(GUTTER).clamp(1, self.clocks().max(1));
        let before = self.place(self.marked).unwrap_or(0);
        // The clock to look at is among them, with a third of the others before it where there are so many.
        let skipped = before
            .saturating_sub(shown / 3)
            .min(self.clocks().saturating_sub(shown));
        self.part(skipped, shown).lines(node)
    }

    /// So many clocks of it, without the first ones.
    fn part(&self, skipped: usize, shown: usize) -> Self {
        let cut = |signal: &Signal| Signal {
            levels: signal.levels.chars().skip(skipped).take(shown).collect(),
            ..signal.clone()
        };
        let mut part = Self {
            first: self.clock(skipped),
            marked: self.marked,
            signals: self.signals.iter().map(cut).collect(),
            decisions: Vec::new(),
        };
        let decisions = self.decisions.iter();
        part.decisions = decisions
            .filter(|decision| part.place(decision.clock).is_some())
            .cloned()
            .collect();
        part
    }

    fn lines(&self, node: &str) -> String {
        let (groups, quiet) = self.groups();
        let mut lines = vec![self.title(node), self.numbers()];
        let marks = self.place(self.marked).map(|place| {
            let blank = " ".repeat(GUTTER + place);
            [format!("{blank}▼"), format!("{blank}▲")]
        });
        lines.extend(marks.iter().map(|[above, _]| above.clone()));
        for (group, signals) in groups {
            lines.push(group.to_owned());
            for signal in signals {
                let wave: String = signal
                    .highs()
                    .map(|high| if high { '█' } else { '▁' })
                    .collect();
                lines.push(format!(
                    "  {:<width$}{wave}",
                    signal.name,
                    width = GUTTER - 2
                ));
            }
        }
        lines.extend(marks.iter().map(|[_, below]| below.clone()));
        if !quiet.is_empty() {
            lines.push(format!("nothing on: {}", quiet.join(", ")));
        }
        for decision in &self.decisions {
            lines.push(format!("  {:>8}  {}", decision.clock, decision.action));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    /// Numbers of clocks, each at its place.
    fn numbers(&self) -> String {
        let mut line = " ".repeat(GUTTER);
        for place in 0..self.clocks() {
            let clock = self.clock(place);
            if clock.is_multiple_of(NUMBERED) {
                let missing = (GUTTER + place).saturating_sub(line.chars().count());
                line.push_str(&" ".repeat(missing));
                line.push_str(&clock.to_string());
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;

    #[test]
    fn a_narrow_one_keeps_the_clock_to_look_at() {
        let text = example().text("a", 18 + 3);
        assert!(
            text.starts_with("node a, clocks 99 to 101; look at 100\n"),
            "{text}"
        );
        assert!(text.contains("  commit_valid    ▁█▁\n"), "{text}");
        assert!(!text.contains("SqDoorbell"), "{text}");
        let one = example().text("a", 0);
        assert!(one.contains("  commit_valid    █\n"), "{one}");
    }

    #[test]
    fn levels_stand_under_their_clocks() {
        let text = example().text("a", 100);
        let wanted = "\
node a, clocks 96 to 103; look at 100
                  96
                      ▼
decisions
  commit_valid    ▁█▁▁█▁▁▁
frames sent
  m_axis_tvalid   ▁▁███▁▁▁
  m_axis_tready   ██▁█████
                      ▲
nothing on: memory read
        97  SqDoorbell: queue pair 2, producer index 1
       100  SqEmit: queue pair 2, request 0, psn 0x000000
";
        assert_eq!(text, wanted);
    }
}
