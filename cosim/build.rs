//! Verilates the engine, once for each build that is asked for, and compiles the shims.

use verilated_build::{Design, Error, Variant};

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
                .file_list("rtl/nd_engine.f")
                .source("rtl/.waivers.vlt")
                // The generated register block has unpacked structs, which Verilator cannot save.
                .without_save()
                .build()?
                .configure(&mut shim);
            shim.define(&format!("TANDEM_{}", variant.name().to_uppercase()), None);
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
