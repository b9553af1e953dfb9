//! Requests that concern one node only, and what they are about: windows, regions for fast registration.

use tandem_model::ndk::{InvalidateTarget, MrUse, Object, OpFlags, Qp};

use super::ledger::{Entry, What};
use super::state::{Result, State, StepError, Tokens, WindowState};
use super::{close, post};
use crate::vector::Vector;
use crate::vector::object::Region;
use crate::vector::step::{Bind, CloseMr, CloseMw, FastRegister, Invalidate};
use crate::vector::value::Status;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Creates the windows of a vector.
pub(super) fn windows(state: &mut State, vector: &Vector) -> Result {
    for (name, window) in &vector.head.window {
        let node = state.place(&window.node)?;
        let pd = state.pd(&window.pd, node)?;
        let mw = state.nic(node)?.create_mw(pd);
        let mw = state.created(node, &format!("creating window `{name}`"), mw)?;
        let known = WindowState {
            node,
            mw,
            bound: None,
            tokens: Tokens::default(),
        };
        state.windows.insert(name.clone(), known);
    }
    Ok(())
}

/// Creates a region for fast registration, and initialises it.
pub(super) fn initialize(state: &mut State, name: &str, declared: &Region) -> Result {
    let region = state.region(name)?;
    let (place, pd) = (region.node, region.pd);
    let memory = state.memory(&region.memory)?;
    let pages = memory.mdl(region.offset, region.length).pages.len() as u32;
    let pages = declared.max_pages.unwrap_or(pages);
    let remote_access = declared.remote_access.unwrap_or(true);
    let nic = state.nic(place)?;
    let mr = nic.create_mr(pd, MrUse::FastRegister);
    let mr = state.created(place, "NdkCreateMr", mr)?;
    let nic = state.nic(place)?;
    let outcome = nic.initialize_fast_register_mr(mr, pages, remote_access);
    state.created(place, "NdkInitializeFastRegisterMr", outcome)?;
    if let Some(region) = state.regions.get_mut(name) {
        region.mr = Some(mr);
    }
    Ok(())
}

/// A queue pair, and its node.
fn queue_pair(state: &State, name: &str) -> Result<(usize, Qp)> {
    let qp = state.qp(name)?;
    Ok((qp.node, qp.qp))
}

/// What all posting steps say.
struct Posting<'a> {
    qp: &'a str,
    what: What,
    context: u64,
    flags: OpFlags,
    ends: &'a [Status],
}

impl Posting<'_> {
    /// Takes note of the call.
    fn noted(&self, state: &mut State, posted: bool) {
        let entry = Entry::new(self.context, self.what)
            .silent(self.flags.contains(OpFlags::SILENT_SUCCESS))
            .held(self.flags.contains(OpFlags::DEFER))
            .ends(self.ends.iter().map(|status| status.0).collect());
        let entry = (posted && state.ledger.is_kept()).then_some(entry);
        post::noted(state, self.qp, false, self.flags, posted, entry);
    }
}

/// NdkBind.
pub(super) fn bind(state: &mut State, step: &Bind) -> Result {
    let (place, qp) = queue_pair(state, &step.bind)?;
    let mw = state.window(&step.window)?.mw;
    let region = state.region(&step.region)?;
    let mr = region.mr.ok_or_else(|| gone(&step.region))?;
    let rest = region.length.saturating_sub(step.offset);
    let length = step.length.unwrap_or(rest);
    let address = post::first_byte(state, &step.region)?.wrapping_add(step.offset);
    let (context, flags) = (step.context.0, step.flags.0);
    let nic = state.nic(place)?;
    let outcome = nic.bind(qp, context, mr, mw, address, length, flags);
    let posted = state.returned(place, "NdkBind", outcome, step.returns.0)?;
    if posted.is_some() {
        let token = state.nic(place)?.remote_token_from_mw(mw);
        let token = state.created(place, "NdkGetRemoteTokenFromMw", token)?;
        if let Some(window) = state.windows.get_mut(step.window.value()) {
            window.tokens.push(token.to_engine());
            window.bound = Some((step.region.value().clone(), step.offset));
        }
    }
    let posting = Posting {
        qp: &step.bind,
        what: What::Bind,
        context,
        flags,
        ends: &step.ends,
    };
    posting.noted(state, posted.is_some());
    Ok(())
}

