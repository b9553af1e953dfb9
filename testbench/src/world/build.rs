//! Nodes and objects of a vector, before its first step.

use std::collections::BTreeMap;

use tandem_model::ndk::{
    EndpointMapping, Mdl, MrUse, NdkError, NdkVersion, NtStatus, QpParameters, Timing,
};

use super::cm::Connections;
use super::connect::connect;
use super::ledger::Ledger;
use super::state::{CqState, QpState, RegionState, Result, State, StepError, Tokens};
use super::{
    Address, Capture, HostMemory, Node, RunOptions, World, bytes_of, cm, impair, local, srq,
};
use crate::vector::object::{self, RegionKind};
use crate::vector::{At, Vector};

/// Addresses of memories whose virtual address nobody chose lie so far apart.
const VIRTUAL_STEP: u64 = 0x1_0000_0000;
const VIRTUAL_BASE: u64 = 0x7000_0000_0000;
/// Contexts that nobody chose.
const QP_CONTEXTS: u64 = 0x5150_0000_0000_0000;
const CQ_CONTEXTS: u64 = 0x4351_0000_0000_0000;

/// Units of time that nobody chose, in clocks: short, so that timers end within a run.
const TIME_UNIT: u32 = 32;
const RNR_UNIT: u32 = 10;
const CNP_INTERVAL: u32 = 1000;

/// Opens the nodes.
pub(super) fn open(vector: &Vector, options: &RunOptions) -> Result<State> {
    let head = &vector.head;
    let mut nodes = Vec::new();
    for (place, (name, node)) in head.node.iter().enumerate() {
        nodes.push(open_node(place, name, node, cm::is_used(vector), options)?);
    }
    let names: Vec<&str> = head.node.keys().map(String::as_str).collect();
    let capture = match &options.capture {
        Some(path) => {
            let capture = Capture::create(path, &names);
            Some(capture.map_err(|error| StepError::new(error.to_string()))?)
        }
        None => None,
    };
    Ok(State {
        looked_at: vec![0; nodes.len()],
        world: World::new(nodes, true, capture)
            .with_seed(options.seed)
            .with_cover(options.cover.clone()),
        default_pds: Vec::new(),
        pds: BTreeMap::new(),
        cqs: BTreeMap::new(),
        memories: BTreeMap::new(),
        regions: BTreeMap::new(),
        windows: BTreeMap::new(),
        srqs: BTreeMap::new(),
        qps: BTreeMap::new(),
        connections: Connections::default(),
        ledger: Ledger::new(&vector.steps),
    })
}

/// Creates all objects.
pub(super) fn create(state: &mut State, vector: &Vector, seed: u64) -> Result {
    let head = &vector.head;
    for place in 0..head.node.len() {
        let pd = state.nic(place)?.create_pd();
        let pd = state.created(place, "creating a protection domain", pd)?;
        state.default_pds.push(pd);
    }
    for (name, pd) in &head.pd {
        let place = state.place(&pd.node)?;
        let created = state.nic(place)?.create_pd();
        let created = state.created(
            place,
            &format!("creating protection domain `{name}`"),
            created,
        )?;
        state.pds.insert(name.clone(), created);
    }
    cqs(state, vector)?;
    memories(state, vector, seed)?;
    for (name, region) in &head.region {
        let place = state.memory(&region.memory)?.node;
        let pd = state.pd(&region.pd, place)?;
        declare_region(state, name, region, place, pd)?;
        if region.kind == RegionKind::FastRegister {
            local::initialize(state, name, region).map_err(|error| error.at(region.span()))?;
        } else if !region.later && region.kind != RegionKind::Privileged {
            register(state, vector, name, NtStatus::SUCCESS)
                .map_err(|error| error.at(region.span()))?;
        }
    }
    local::windows(state, vector)?;
    srq::create(state, vector)?;
    for name in head.qp.keys() {
        create_qp(state, vector, name)?;
    }
    for (_, connection) in head.connection.iter().filter(|(_, made)| !made.later) {
        connect(state, connection).map_err(|error| error.at(connection.span()))?;
    }
    cm::create(state, vector)?;
    for table in &head.network {
        impair::change(state, table).map_err(|error| error.at(table.span()))?;
    }
    Ok(())
}

