//! Posting steps: elements to addresses and tokens, and the calls.

use tandem_model::hal::Target;
use tandem_model::ndk::{LocalToken, NtStatus, OpFlags, Pd, RemoteToken, Sge};

use super::ledger::{Entry, Stretch, What};
use super::state::{Result, State, StepError};
use crate::vector::At;
use crate::vector::object::RegionKind;
use crate::vector::step::{Element, Remote, SrqReceive, Step};
use crate::vector::value::{Status, TokenRef};

/// Clocks that a posting call may let pass: it must not wait for anything but its register writes
/// (NDK-READ-27, NDK-SINV-28).
const CALL_CLOCKS: u64 = 50_000;

/// What a posting step asks for.
struct Call<'a> {
    name: &'static str,
    qp: &'a str,
    context: u64,
    sgl: &'a [At<Element>],
    flags: OpFlags,
    returns: NtStatus,
    times: u32,
    ends: &'a [Status],
    kind: Kind<'a>,
}

enum Kind<'a> {
    Send,
    SendAndInvalidate(&'a At<TokenRef>),
    Receive,
    Read(&'a At<Remote>),
    Write(&'a At<Remote>),
}

/// Carries out a posting step; `None` if the step is of another kind.
pub(super) fn post(state: &mut State, step: &Step) -> Option<Result> {
    let call = match step {
        Step::Send(s) => Call {
            name: "NdkSend",
            qp: &s.send,
            context: s.context.0,
            sgl: &s.sgl,
            flags: s.flags.0,
            returns: s.returns.0,
            times: s.times.unwrap_or(1),
            ends: &s.ends,
            kind: Kind::Send,
        },
        Step::SendAndInvalidate(s) => Call {
            name: "NdkSendAndInvalidate",
            qp: &s.send_and_invalidate,
            context: s.context.0,
            sgl: &s.sgl,
            flags: s.flags.0,
            returns: s.returns.0,
            times: s.times.unwrap_or(1),
            ends: &s.ends,
            kind: Kind::SendAndInvalidate(&s.token),
        },
        Step::Receive(s) => Call {
            name: "NdkReceive",
            qp: &s.receive,
            context: s.context.0,
            sgl: &s.sgl,
            flags: OpFlags::NONE,
            returns: s.returns.0,
            times: s.times.unwrap_or(1),
            ends: &s.ends,
            kind: Kind::Receive,
        },
        Step::Read(s) => Call {
            name: "NdkRead",
            qp: &s.read,
            context: s.context.0,
            sgl: &s.sgl,
            flags: s.flags.0,
            returns: s.returns.0,
            times: s.times.unwrap_or(1),
            ends: &s.ends,
            kind: Kind::Read(&s.remote),
        },
        Step::Write(s) => Call {
            name: "NdkWrite",
            qp: &s.write,
            context: s.context.0,
            sgl: &s.sgl,
            flags: s.flags.0,
            returns: s.returns.0,
            times: s.times.unwrap_or(1),
            ends: &s.ends,
            kind: Kind::Write(&s.remote),
        },
        _ => return None,
    };
    Some(call.carry_out(state))
}

impl Call<'_> {
    fn carry_out(&self, state: &mut State) -> Result {
        let (place, qp, pd) = {
            let qp = state.qp(self.qp)?;
            (qp.node, qp.qp, qp.pd)
        };
        let inline = self.flags.contains(OpFlags::INLINE);
        let sgl: Vec<Sge> = self
            .sgl
            .iter()
            .map(|named| {
                element(state, named, place, pd, inline).map_err(|error| error.at(named.span()))
            })
            .collect::<Result<_>>()?;
        let mut invalidate = RemoteToken::default();
        let mut target = (0, RemoteToken::default());
        match self.kind {
            Kind::SendAndInvalidate(token) => invalidate = state.remote_token(token, place, pd)?,
            Kind::Read(named) | Kind::Write(named) => {
                target = remote(state, named, place, pd)?;
            }
            Kind::Send | Kind::Receive => {}
        }
        for turn in 0..self.times {
            let context = self.context.wrapping_add(turn.into());
            let flags = self.flags;
            let nic = state.nic(place)?;
            let before = nic.hal().now();
            let outcome = match self.kind {
                Kind::Send => nic.send(qp, context, &sgl, flags),
                Kind::SendAndInvalidate(_) => {
                    nic.send_and_invalidate(qp, context, &sgl, flags, invalidate)
                }
                Kind::Receive => nic.receive(qp, context, &sgl),
                Kind::Read(_) => nic.read(qp, context, &sgl, target.0, target.1, flags),
                Kind::Write(_) => nic.write(qp, context, &sgl, target.0, target.1, flags),
            };
            let clocks = nic.hal().now() - before;
            if clocks > CALL_CLOCKS {
                let message = format!("{} waited {clocks} clocks before it returned", self.name);
                return Err(StepError::new(message));
            }
            let posted = state.returned(place, self.name, outcome, self.returns)?;
            let entry = match posted {
                Some(()) if state.ledger.is_kept() => Some(self.entry(state, context, invalidate)?),
                _ => None,
            };
            let receive = matches!(self.kind, Kind::Receive);
            noted(state, self.qp, receive, flags, posted.is_some(), entry);
        }
        if matches!(self.kind, Kind::Receive) {
            // A send that overtakes its receive's doorbell would be refused.
            state.world.quiet()?;
        }
        Ok(())
    }
}

/// Takes note of a posting call: of the request if it was posted, and of what the hardware was told.
pub(super) fn noted(
    state: &mut State,
    qp: &str,
    receive: bool,
    flags: OpFlags,
    posted: bool,
    entry: Option<Entry>,
) {
    let held = posted && flags.contains(OpFlags::DEFER);
    if !held && !receive {
        state.ledger.indicated(qp);
    }
    if let Some(entry) = entry {
        state.ledger.posted(qp, entry);
    }
    if posted
        && !flags.contains(OpFlags::SILENT_SUCCESS)
        && let Some(qp) = state.qps.get_mut(qp)
    {
        qp.owed[usize::from(receive)] += 1;
    }
}

impl Call<'_> {
    /// What the ledger keeps of the request.
    fn entry(&self, state: &State, context: u64, invalidate: RemoteToken) -> Result<Entry> {
        let local = self.sgl.iter().map(|named| local_stretch(state, named));
        let local: Option<Vec<Stretch>> = local.collect::<Result<Option<_>>>()?;
        let length = self.sgl.iter().map(|named| named.length).sum();
        let far = match self.kind {
            Kind::Read(named) | Kind::Write(named) => far_stretch(state, named, length)?,
            Kind::Send | Kind::SendAndInvalidate(_) | Kind::Receive => None,
        };
        let far = far.map(|stretch| vec![stretch]);
        let (what, source, sink) = match self.kind {
            Kind::Send => (What::Send(None), local, None),
            Kind::SendAndInvalidate(_) => (What::Send(Some(invalidate.0.into())), local, None),
            Kind::Receive => (What::Receive, None, local),
            Kind::Read(_) => (What::Read, far, local),
            Kind::Write(_) => (What::Write, local, far),
        };
        Ok(Entry::new(context, what)
            .silent(self.flags.contains(OpFlags::SILENT_SUCCESS))
            .held(self.flags.contains(OpFlags::DEFER))
            .ends(self.ends.iter().map(|status| status.0).collect())
            .length(length)
            .content(state, source, sink))
    }
}

