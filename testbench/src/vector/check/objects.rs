//! Checks of the objects.

use std::fmt::Display;

use tandem_model::ndk::bench::PathMtu;

use super::super::object::Connection;
use super::super::{At, Fault, Vector};
use super::{Result, find, same_node};

/// Greatest memory of a vector.
const MAX_MEMORY: u64 = 64 << 20;
/// Bytes of a page.
const PAGE: u32 = 4096;
/// Greatest PSN.
const MAX_PSN: u32 = 0xFF_FFFF;

/// Greatest unit of time, in clocks.
const MAX_UNIT: u32 = 0xFFFF;
/// Greatest least time between two CNPs, in clocks.
const MAX_INTERVAL: u32 = 0xFF_FFFF;
/// Greatest code of a timer.
const MAX_CODE: u8 = 31;
/// Greatest count of retries.
const MAX_RETRY: u8 = 7;

fn in_range<T: PartialOrd + Display + Copy>(value: &At<T>, name: &str, min: T, max: T) -> Result {
    if (min..=max).contains(value.value()) {
        return Ok(());
    }
    let message = format!("{} is not a value of `{name}`", value.value());
    Err(Fault::new(value.span(), message).label(format!("must be {min} to {max}")))
}

fn timers(connection: &Connection) -> Result {
    let codes = [
        (&connection.timeout, "timeout", MAX_CODE),
        (&connection.retry, "retry", MAX_RETRY),
        (&connection.rnr_retry, "rnr_retry", MAX_RETRY),
        (&connection.rnr_timer, "rnr_timer", MAX_CODE),
    ];
    for (code, name, max) in codes {
        if let Some(code) = code {
            in_range(code, name, 0, max)?;
        }
    }
    for side in [&connection.a_timers, &connection.b_timers]
        .into_iter()
        .flatten()
    {
        let codes = [
            (side.timeout, "timeout", MAX_CODE),
            (side.retry, "retry", MAX_RETRY),
            (side.rnr_retry, "rnr_retry", MAX_RETRY),
            (side.rnr_timer, "rnr_timer", MAX_CODE),
        ];
        for (code, name, max) in codes {
            if let Some(code) = code {
                in_range(&At::new(side.span(), code), name, 0, max)?;
            }
        }
    }
    Ok(())
}

/// A protection domain of that node, if one is named.
fn domain(vector: &Vector, pd: &Option<At<String>>, node: &str) -> Result {
    pd.as_ref().map_or(Ok(()), |pd| {
        same_node(
            pd,
            node,
            &find(&vector.head.pd, "protection domain", pd)?.node,
        )
    })
}

/// Checks all objects.
pub(super) fn check(vector: &Vector) -> Result {
    let head = &vector.head;
    for node in head.node.values() {
        if let Some(version) = &node.version
            && !matches!(version.value().as_str(), "1.2" | "2.1")
        {
            return Err(Fault::new(
                version.span(),
                "NDKPI versions are \"1.2\" and \"2.1\"",
            ));
        }
    }
    for node in head.node.values() {
        let units = [
            (&node.time_unit, "time_unit", MAX_UNIT),
            (&node.rnr_unit, "rnr_unit", MAX_UNIT),
            (&node.cnp_interval, "cnp_interval", MAX_INTERVAL),
        ];
        for (clocks, name, max) in units {
            if let Some(clocks) = clocks {
                in_range(clocks, name, 1, max)?;
            }
        }
    }
    for pd in head.pd.values() {
        find(&head.node, "node", &pd.node)?;
    }
    for cq in head.cq.values() {
        find(&head.node, "node", &cq.node)?;
    }
    for memory in head.memory.values() {
        find(&head.node, "node", &memory.node)?;
        if *memory.bytes.value() == 0 || *memory.bytes.value() > MAX_MEMORY {
            let message = format!("a memory of {} bytes is not possible", memory.bytes.value());
            return Err(Fault::new(memory.bytes.span(), message)
                .label(format!("must be 1 to {MAX_MEMORY}")));
        }
        if let Some(offset) = &memory.page_offset
            && *offset.value() >= PAGE
        {
            return Err(Fault::new(offset.span(), "beyond the first page")
                .label(format!("must be below {PAGE}")));
        }
    }
    for region in head.region.values() {
        let memory = find(&head.memory, "memory", &region.memory)?;
        domain(vector, &region.pd, &memory.node)?;
        let bytes = *memory.bytes.value();
        let length = region.length.as_ref().map_or(0, |length| *length.value());
        if region
            .offset
            .checked_add(length)
            .is_none_or(|end| end > bytes)
            && region.hole.is_none()
        {
            let place = region
                .length
                .as_ref()
                .map_or(region.memory.span(), At::span);
            let message = format!(
                "the region ends behind its memory: offset {}, length {length}, the memory has {bytes} bytes",
                region.offset
            );
            return Err(Fault::new(place, message));
        }
    }
    for (name, window) in &head.window {
        if head.region.contains_key(name) {
            let message = format!("`{name}` is a region, and a window");
            return Err(Fault::new(window.span(), message).label("another name, please"));
        }
        find(&head.node, "node", &window.node)?;
        domain(vector, &window.pd, &window.node)?;
    }
    for srq in head.srq.values() {
        find(&head.node, "node", &srq.node)?;
        domain(vector, &srq.pd, &srq.node)?;
    }
    for qp in head.qp.values() {
        find(&head.node, "node", &qp.node)?;
        if let Some(srq) = &qp.srq {
            let found = find(&head.srq, "shared receive queue", srq)?;
            same_node(srq, &qp.node, &found.node)?;
        }
        domain(vector, &qp.pd, &qp.node)?;
        for cq in [&qp.cq, &qp.receive_cq, &qp.initiator_cq]
            .into_iter()
            .flatten()
        {
            same_node(cq, &qp.node, &find(&head.cq, "completion queue", cq)?.node)?;
        }
        if qp.cq.is_none() && (qp.receive_cq.is_none() || qp.initiator_cq.is_none()) {
            return Err(Fault::new(
                qp.span(),
                "a queue pair needs `cq`, or `receive_cq` and `initiator_cq`",
            ));
        }
    }
    for connection in head.connection.values() {
        find(&head.qp, "queue pair", &connection.a)?;
        find(&head.qp, "queue pair", &connection.b)?;
        if let Some(mtu) = &connection.mtu
            && PathMtu::from_bytes(*mtu.value()).is_none()
        {
            return Err(
                Fault::new(mtu.span(), format!("{} is not an MTU", mtu.value()))
                    .label("must be 256, 512, 1024, 2048 or 4096"),
            );
        }
        if let Some(ip) = &connection.ip
            && !matches!(*ip.value(), 4 | 6)
        {
            return Err(Fault::new(ip.span(), "an IP version is 4 or 6"));
        }
        timers(connection)?;
        for psn in [&connection.a_psn, &connection.b_psn].into_iter().flatten() {
            if *psn.value() > MAX_PSN {
                return Err(Fault::new(psn.span(), "a PSN has 24 bits"));
            }
        }
    }
    Ok(())
}
