//! Verilates room `wire` alone and compiles its shim.

use verilated_build::{Design, Error, Variant};

fn main() {
    verilated_build::script(|| {
        let mut shim = cxx_build::bridge("src/ports.rs");
        Design::new("nd_wire_top")
            .variant(Variant::Debug)
            .prefix("Vnd_wire_top")
            .file_list("rtl/wire/nd_wire.f")
            .build()?
            .configure(&mut shim);
        println!("cargo::rerun-if-changed=src");
        shim.file("src/shim.cc")
            .try_compile("tandem_wire_shim")
            .map_err(|error| Error::Compile {
                what: "src/shim.cc".into(),
                message: error.to_string(),
            })
    });
}
