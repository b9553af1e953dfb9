//! Checks of a vector that need no run: every name names something, every number is possible.

mod connection;
mod network;
mod objects;

use std::collections::HashSet;

use super::object::RegionKind;
use super::step::{Element, ExpectedResult, Frame, Remote, Step};
use super::value::{At, TokenRef};
use super::{Fault, Named, Vector};
use crate::plan;

/// Greatest number of posts, results or frames that one line stands for.
const MAX_TIMES: u32 = 1 << 20;

type Result<T = ()> = std::result::Result<T, Fault>;

/// Checks a vector.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(vector: &Vector) -> Result {
    let head = &vector.head;
    let mut seen = HashSet::new();
    for id in &head.covers {
        if !plan::knows(id) {
            let message = format!("no requirement has the id `{}`", id.value());
            return Err(Fault::new(id.span(), message)
                .label("not in the plan")
                .help(format!("known are {}", plan::similar(id).join(", "))));
        }
        if !seen.insert(id.value()) {
            let message = format!("`{}` is named twice", id.value());
            return Err(Fault::new(id.span(), message));
        }
    }
    if let Some(traffic) = &head.traffic {
        return super::traffic::check(vector, traffic);
    }
    if head.node.is_empty() {
        return Err(
            Fault::new(head.name.span(), "a vector needs at least one node").help("as `[node.a]`"),
        );
    }
    objects::check(vector)?;
    connection::objects(vector)?;
    network::check(vector)?;
    vector
        .steps
        .iter()
        .try_for_each(|step| steps(vector, step.value()))
}

/// Looks an object up.
fn find<'a, T>(map: &'a Named<T>, kind: &str, name: &At<String>) -> Result<&'a At<T>> {
    map.get(name.value()).ok_or_else(|| {
        let names: Vec<&str> = map.keys().map(String::as_str).collect();
        let fault = Fault::new(
            name.span(),
            format!("no {kind} is called `{}`", name.value()),
        )
        .label(format!("not a {kind} of this vector"));
        match names.is_empty() {
            true => fault.help(format!("the vector has no {kind}")),
            false => fault.help(format!("there are {}", names.join(", "))),
        }
    })
}

fn same_node(what: &At<String>, node: &str, other: &str) -> Result {
    if node == other {
        return Ok(());
    }
    let message = format!("`{}` is on node `{other}`, not on `{node}`", what.value());
    Err(Fault::new(what.span(), message).label("on another node"))
}

fn token(vector: &Vector, token: &At<TokenRef>) -> Result {
    token_name(vector, token.value(), &token.span())
}

fn token_name(vector: &Vector, token: &TokenRef, span: &std::ops::Range<usize>) -> Result {
    match token {
        TokenRef::Of { name, .. } if vector.head.window.contains_key(name) => Ok(()),
        TokenRef::Of { name, .. } => {
            let name = At::new(span.clone(), name.clone());
            find(&vector.head.region, "region", &name).map(|_| ())
        }
        TokenRef::Privileged | TokenRef::Number(_) => Ok(()),
    }
}

fn element(vector: &Vector, node: &str, element: &At<Element>, inline: bool) -> Result {
    let head = &vector.head;
    let named = [
        element.region.is_some(),
        element.memory.is_some(),
        element.address.is_some(),
    ];
    if named.iter().filter(|named| **named).count() != 1 {
        return Err(Fault::new(
            element.span(),
            "an element names a `region`, a `memory`, or an `address`",
        )
        .label("one of the three, please"));
    }
    if element.region.is_none() && element.token.is_none() && !inline {
        return Err(Fault::new(element.span(), "this element needs a `token`"));
    }
    if let Some(region) = &element.region {
        let found = find(&head.region, "region", region)?;
        same_node(
            region,
            node,
            &find(&head.memory, "memory", &found.memory)?.node,
        )?;
    }
    if let Some(memory) = &element.memory {
        same_node(memory, node, &find(&head.memory, "memory", memory)?.node)?;
    }
    element
        .token
        .as_ref()
        .map_or(Ok(()), |named| token(vector, named))
}

fn remote(vector: &Vector, remote: &At<Remote>) -> Result {
    match (
        &remote.region,
        &remote.window,
        &remote.address,
        &remote.token,
    ) {
        (Some(region), None, ..) => find(&vector.head.region, "region", region).map(|_| ())?,
        (None, Some(window), ..) => find(&vector.head.window, "window", window).map(|_| ())?,
        (None, None, Some(_), Some(_)) => {}
        _ => {
            return Err(Fault::new(
                remote.span(),
                "remote memory is a `region`, a `window`, or an `address` and a `token`",
            ));
        }
    }
    remote
        .token
        .as_ref()
        .map_or(Ok(()), |named| token(vector, named))
}

fn times(times: Option<u32>, span: std::ops::Range<usize>) -> Result {
    match times {
        Some(0) => Err(Fault::new(span, "`times` must be at least 1")),
        Some(times) if times > MAX_TIMES => {
            Err(Fault::new(span, format!("`times` is at most {MAX_TIMES}")))
        }
        _ => Ok(()),
    }
}