/// Creates a declared queue pair.
pub(super) fn create_qp(state: &mut State, vector: &Vector, name: &str) -> Result {
    let declared = vector.head.qp.iter().zip(QP_CONTEXTS..);
    let Some(((_, qp), context)) = declared.into_iter().find(|((known, _), _)| *known == name)
    else {
        return Err(StepError::new(format!("no queue pair is called `{name}`")));
    };
    if state.qps.contains_key(name) {
        return Err(StepError::new(format!(
            "queue pair `{name}` exists already"
        )));
    }
    let place = state.place(&qp.node)?;
    let pd = state.pd(&qp.pd, place)?;
    let parameters = parameters(state, qp, context)?;
    let created = match &qp.srq {
        Some(srq) => {
            let srq = state.srq(srq)?.srq;
            state.nic(place)?.create_qp_with_srq(pd, srq, &parameters)
        }
        None => state.nic(place)?.create_qp(pd, &parameters),
    };
    let created = state.created(place, &format!("creating queue pair `{name}`"), created)?;
    let known = QpState {
        node: place,
        qp: created,
        pd,
        context: parameters.qp_context,
        peer: None,
        owed: [0; 2],
        seen: [0; 2],
    };
    let srq = qp.srq.as_ref().map(|srq| srq.value().clone());
    state.ledger.born(name, place, created, known.context, srq);
    state.qps.insert(name.into(), known);
    Ok(())
}

impl State {
    pub(super) fn created<T>(
        &self,
        place: usize,
        what: &str,
        outcome: std::result::Result<T, NdkError>,
    ) -> Result<T> {
        outcome.map_err(|error| match error.status() {
            Some(status) => StepError::new(format!("{what} failed: {status}")),
            None => self.broken(place, error),
        })
    }
}

fn open_node(
    place: usize,
    name: &str,
    node: &object::Node,
    connects: bool,
    options: &RunOptions,
) -> Result<Node> {
    let kind = options.kind(name, node.target);
    let address = Address::of(place);
    let mut config = address.adapter();
    if let Some(version) = &node.version {
        config.version = match version.value().as_str() {
            "1.2" => NdkVersion::V1_2,
            _ => NdkVersion::V2_1,
        };
    }
    if let Some(supported) = node.read_local_invalidate {
        config.read_local_invalidate = supported;
    }
    if let Some(supported) = node.inline_write {
        config.inline_write = supported;
    }
    if let Some(status) = node.remote_access_status {
        config.remote_access_status = status.0;
    }
    if node.mapped_to_tcp {
        config.endpoint_mapping = EndpointMapping::Tcp;
    }
    config.connections = connects.then(|| cm::connections(options.seed ^ place as u64));
    config.cq_reserve = node.cq_reserve;
    let clocks =
        |chosen: &Option<At<u32>>, usual| chosen.as_ref().map_or(usual, |own| *own.value());
    // Both fit: that was checked.
    config.timing = Timing {
        time_unit: clocks(&node.time_unit, TIME_UNIT) as u16,
        rnr_unit: clocks(&node.rnr_unit, RNR_UNIT) as u16,
        cnp_interval: clocks(&node.cnp_interval, CNP_INTERVAL),
    };
    if let Some(breach) = options.breach {
        breach.config(&mut config);
    }
    Ok(Node::open(kind, name, address, config, &options.targets())?)
}

fn cqs(state: &mut State, vector: &Vector) -> Result {
    for (index, (name, cq)) in vector.head.cq.iter().enumerate() {
        let place = state.place(&cq.node)?;
        let depth = cq.depth.as_ref().map_or(64, |depth| *depth.value());
        let context = cq
            .context
            .map_or(CQ_CONTEXTS + index as u64, |number| number.0);
        let created = state.nic(place)?.create_cq(depth, context);
        let created = state
            .created(
                place,
                &format!("creating completion queue `{name}`"),
                created,
            )
            .map_err(|error| error.at(cq.span()))?;
        let known = CqState {
            node: place,
            cq: created,
            context,
        };
        state.cqs.insert(name.clone(), known);
    }
    Ok(())
}

fn memories(state: &mut State, vector: &Vector, seed: u64) -> Result {
    for (index, (name, memory)) in vector.head.memory.iter().enumerate() {
        let place = state.place(&memory.node)?;
        let offset = memory
            .page_offset
            .as_ref()
            .map_or(0, |offset| *offset.value());
        let usual = VIRTUAL_BASE + index as u64 * VIRTUAL_STEP + u64::from(offset);
        let address = memory
            .virtual_address
            .as_ref()
            .map_or(usual, |number| number.0);
        let content = bytes_of(&memory.fill, 0, *memory.bytes.value() as usize);
        let hal = state.nic(place)?.hal_mut();
        let taken = HostMemory::allocate(
            hal,
            place,
            content,
            address,
            offset,
            memory.pages,
            seed ^ index as u64,
        );
        let taken = taken.map_err(|error| state.broken(place, error))?;
        state.memories.insert(name.clone(), taken);
    }
    Ok(())
}

