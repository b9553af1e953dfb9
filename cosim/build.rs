//! Verilates the engine, once for each build that is asked for, and compiles the shims.

use std::path::Path;

use verilated_build::{Built, Design, Error, FileList, Variant, workspace_root};

/// The engine's sources.
const ENGINE: &str = "rtl/nd_engine.f";

fn main() {
    verilated_build::script(|| {
        let mut shim = cxx_build::bridge("src/ports.rs");
        for variant in Variant::ALL {
            let feature = format!("CARGO_FEATURE_{}", variant.name().to_uppercase());
            if variant.name() != "fast" && std::env::var_os(feature).is_none() {
                continue;
            }
            Design::new("nd_engine")
                .variant(variant)
                .prefix(&format!("Vnd_engine_{}", variant.name()))
                .file_list(ENGINE)
                .source("rtl/.waivers.vlt")
                // The generated register block has unpacked structs, which Verilator cannot save.
                .without_save()
                .build()?
                .configure(&mut shim);
            shim.define(&format!("TANDEM_{}", variant.name().to_uppercase()), None);
        }
        if std::env::var_os("CARGO_FEATURE_NETLIST").is_some() {
            netlist()?.configure(&mut shim);
            shim.define("TANDEM_NETLIST", None);
        }
        for source in ["src/ports.rs", "src/shim.cc", "src/shim.h"] {
            println!("cargo::rerun-if-changed={source}");
        }
        shim.file("src/shim.cc")
            .try_compile("tandem_engine_shim")
            .map_err(|error| Error::Compile {
                what: "src/shim.cc".into(),
                message: error.to_string(),
            })
    });
}

/// The synthesised netlist, on models of the device's cells.
fn netlist() -> Result<Built, Error> {
    let netlist = verilated_build::Netlist::of("nd_engine");
    netlist.check_fresh(&FileList::read(&workspace_root(), Path::new(ENGINE))?)?;
    Design::new("nd_engine")
        .prefix("Vnd_engine_netlist")
        .file_list("fpga/flow/cells/ecp5.f")
        .source(netlist.verilog())
        .without_save()
        .build()
}
