use std::path::Path;
use std::pin::Pin;

use cxx::UniquePtr;

use crate::context::failures;
use crate::{Context, Error, Result, sys};

/// A model of a verilated design, with its context.
///
/// What drives it is the shim of its design: a C++ function that takes the model
/// ([`Model::pin_mut`]) and the ports of one clock, and returns whether the simulation goes on.
/// When it does not, [`Model::check`] tells why. A model may be handed to another thread.
pub struct Model {
    inner: UniquePtr<sys::Model>,
}

impl Model {
    /// Makes a model with the constructor of a design's shim.
    pub fn new(
        context: Context,
        constructor: fn(UniquePtr<sys::Context>) -> UniquePtr<sys::Model>,
    ) -> Result<Self> {
        let inner = constructor(context.inner);
        if inner.is_null() {
            return Err(Error::Construction {
                message: "the shim made none".into(),
            });
        }
        let model = Self { inner };
        model.check()?;
        Ok(model)
    }

    /// The model as shims take it.
    pub fn pin_mut(&mut self) -> Pin<&mut sys::Model> {
        self.inner.pin_mut()
    }

    /// The reason why the simulation stopped first, if it did.
    pub fn check(&self) -> Result<()> {
        if self.context().ok() {
            return Ok(());
        }
        Err(self
            .failures()
            .into_iter()
            .next()
            .unwrap_or_else(|| Error::Runtime {
                time: self.time(),
                message: "the model is dead".into(),
            }))
    }

    /// All that was recorded since the last [`Model::take_failures`], in order; at most 64.
    pub fn failures(&self) -> Vec<Error> {
        failures(self.context())
    }

    /// Takes what was recorded; the simulation can then go on, unless the model is dead.
    pub fn take_failures(&mut self) -> Vec<Error> {
        let all = self.failures();
        self.context_mut().clear_failures();
        all
    }

    /// Whether Verilator's runtime gave up in the middle of an evaluation.
    pub fn is_dead(&self) -> bool {
        self.context().dead()
    }

    /// Whether the design executed `$finish`, `$stop` or `$fatal`.
    pub fn got_finish(&self) -> bool {
        self.context().finished()
    }

    /// The simulated time, in units of the design's time precision.
    pub fn time(&self) -> u64 {
        self.context().time()
    }

    /// Lets time pass without evaluating.
    pub fn advance(&mut self, ticks: u64) {
        self.context_mut().advance(ticks);
    }

    /// Takes what the design printed since the last call (`$display`, messages of `$error`).
    pub fn take_output(&mut self) -> String {
        self.context_mut().take_output().unwrap_or_default()
    }

    /// Whether the design was verilated with trace.
    pub fn can_trace(&self) -> bool {
        self.inner.can_trace()
    }

    /// Starts an FST trace of `depth` levels of hierarchy. Every evaluation adds to it.
    pub fn open_trace(&mut self, path: &Path, depth: u16) -> Result<()> {
        let error = |message: String| Error::Trace {
            path: path.into(),
            message,
        };
        let name = path
            .to_str()
            .ok_or_else(|| error("the path is not UTF-8".into()))?;
        if self.can_trace() {
            // The writer itself does not say why it cannot open a file.
            std::fs::File::create(path).map_err(|e| error(e.to_string()))?;
        }
        self.pin_mut()
            .open_trace(name, depth.into())
            .map_err(|e| error(e.to_string()))
    }

    /// Closes the trace, so that the file is complete. Dropping the model does the same.
    pub fn close_trace(&mut self) {
        // Closing what is not open is fine, and a failure to write is found by who reads it.
        let _ = self.pin_mut().close_trace();
    }

    /// Writes what the trace holds back to the file.
    pub fn flush_trace(&mut self) {
        let _ = self.pin_mut().flush_trace();
    }

    /// Whether a trace is open.
    pub fn is_tracing(&self) -> bool {
        self.inner.tracing()
    }

    /// Writes the coverage data of a design that was verilated with coverage.
    pub fn write_coverage(&mut self, path: &Path) -> Result<()> {
        let error = |message: String| Error::Coverage {
            path: path.into(),
            message,
        };
        let name = path
            .to_str()
            .ok_or_else(|| error("the path is not UTF-8".into()))?;
        std::fs::File::create(path).map_err(|e| error(e.to_string()))?;
        self.context_mut()
            .write_coverage(name)
            .map_err(|e| error(e.to_string()))
    }

    /// Sets all coverage counters to zero.
    pub fn clear_coverage(&mut self) {
        // Fails only when memory runs out.
        let _ = self.context_mut().clear_coverage();
    }

    /// Whether the design was verilated with save and restore.
    pub fn can_save(&self) -> bool {
        self.inner.can_save()
    }

    /// The whole state of the model and of its time and seed.
    pub fn save(&mut self) -> Result<Vec<u8>> {
        self.pin_mut().save().map_err(|e| Error::Save {
            message: e.to_string(),
        })
    }

    /// Goes back to a state that a model of the same design and variant saved.
    pub fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.pin_mut().restore(state).map_err(|e| Error::Restore {
            message: e.to_string(),
        })
    }

    /// Runs the design's `final` blocks.
    pub fn finish(&mut self) -> Result<()> {
        self.pin_mut().finish().map_err(|e| Error::Runtime {
            time: self.time(),
            message: e.to_string(),
        })?;
        self.check()
    }

    fn context(&self) -> &sys::Context {
        self.inner.context_ref()
    }

    fn context_mut(&mut self) -> Pin<&mut sys::Context> {
        self.pin_mut().context_mut()
    }
}
