//! The ports of the room's test top.
#![allow(missing_docs, reason = "fields are the signals of their names")]

#[cxx::bridge(namespace = "tandem_wire")]
pub(crate) mod ffi {
    /// Everything that the bench drives in a clock.
    #[derive(Clone, Copy, Debug, Default)]
    struct In {
        rst: bool,
        rx_valid: bool,
        rx_data: u64,
        rx_keep: u8,
        rx_last: bool,
        rx_bad: bool,
        desc_ready: bool,
        payload_ready: bool,
        tx_ready: bool,
        send_valid: bool,
        send_desc: [u32; 9],
        address: [u32; 8],
        own: [u32; 7],
        send_chunk: bool,
        gather_valid: bool,
        gather_data: u64,
        gather_bytes: u8,
        gather_last: bool,
        gather_error: bool,
    }

    /// Everything that the room drives in a clock.
    #[derive(Clone, Copy, Debug, Default)]
    struct Out {
        rx_ready: bool,
        desc_valid: bool,
        desc: [u32; 20],
        payload_valid: bool,
        payload: u64,
        payload_last: bool,
        send_ready: bool,
        chunk_ready: bool,
        gather_ready: bool,
        tx_valid: bool,
        tx_data: u64,
        tx_keep: u8,
        tx_last: bool,
    }

    unsafe extern "C++" {
        include!("tandem-cosim-wire/src/shim.h");

        #[namespace = "verilated_rt"]
        type Context = verilated::sys::Context;
        #[namespace = "verilated_rt"]
        type Model = verilated::sys::Model;

        fn new_wire(context: UniquePtr<Context>) -> UniquePtr<Model>;
        fn step_wire(model: Pin<&mut Model>, inputs: &In, outputs: &mut Out) -> bool;
    }
}
