//! Objects of a running vector by their names.

use std::collections::BTreeMap;
use std::ops::Range;

use tandem_model::ndk::{Cq, Mr, Mw, NdkError, NtStatus, Pd, Provider, Qp, RemoteToken, Srq};

use super::cm::Connections;
use super::ledger::Ledger;
use super::{FailureKind, HostMemory, World, WorldError};
use crate::targets::AnyTarget;
use crate::vector::object::RegionKind;
use crate::vector::value::{At, TokenRef};

/// Why a step failed.
#[derive(Debug)]
pub(super) struct StepError {
    /// What happened.
    pub(super) message: String,
    /// What sort of failure it is.
    pub(super) kind: FailureKind,
    /// The text that it concerns, if it is not the whole step.
    pub(super) span: Option<Range<usize>>,
    /// More about it.
    pub(super) help: Option<String>,
    /// A report of several lines that is printed as it stands.
    pub(super) detail: Option<String>,
}

impl StepError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: FailureKind::WrongResult,
            span: None,
            help: None,
            detail: None,
        }
    }

    /// Something that did not come in time.
    pub(super) fn late(message: impl Into<String>) -> Self {
        Self {
            kind: FailureKind::TimeOut,
            ..Self::new(message)
        }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }
}

impl From<WorldError> for StepError {
    fn from(error: WorldError) -> Self {
        let text = error.to_string();
        // A divergence is a table: wrapping it would spoil it.
        let (first, detail) = match text.split_once('\n') {
            Some((first, _)) => (first.to_owned(), Some(text)),
            None => (text, None),
        };
        Self {
            detail,
            kind: FailureKind::from(&error),
            ..Self::new(first)
        }
    }
}

pub(super) type Result<T = ()> = std::result::Result<T, StepError>;

/// A completion queue.
pub(super) struct CqState {
    pub(super) node: usize,
    pub(super) cq: Cq,
    pub(super) context: u64,
}

/// A region.
pub(super) struct RegionState {
    pub(super) node: usize,
    pub(super) memory: String,
    pub(super) pd: Pd,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) kind: RegionKind,
    pub(super) mr: Option<Mr>,
    /// Address that FastRegister gave its first byte, if another than the memory has.
    pub(super) base: Option<u64>,
    pub(super) tokens: Tokens,
}

/// The tokens that an object has had, as the engine numbers them.
#[derive(Default)]
pub(super) struct Tokens(Vec<u32>);

impl Tokens {
    /// It has another one from now on.
    pub(super) fn push(&mut self, token: u32) {
        self.0.push(token);
    }

    /// The newest one, also if it is not valid any more; 0 if there was none.
    pub(super) fn newest(&self) -> u32 {
        self.before(0)
    }

    /// The one that came so many before the newest.
    fn before(&self, count: usize) -> u32 {
        self.0.iter().rev().nth(count).copied().unwrap_or(0)
    }
}

/// A window.
pub(super) struct WindowState {
    pub(super) node: usize,
    pub(super) mw: Mw,
    /// Region, and first byte in it, of the newest Bind.
    pub(super) bound: Option<(String, u64)>,
    pub(super) tokens: Tokens,
}

/// A shared receive queue.
pub(super) struct SrqState {
    pub(super) node: usize,
    pub(super) pd: Pd,
    pub(super) srq: Srq,
    pub(super) context: u64,
}

/// The other end of a connection.
#[derive(Clone, Copy)]
pub(super) struct Peer {
    /// Place of its node.
    pub(super) node: usize,
    /// Number of its queue pair.
    pub(super) number: u32,
    /// Whether frames have IPv6 addresses.
    pub(super) ipv6: bool,
}

/// A queue pair.
pub(super) struct QpState {
    pub(super) node: usize,
    pub(super) qp: Qp,
    pub(super) pd: Pd,
    pub(super) context: u64,
    /// What it was connected to last.
    pub(super) peer: Option<Peer>,
    /// Requests posted that owe a result, and results seen: initiator, receive.
    pub(super) owed: [u64; 2],
    pub(super) seen: [u64; 2],
}

/// Everything that a running vector has.
pub(super) struct State {
    pub(super) world: World,
    pub(super) default_pds: Vec<Pd>,
    pub(super) pds: BTreeMap<String, Pd>,
    pub(super) cqs: BTreeMap<String, CqState>,
    pub(super) memories: BTreeMap<String, HostMemory>,
    pub(super) regions: BTreeMap<String, RegionState>,
    pub(super) windows: BTreeMap<String, WindowState>,
    pub(super) srqs: BTreeMap<String, SrqState>,
    pub(super) qps: BTreeMap<String, QpState>,
    pub(super) connections: Connections,
    /// For each node, how many of the passed frames have been looked at.
    pub(super) looked_at: Vec<usize>,
    /// What was posted, and what came of it.
    pub(super) ledger: Ledger,
}

pub(super) fn missing(kind: &str, name: &str) -> StepError {
    StepError::new(format!("{kind} `{name}` does not exist (any more)"))
}

impl State {
    pub(super) fn cq(&self, name: &str) -> Result<&CqState> {
        self.cqs
            .get(name)
            .ok_or_else(|| missing("completion queue", name))
    }

    pub(super) fn qp(&self, name: &str) -> Result<&QpState> {
        self.qps
            .get(name)
            .ok_or_else(|| missing("queue pair", name))
    }

    pub(super) fn region(&self, name: &str) -> Result<&RegionState> {
        self.regions
            .get(name)
            .ok_or_else(|| missing("region", name))
    }

