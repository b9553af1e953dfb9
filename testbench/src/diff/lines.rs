//! Two texts, line by line.

use super::Options;

/// The first line in which they differ, with those before it.
pub(super) fn difference(a: &str, b: &str, options: Options) -> Option<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
    let pairs = a.iter().zip(&b);
    let at = match pairs.clone().position(|(a, b)| a != b) {
        Some(at) => at,
        None if a.len() == b.len() => return None,
        None => a.len().min(b.len()),
    };
    let mut out = String::new();
    let start = at.saturating_sub(options.context);
    for (number, line) in a.iter().enumerate().take(at).skip(start) {
        out.push_str(&format!("  line {}: {line}\n", number + 1));
    }
    for (name, lines) in [("A", &a), ("B", &b)] {
        out.push_str(&match lines.get(at) {
            Some(line) => format!("{name} line {}: {line}\n", at + 1),
            None => format!("{name} ends after line {at}\n"),
        });
    }
    Some(out)
}
