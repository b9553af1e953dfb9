//! The ports of the link's tops.
#![allow(missing_docs, reason = "fields are the signals of their names")]

#[cxx::bridge(namespace = "tandem_link")]
pub(crate) mod ffi {
    /// Everything that the bench drives in a clock. `rx_*` are of the byte stream, `rxd` of the UART.
    #[derive(Clone, Copy, Debug, Default)]
    struct In {
        rst: bool,
        rx_valid: bool,
        rx_data: u8,
        rx_error: bool,
        tx_ready: bool,
        rxd: bool,
        awready: bool,
        wready: bool,
        bvalid: bool,
        bresp: u8,
        arready: bool,
        rvalid: bool,
        rdata: u32,
        rresp: u8,
        mem_ready: bool,
        mem_rvalid: bool,
        mem_rdata: u64,
        mac_rx: Beat,
        mac_tx_ready: bool,
        core_rx_ready: bool,
        core_tx: Beat,
        irq: bool,
        commit_valid: bool,
        commit: [u32; 4],
    }

    /// A beat of a stream; nothing if it is not valid.
    #[derive(Clone, Copy, Debug, Default)]
    struct Beat {
        valid: bool,
        data: u64,
        keep: u8,
        last: bool,
        user: bool,
    }

    /// Everything that the link drives in a clock.
    #[derive(Clone, Copy, Debug, Default)]
    struct Out {
        tx_valid: bool,
        tx_data: u8,
        txd: bool,
        awvalid: bool,
        awaddr: u16,
        wvalid: bool,
        wdata: u32,
        wstrb: u8,
        bready: bool,
        arvalid: bool,
        araddr: u16,
        rready: bool,
        mem_valid: bool,
        mem_write: bool,
        mem_addr: u32,
        mem_wdata: u64,
        mem_wstrb: u8,
        mac_rx_ready: bool,
        mac_tx: Beat,
        core_rx: Beat,
        core_tx_ready: bool,
        core_rst: bool,
    }

    unsafe extern "C++" {
        include!("tandem-link-sim/src/shim.h");

        #[namespace = "verilated_rt"]
        type Context = verilated::sys::Context;
        #[namespace = "verilated_rt"]
        type Model = verilated::sys::Model;

        fn new_bytes(context: UniquePtr<Context>) -> UniquePtr<Model>;
        fn step_bytes(model: Pin<&mut Model>, inputs: &In, outputs: &mut Out) -> bool;
        fn new_uart(context: UniquePtr<Context>) -> UniquePtr<Model>;
        fn step_uart(model: Pin<&mut Model>, inputs: &In, outputs: &mut Out) -> bool;
    }
}
