//! Requests, as the ledger keeps them.

use tandem_model::ndk::{NdkResultEx, NtStatus, OperationType};

use crate::world::state::State;

/// Some bytes of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::world) struct Stretch {
    pub(in crate::world) memory: String,
    pub(in crate::world) offset: u64,
    pub(in crate::world) length: u32,
}

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum What {
    /// With the token that it invalidates, as the consumers hold it.
    Send(Option<u64>),
    Receive,
    Read,
    Write,
    Bind,
    FastRegister,
    Invalidate,
}

impl What {
    pub(in crate::world) fn word(self) -> &'static str {
        match self {
            Self::Send(None) => "send",
            Self::Send(Some(_)) => "send and invalidate",
            Self::Receive => "receive",
            Self::Read => "read",
            Self::Write => "write",
            Self::Bind => "bind",
            Self::FastRegister => "fast registration",
            Self::Invalidate => "invalidation",
        }
    }

    /// Whether it may be done before a request in front of it has its answer: nothing of it leaves the node.
    pub(in crate::world) fn is_early(self) -> bool {
        matches!(self, Self::Bind | Self::FastRegister)
    }

    pub(in crate::world) fn fits(self, operation: OperationType) -> bool {
        match self {
            Self::Send(_) => operation == OperationType::Send,
            Self::Receive => operation.is_receive(),
            Self::Read => operation == OperationType::Read,
            Self::Write => operation == OperationType::Write,
            Self::Bind => operation == OperationType::Bind,
            Self::FastRegister => operation == OperationType::FastRegister,
            Self::Invalidate => operation == OperationType::Invalidate,
        }
    }
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Outcome {
    /// It has no result yet.
    Open,
    /// It is silent, and something after it succeeded, or everything did.
    Silent,
    /// Its result.
    Result(NdkResultEx),
}

/// A request.
#[derive(Clone, Debug)]
pub(in crate::world) struct Entry {
    pub(in crate::world) context: u64,
    pub(in crate::world) what: What,
    pub(in crate::world) silent: bool,
    pub(in crate::world) held: bool,
    pub(in crate::world) ends: Vec<NtStatus>,
    pub(in crate::world) length: u32,
    /// Where its bytes come from, and what the processor had written there when it was posted.
    pub(in crate::world) source: Option<(Vec<Stretch>, Vec<u8>)>,
    /// Where they go, and what was there.
    pub(in crate::world) sink: Option<(Vec<Stretch>, Vec<u8>)>,
    pub(in crate::world) outcome: Outcome,
    pub(in crate::world) life: usize,
}

impl Entry {
    pub(in crate::world) fn new(context: u64, what: What) -> Self {
        Self {
            context,
            what,
            silent: false,
            held: false,
            ends: Vec::new(),
            length: 0,
            source: None,
            sink: None,
            outcome: Outcome::Open,
            life: 0,
        }
    }

    pub(in crate::world) fn silent(self, silent: bool) -> Self {
        Self { silent, ..self }
    }

    /// Whether the hardware need not be told of it yet.
    pub(in crate::world) fn held(self, held: bool) -> Self {
        Self { held, ..self }
    }

    pub(in crate::world) fn ends(self, ends: Vec<NtStatus>) -> Self {
        Self { ends, ..self }
    }

    pub(in crate::world) fn length(self, length: u32) -> Self {
        Self { length, ..self }
    }

    /// Where its bytes come from and go to.
    pub(in crate::world) fn content(
        self,
        state: &State,
        source: Option<Vec<Stretch>>,
        sink: Option<Vec<Stretch>>,
    ) -> Self {
        let known = |stretches: Option<Vec<Stretch>>| {
            let stretches = stretches?;
            let bytes = shadows(state, &stretches)?;
            Some((stretches, bytes))
        };
        Self {
            source: known(source),
            sink: known(sink),
            ..self
        }
    }

    /// Whether it has succeeded.
    pub(in crate::world) fn succeeded(&self) -> bool {
        match &self.outcome {
            Outcome::Open => false,
            Outcome::Silent => true,
            Outcome::Result(result) => result.status.is_success(),
        }
    }

    /// The status with which it, and not something before it, failed.
    pub(in crate::world) fn failure(&self) -> Option<NtStatus> {
        match &self.outcome {
            Outcome::Result(result)
                if !result.status.is_success() && result.status != NtStatus::CANCELLED =>
            {
                Some(result.status)
            }
            _ => None,
        }
    }
}

/// What the processor wrote last in some places; `None` if one of them lies outside its memory.
pub(in crate::world) fn shadows(state: &State, stretches: &[Stretch]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for stretch in stretches {
        let memory = state.memory(&stretch.memory).ok()?;
        let end = stretch.offset.checked_add(stretch.length.into())?;
        if end > memory.bytes() {
            return None;
        }
        bytes.extend_from_slice(memory.shadow(stretch.offset, stretch.length as usize));
    }
    Some(bytes)
}