    pub(super) fn window(&self, name: &str) -> Result<&WindowState> {
        self.windows
            .get(name)
            .ok_or_else(|| missing("window", name))
    }

    pub(super) fn srq(&self, name: &str) -> Result<&SrqState> {
        self.srqs
            .get(name)
            .ok_or_else(|| missing("shared receive queue", name))
    }

    pub(super) fn memory(&self, name: &str) -> Result<&HostMemory> {
        self.memories
            .get(name)
            .ok_or_else(|| missing("memory", name))
    }

    /// A protection domain by its name, or that of the node.
    pub(super) fn pd(&self, name: &Option<At<String>>, place: usize) -> Result<Pd> {
        let found = match name {
            Some(name) => self.pds.get(name.value()),
            None => self.default_pds.get(place),
        };
        found
            .copied()
            .ok_or_else(|| StepError::new("no such protection domain"))
    }

    /// The engine's number of a queue pair.
    pub(super) fn qp_number(&self, name: &str) -> Result<u32> {
        let qp = self.qp(name)?;
        let Some(node) = self.world.nodes.get(qp.node) else {
            return Err(missing("node", &qp.node.to_string()));
        };
        let number = node.nic.qp_number(qp.qp);
        number.map_err(|error| self.broken(qp.node, error))
    }

    pub(super) fn place(&self, node: &str) -> Result<usize> {
        let place = self.world.nodes.iter().position(|known| known.name == node);
        place.ok_or_else(|| missing("node", node))
    }

    pub(super) fn nic(&mut self, place: usize) -> Result<&mut Provider<AnyTarget>> {
        let node = self.world.nodes.get_mut(place);
        node.map(|node| &mut node.nic)
            .ok_or_else(|| missing("node", &place.to_string()))
    }

    /// The error of a provider that failed its consumer.
    pub(super) fn broken(&self, place: usize, error: impl Into<NdkError>) -> StepError {
        match self.world.nodes.get(place) {
            Some(node) => node.error(error).into(),
            None => StepError::new(error.into().to_string()),
        }
    }

    /// The status of a call, compared with the expected one.
    pub(super) fn returned<T>(
        &self,
        place: usize,
        call: &str,
        outcome: std::result::Result<T, NdkError>,
        expected: NtStatus,
    ) -> Result<Option<T>> {
        let status = NtStatus::of(&outcome).map_err(|error| self.broken(place, error.clone()))?;
        if status != expected {
            return Err(StepError::new(format!(
                "{call} returned {status}, expected {expected}"
            )));
        }
        Ok(outcome.ok())
    }

    /// The same of a call that may be pending; whether it was taken.
    pub(super) fn answered(
        &self,
        place: usize,
        call: &str,
        outcome: std::result::Result<NtStatus, NdkError>,
        expected: NtStatus,
    ) -> Result<bool> {
        let taken = outcome.is_ok();
        let told = outcome.and_then(|status| match status == NtStatus::SUCCESS {
            true => Ok(()),
            false => Err(status.into()),
        });
        self.returned(place, call, told, expected)?;
        Ok(taken)
    }

    /// The engine's number of a token.
    pub(super) fn token(&mut self, token: &TokenRef, place: usize, pd: Pd) -> Result<u32> {
        match token {
            TokenRef::Of { name, xor, before } => {
                let tokens = match self.windows.get(name) {
                    Some(window) => &window.tokens,
                    None => &self.region(name)?.tokens,
                };
                Ok(tokens.before(*before) ^ xor)
            }
            TokenRef::Privileged => {
                let found = self.nic(place)?.privileged_memory_region_token(pd);
                found
                    .map(|token| token.0)
                    .map_err(|error| self.broken(place, error))
            }
            TokenRef::Number(number) => Ok(*number),
        }
    }

    /// A token as the consumer of the peer holds it.
    pub(super) fn remote_token(
        &mut self,
        token: &TokenRef,
        place: usize,
        pd: Pd,
    ) -> Result<RemoteToken> {
        match token {
            TokenRef::Number(number) => Ok(RemoteToken(*number)),
            other => self.token(other, place, pd).map(RemoteToken::from_engine),
        }
    }

    /// The number that the wire carries for a token.
    pub(super) fn wire_token(
        &mut self,
        place: usize,
        token: &Option<TokenRef>,
    ) -> Result<Option<u32>> {
        let (Some(token), Some(pd)) = (token, self.default_pds.get(place).copied()) else {
            return Ok(None);
        };
        let token = self.remote_token(token, place, pd)?;
        Ok(Some(token.to_engine()))
    }

    /// What queue pairs still owe, in words.
    pub(super) fn outstanding(&self) -> String {
        let lines: Vec<String> = self
            .qps
            .iter()
            .filter_map(|(name, qp)| {
                let [initiator, receive] =
                    [0, 1].map(|queue| qp.owed[queue].saturating_sub(qp.seen[queue]));
                let phase = self
                    .world
                    .nodes
                    .get(qp.node)
                    .and_then(|node| node.nic.qp_phase(qp.qp).ok());
                let phase = phase.map_or_else(String::new, |phase| format!(" ({phase:?})"));
                (initiator + receive > 0).then(|| {
                    format!("queue pair `{name}`{phase}: {initiator} initiator requests, {receive} receives")
                })
            })
            .collect();
        match lines.is_empty() {
            true => "nothing is outstanding".into(),
            false => format!("outstanding: {}", lines.join("; ")),
        }
    }
}
