use std::path::{Path, PathBuf};

use crate::{Error, Result, Verilator};

/// What is being compiled: decides how much the optimiser works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Code that runs every clock, and the runtime.
    Hot,
    /// Code that runs once: constructors, symbol tables, trace declarations.
    Cold,
}

/// Gives a C++ build the settings that all parts around a verilated model share.
///
/// The defines decide how the runtime's headers look, so the runtime, the models and the code
/// that calls them must agree on them.
pub fn configure(build: &mut cc::Build, verilator: &Verilator, role: Role) {
    let include = verilator.include();
    build
        .cpp(true)
        .std("c++20")
        .opt_level(match role {
            Role::Hot => 2,
            Role::Cold => 1,
        })
        .debug(false)
        .warnings(false)
        .extra_warnings(false)
        .include(include.join("vltstd"))
        .include(include)
        .define("VL_TIME_CONTEXT", None)
        .define("VM_COVERAGE", "1")
        .define("VM_SC", "0")
        .define("VM_TIMING", "0")
        .define("VM_TRACE", "1")
        .define("VM_TRACE_FST", "1")
        .define("VM_TRACE_VCD", "0")
        .flag_if_supported("-faligned-new")
        .flag_if_supported("-fcf-protection=none")
        .flag_if_supported("-Wno-attributes");
}

/// Compiles `hot` and `cold` sources into one static library in `dir`, without telling cargo.
pub(crate) fn library(
    name: &str,
    dir: &Path,
    verilator: &Verilator,
    hot: &[PathBuf],
    cold: &[PathBuf],
) -> Result<()> {
    let mut objects = Vec::new();
    for (role, files) in [(Role::Hot, hot), (Role::Cold, cold)] {
        if files.is_empty() {
            continue;
        }
        let mut build = cc::Build::new();
        configure(&mut build, verilator, role);
        build
            .cargo_metadata(false)
            .out_dir(dir)
            .include(dir)
            .files(files);
        objects.extend(
            build
                .try_compile_intermediates()
                .map_err(Error::compiling(name))?,
        );
    }
    let mut archive = cc::Build::new();
    archive
        .cpp(true)
        .cargo_metadata(false)
        .out_dir(dir)
        .objects(objects);
    archive.try_compile(name).map_err(Error::compiling(name))
}
