//! `tandem diff`.

use std::path::PathBuf;

use miette::Result;
use tandem_testbench::diff::{Options, diff};

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
}

/// Runs the command: it passes if there is no difference.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let options = Options {
        times: arguments.times,
        context: arguments.context,
    };
    let found = diff(&arguments.a, &arguments.b, options);
    match found.map_err(|error| miette::miette!("{error}"))? {
        None => {
            println!("no difference");
            Ok(true)
        }
        Some(words) => {
            println!("A {}\nB {}", arguments.a.display(), arguments.b.display());
            print!("{words}");
            Ok(false)
        }
    }
}
