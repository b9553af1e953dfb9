//! `tandem completions` and `tandem man`.

use std::io::Write;
use std::path::PathBuf;

use clap_complete::Shell;
use miette::Result;

/// Arguments of `completions`.
#[derive(clap::Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Arguments of `man`.
#[derive(clap::Args)]
pub struct Man {
    /// Folder for the pages, one of `tandem` and one of each command
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
}

/// Prints what a shell completes the command line with.
pub fn completions(arguments: &Completions) -> Result<bool> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut super::command(),
        "tandem",
        &mut script,
    );
    match std::io::stdout().write_all(&script) {
        // Who closes the pipe has what it wants.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(miette::miette!("{error}"))
        }
        _ => Ok(true),
    }
}

/// Writes the manual pages.
pub fn man(arguments: &Man) -> Result<bool> {
    let folder = &arguments.output;
    let wrong =
        |error: std::io::Error| miette::miette!("cannot write to {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(wrong)?;
    clap_mangen::generate_to(super::command(), folder).map_err(wrong)?;
    println!(
        "{}: read them with `man -l`",
        folder.join("tandem.1").display()
    );
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().into();
        man(&Man { output }).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read("tandem.1").contains("golden model"));
        for command in super::super::command().get_subcommands() {
            let page = read(&format!("tandem-{}.1", command.get_name()));
            assert!(page.contains("OPTIONS"), "{page}");
        }
    }
}
