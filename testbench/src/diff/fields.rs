//! The fields of a frame by their names, and which of them differ.

use tandem_model::wire::{Ext, Frame, Ip};

use crate::blackbox::file::Packet;
use crate::show::frame_of;

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    name: &'static str,
    value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Words(String),
    Bytes(Vec<u8>),
}

/// All of a frame; of one that the parser does not take, its bytes.
pub(super) fn fields(packet: &Packet) -> Vec<Field> {
    let mut out = Vec::new();
    let words = |text: &Option<_>| {
        text.as_ref()
            .map_or_else(|| "none".into(), ToString::to_string)
    };
    add(
        &mut out,
        "interface",
        words(&packet.interface.as_deref().map(str::to_owned)),
    );
    add(&mut out, "network", words(&packet.comment));
    if frame_of(packet, |frame| of_frame(frame, &mut out)).is_none() {
        bytes(&mut out, "frame", &packet.bytes);
    } else if frame_of(packet, |frame| frame.to_vec() != packet.bytes) == Some(true) {
        // A wrong checksum is in no field.
        bytes(&mut out, "frame", &packet.bytes);
    }
    out
}

fn add(out: &mut Vec<Field>, name: &'static str, value: impl ToString) {
    out.push(Field {
        name,
        value: Value::Words(value.to_string()),
    });
}

fn bytes(out: &mut Vec<Field>, name: &'static str, value: &[u8]) {
    out.push(Field {
        name,
        value: Value::Bytes(value.into()),
    });
}

fn of_frame(frame: &Frame<'_>, out: &mut Vec<Field>) {
    let bth = &frame.bth;
    add(out, "opcode", bth.opcode);
    add(out, "dest_qp", bth.dest_qp);
    add(out, "psn", bth.psn);
    add(out, "ack_req", bth.ack_req);
    add(out, "se", bth.solicited);
    add(out, "pad", bth.pad);
    add(out, "becn", bth.becn);
    add(out, "fecn", bth.fecn);
    add(out, "migration", bth.migration);
    add(out, "pkey", bth.pkey);
    add(
        out,
        "reserved",
        format!("{:#04x} {:#04x}", bth.reserved6, bth.reserved7),
    );
    if let Some(reth) = frame.ext.reth() {
        add(out, "va", format!("{:#x}", reth.va));
        add(out, "token", reth.token);
        add(out, "length", reth.length);
    }
    if let Some(aeth) = frame.ext.aeth() {
        add(out, "syndrome", aeth.syndrome);
        add(out, "msn", aeth.msn);
    }
    if let Some(token) = frame.ext.ieth() {
        add(out, "ieth", token);
    }
    if let Some(immediate) = frame.ext.immediate() {
        bytes(out, "immediate", &immediate);
    }
    if matches!(
        frame.ext,
        Ext::Atomic(_) | Ext::AethAtomicAck(..) | Ext::Deth(_) | Ext::Cnp(_)
    ) {
        let mut header = Vec::new();
        frame.ext.emit(&mut header);
        bytes(out, "extension header", &header);
    }
    bytes(out, "payload", frame.payload);
    bytes(
        out,
        "pad bytes",
        frame.pad_bytes.get(..bth.pad.into()).unwrap_or_default(),
    );
    add(out, "src", frame.ip.src());
    add(out, "dst", frame.ip.dst());
    match frame.ip {
        Ip::V4(ip) => {
            add(out, "tos", format!("{:#04x}", ip.tos));
            add(out, "ttl", ip.ttl);
            add(out, "identification", format!("{:#06x}", ip.ident));
            add(out, "df", ip.dont_fragment);
            add(out, "reserved flag", ip.reserved_flag);
        }
        Ip::V6(ip) => {
            add(out, "traffic class", format!("{:#04x}", ip.traffic_class));
            add(out, "flow label", format!("{:#07x}", ip.flow_label));
            add(out, "hop limit", ip.hop_limit);
        }
    }
    add(out, "source port", frame.udp_sport);
    add(
        out,
        "udp checksum",
        format!("{:?}", frame.udp_checksum).to_lowercase(),
    );
    add(out, "mac src", frame.eth.src);
    add(out, "mac dst", frame.eth.dst);
    let vlan = frame
        .eth
        .vlan
        .map(|vlan| format!("{} priority {}", vlan.vid, vlan.pcp));
    add(out, "vlan", vlan.unwrap_or_else(|| "none".into()));
    bytes(out, "trailer", frame.trailer);
}

/// What the second has otherwise than the first, one field each.
pub(super) fn changes(first: &[Field], second: &[Field]) -> Vec<String> {
    let of = |fields: &[Field], name| fields.iter().find(|field| field.name == name).cloned();
    let more = second
        .iter()
        .filter(|field| of(first, field.name).is_none());
    let names = first.iter().chain(more).map(|field| field.name);
    names
        .filter_map(|name| match (of(first, name), of(second, name)) {
            (Some(a), Some(b)) if a == b => None,
            (Some(a), Some(b)) => Some(change(name, &a.value, &b.value)),
            (Some(a), None) => Some(format!("no {name} ({})", shown(&a.value))),
            (None, Some(b)) => Some(format!("{name} {}, which A has not", shown(&b.value))),
            (None, None) => None,
        })
        .collect()
}

fn change(name: &str, a: &Value, b: &Value) -> String {
    if let (Value::Bytes(a), Value::Bytes(b)) = (a, b)
        && let Some(at) = a.iter().zip(b).position(|(a, b)| a != b)
    {
        let is = |bytes: &[u8]| bytes.get(at).copied().unwrap_or_default();
        let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
        let lengths = match a.len() == b.len() {
            true => String::new(),
            false => format!(", {} bytes instead of {}", b.len(), a.len()),
        };
        return format!(
            "{name} byte {at} is {:#04x} instead of {:#04x} ({differ} of {} differ{lengths})",
            is(b),
            is(a),
            a.len().min(b.len())
        );
    }
    format!("{name} {} instead of {}", shown(b), shown(a))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Words(words) => words.clone(),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
    }
}
