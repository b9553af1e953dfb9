//! What functions return, and the text of what went wrong.

use std::cell::RefCell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::memory;

/// Version of this interface.
pub const TANDEM_ABI: u32 = 1;

/// Done.
pub const TANDEM_OK: i32 = 0;
/// There is nothing of what was asked for.
pub const TANDEM_NONE: i32 = 1;
/// The action needs a read that was not answered; nothing changed.
pub const TANDEM_NEED_READ: i32 = 2;
/// The model does not allow the action; nothing changed.
pub const TANDEM_ILLEGAL: i32 = 3;
/// The checker has found a divergence.
pub const TANDEM_DIVERGED: i32 = 4;
/// A pointer is null.
pub const TANDEM_ERR_NULL: i32 = -1;
/// A value is outside of what is allowed.
pub const TANDEM_ERR_VALUE: i32 = -2;
/// A buffer is too short.
pub const TANDEM_ERR_SHORT: i32 = -3;
/// The object is in use: by another thread, or by the call that calls back.
pub const TANDEM_ERR_BUSY: i32 = -4;
/// The library failed inside; the object must not be used any more.
pub const TANDEM_ERR_PANIC: i32 = -5;
/// The operating system refused.
pub const TANDEM_ERR_SYSTEM: i32 = -6;

/// Why a call did not do what was asked for.
pub(crate) struct Failure {
    code: i32,
    text: String,
}

impl Failure {
    pub(crate) fn new(code: i32, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, text }
    }

    /// Whether the object was in use.
    pub(crate) fn is_busy(&self) -> bool {
        self.code == TANDEM_ERR_BUSY
    }

    pub(crate) fn value(text: impl Into<String>) -> Self {
        Self::new(TANDEM_ERR_VALUE, text)
    }
}

/// What a call does: a code that is no error, or a failure.
pub(crate) type Outcome = Result<i32, Failure>;

thread_local! {
    /// Text of the last call of this thread that failed.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

fn remember(failure: Failure) -> i32 {
    LAST.with(|last| *last.borrow_mut() = failure.text);
    failure.code
}

/// Runs the body of a function. No panic leaves it.
pub(crate) fn guard(body: impl FnOnce() -> Outcome) -> i32 {
    let outcome = catch_unwind(AssertUnwindSafe(body));
    let outcome = outcome.unwrap_or_else(|_| Err(panicked()));
    outcome.unwrap_or_else(remember)
}

/// Runs the body of a function that makes something: null if it fails.
pub(crate) fn guard_new<T>(body: impl FnOnce() -> Result<T, Failure>) -> *mut T {
    let made = catch_unwind(AssertUnwindSafe(|| body().map(Box::new)));
    match made.unwrap_or_else(|_| Err(panicked())) {
        Ok(made) => Box::into_raw(made),
        Err(failure) => {
            remember(failure);
            std::ptr::null_mut()
        }
    }
}

/// The inside of an object, if nobody else is in it.
pub(crate) fn lock<T>(inner: &Mutex<T>) -> Result<MutexGuard<'_, T>, Failure> {
    inner.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Failure::new(TANDEM_ERR_BUSY, "the object is in use"),
        TryLockError::Poisoned(_) => panicked(),
    })
}

fn panicked() -> Failure {
    Failure::new(
        TANDEM_ERR_PANIC,
        "the library failed inside, the object must not be used any more",
    )
}

/// See `tandem.h`.
#[unsafe(no_mangle)]
pub extern "C" fn tandem_abi() -> u32 {
    TANDEM_ABI
}

/// See `tandem.h`.
///
/// # Safety
/// `text` points to `capacity` bytes that may be written, `length` to a size or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_last_error(
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    // It must not replace the text that it tells.
    let told = catch_unwind(AssertUnwindSafe(|| {
        let last = LAST.with(|last| last.borrow().clone());
        // SAFETY: the caller promises the same.
        unsafe { memory::put_text(&last, text, capacity, length) }
    }));
    match told {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => failure.code,
        Err(_) => TANDEM_ERR_PANIC,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_panic_leaves_a_function() {
        let code = guard(|| panic!("inside"));
        assert_eq!(code, TANDEM_ERR_PANIC);
        assert!(guard_new(|| -> Result<u8, Failure> { panic!("inside") }).is_null());
        let mut text = [1u8; 200];
        // SAFETY: the buffer has as many bytes.
        let told = unsafe { tandem_last_error(text.as_mut_ptr().cast(), text.len(), &mut 0) };
        assert_eq!(told, TANDEM_OK);
        assert!(text.starts_with(b"the library failed inside"));
    }

    #[test]
    fn an_object_that_failed_inside_is_refused() {
        let object = Mutex::new(0);
        let body = || {
            let _inside = lock(&object)?;
            panic!("inside")
        };
        assert_eq!(guard(body), TANDEM_ERR_PANIC);
        assert_eq!(guard(|| lock(&object).map(|_| TANDEM_OK)), TANDEM_ERR_PANIC);
    }
}