/// What the ledger keeps of a receive of a shared queue.
pub(super) fn shared_receive(state: &State, step: &SrqReceive, context: u64) -> Result<Entry> {
    let local = step.sgl.iter().map(|named| local_stretch(state, named));
    let local: Option<Vec<Stretch>> = local.collect::<Result<Option<_>>>()?;
    Ok(Entry::new(context, What::Receive)
        .ends(step.ends.iter().map(|status| status.0).collect())
        .length(step.sgl.iter().map(|named| named.length).sum())
        .content(state, None, local))
}

/// Where the bytes of an element lie; `None`: not in a memory of the vector.
fn local_stretch(state: &State, named: &Element) -> Result<Option<Stretch>> {
    let (memory, start) = match (&named.region, &named.memory) {
        (Some(name), _) => {
            let region = state.region(name)?;
            (region.memory.clone(), region.offset)
        }
        (None, Some(name)) => (name.value().clone(), 0),
        (None, None) => return Ok(None),
    };
    Ok(start.checked_add(named.offset).map(|offset| Stretch {
        memory,
        offset,
        length: named.length,
    }))
}

/// Where remote memory lies; `None` if address or token are not those of the region.
fn far_stretch(state: &State, named: &Remote, length: u32) -> Result<Option<Stretch>> {
    if named.address.is_some() || named.token.is_some() {
        return Ok(None);
    }
    let (name, start) = match (&named.region, &named.window) {
        (Some(name), _) => (name.value(), 0),
        (None, Some(window)) => match &state.window(window)?.bound {
            Some((region, offset)) => (region, *offset),
            None => return Ok(None),
        },
        (None, None) => return Ok(None),
    };
    let region = state.region(name)?;
    Ok(region
        .offset
        .checked_add(start)
        .and_then(|first| first.checked_add(named.offset))
        .map(|offset| Stretch {
            memory: region.memory.clone(),
            offset,
            length,
        }))
}

