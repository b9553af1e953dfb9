//! The engine's ports as one record each way, and the C++ shim that moves them.
//!
//! One call a clock with all ports costs 1 % against a loop in C++; a call per port costs ten times that.
#![allow(missing_docs, reason = "fields are the signals of their names")]

#[cxx::bridge(namespace = "tandem")]
pub(crate) mod ffi {
    /// AXI4-Lite, driven by the bench.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct LiteIn {
        awvalid: bool,
        awaddr: u32,
        wvalid: bool,
        wdata: u32,
        wstrb: u8,
        bready: bool,
        arvalid: bool,
        araddr: u32,
        rready: bool,
    }

    /// AXI4-Lite, driven by the engine.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct LiteOut {
        awready: bool,
        wready: bool,
        bvalid: bool,
        bresp: u8,
        arready: bool,
        rvalid: bool,
        rdata: u32,
        rresp: u8,
    }

    /// AXI4 read channels, driven by the bench.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct ReadIn {
        arready: bool,
        rvalid: bool,
        rid: u8,
        rdata: u64,
        rresp: u8,
        rlast: bool,
    }

    /// AXI4 read channels, driven by the engine.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct ReadOut {
        arvalid: bool,
        arid: u8,
        araddr: u64,
        arlen: u8,
        arsize: u8,
        arburst: u8,
        rready: bool,
    }

    /// AXI4 write channels, driven by the bench.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct WriteIn {
        awready: bool,
        wready: bool,
        bvalid: bool,
        bid: u8,
        bresp: u8,
    }

    /// AXI4 write channels, driven by the engine.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct WriteOut {
        awvalid: bool,
        awid: u8,
        awaddr: u64,
        awlen: u8,
        awsize: u8,
        awburst: u8,
        wvalid: bool,
        wdata: u64,
        wstrb: u8,
        wlast: bool,
        bready: bool,
    }

    /// One clock of an AXI4-Stream, without its ready.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Beat {
        valid: bool,
        data: u64,
        keep: u8,
        last: bool,
        user: bool,
    }

    /// Everything that the bench drives.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct PortsIn {
        rst: bool,
        lite: LiteIn,
        read: ReadIn,
        write: WriteIn,
        rx: Beat,
        tx_ready: bool,
    }

    /// Everything that the engine drives.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct PortsOut {
        lite: LiteOut,
        read: ReadOut,
        write: WriteOut,
        tx: Beat,
        rx_ready: bool,
        irq: bool,
        commit_valid: bool,
        commit_low: u64,
        commit_high: u64,
    }

    unsafe extern "C++" {
        include!("tandem-cosim/src/shim.h");

        #[namespace = "verilated_rt"]
        type Context = verilated::sys::Context;
        #[namespace = "verilated_rt"]
        type Model = verilated::sys::Model;

        fn new_fast(context: UniquePtr<Context>) -> UniquePtr<Model>;
        fn step_fast(model: Pin<&mut Model>, inputs: &PortsIn, outputs: &mut PortsOut) -> bool;
        fn digest_fast(model: Pin<&mut Model>) -> u64;
        fn replay(model: Pin<&mut Model>, inputs: &[PortsIn]) -> bool;

        #[cfg(feature = "debug")]
        fn new_debug(context: UniquePtr<Context>) -> UniquePtr<Model>;
        #[cfg(feature = "debug")]
        fn step_debug(model: Pin<&mut Model>, inputs: &PortsIn, outputs: &mut PortsOut) -> bool;
        #[cfg(feature = "debug")]
        fn digest_debug(model: Pin<&mut Model>) -> u64;

        #[cfg(feature = "coverage")]
        fn new_coverage(context: UniquePtr<Context>) -> UniquePtr<Model>;
        #[cfg(feature = "coverage")]
        fn step_coverage(model: Pin<&mut Model>, inputs: &PortsIn, outputs: &mut PortsOut) -> bool;
        #[cfg(feature = "coverage")]
        fn digest_coverage(model: Pin<&mut Model>) -> u64;

        #[cfg(feature = "netlist")]
        fn new_netlist(context: UniquePtr<Context>) -> UniquePtr<Model>;
        #[cfg(feature = "netlist")]
        fn step_netlist(model: Pin<&mut Model>, inputs: &PortsIn, outputs: &mut PortsOut) -> bool;
        #[cfg(feature = "netlist")]
        fn digest_netlist(model: Pin<&mut Model>) -> u64;
    }
}

impl PortsOut {
    /// The commit record of this clock, if there is one.
    pub fn commit(&self) -> Option<u128> {
        let bits = u128::from(self.commit_high) << 64 | u128::from(self.commit_low);
        self.commit_valid.then_some(bits)
    }
}

pub use ffi::{Beat, LiteIn, LiteOut, PortsIn, PortsOut, ReadIn, ReadOut, WriteIn, WriteOut};
