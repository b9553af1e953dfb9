//! Running a vector: its steps one by one, and what must hold at the end.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tandem_model::ndk::{ArmType, Notification, NtStatus, Object};

use super::ledger::CQ;
use super::state::{Result as StepResult, State, StepError};
use super::{
    FailureKind, Scene, Tally, World, account, build, bytes_of, close, cm, connect, cq, endings,
    expect, frames, impair, local, oid, post, reads, results, srq,
};
use crate::breach::Breach;
use crate::coverage::Cover;
use crate::targets::{Checked, Choice, Inject, TargetOptions, Waves};
use crate::timing::{Timings, Windows};
use crate::vector::step::{Arm, CloseQp, Fill, Step, TryQp, Wait};
use crate::vector::{Fault, TargetKind, Vector};

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Target of nodes that do not say.
    pub target: TargetKind,
    /// Targets of nodes by their names; stronger than the vector's.
    pub node_targets: BTreeMap<String, TargetKind>,
    /// Seed of all that is random.
    pub seed: u64,
    /// Choices of the model.
    pub choice: Choice,
    /// Waves.
    pub waves: Option<Waves>,
    /// The engine's build with assertions, even if there are no waves to write.
    pub debug: bool,
    /// Clocks of engines in which their ports are recorded.
    pub windows: Windows,
    /// Who counts what is covered.
    pub cover: Option<Arc<Cover>>,
    /// Capture file.
    pub capture: Option<PathBuf>,
    /// What is wrong with the engines, to see it found.
    pub inject: Option<Inject>,
    /// What else is wrong with the nodes.
    pub breach: Option<Breach>,
}

impl RunOptions {
    /// The targets as the command line takes them.
    pub fn target_words(&self) -> String {
        let mut words = vec![self.target.to_string()];
        let nodes = self.node_targets.iter();
        words.extend(nodes.map(|(node, kind)| format!("{node}={kind}")));
        words.join(",")
    }

    /// What a node runs on; `own` is what its vector says.
    pub fn kind(&self, node: &str, own: Option<TargetKind>) -> TargetKind {
        let named = self.node_targets.get(node).copied();
        named.or(own).unwrap_or(self.target)
    }

    /// How to open the targets.
    pub(crate) fn targets(&self) -> TargetOptions {
        TargetOptions {
            seed: self.seed,
            choice: self.choice,
            waves: self.waves.clone(),
            debug: self.debug,
            windows: self.windows.clone(),
            cover: self.cover.clone(),
            inject: self.inject,
            breach: self.breach,
            ..TargetOptions::default()
        }
    }
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Frames that passed the network.
    pub frames: u64,
    /// Clocks and decisions checked, of all nodes.
    pub checked: Checked,
    /// What was posted and what came of it, if the vector has `expect_accounted`.
    pub tally: Tally,
}

/// Why a run failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What sort of failure it is.
    pub kind: FailureKind,
    /// What happened, at the text that it concerns.
    pub fault: Box<Fault>,
    /// The step, counted from 1; `None`: before the first or after the last.
    pub step: Option<usize>,
    /// A report of several lines, as a divergence is one.
    pub detail: Option<String>,
    /// Clock of each engine at which to look; empty if there was no world yet.
    pub scene: Scene,
    /// What the ports of engines did, if that was to be recorded.
    pub timings: Timings,
}

/// Runs a vector.
///
/// # Errors
/// The first thing that is not as it should be.
pub fn run(vector: &Vector, options: &RunOptions) -> Result<Report, Failure> {
    let name = vector.head.name.span();
    const BEGINNING: &str = "setting up: ";
    let mut state = build::open(vector, options)
        .map_err(|error| failure(error, None, name.clone(), BEGINNING))?;
    build::create(&mut state, vector, options.seed).map_err(|error| {
        let error = examined(&mut state, error);
        failure(error, None, name.clone(), BEGINNING).after(&state.world)
    })?;
    for (index, step) in vector.steps.iter().enumerate() {
        carry_out(&mut state, vector, step).map_err(|error| {
            let error = examined(&mut state, error);
            failure(error, Some(index + 1), step.span(), "").after(&state.world)
        })?;
    }
    end(&mut state).map_err(|error| {
        let error = examined(&mut state, error);
        failure(error, None, name, "at the end: ").after(&state.world)
    })
}

fn failure(error: StepError, step: Option<usize>, span: Range<usize>, what: &str) -> Failure {
    let message = match step {
        Some(step) => format!("step {step}: {}", error.message),
        None => format!("{what}{}", error.message),
    };
    let mut fault = Fault::new(error.span.unwrap_or(span), message);
    fault.help = error.help;
    Failure {
        kind: error.kind,
        step,
        detail: error.detail,
        ..Failure::new(fault)
    }
}

impl Failure {
    /// One of which nothing else is known.
    pub fn new(fault: Fault) -> Self {
        Self {
            kind: FailureKind::WrongResult,
            fault: fault.into(),
            step: None,
            detail: None,
            scene: Scene::new(),
            timings: Timings::new(),
        }
    }

