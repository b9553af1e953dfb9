//! The models of the device's cells, compared with RTL on everything of which the flow makes cells.

use std::fs;
use std::path::Path;

use verilated_build::FileList;

use crate::failure::{Failure, Result};
use crate::process::{heading, output, root, run};
use crate::tools::{verilator, yosys};

/// The folder of everything that is made.
const SCRATCH: &str = "target/synth/cells";
/// The models.
const MODELS: &str = "fpga/flow/cells/ecp5.f";
/// What is synthesised, and also simulated as it is.
const PROBE: [&str; 2] = ["rtl/lib/nd_ram.sv", "fpga/flow/cells/probe.sv"];
const BENCH: &str = "fpga/flow/cells/bench.sv";

/// Fails if the probe and its netlist are not the same in each clock.
pub fn check() -> Result {
    heading("Cell models: a netlist on them beside its RTL");
    let scratch = root().join(SCRATCH);
    fs::create_dir_all(&scratch).map_err(Failure::at(&scratch))?;
    let netlist = scratch.join("probe_netlist.v");
    let script = scratch.join("probe.ys");
    let text = format!(
        "read_slang --threads 1 --unroll-limit 65536 --top probe {sources}\n\
         synth_ecp5 -top probe\n\
         check -assert\n\
         rename probe probe_netlist\n\
         write_verilog -noattr -noexpr {netlist}\n",
        sources = PROBE.join(" "),
        netlist = netlist.display(),
    );
    fs::write(&script, text).map_err(Failure::at(&script))?;
    let mut command = yosys()?;
    command
        .arg("-q")
        .arg("-l")
        .arg(scratch.join("probe.log"))
        .arg(&script);
    let result = output("yosys", &mut command)?;
    if !result.status.success() {
        let errors = String::from_utf8_lossy(&result.stderr);
        return Err(Failure(format!(
            "yosys failed, its log is in {SCRATCH}: {errors}"
        )));
    }
    let models = FileList::read(&root(), Path::new(MODELS))?;
    let built = scratch.join("bench");
    let mut command = verilator()?.command();
    command
        .args(["--binary", "--assert", "-fno-dfg"])
        .args(["-Wno-fatal", "-Wno-lint", "-Wno-style"])
        // What the makefile of the packaged Verilator leaves out.
        .args(["-CFLAGS", "-std=c++20 -DVL_TIME_CONTEXT"])
        .args(["-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"])
        .args(["--top-module", "bench", "--Mdir"])
        .arg(&built)
        .args(&models.sources)
        .args(PROBE)
        .arg(BENCH)
        .arg(&netlist);
    let result = output("verilator", &mut command)?;
    if !result.status.success() {
        let errors = String::from_utf8_lossy(&result.stderr);
        return Err(Failure(format!("verilating the bench failed:\n{errors}")));
    }
    run(
        "the bench of the cell models",
        &mut std::process::Command::new(built.join("Vbench")),
    )
}
