//! `tandem new`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use miette::Result;
use serde::Serialize;

use super::output::Output;

/// Arguments of `new`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file; its name without `.toml` is that of the vector
    #[arg(value_name = "FILE")]
    path: PathBuf,

    /// What it begins with
    #[arg(long, value_enum, default_value_t)]
    request: Request,

    #[command(flatten)]
    output: Output,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Json<'a> {
    file: &'a Path,
    /// What runs it.
    command: String,
}

/// The request that a new vector makes.
#[derive(Clone, Copy, Default, ValueEnum)]
enum Request {
    /// A send and its receive
    #[default]
    Send,
    /// A write into the peer's memory
    Write,
    /// A read of the peer's memory
    Read,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let path = arguments.path.with_extension("toml");
    let name = path.file_stem().map(|stem| stem.to_string_lossy());
    let name = name.unwrap_or_default();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !name.chars().all(is_name) {
        return Err(miette::miette!(
            "`{name}` is no name for a vector: letters, digits and `_`"
        ));
    }
    write(&path, &text(&name, arguments.request))?;
    let json = Json {
        file: &path,
        command: format!("tandem run {}", path.display()),
    };
    let output = arguments.output;
    output.tell(&json, || {
        println!("{}", path.display());
        if output.is_full() {
            println!("run it with\n  {}", json.command);
        }
    })?;
    Ok(true)
}

/// Writes a file that is not there yet.
fn write(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let wrong = |error: std::io::Error| miette::miette!("cannot write {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(wrong)?;
    file.write_all(text.as_bytes()).map_err(wrong)
}

/// A vector that passes as it stands.
fn text(name: &str, request: Request) -> String {
    let (rights, steps) = match request {
        Request::Send => ("ALLOW_LOCAL_WRITE", SEND.to_owned()),
        Request::Write => ("ALLOW_REMOTE_WRITE", one_sided("write", "here", "there")),
        Request::Read => ("ALLOW_REMOTE_READ", one_sided("read", "there", "here")),
    };
    let local = match request {
        Request::Read => "\nflags = [\"ALLOW_LOCAL_WRITE\"]",
        _ => "",
    };
    format!(
        r#"name = "{name}"
about = "What must hold, in one sentence."
# Requirements that this vector would fail without: `tandem plan` lists them.
covers = []
# Nodes a and b, completion queues ca and cb, queue pairs qa and qb, connected.
setup = "pair"

[memory]
here = {{ node = "a", bytes = 256, fill = {{ random = 1 }} }}
there = {{ node = "b", bytes = 256, fill = {{ random = 2 }} }}

[region.here]
memory = "here"{local}

[region.there]
memory = "there"
flags = ["{rights}"]

# What the network does to frames: lose the first request.
# [[network]]
# from = "a"
# to = "b"
# drop = true
# nth = 1
{steps}"#
    )
}

const SEND: &str = r#"
[[steps]]
receive = "qb"
context = 2
sgl = [{ region = "there", length = 256 }]

[[steps]]
send = "qa"
context = 1
sgl = [{ region = "here", length = 100 }]

[[steps]]
expect_results = "ca"
results = [{ context = 1 }]

[[steps]]
expect_results = "cb"
results = [{ context = 2, bytes = 100 }]

[[steps]]
expect_memory = "there"
length = 100
same_as = { memory = "here" }
"#;

/// A write or a read, and the memory that has the bytes then.
fn one_sided(request: &str, from: &str, to: &str) -> String {
    format!(
        r#"
[[steps]]
{request} = "qa"
context = 1
sgl = [{{ region = "here", length = 100 }}]
remote = {{ region = "there" }}

[[steps]]
expect_results = "ca"
results = [{{ context = 1 }}]

[[steps]]
expect_memory = "{to}"
length = 100
same_as = {{ memory = "{from}" }}
"#
    )
}

#[cfg(test)]
mod tests {
    use tandem_testbench::runner;
    use tandem_testbench::vector;
    use tandem_testbench::world::RunOptions;

    use super::*;

    #[test]
    fn each_new_vector_passes_as_it_stands() {
        for request in Request::value_variants() {
            let vectors = vector::parse(&text("fresh", *request));
            let vectors = vectors.unwrap_or_else(|fault| panic!("{}", fault.message));
            for vector in &vectors {
                let outcome = runner::run(vector, &RunOptions::default());
                outcome.unwrap_or_else(|failure| panic!("{}", failure.fault.message));
            }
        }
    }
}
