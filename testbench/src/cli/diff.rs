//! `tandem diff`.

use std::path::{Path, PathBuf};

use miette::Result;
use serde::Serialize;
use tandem_testbench::diff::{Options, diff};

use super::output::Output;

/// Arguments of `diff`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Capture, folder of a kept failure, or JSON file
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Another one
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Frames that are the same but came at other times differ
    #[arg(long)]
    times: bool,

    /// Frames or lines that are shown around the difference
    #[arg(long, value_name = "N", default_value_t = Options::default().context)]
    context: usize,

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json<'a> {
    same: bool,
    a: &'a Path,
    b: &'a Path,
    /// The first difference, in words.
    difference: Option<&'a str>,
}

/// Runs the command: it passes if there is no difference.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let options = Options {
        times: arguments.times,
        context: arguments.context,
    };
    let found = diff(&arguments.a, &arguments.b, options);
    let found = found.map_err(|error| miette::miette!("{error}"))?;
    let json = Json {
        same: found.is_none(),
        a: &arguments.a,
        b: &arguments.b,
        difference: found.as_deref(),
    };
    arguments.output.tell(&json, || match &found {
        None => println!("no difference"),
        Some(words) => {
            println!("A {}\nB {}", arguments.a.display(), arguments.b.display());
            print!("{words}");
        }
    })?;
    Ok(json.same)
}