/// NdkFastRegister.
pub(super) fn fast_register(state: &mut State, step: &FastRegister) -> Result {
    let (place, qp) = queue_pair(state, &step.fast_register)?;
    let region = state.region(&step.region)?;
    let mr = region.mr.ok_or_else(|| gone(&step.region))?;
    let offset = step.offset.unwrap_or(region.offset);
    let memory = state.memory(&region.memory)?;
    let length = step.length.unwrap_or(region.length);
    let mdl = memory.mdl(offset, length.min(memory.bytes().saturating_sub(offset)));
    let address = memory.virtual_address.wrapping_add(offset);
    let address = step.address.map_or(address, |number| number.0);
    let fbo = step.fbo.unwrap_or((address % PAGE) as u32);
    let pages = step.pages.unwrap_or(mdl.pages.len());
    let pages = mdl.pages.get(..pages).ok_or_else(|| {
        StepError::new(format!(
            "the list has {} pages, and not {pages}",
            mdl.pages.len()
        ))
    })?;
    let (context, flags) = (step.context.0, step.flags.0);
    let nic = state.nic(place)?;
    let outcome = nic.fast_register(qp, context, mr, pages, fbo, length, address, flags);
    let posted = state.returned(place, "NdkFastRegister", outcome, step.returns.0)?;
    if posted.is_some() {
        let token = state.nic(place)?.local_token_from_mr(mr);
        let token = state.created(place, "NdkGetLocalTokenFromMr", token)?.0;
        if let Some(region) = state.regions.get_mut(step.region.value()) {
            region.tokens.push(token);
            (region.offset, region.base) = (offset, Some(address));
        }
    }
    let posting = Posting {
        qp: &step.fast_register,
        what: What::FastRegister,
        context,
        flags,
        ends: &step.ends,
    };
    posting.noted(state, posted.is_some());
    Ok(())
}

/// NdkInvalidate.
pub(super) fn invalidate(state: &mut State, step: &Invalidate) -> Result {
    let (place, qp) = queue_pair(state, &step.invalidate)?;
    let target = match (&step.region, &step.window) {
        (Some(name), _) => {
            let mr = state.region(name)?.mr.ok_or_else(|| gone(name))?;
            InvalidateTarget::Mr(mr)
        }
        (None, Some(name)) => InvalidateTarget::Mw(state.window(name)?.mw),
        (None, None) => return Err(StepError::new("nothing to invalidate")),
    };
    let (context, flags) = (step.context.0, step.flags.0);
    let outcome = state.nic(place)?.invalidate(qp, context, target, flags);
    let posted = state.returned(place, "NdkInvalidate", outcome, step.returns.0)?;
    let posting = Posting {
        qp: &step.invalidate,
        what: What::Invalidate,
        context,
        flags,
        ends: &step.ends,
    };
    posting.noted(state, posted.is_some());
    Ok(())
}

/// NdkCloseMw.
pub(super) fn close_mw(state: &mut State, step: &CloseMw) -> Result {
    let name = step.close_mw.value();
    let (place, mw) = {
        let window = state.window(name)?;
        (window.node, window.mw)
    };
    let outcome = state.nic(place)?.close_mw(mw);
    close::ended(state, place, Object::Mw(mw), outcome, &step.returns)?;
    Ok(())
}

/// NdkCloseMr.
pub(super) fn close_mr(state: &mut State, step: &CloseMr) -> Result {
    let name = step.close_mr.value();
    let region = state.region(name)?;
    let (place, mr) = (region.node, region.mr.ok_or_else(|| gone(name))?);
    let outcome = state.nic(place)?.close_mr(mr);
    close::ended(state, place, Object::Mr(mr), outcome, &step.returns)?;
    if let Some(region) = state.regions.get_mut(name) {
        region.mr = None;
    }
    Ok(())
}

fn gone(name: &str) -> StepError {
    StepError::new(format!("region `{name}` is closed, or not registered"))
}
