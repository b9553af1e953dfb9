//! Sizes of an engine.

/// Sizes of an engine, fixed when it is made: what the capability registers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// log2 of the number of queue pairs, at most 16.
    pub log2_qps: u8,
    /// log2 of the number of completion queues, at most 14.
    pub log2_cqs: u8,
    /// log2 of the number of shared receive queues, at most 16.
    pub log2_srqs: u8,
    /// log2 of the number of memory tokens, at most 24.
    pub log2_tokens: u8,
    /// log2 of the number of pages in the page table, at most 28.
    pub log2_pages: u8,
    /// Greatest number of reads outstanding on one queue pair, either way; greater values in a
    /// context count as this one.
    pub max_read: u8,
    /// Responses that may wait before [`Engine::enabled`](super::Engine::enabled) stops offering to
    /// take frames; they wait too. [`Engine::apply`](super::Engine::apply) knows no bound: when an
    /// engine runs out of room, and drops a request (`DropNoBuffer`), is its own choice.
    pub responses: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            log2_qps: 6,
            log2_cqs: 6,
            log2_srqs: 4,
            log2_tokens: 8,
            log2_pages: 12,
            max_read: 4,
            responses: 256,
        }
    }
}

impl Config {
    /// The same sizes, each brought into the range of its documentation.
    pub(crate) fn bounded(self) -> Self {
        Self {
            log2_qps: self.log2_qps.min(16),
            log2_cqs: self.log2_cqs.min(14),
            log2_srqs: self.log2_srqs.min(16),
            log2_tokens: self.log2_tokens.min(24),
            log2_pages: self.log2_pages.min(28),
            max_read: self.max_read,
            responses: self.responses.max(1),
        }
    }
}
