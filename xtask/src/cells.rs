//! The models of the device's cells, compared with RTL on everything of which the flow makes cells.

use std::path::{Path, PathBuf};
use std::process::Command;

use verilated_build::FileList;

use crate::failure::{Failure, Result};
use crate::process::{heading, output, root, run};
use crate::tools::verilator;
use crate::yosys;

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
    let scratch = Path::new(SCRATCH);
    let netlist = scratch.join("probe_netlist.v");
    let probe = FileList {
        sources: PROBE.map(PathBuf::from).to_vec(),
        include_dirs: Vec::new(),
    };
    let script = format!(
        "{read}\n\
         synth_ecp5 -top probe\n\
         check -assert\n\
         rename probe probe_netlist\n\
         write_verilog -noattr -noexpr {netlist}\n",
        read = yosys::read_slang("", "probe", &[], &probe),
        netlist = netlist.display(),
    );
    yosys::run(scratch, "probe", &script)?.expect_passed()?;
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
        .args(&probe.sources)
        .arg(BENCH)
        .arg(&netlist);
    let result = output("verilator", &mut command)?;
    if !result.status.success() {
        let errors = String::from_utf8_lossy(&result.stderr);
        return Err(Failure(format!("verilating the bench failed:\n{errors}")));
    }
    run(
        "the bench of the cell models",
        &mut Command::new(root().join(built).join("Vbench")),
    )
}
