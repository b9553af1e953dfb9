//! Running the bench: the demo, the measurements, and a second simulator's opinion.

use verilated_build::{MINIMUM, OLDEST, Verilator};

use crate::failure::{Failure, Result};
use crate::process::{heading, output, run, tandem};
use crate::synth;
use crate::tools::{Tool, install};

const BEFORE_DEMO: &str = "\
Tandem: an RDMA engine in SystemVerilog, run in lockstep with its golden model in Rust.
Verilating and compiling the engine takes a few minutes the first time.
Then every vector in testbench/vectors runs on the Verilated engine, and every decision that the
engine makes is checked against the model as it is made.";

const AFTER_DEMO: &str = "\
What to try next:
  cargo run --release -p tandem-testbench --bin tandem -- --help   all that `tandem` can do
  testbench/vectors/                                     a vector is one TOML file: change one
  cargo xtask test                                       every check of the repository
  docs/src/                                              the book";

/// Where the vectors are.
const VECTORS: &str = "testbench/vectors";

/// A vector in which frames of data come to the first node.
const WRITES: &str = "testbench/vectors/write/basic.toml";

/// The main job, for somebody who sees this for the first time.
pub fn demo() -> Result {
    println!("{BEFORE_DEMO}");
    heading("Tools");
    install(&[Tool::Verilator])?;
    heading("Vectors on the Verilated engine, in lockstep");
    run(
        "the demo",
        &mut tandem(&["--release"], &["run", VECTORS, "--target", "rtl"]),
    )?;
    println!("\n{AFTER_DEMO}");
    Ok(())
}

/// The measurements that the README shows.
pub fn bench() -> Result {
    install(&[Tool::Verilator])?;
    run("the bench", &mut tandem(&["--release"], &["bench"]))
}

/// The vectors on the synthesised netlist.
pub fn netlist() -> Result {
    install(&[Tool::Verilator])?;
    synth::engine(&[])?;
    let build = ["--release", "--features", "netlist"];
    heading("A difference between netlist and RTL is found");
    let other = ["run", WRITES, "--target", "netlist", "--inject", "twin"];
    let found = output("the netlist", &mut tandem(&build, &other))?;
    let told = String::from_utf8_lossy(&found.stdout);
    if found.status.success() || !told.contains("netlist differs") {
        let errors = String::from_utf8_lossy(&found.stderr);
        return Err(Failure(format!("it is not found:\n{told}{errors}")));
    }
    println!("the RTL got another bit than the netlist, and the run ended there");
    heading("Vectors on the netlist, in lockstep and beside the RTL");
    run(
        "the netlist",
        &mut tandem(&build, &["run", VECTORS, "--target", "netlist"]),
    )
}

/// The vectors on another Verilator, the one on the PATH.
pub fn second_opinion() -> Result {
    heading("Second opinion: the vectors on the Verilator of the PATH");
    let other = Verilator::all_on_path().find(|v| v.version() >= OLDEST).ok_or_else(|| {
        Failure(format!(
            "no Verilator {OLDEST} or newer on the PATH: install the distribution's own (Debian: \
             apt-get install verilator)"
        ))
    })?;
    println!("{} (version {})", other.binary().display(), other.version());
    if other.version() >= MINIMUM {
        println!("as new as the pinned one: this opinion is not very independent");
    }
    let mut command = tandem(
        &["--release", "--target-dir", "target/second-opinion"],
        &["run", VECTORS, "--target", "rtl"],
    );
    command
        .env("TANDEM_VERILATOR", other.binary())
        .env_remove("VERILATOR_ROOT");
    run("the second opinion", &mut command)
}
