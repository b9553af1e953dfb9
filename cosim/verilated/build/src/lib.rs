//! Build helper of the `verilated` crate, for use in a `build.rs`.
//!
//! It finds [`Verilator`], verilates a [`Design`] in one of three [`Variant`]s and compiles the
//! generated C++ at `-O2`. The runtime library itself is compiled once, by the `verilated` crate.
//!
//! ```no_run
//! use verilated_build::{Design, Variant};
//!
//! verilated_build::script(|| {
//!     let fast = Design::new("counter")
//!         .variant(Variant::Fast)
//!         .prefix("Vcounter_fast")
//!         .file_list("rtl/counter.f")
//!         .build()?;
//!     # let mut shim = cc::Build::new();
//!     // let mut shim = cxx_build::bridge("src/bridge.rs");
//!     fast.configure(&mut shim);
//!     shim.file("src/shim.cc").compile("counter_shim");
//!     Ok(())
//! })
//! ```

mod compile;
mod design;
mod error;
mod filelist;
mod netlist;
mod origin;
mod tool;
mod variant;

pub use compile::{Role, configure};
pub use design::{Built, Design};
pub use error::{Error, Result};
pub use filelist::FileList;
pub use netlist::Netlist;
pub use tool::{MINIMUM, OLDEST, Verilator, Version, workspace_root};
pub use variant::Variant;

/// Runs the body of a build script and reports a failure as cargo errors, one for each line,
/// in place of a panic with a backtrace.
pub fn script(body: impl FnOnce() -> Result<()>) {
    if let Err(error) = body() {
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
    }
}
