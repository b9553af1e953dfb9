//! Verilates the counter in its three variants and compiles the shim.

use verilated_build::{Design, Error, Variant};

fn main() {
    verilated_build::script(|| {
        let mut shim = cxx_build::bridge("src/lib.rs");
        for variant in Variant::ALL {
            Design::new("counter")
                .variant(variant)
                .prefix(&format!("Vcounter_{}", variant.name()))
                .parameter("Width", 6)
                .file_list("cosim/verilated/tests/counter/rtl/counter.f")
                .build()?
                .configure(&mut shim);
        }
        println!("cargo::rerun-if-changed=src");
        shim.file("src/shim.cc")
            .try_compile("verilated_counter_shim")
            .map_err(Error::compiling("src/shim.cc"))
    });
}
