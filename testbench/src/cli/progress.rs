//! A bar that shows how far a command is, on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar of a length, with what stands behind it in the words of `indicatif`.
pub fn bar(length: u64, behind: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {behind}"))
    {
        bar.set_style(style);
    }
    bar
}