    /// With what the engines of a world say of it.
    #[must_use]
    pub fn after(self, world: &World) -> Self {
        Self {
            kind: world.trouble().unwrap_or(self.kind),
            scene: world.scene(),
            timings: world.timings(),
            ..self
        }
    }
}

/// What the engines have to say about it, if that is more.
fn examined(state: &mut State, error: StepError) -> StepError {
    match state.world.examine().map(StepError::from) {
        Some(cause) if cause.message != error.message => {
            cause.help(format!("what came of it: {}", error.message))
        }
        _ => error,
    }
}

fn carry_out(state: &mut State, vector: &Vector, step: &Step) -> StepResult {
    if let Some(outcome) = post::post(state, step) {
        return outcome;
    }
    match step {
        Step::Flush(s) => {
            let (place, qp) = {
                let qp = state.qp(&s.flush)?;
                (qp.node, qp.qp)
            };
            state.ledger.cut(&s.flush);
            let outcome = state.nic(place)?.flush(qp);
            state.returned(place, "NdkFlush", outcome, NtStatus::SUCCESS)?;
            Ok(())
        }
        Step::Arm(s) => {
            let (place, cq) = {
                let cq = state.cq(&s.arm)?;
                (cq.node, cq.cq)
            };
            let arm = match s.r#type {
                Arm::Errors => ArmType::Errors,
                Arm::Any => ArmType::Any,
                Arm::Solicited => ArmType::Solicited,
            };
            let outcome = state.nic(place)?.arm_cq(cq, arm);
            state.returned(place, "NdkArmCq", outcome, NtStatus::SUCCESS)?;
            state.ledger.armed(CQ, &s.arm);
            Ok(())
        }
        Step::Bind(s) => local::bind(state, s),
        Step::FastRegister(s) => local::fast_register(state, s),
        Step::Invalidate(s) => local::invalidate(state, s),
        Step::CloseMw(s) => local::close_mw(state, s),
        Step::CloseMr(s) => local::close_mr(state, s),
        Step::SrqReceive(s) => srq::receive(state, s),
        Step::ModifySrq(s) => srq::modify(state, s),
        Step::CloseSrq(s) => srq::close(state, s),
        Step::Listen(s) => cm::listen(state, s),
        Step::ConnectEvents(s) => cm::connect_events(state, s),
        Step::ConnectTo(s) => cm::connect(state, s),
        Step::ExpectConnect(s) => cm::expect_connect(state, s),
        Step::Accept(s) => cm::accept(state, s),
        Step::Reject(s) => cm::reject(state, s),
        Step::CompleteConnect(s) => cm::complete_connect(state, s),
        Step::Disconnect(s) => endings::disconnect(state, s),
        Step::ExpectCompleted(s) => endings::expect_completed(state, s),
        Step::ExpectDisconnect(s) => endings::expect_disconnect(state, s),
        Step::ExpectConnection(s) => cm::expect_connection(state, s),
        Step::CloseConnector(s) => endings::close_connector(state, s),
        Step::CloseListener(s) => cm::close_listener(state, s),
        Step::CloseSharedEndpoint(s) => cm::close_shared_endpoint(state, s),
        Step::ResizeCq(s) => cq::resize(state, s),
        Step::Moderate(s) => cq::moderate(state, s),
        Step::Poll(s) => results::poll(state, s),
        Step::Register(s) => build::register(state, vector, &s.register, s.returns.0),
        Step::Deregister(s) => build::deregister(state, &s.deregister, s.returns.0),
        Step::Connect(s) => match vector.head.connection.get(s.connect.value()) {
            Some(connection) => connect::connect(state, connection),
            None => Err(StepError::new("no such connection")),
        },
        Step::CreateQp(s) => build::create_qp(state, vector, &s.create_qp),
        Step::TryQp(s) => try_qp(state, vector, s),
        Step::CloseQp(s) => close_qp(state, s),
        Step::Oid(s) => oid::request(state, s),
        Step::AddEndpoints(s) => oid::add(state, s),
        Step::ClearEndpoints(s) => {
            let place = state.place(&s.clear_endpoints)?;
            state.nic(place)?.bench().clear_endpoints();
            Ok(())
        }
        Step::Fill(s) => fill(state, s),
        Step::Network(s) => impair::change(state, &s.network),
        Step::Inject(s) => impair::inject(state, s),
        Step::Wait(s) => wait(state, s.wait),
        Step::ExpectResults(s) => results::results(state, s),
        Step::ExpectNoResults(s) => results::no_results(state, &s.expect_no_results),
        Step::ExpectMemory(s) => expect::memory(state, s),
        Step::ExpectNotification(s) => {
            expect::notification(state, &s.expect_notification, s.status.0)
        }
        Step::ExpectNoNotification(s) => expect::no_notification(state, &s.expect_no_notification),
        Step::ExpectSrqNotification(s) => srq::notification(state, &s.expect_srq_notification),
        Step::ExpectNoSrqNotification(s) => {
            srq::no_notification(state, &s.expect_no_srq_notification)
        }
        Step::ExpectQpError(s) => {
            expect::qp_error(state, &s.expect_qp_error, s.status.map(|status| status.0))
        }
        Step::ExpectFrames(s) => frames::frames(state, s),
        Step::ExpectSent(s) => frames::sent(state, s),
        Step::ExpectOrder(s) => frames::order(state, s),
        Step::ExpectReads(s) => reads::at_once(state, s),
        Step::ExpectRegisters(s) => frames::registers(state, s),
        Step::ExpectAccounted(s) => account::account(state, s.expect_accounted),
        Step::Send(_)
        | Step::SendAndInvalidate(_)
        | Step::Receive(_)
        | Step::Read(_)
        | Step::Write(_) => Ok(()),
    }
}

