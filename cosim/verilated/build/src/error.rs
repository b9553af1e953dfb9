use std::path::PathBuf;

use crate::Version;

/// What can go wrong between SystemVerilog sources and a compiled model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No Verilator was found anywhere.
    #[error(
        "Verilator {minimum} or newer not found: run `cargo xtask tools` once, or set TANDEM_VERILATOR to its binary"
    )]
    Missing {
        /// The oldest version that is taken from the PATH.
        minimum: Version,
    },
    /// `TANDEM_VERILATOR` does not lead to an installation.
    #[error(
        "TANDEM_VERILATOR={path}: {reason}; set it to the `verilator` or `verilator_bin` of an installation, or unset it and run `cargo xtask tools`"
    )]
    Override {
        /// The value of the variable.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The Verilator that was asked for is too old to build the runtime with.
    #[error(
        "Verilator at {path} is {found}, but {oldest} or newer is needed: run `cargo xtask tools`"
    )]
    TooOld {
        /// The binary.
        path: PathBuf,
        /// Its version.
        found: Version,
        /// The oldest version the runtime works with.
        oldest: Version,
    },
    /// Verilator rejected the design.
    #[error("verilating {top} failed:\n{messages}")]
    Verilation {
        /// The top module.
        top: String,
        /// Verilator's messages.
        messages: String,
    },
    /// The C++ compiler failed.
    #[error("compiling {what} failed; the compiler's messages are above")]
    Compile {
        /// What was compiled.
        what: String,
        /// The command that failed.
        message: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file list has a line that is not understood.
    #[error("{list}:{line}: {reason}")]
    FileList {
        /// The file list.
        list: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A netlist is not there, or is of other sources.
    #[error(
        "{netlist} is missing, or was made from other sources: make it with `cargo xtask synth`"
    )]
    Netlist {
        /// The netlist.
        netlist: PathBuf,
    },
    /// An environment variable that cargo sets for build scripts is missing.
    #[error("{0} is not set: this function is for build scripts")]
    NotABuildScript(&'static str),
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The failure of compiling `what`, for `map_err` after `cc::Build::try_compile`.
    pub fn compiling(what: impl Into<String>) -> impl FnOnce(cc::Error) -> Self {
        let what = what.into();
        move |error| Self::Compile {
            what,
            message: error.to_string(),
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
