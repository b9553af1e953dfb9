//! Receives: which one a message uses, and what it holds.

use super::Receiver;
use super::shared::SharedQueues;
use crate::context::{Context, QpContext, Sge};
use crate::engine::{InputError, Inputs, ReadChannel};

/// A receive, as it stands in its ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Receive {
    elements: [Sge; 4],
}

impl Receive {
    /// Bytes of an entry of a receive ring.
    const BYTES: usize = 64;

    fn parse(entry: &[u8; Self::BYTES]) -> Self {
        let mut elements = [Sge::default(); 4];
        for (to, from) in elements.iter_mut().zip(entry.chunks_exact(Sge::LEN)) {
            *to = Sge::parse(from);
        }
        Self { elements }
    }

    /// Where its bytes go.
    pub fn elements(&self) -> &[Sge] {
        &self.elements
    }

    /// Sum of its elements.
    pub fn length(&self) -> u64 {
        self.elements.iter().map(|e| u64::from(e.length)).sum()
    }
}

/// An entry of a shared receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedEntry {
    /// Number of the queue.
    pub queue: u16,
    /// Index of the entry.
    pub index: u16,
}

/// The receive of the message under way, or the one that the next message would get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub index: u16,
    /// The entry of a shared queue that it is taken from now.
    pub shared: Option<SharedEntry>,
    entry: Entry,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    /// It was read.
    Read(Receive),
    /// It lies at this address.
    At(u64),
}

impl Posted {
    /// What it holds.
    pub fn read(&self, inputs: &mut dyn Inputs) -> Result<Receive, InputError> {
        match self.entry {
            Entry::Read(receive) => Ok(receive),
            Entry::At(address) => {
                let mut entry = [0; Receive::BYTES];
                inputs.read(ReadChannel::RqFetch, address, &mut entry)?;
                Ok(Receive::parse(&entry))
            }
        }
    }
}

impl Receiver {
    /// The receive of the message under way, else the oldest one posted, if there is one.
    pub(super) fn posted(
        &self,
        qp: &QpContext,
        context: &Context,
        shared: &SharedQueues,
    ) -> Option<Posted> {
        if let Some(receive) = self.receive {
            return Some(Posted {
                index: self.held.unwrap_or(self.consumer),
                shared: None,
                entry: Entry::Read(receive),
            });
        }
        if let Some(queue) = qp.shared_queue() {
            let ring = context.srq(queue)?;
            let index = shared.oldest(queue)?;
            return Some(Posted {
                index,
                shared: Some(SharedEntry { queue, index }),
                entry: Entry::At(ring.address(index)),
            });
        }
        (self.consumer != self.producer).then(|| Posted {
            index: self.consumer,
            shared: None,
            entry: Entry::At(qp.rq_address(self.consumer)),
        })
    }
}
