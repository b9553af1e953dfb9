//! The example in SystemVerilog, on Verilator.

mod support;

use std::fs;
use std::path::Path;

use support::{Language, Program, here};
use verilated_build::Verilator;

/// The example, verilated and compiled.
fn example(place: &Path) -> support::Built {
    let verilator = Verilator::find().unwrap_or_else(|error| panic!("{error}"));
    let sources = [
        "../../rtl/abi/nd_abi_pkg.sv",
        "dpi/tandem_dpi.sv",
        "dpi/example/example_node.sv",
        "dpi/example/two_nodes.sv",
    ];
    let output = verilator
        .command()
        .current_dir(here())
        .args([
            "-fno-dfg",
            "--cc",
            "--main",
            "--exe",
            "--no-timing",
            "-Wall",
            // A package has a class in it, and nobody uses all of one.
            "-Wno-DECLFILENAME",
            "-Wno-UNUSED",
            "-Wno-UNDRIVEN",
        ])
        .args(["--top-module", "two_nodes", "--Mdir"])
        .arg(place)
        .args(sources)
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");

    let mut program = Program::new(Language::Cpp)
        .foreign()
        .source("dpi/tandem_dpi.c")
        .include(place)
        .include(verilator.include())
        .include(verilator.include().join("vltstd"));
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "cpp") {
            program = program.source(path);
        }
    }
    for runtime in [
        "verilated.cpp",
        "verilated_dpi.cpp",
        "verilated_threads.cpp",
    ] {
        program = program.source(verilator.include().join(runtime));
    }
    program.build()
}

#[test]
fn reference_and_checker_agree_and_refuse_a_lie() {
    let place = tempfile::tempdir().unwrap();
    let example = example(place.path());
    let truth = example.run(&[]);
    truth.succeeds_with("ok");
    truth.succeeds_with("node 1: 1 frames, 0 payload writes, 1 completion writes compared");
    truth.succeeds_with("node 2: 1 frames, 1 payload writes, 1 completion writes compared");
    let lie = example.run(&["+lie"]);
    lie.succeeds_with("expected: SqEmit: queue pair 5, request 0, psn 0x000100");
    let refusal = "refused: room send: SqEmit: queue pair 5, request 0, psn 0x000101: psn 0x000101 instead of 0x000100";
    for told in [refusal, "divergence on node 1"] {
        assert!(lie.out().contains(told), "{}", lie.out());
    }
    assert!(!lie.out().lines().any(|line| line == "ok"), "{}", lie.out());
}