fn declare_region(
    state: &mut State,
    name: &str,
    region: &object::Region,
    place: usize,
    pd: tandem_model::ndk::Pd,
) -> Result {
    let rest = state.memory(&region.memory)?.bytes() - region.offset;
    let token = match region.kind {
        RegionKind::Privileged => {
            let token = state.nic(place)?.privileged_memory_region_token(pd);
            Some(state.created(place, "the privileged token", token)?.0)
        }
        _ => None,
    };
    let mut tokens = Tokens::default();
    token.into_iter().for_each(|token| tokens.push(token));
    let known = RegionState {
        node: place,
        memory: region.memory.value().clone(),
        pd,
        offset: region.offset,
        length: region
            .length
            .as_ref()
            .map_or(rest, |length| *length.value()),
        kind: region.kind,
        mr: None,
        base: None,
        tokens,
    };
    state.regions.insert(name.into(), known);
    Ok(())
}

/// Registers a region, or sees it refused.
pub(super) fn register(
    state: &mut State,
    vector: &Vector,
    name: &str,
    expected: NtStatus,
) -> Result {
    let Some(declared) = vector.head.region.get(name) else {
        return Err(StepError::new(format!("no region is called `{name}`")));
    };
    let region = state.region(name)?;
    let (place, pd, kind, length) = (region.node, region.pd, region.kind, region.length);
    let memory = state.memory(&region.memory)?;
    let chain: Vec<Mdl> = match declared.hole {
        None => vec![memory.mdl(region.offset, length)],
        Some(hole) => {
            let half = length / 2;
            let mut second = memory.mdl(region.offset + half, length - half);
            second.virtual_address = second.virtual_address.wrapping_add(hole);
            vec![memory.mdl(region.offset, half), second]
        }
    };
    let flags = declared.flags.0;
    let nic = state.nic(place)?;
    let outcome = match kind {
        RegionKind::Fast => nic.bench().place_fast_region(pd, &chain, length, flags),
        _ => nic.create_mr(pd, MrUse::Register).and_then(|mr| {
            match nic.register_mr(mr, &chain, length, flags) {
                Ok(()) => Ok(mr),
                Err(error) => {
                    nic.close_mr(mr)?;
                    Err(error)
                }
            }
        }),
    };
    let Some(mr) = state.returned(place, "registering", outcome, expected)? else {
        return Ok(());
    };
    let token = state.nic(place)?.local_token_from_mr(mr);
    let token = state.created(place, "NdkGetLocalTokenFromMr", token)?.0;
    if let Some(region) = state.regions.get_mut(name) {
        region.mr = Some(mr);
        region.tokens.push(token);
    }
    Ok(())
}

/// Ends a registration.
pub(super) fn deregister(state: &mut State, name: &str, expected: NtStatus) -> Result {
    let region = state.region(name)?;
    let place = region.node;
    let Some(mr) = region.mr else {
        return Err(StepError::new(format!("region `{name}` is not registered")));
    };
    let outcome = state.nic(place)?.deregister_mr(mr);
    let done = state.returned(place, "NdkDeregisterMr", outcome, expected)?;
    if done.is_some()
        && let Some(region) = state.regions.get_mut(name)
    {
        region.mr = None;
    }
    Ok(())
}

/// The parameters of a declared queue pair.
pub(super) fn parameters(state: &State, qp: &object::Qp, context: u64) -> Result<QpParameters> {
    let cq = |other: &Option<At<String>>| match other.as_ref().or(qp.cq.as_ref()) {
        Some(name) => Ok(state.cq(name)?.cq),
        None => Err(StepError::new("a queue pair without completion queue")),
    };
    let usual = QpParameters::new(cq(&qp.receive_cq)?, cq(&qp.initiator_cq)?);
    Ok(QpParameters {
        qp_context: qp.context.map_or(context, |number| number.0),
        receive_queue_depth: qp.receive_depth.unwrap_or(usual.receive_queue_depth),
        initiator_queue_depth: qp.initiator_depth.unwrap_or(usual.initiator_queue_depth),
        max_receive_request_sge: qp.receive_sge.unwrap_or(usual.max_receive_request_sge),
        max_initiator_request_sge: qp.initiator_sge.unwrap_or(usual.max_initiator_request_sge),
        inline_data_size: qp.inline.unwrap_or(usual.inline_data_size),
        ..usual
    })
}
