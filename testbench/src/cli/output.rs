//! How a command tells what it did: all of it, only what failed and the verdict, or one JSON document.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::Result;
use serde::Serialize;

/// The two options that every command has whose output is not for other programs anyway.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct Output {
    /// Print one JSON document, and nothing else
    #[arg(long, overrides_with = "quiet")]
    pub json: bool,

    /// Print nothing but what failed, and the verdict
    #[arg(short, long, overrides_with = "json")]
    pub quiet: bool,
}

/// What is printed in place of the document if there is none.
#[derive(Serialize)]
struct Failed<'a> {
    error: &'a str,
}

impl Output {
    /// Whether all is told, in words.
    pub fn is_full(self) -> bool {
        !self.json && !self.quiet
    }

    /// Prints the document if one is wanted, else what `words` prints.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    pub fn tell(self, value: &impl Serialize, words: impl FnOnce()) -> Result<()> {
        match self.json {
            true => document(value),
            false => {
                words();
                Ok(())
            }
        }
    }

    /// A bar on the standard error output, if there is somebody to look at it.
    pub fn progress(self, length: u64, of: &str) -> ProgressBar {
        let bar = ProgressBar::new(length);
        if self.quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {of}"))
        {
            bar.set_style(style);
        }
        bar
    }
}

/// Prints a document.
///
/// # Errors
/// The value cannot be written as JSON.
pub fn document(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value);
    println!("{}", text.map_err(|error| miette::miette!("{error}"))?);
    Ok(())
}

/// Prints the document of a command that could not do its work.
pub fn failed(error: &str) {
    // Writing a text does not fail.
    let _ = document(&Failed { error });
}
