//! Verilates the link, once over its byte stream and once on its UART, and compiles the shim.

use verilated_build::{Design, Error, Variant};

fn main() {
    verilated_build::script(|| {
        let mut shim = cxx_build::bridge("src/ports.rs");
        for top in ["nd_link", "nd_link_top"] {
            let mut design = Design::new(top);
            if top == "nd_link_top" {
                design = design.parameter("Baud", 576_000);
            }
            design
                .variant(Variant::Debug)
                .prefix(&format!("V{top}"))
                .file_list("fpga/link/rtl/nd_link.f")
                .parameter("PacketBytes", 1024)
                .parameter("InjectBeats", 128)
                .parameter("CaptureBeats", 128)
                .parameter("LogDepth", 128)
                .parameter("TimeoutBits", 8)
                .parameter("ClockHz", 3_000_000)
                .parameter("MemBase", 0x1000_0000)
                .build()?
                .configure(&mut shim);
        }
        println!("cargo::rerun-if-changed=src");
        shim.file("src/shim.cc")
            .try_compile("tandem_link_shim")
            .map_err(Error::compiling("src/shim.cc"))
    });
}
