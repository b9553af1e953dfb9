//! Compiles Verilator's runtime, once and with everything in it, and the bridge to it.

use std::env;
use std::path::PathBuf;

use verilated_build::{Error, Result, Role, Verilator, configure, script};

/// The parts of Verilator's runtime; those that an older version does not have are left out.
const RUNTIME: [&str; 8] = [
    "verilated.cpp",
    "verilated_cov.cpp",
    "verilated_dpi.cpp",
    "verilated_fst_c.cpp",
    "verilated_probdist.cpp",
    "verilated_save.cpp",
    "verilated_threads.cpp",
    "verilated_timing.cpp",
];

fn main() {
    script(build);
}

fn build() -> Result<()> {
    for path in ["build.rs", "include", "src"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let verilator = Verilator::find()?;
    cxx_build::CFG
        .exported_header_dirs
        .push(header_dir(&verilator));

    let mut bridge = cxx_build::bridge("src/sys.rs");
    configure(&mut bridge, &verilator, Role::Hot);
    bridge
        // Messages of a design go to its context, and what ends a simulation becomes an error.
        .flag("-include")
        .flag("include/hooks.h")
        .define("VL_PRINTF", "verilated_rt_printf")
        .define("VL_USER_FINISH", None)
        .define("VL_USER_STOP", None)
        .define("VL_USER_STOP_MAYBE", None)
        .define("VL_USER_FATAL", None)
        .define("VL_USER_WARN", None);
    // FST files are compressed; the headers of both libraries come from their crates.
    for variable in ["DEP_Z_INCLUDE", "DEP_LZ4_INCLUDE"] {
        println!("cargo::rerun-if-env-changed={variable}");
        bridge.includes(
            env::var_os(variable)
                .as_deref()
                .map(env::split_paths)
                .into_iter()
                .flatten(),
        );
    }
    let sources = RUNTIME.iter().map(|name| verilator.include().join(name));
    bridge
        .file("src/runtime.cc")
        .files(sources.filter(|path| path.is_file()))
        .try_compile("verilated_runtime")
        .map_err(Error::compiling("Verilator's runtime"))
}

/// cxx keeps exported paths for as long as the build script runs.
fn header_dir(verilator: &Verilator) -> &'static std::path::Path {
    let dir: &'static PathBuf = Box::leak(Box::new(verilator.include()));
    dir
}