fn wait(state: &mut State, wait: Wait) -> StepResult {
    match wait {
        Wait::Idle => state.world.settle()?,
        Wait::Clocks(clocks) => {
            let end = state.world.clocks() + u64::from(clocks);
            while state.world.clocks() < end {
                state.world.pump()?;
            }
        }
    }
    Ok(())
}

fn fill(state: &mut State, step: &Fill) -> StepResult {
    let mut memory = state.memory(&step.fill)?.clone();
    let length = step.length.unwrap_or(memory.bytes() - step.offset);
    let bytes = bytes_of(&step.with, 0, length as usize);
    let place = memory.node;
    let written = memory.write(state.nic(place)?.hal_mut(), step.offset, &bytes);
    written.map_err(|error| state.broken(place, error))?;
    state.memories.insert(step.fill.value().clone(), memory);
    Ok(())
}

fn try_qp(state: &mut State, vector: &Vector, step: &TryQp) -> StepResult {
    let Some(declared) = vector.head.qp.get(step.try_qp.value()) else {
        return Err(StepError::new("no such queue pair"));
    };
    let mut like = declared.value().clone();
    like.receive_depth = step.receive_depth.or(like.receive_depth);
    like.initiator_depth = step.initiator_depth.or(like.initiator_depth);
    like.receive_sge = step.receive_sge.or(like.receive_sge);
    like.initiator_sge = step.initiator_sge.or(like.initiator_sge);
    like.inline = step.inline.or(like.inline);
    let (place, pd) = {
        let qp = state.qp(&step.try_qp)?;
        (qp.node, qp.pd)
    };
    let parameters = build::parameters(state, &like, 0)?;
    let outcome = state.nic(place)?.create_qp(pd, &parameters);
    if let Some(qp) = state.returned(place, "NdkCreateQp", outcome, step.returns.0)? {
        let closed = state.nic(place)?.close_qp(qp);
        state.returned(place, "NdkCloseQp", closed, NtStatus::SUCCESS)?;
    }
    Ok(())
}

fn close_qp(state: &mut State, step: &CloseQp) -> StepResult {
    let name = step.close_qp.value();
    let (place, handle) = {
        let qp = state.qp(name)?;
        (qp.node, qp.qp)
    };
    state.ledger.cut(name);
    let outcome = state.nic(place)?.close_qp(handle);
    close::ended(state, place, Object::Qp(handle), outcome, &step.returns)?;
    state.ledger.closed(name);
    state.qps.remove(name);
    Ok(())
}

/// What must hold when all steps are done: nothing is left over, and every target accounts for itself.
fn end(state: &mut State) -> StepResult<Report> {
    state.world.settle()?;
    let names: Vec<String> = state.cqs.keys().cloned().collect();
    for name in &names {
        results::no_results(state, name)?;
    }
    for node in &state.world.nodes {
        if let Some(left) = node.notifications.first() {
            let qp = |wanted| state.qps.iter().find(|(_, qp)| qp.qp == wanted);
            let what = match left {
                Notification::QpError {
                    qp: failed, status, ..
                } => {
                    let name = qp(*failed).map_or("?", |(name, _)| name.as_str());
                    format!("queue pair `{name}` failed with {status}, which nobody expected")
                }
                other => format!("a notification that nobody expected: {other:?}"),
            };
            return Err(StepError::new(format!("node `{}`: {what}", node.name)));
        }
    }
    let memories: Vec<String> = state.memories.keys().cloned().collect();
    for name in memories {
        let memory = state.memory(&name)?.clone();
        let broken = memory.broken_guard(state.nic(memory.node)?.hal_mut());
        if let Some(address) = broken.map_err(|error| state.broken(memory.node, error))? {
            return Err(StepError::new(format!(
                "something wrote around memory `{name}`, at logical address {address:#x}"
            )));
        }
    }
    let tally = account::tally(state)?;
    let checked = state.world.finish()?;
    Ok(Report {
        frames: state.world.frames(),
        checked,
        tally,
    })
}