fn results(vector: &Vector, results: &[ExpectedResult], span: std::ops::Range<usize>) -> Result {
    for result in results {
        if let Some(qp) = &result.qp {
            find(&vector.head.qp, "queue pair", qp)?;
        }
        if let Some(named) = &result.token {
            token(vector, named)?;
        }
        times(result.times, span.clone())?;
    }
    Ok(())
}

fn post(
    vector: &Vector,
    qp: &At<String>,
    sgl: &[At<Element>],
    inline: bool,
    count: Option<u32>,
) -> Result {
    let node = &find(&vector.head.qp, "queue pair", qp)?.node;
    times(count, qp.span())?;
    sgl.iter()
        .try_for_each(|named| element(vector, node, named, inline))
}

fn frame(vector: &Vector, frame: &At<Frame>) -> Result {
    times(frame.0.times, frame.span())?;
    [&frame.0.token, &frame.0.ieth]
        .into_iter()
        .flatten()
        .try_for_each(|named| token_name(vector, named, &frame.span()))
}

fn part(memory_bytes: u64, offset: u64, length: Option<u64>, name: &At<String>) -> Result {
    let end = offset.checked_add(length.unwrap_or(0));
    if end.is_some_and(|end| end <= memory_bytes) {
        return Ok(());
    }
    let message = format!(
        "`{}` has {memory_bytes} bytes, offset {offset} and length {} lie outside",
        name.value(),
        length.unwrap_or(0)
    );
    Err(Fault::new(name.span(), message))
}

