//! Soon.
use miette::Result;
/// Arguments.
#[derive(clap::Args)]
pub struct Arguments {}
/// Runs the command.
pub fn run(_: &Arguments) -> Result<bool> {
    Ok(true)
}