/// An element of a scatter/gather list.
pub(super) fn element(
    state: &mut State,
    named: &Element,
    place: usize,
    pd: Pd,
    inline: bool,
) -> Result<Sge> {
    let privileged_region = match &named.region {
        Some(name) => state.region(name)?.kind == RegionKind::Privileged,
        None => false,
    };
    let privileged = privileged_region
        || named
            .token
            .as_ref()
            .is_some_and(|token| *token.value() == TokenRef::Privileged);
    let logical = inline || privileged;
    let base = match &named.region {
        Some(name) => state.region(name)?.base,
        None => None,
    };
    let base = base.map(|base| base.wrapping_add(named.offset));
    let (memory, offset) = match (&named.region, &named.memory) {
        (Some(name), _) => {
            let region = state.region(name)?;
            let offset = region.offset.wrapping_add(named.offset);
            (Some(state.memory(&region.memory)?), offset)
        }
        (None, Some(name)) => (Some(state.memory(name)?), named.offset),
        (None, None) => (None, named.offset),
    };
    let address = match memory {
        Some(memory) if logical => {
            if !memory.contiguous(offset, named.length.into()) {
                return Err(StepError::new(
                    "this element has logical addresses, and its pages are not contiguous",
                ));
            }
            memory.logical(offset)
        }
        Some(memory) => base.unwrap_or_else(|| memory.virtual_address.wrapping_add(offset)),
        None => named
            .address
            .map_or(0, |number| number.0)
            .wrapping_add(offset),
    };
    let token = match (&named.token, &named.region) {
        (Some(token), _) => state.token(token, place, pd)?,
        (None, Some(name)) => state.region(name)?.tokens.newest(),
        (None, None) => 0,
    };
    Ok(Sge {
        address,
        length: named.length,
        token: LocalToken(token),
    })
}

/// Address by which a region's first byte is known.
pub(super) fn first_byte(state: &State, name: &str) -> Result<u64> {
    let region = state.region(name)?;
    let memory = state.memory(&region.memory)?;
    Ok(match (region.kind, region.base) {
        (_, Some(base)) => base,
        (RegionKind::Privileged, None) => memory.logical(region.offset),
        _ => memory.virtual_address.wrapping_add(region.offset),
    })
}

/// Address and token of remote memory.
pub(super) fn remote(
    state: &mut State,
    named: &Remote,
    place: usize,
    pd: Pd,
) -> Result<(u64, RemoteToken)> {
    let mut token = RemoteToken::default();
    let mut address = named.address.map_or(0, |number| number.0);
    if let Some(name) = &named.region {
        let region = state.region(name)?;
        token = RemoteToken::from_engine(region.tokens.newest());
        if named.address.is_none() {
            address = first_byte(state, name)?;
        }
    }
    if let Some(name) = &named.window {
        let window = state.window(name)?;
        token = RemoteToken::from_engine(window.tokens.newest());
        if named.address.is_none()
            && let Some((region, offset)) = &window.bound
        {
            address = first_byte(state, region)?.wrapping_add(*offset);
        }
    }
    if let Some(named) = &named.token {
        token = state.remote_token(named, place, pd)?;
    }
    Ok((address.wrapping_add(named.offset), token))
}