fn steps(vector: &Vector, step: &Step) -> Result {
    let head = &vector.head;
    let inline =
        |flags: &super::value::RequestFlags| flags.0.contains(tandem_model::ndk::OpFlags::INLINE);
    let cq = |name| find(&head.cq, "completion queue", name).map(|_| ());
    let qp = |name| find(&head.qp, "queue pair", name).map(|_| ());
    let srq = |name| find(&head.srq, "shared receive queue", name).map(|_| ());
    let node = |name| find(&head.node, "node", name).map(|_| ());
    match step {
        Step::Send(s) => post(vector, &s.send, &s.sgl, inline(&s.flags), s.times),
        Step::SendAndInvalidate(s) => {
            token(vector, &s.token)?;
            post(
                vector,
                &s.send_and_invalidate,
                &s.sgl,
                inline(&s.flags),
                s.times,
            )
        }
        Step::Receive(s) => post(vector, &s.receive, &s.sgl, false, s.times),
        Step::Read(s) => {
            remote(vector, &s.remote)?;
            post(vector, &s.read, &s.sgl, inline(&s.flags), s.times)
        }
        Step::Write(s) => {
            remote(vector, &s.remote)?;
            post(vector, &s.write, &s.sgl, inline(&s.flags), s.times)
        }
        Step::SrqReceive(s) => {
            let node = &find(&head.srq, "shared receive queue", &s.srq_receive)?.node;
            times(s.times, s.srq_receive.span())?;
            s.sgl
                .iter()
                .try_for_each(|named| element(vector, node, named, false))
        }
        Step::Bind(s) => {
            let node = &find(&head.qp, "queue pair", &s.bind)?.node;
            let window = find(&head.window, "window", &s.window)?;
            same_node(&s.window, node, &window.node)?;
            local_region(vector, &s.region, node)
        }
        Step::FastRegister(s) => {
            let node = &find(&head.qp, "queue pair", &s.fast_register)?.node;
            let memory = &find(&head.region, "region", &s.region)?.memory;
            let bytes = *find(&head.memory, "memory", memory)?.bytes.value();
            part(bytes, s.offset.unwrap_or(0), None, &s.region)?;
            local_region(vector, &s.region, node)
        }
        Step::Invalidate(s) => {
            let node = &find(&head.qp, "queue pair", &s.invalidate)?.node;
            match (&s.region, &s.window) {
                (Some(region), None) => local_region(vector, region, node),
                (None, Some(window)) => {
                    let found = find(&head.window, "window", window)?;
                    same_node(window, node, &found.node)
                }
                _ => Err(Fault::new(
                    s.invalidate.span(),
                    "what is invalidated is a `region` or a `window`",
                )),
            }
        }
        Step::Listen(_)
        | Step::ConnectEvents(_)
        | Step::ConnectTo(_)
        | Step::ExpectConnect(_)
        | Step::Accept(_)
        | Step::Reject(_)
        | Step::CompleteConnect(_)
        | Step::Disconnect(_)
        | Step::ExpectCompleted(_)
        | Step::ExpectDisconnect(_)
        | Step::ExpectConnection(_)
        | Step::CloseConnector(_)
        | Step::CloseListener(_)
        | Step::CloseSharedEndpoint(_) => connection::step(vector, step),
        Step::CloseMw(s) => find(&head.window, "window", &s.close_mw).map(|_| ()),
        Step::CloseMr(s) => region(vector, &s.close_mr),
        Step::CloseSrq(s) => srq(&s.close_srq),
        Step::ModifySrq(s) => srq(&s.modify_srq),
        Step::ResizeCq(s) => cq(&s.resize_cq),
        Step::Moderate(s) => cq(&s.moderate_cq),
        Step::ExpectSrqNotification(s) => srq(&s.expect_srq_notification),
        Step::ExpectNoSrqNotification(s) => srq(&s.expect_no_srq_notification),
        Step::Flush(s) => qp(&s.flush),
        Step::Arm(s) => cq(&s.arm),
        Step::Poll(s) => {
            results(vector, &s.results, s.poll.span())?;
            cq(&s.poll)
        }
        Step::Register(s) => region(vector, &s.register),
        Step::Deregister(s) => region(vector, &s.deregister),
        Step::Connect(s) => find(&head.connection, "connection", &s.connect).map(|_| ()),
        Step::CreateQp(s) => qp(&s.create_qp),
        Step::TryQp(s) => qp(&s.try_qp),
        Step::CloseQp(s) => qp(&s.close_qp),
        Step::Oid(s) => node(&s.oid),
        Step::AddEndpoints(s) => node(&s.add_endpoints),
        Step::ClearEndpoints(s) => node(&s.clear_endpoints),
        Step::Fill(s) => {
            let memory = find(&head.memory, "memory", &s.fill)?;
            part(*memory.bytes.value(), s.offset, s.length, &s.fill)
        }
        Step::Wait(_) | Step::ExpectAccounted(_) => Ok(()),
        Step::Network(s) => network::impairment(vector, &s.network).map(|_| ()),
        Step::Inject(s) => {
            s.from.as_ref().map_or(Ok(()), node)?;
            frame(vector, &s.frame)?;
            s.remote
                .as_ref()
                .map_or(Ok(()), |named| remote(vector, named))?;
            qp(&s.inject)
        }
        Step::ExpectResults(s) => {
            results(vector, &s.results, s.expect_results.span())?;
            cq(&s.expect_results)
        }
        Step::ExpectNoResults(s) => cq(&s.expect_no_results),
        Step::ExpectMemory(s) => {
            let memory = find(&head.memory, "memory", &s.expect_memory)?;
            part(*memory.bytes.value(), s.offset, s.length, &s.expect_memory)?;
            let ways = [s.is.is_some(), s.same_as.is_some(), s.unchanged];
            if ways.iter().filter(|way| **way).count() != 1 {
                return Err(Fault::new(
                    s.expect_memory.span(),
                    "memory is compared with one of `is`, `same_as`, `unchanged`",
                ));
            }
            if let Some(other) = &s.same_as {
                let found = find(&head.memory, "memory", &other.memory)?;
                let length = s.length.unwrap_or(*memory.bytes.value() - s.offset);
                part(
                    *found.bytes.value(),
                    other.offset,
                    Some(length),
                    &other.memory,
                )?;
            }
            Ok(())
        }
        Step::ExpectNotification(s) => cq(&s.expect_notification),
        Step::ExpectNoNotification(s) => cq(&s.expect_no_notification),
        Step::ExpectQpError(s) => qp(&s.expect_qp_error),
        Step::ExpectReads(s) => qp(&s.expect_reads),
        Step::ExpectFrames(s) => {
            s.frames.iter().try_for_each(|named| frame(vector, named))?;
            node(&s.expect_frames)
        }
        Step::ExpectSent(s) => {
            for sent in &s.frames {
                frame(vector, &sent.frame)?;
                if sent.frame.0.times.is_some() {
                    return Err(Fault::new(
                        sent.frame.span(),
                        "frames are counted by the `times` beside `frame`",
                    ));
                }
            }
            node(&s.expect_sent)
        }
        Step::ExpectOrder(s) => s.expect_order.iter().try_for_each(|passing| {
            if super::opcode(&passing.opcode).is_none() {
                let message = format!("no opcode has the name `{}`", passing.opcode.value());
                return Err(Fault::new(passing.opcode.span(), message));
            }
            node(&passing.from)
        }),
        Step::ExpectRegisters(s) => {
            for name in s.values.keys() {
                if crate::world::register(name).is_none() {
                    let message = format!("no register is called `{name}`");
                    return Err(Fault::new(s.expect_registers.span(), message).help(
                        "DROP_<cause> as DROP_Qpn, RX_FRAMES, GO_BACKS, …, or an offset as 0x280",
                    ));
                }
            }
            node(&s.expect_registers)
        }
    }
}

/// A region of a node.
fn local_region(vector: &Vector, name: &At<String>, node: &str) -> Result {
    let found = find(&vector.head.region, "region", name)?;
    let memory = find(&vector.head.memory, "memory", &found.memory)?;
    same_node(name, node, &memory.node)
}

fn region(vector: &Vector, name: &At<String>) -> Result {
    let found = find(&vector.head.region, "region", name)?;
    if found.kind == RegionKind::Privileged {
        return Err(Fault::new(
            name.span(),
            "a privileged region is never registered",
        ));
    }
    Ok(())
}
