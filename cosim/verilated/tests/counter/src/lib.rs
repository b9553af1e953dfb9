//! The example design of the `verilated` crate: a counter in three variants, bound with `cxx`.

use verilated::{Context, Model, Result, Settings, sys};

pub use ffi::{In, Out};

#[cxx::bridge(namespace = "counter")]
mod ffi {
    /// The inputs of one clock.
    #[derive(Clone, Copy, Debug, Default)]
    struct In {
        /// Back to zero.
        rst: bool,
        /// Count.
        en: bool,
        /// Fail an assertion.
        bad: bool,
        /// Execute `$finish`.
        halt: bool,
        /// Execute `$fatal`.
        die: bool,
        /// Execute `$stop`.
        pause: bool,
        /// Close a loop that does not settle.
        twist: bool,
    }

    /// The outputs after one clock.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Out {
        /// The count.
        count: u8,
        /// A register without reset.
        never_reset: u64,
        /// Whether `+mark` was among the plus-arguments.
        marked: bool,
    }

    unsafe extern "C++" {
        include!("verilated-counter/src/shim.h");

        #[namespace = "verilated_rt"]
        type Context = verilated::sys::Context;
        #[namespace = "verilated_rt"]
        type Model = verilated::sys::Model;

        fn new_fast(context: UniquePtr<Context>) -> UniquePtr<Model>;
        fn new_debug(context: UniquePtr<Context>) -> UniquePtr<Model>;
        fn new_coverage(context: UniquePtr<Context>) -> UniquePtr<Model>;
        fn step_fast(model: Pin<&mut Model>, inputs: &In, outputs: &mut Out) -> bool;
        fn step_debug(model: Pin<&mut Model>, inputs: &In, outputs: &mut Out) -> bool;
        fn step_coverage(model: Pin<&mut Model>, inputs: &In, outputs: &mut Out) -> bool;
    }
}

type New = fn(cxx::UniquePtr<sys::Context>) -> cxx::UniquePtr<sys::Model>;
type Step = fn(std::pin::Pin<&mut sys::Model>, &In, &mut Out) -> bool;

/// A counter of one of the variants.
pub struct Counter {
    model: Model,
    step: Step,
}

impl Counter {
    /// A counter that was verilated for speed.
    pub fn fast(settings: &Settings) -> Result<Self> {
        Self::new(settings, ffi::new_fast, ffi::step_fast)
    }

    /// A counter with trace and assertions.
    pub fn debug(settings: &Settings) -> Result<Self> {
        Self::new(settings, ffi::new_debug, ffi::step_debug)
    }

    /// A counter with coverage and assertions.
    pub fn coverage(settings: &Settings) -> Result<Self> {
        Self::new(settings, ffi::new_coverage, ffi::step_coverage)
    }

    /// A fast counter with the shim of the debug one, to see that this is found out.
    pub fn mismatched() -> Result<Self> {
        Self::new(&Settings::default(), ffi::new_fast, ffi::step_debug)
    }

    fn new(settings: &Settings, new: New, step: Step) -> Result<Self> {
        let model = Model::new(Context::new(settings)?, new)?;
        Ok(Self { model, step })
    }

    /// One clock.
    pub fn step(&mut self, inputs: In) -> Result<Out> {
        let mut outputs = Out::default();
        if !(self.step)(self.model.pin_mut(), &inputs, &mut outputs) {
            self.model.check()?;
        }
        Ok(outputs)
    }

    /// The model, for everything but its clock.
    pub fn model(&mut self) -> &mut Model {
        &mut self.model
    }
}
