//! The C++ boundary: everything that is declared here is in `include/runtime.h`.
//!
//! Shims of designs name [`Context`] and [`Model`] in their bridges; the rest is for this crate.

pub use ffi::{Context, Model, new_context};

#[cxx::bridge(namespace = "verilated_rt")]
#[allow(missing_docs)] // described where it is declared, in the header
mod ffi {
    unsafe extern "C++" {
        include!("verilated/include/runtime.h");

        /// A `VerilatedContext` and what happened in it.
        type Context;
        fn new_context(
            seed: u32,
            reset: u8,
            assertions: bool,
            plus_args: &[String],
        ) -> Result<UniquePtr<Context>>;
        fn time(self: &Context) -> u64;
        fn advance(self: Pin<&mut Context>, ticks: u64);
        fn finished(self: &Context) -> bool;
        fn ok(self: &Context) -> bool;
        fn dead(self: &Context) -> bool;
        fn failure_count(self: &Context) -> usize;
        fn failure_cause(self: &Context, i: usize) -> Result<u8>;
        fn failure_file(self: &Context, i: usize) -> Result<String>;
        fn failure_line(self: &Context, i: usize) -> Result<i32>;
        fn failure_time(self: &Context, i: usize) -> Result<u64>;
        fn failure_text(self: &Context, i: usize) -> Result<String>;
        fn clear_failures(self: Pin<&mut Context>);
        fn take_output(self: Pin<&mut Context>) -> Result<String>;
        fn write_coverage(self: Pin<&mut Context>, path: &str) -> Result<()>;
        fn clear_coverage(self: Pin<&mut Context>) -> Result<()>;

        /// A model of any design, with its context.
        type Model;
        fn context_ref(self: &Model) -> &Context;
        fn context_mut(self: Pin<&mut Model>) -> Pin<&mut Context>;
        fn can_trace(self: &Model) -> bool;
        fn can_save(self: &Model) -> bool;
        fn open_trace(self: Pin<&mut Model>, path: &str, depth: i32) -> Result<()>;
        fn close_trace(self: Pin<&mut Model>) -> Result<()>;
        fn flush_trace(self: Pin<&mut Model>) -> Result<()>;
        fn tracing(self: &Model) -> bool;
        fn save(self: Pin<&mut Model>) -> Result<Vec<u8>>;
        fn restore(self: Pin<&mut Model>, state: &[u8]) -> Result<()>;
        fn finish(self: Pin<&mut Model>) -> Result<()>;
    }

    // Shims of other crates hand these over.
    impl UniquePtr<Context> {}
    impl UniquePtr<Model> {}
}

// SAFETY: a context is reached only through its one owner, and each call into it first makes it
// the context of the calling thread; nothing in it refers to the thread that made it.
unsafe impl Send for Context {}

// SAFETY: as for `Context`, which it owns; the generated class and the trace writer hold only
// pointers to each other and to the context. (Verilator's own threads are not used.)
unsafe impl Send for Model {}
