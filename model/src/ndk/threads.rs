//! A provider for several threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Provider;

/// A provider that threads share.
///
/// NDKPI lets a consumer post to the initiator queue and the receive queue of a queue pair at once, and flush while
/// it posts (NDK-POST-4, -5). Here calls take turns: each is done, as if alone, before or after any other, and time
/// passes on the adapter in turn with them. What is one call's affair stays whole; a consumer that makes several which
/// must not be torn apart makes them within one [`SharedProvider::call`].
///
/// The provider itself has no locks, as NDKPI asks of posting functions; a consumer of one thread pays for none.
pub struct SharedProvider<H>(Arc<Mutex<Provider<H>>>);

impl<H> SharedProvider<H> {
    /// Shares a provider.
    pub fn new(provider: Provider<H>) -> Self {
        Self(Arc::new(Mutex::new(provider)))
    }

    /// Makes calls, with no other in between. A panic in `call` of another thread does not stop this one's: the test
    /// that has it fails by itself.
    pub fn call<T>(&self, call: impl FnOnce(&mut Provider<H>) -> T) -> T {
        call(&mut self.lock())
    }

    /// The provider back, if no other handle of it is left.
    pub fn into_inner(self) -> Option<Provider<H>> {
        let mutex = Arc::into_inner(self.0)?;
        Some(mutex.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock(&self) -> MutexGuard<'_, Provider<H>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H> Clone for SharedProvider<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
