//! `tandem.toml`: what options are if the command line does not say.
//!
//! A table for each command, with its long options: `[run]`, `target = "rtl"`. The file is looked for in the current folder
//! and those above it; `TANDEM_CONFIG` names another one, or none if it is empty.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Command};
use miette::Result;
use tandem_testbench::vector::Fault;
use toml::{Spanned, Value};

use super::report;

/// Name of the file.
const FILE: &str = "tandem.toml";
/// Names another file.
const VARIABLE: &str = "TANDEM_CONFIG";

type Options = BTreeMap<Spanned<String>, Spanned<Value>>;
type Tables = BTreeMap<Spanned<String>, Options>;

/// The command line with the options of the file before those that were typed, which are stronger.
///
/// # Errors
/// If the file cannot be read, or is not about this program.
pub fn arguments(program: &Command, typed: Vec<OsString>) -> Result<Vec<OsString>> {
    match file()? {
        None => Ok(typed),
        Some(path) => {
            let text = std::fs::read_to_string(&path)
                .map_err(|error| miette::miette!("cannot read {}: {error}", path.display()))?;
            merge(program, typed, &path, &text)
        }
    }
}

/// The file that counts.
fn file() -> Result<Option<PathBuf>> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Ok((!named.is_empty()).then(|| named.into()));
    }
    let here = std::env::current_dir();
    let here = here.map_err(|error| miette::miette!("the current folder is not there: {error}"))?;
    let found = here.ancestors().map(|folder| folder.join(FILE));
    Ok(found.into_iter().find(|path| path.is_file()))
}

fn merge(
    program: &Command,
    typed: Vec<OsString>,
    path: &Path,
    text: &str,
) -> Result<Vec<OsString>> {
    let wrong = |fault: Fault| report::fault(path, text, &fault);
    let tables: Tables = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        wrong(Fault::new(span, error.message().to_owned()))
    })?;
    let mut additions: Vec<OsString> = Vec::new();
    let command = typed
        .get(1)
        .and_then(|word| word.to_str())
        .unwrap_or_default();
    for (name, options) in &tables {
        let Some(known) = program.find_subcommand(name.get_ref()) else {
            let message = format!("`tandem` has no command `{}`", name.get_ref());
            return Err(wrong(Fault::new(name.span(), message)));
        };
        let of_command = name.get_ref() == command;
        for (option, value) in options {
            let words = option_words(known, option, value).map_err(wrong)?;
            if of_command {
                additions.extend(words.into_iter().map(OsString::from));
            }
        }
    }
    let mut all = typed;
    let place = all.len().min(2);
    all.splice(place..place, additions);
    Ok(all)
}

/// An option as one types it.
fn option_words(
    command: &Command,
    option: &Spanned<String>,
    value: &Spanned<Value>,
) -> std::result::Result<Vec<String>, Fault> {
    let name = option.get_ref();
    let known = command
        .get_arguments()
        .find(|argument| argument.get_long() == Some(name))
        .ok_or_else(|| {
            let message = format!("`tandem {}` has no option `--{name}`", command.get_name());
            Fault::new(option.span(), message)
        })?;
    let is_flag = matches!(known.get_action(), ArgAction::SetTrue);
    let text = match value.get_ref() {
        Value::Boolean(set) if is_flag => {
            return Ok(if *set {
                vec![format!("--{name}")]
            } else {
                Vec::new()
            });
        }
        _ if is_flag => {
            let message = format!("`--{name}` is there or not: true or false");
            return Err(Fault::new(value.span(), message));
        }
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        _ => {
            let message = format!("`--{name}` takes a text or a number");
            return Err(Fault::new(value.span(), message));
        }
    };
    Ok(vec![format!("--{name}={text}")])
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Arguments;

    fn merged(typed: &str, text: &str) -> std::result::Result<String, String> {
        let typed = typed.split(' ').map(OsString::from).collect();
        let all = merge(&Arguments::command(), typed, Path::new(FILE), text);
        let all = all.map_err(|report| report::plain(&report))?;
        let all: Vec<_> = all.iter().map(|word| word.to_string_lossy()).collect();
        Ok(all.join(" "))
    }

    #[test]
    fn options_of_the_command_stand_before_the_typed_ones() {
        let text = "[run]\ntarget = 'rtl'\njobs = 2\n[fuzz]\ncases = 7\n";
        assert_eq!(
            merged("tandem run --target model x", text).unwrap(),
            "tandem run --jobs=2 --target=rtl --target model x"
        );
        assert_eq!(
            merged("tandem fuzz", text).unwrap(),
            "tandem fuzz --cases=7"
        );
        assert_eq!(merged("tandem --help", text).unwrap(), "tandem --help");
        let flag = "[plan]\nall = true\n";
        assert_eq!(merged("tandem plan", flag).unwrap(), "tandem plan --all");
        assert_eq!(
            merged("tandem plan", "[plan]\nall = false\n").unwrap(),
            "tandem plan"
        );
    }

    #[test]
    fn what_is_wrong_is_shown_in_its_line() {
        for (text, line, message) in [
            ("[walk]\n", "tandem.toml:1", "no command `walk`"),
            (
                "[run]\n\nspeed = 3\n",
                "tandem.toml:3",
                "no option `--speed`",
            ),
            ("[plan]\nall = 3\n", "tandem.toml:2", "true or false"),
            ("[run]\njobs = [1]\n", "tandem.toml:2", "a text or a number"),
            ("[run]\njobs =\n", "tandem.toml:2", ""),
        ] {
            let report = merged("tandem run", text).unwrap_err();
            assert!(report.contains(line), "{report}");
            assert!(report.contains(message), "{report}");
        }
    }

    #[test]
    fn what_is_typed_wins() {
        let command = crate::cli::command();
        let all = "tandem run --jobs=2 --jobs 5";
        let matches = command.try_get_matches_from(all.split(' ')).unwrap();
        let (_, run) = matches.subcommand().unwrap();
        assert_eq!(run.get_one::<usize>("jobs"), Some(&5));
    }
}
