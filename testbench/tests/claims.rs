//! What vectors claim, broken: each line of the list breaks one requirement at the border of an engine or of its provider,
//! and the vector that claims it must fail, and say what it found.

use std::collections::BTreeSet;
use std::path::Path;

use tandem_model::abi::regs::{DbArm, DbSrqLimit};
use tandem_model::abi::{QpState, Record, Status, Table, WqeOpcode};
use tandem_model::ndk::{EndpointMapping, Notification, NtStatus};
use tandem_model::wire::{Ext, NakCode, Opcode, Psn, Syndrome, Token};
use tandem_testbench::breach::Breach::{
    self, Answer, Completion, Config, Doorbell, Entry, Request, Sent, Told,
};
use tandem_testbench::breach::Sent as Frame;
use tandem_testbench::vector;
use tandem_testbench::world::{self, RunOptions};

/// A requirement, the vector that claims it, how it is broken, and what the vector says of it.
type Claim = (
    &'static str,
    &'static str,
    &'static str,
    Breach,
    &'static str,
);

/// Attributes of management datagrams.
const REQUEST: u16 = 0x10;
const REJECT: u16 = 0x12;
const REPLY: u16 = 0x13;
const GOODBYE: u16 = 0x16;

/// The attribute of a management datagram.
fn attribute(frame: &Frame) -> Option<u16> {
    let bytes = frame.payload.get(16..18)?;
    let is_one = frame.bth.opcode == Opcode::UdSendOnly;
    is_one.then(|| u16::from_be_bytes([bytes[0], bytes[1]]))
}

fn is_syndrome(frame: &Frame, wanted: impl Fn(Syndrome) -> bool) -> bool {
    frame.ext.aeth().is_some_and(|aeth| wanted(aeth.syndrome))
}

fn swap(record: &mut Record, one: &str, other: &str) {
    let (first, second) = (record.get(one), record.get(other));
    record.set(one, second).set(other, first);
}

fn is_request(record: &Record, opcode: WqeOpcode) -> bool {
    record.get("opcode") == opcode as u128
}

#[rustfmt::skip]
const CLAIMS: &[Claim] = &[
    // On the wire.
    ("NDK-SEND-2", "send/first", "the last byte of each payload is another", Sent(|frame| {
        frame.payload.last_mut().into_iter().for_each(|last| *last ^= 1);
        true
    }), "memory `target` differs at byte 63"),
    ("NDK-WRITE-2", "write/megabyte", "the first byte of each payload is another", Sent(|frame| {
        frame.payload.first_mut().into_iter().for_each(|first| *first ^= 0x80);
        true
    }), "memory `far` differs"),
    ("WIRE-ACK-1", "acknowledgements/asked_for", "no packet asks for an acknowledgement", Sent(|frame| {
        frame.bth.ack_req = false;
        true
    }), "AckReq is 0x0"),
    ("WIRE-ACK-7", "acknowledgements/asked_for", "answers count no messages", Sent(|frame| {
        if let Ext::Aeth(aeth) = &mut frame.ext {
            aeth.msn = Default::default();
        }
        true
    }), "node `b` sent this Acknowledge 0 times"),
    ("WIRE-BTH-5", "send/solicited", "no packet says that it solicits", Sent(|frame| {
        frame.bth.solicited = false;
        true
    }), "for a notification of completion queue `cb`"),
    ("NDK-SINV-2", "send_and_invalidate/wire", "the octets of the token are turned round", Sent(|frame| {
        if let Ext::Ieth(token) = &mut frame.ext {
            *token = Token(token.0.swap_bytes());
        }
        true
    }), "result 0 of completion queue `cb`"),
    ("WIRE-NAK-1", "loss/request_lost", "a gap is not told of", Sent(|frame| {
        !is_syndrome(frame, |syndrome| syndrome == Syndrome::Nak(NakCode::PsnSequence))
    }), "register GO_BACKS of node `a` is 0"),
    ("WIRE-NAK-8", "memory/remote_faults", "a refused access is told as a failed operation", Sent(|frame| {
        if let Ext::Aeth(aeth) = &mut frame.ext
            && aeth.syndrome == Syndrome::Nak(NakCode::RemoteAccess)
        {
            aeth.syndrome = Syndrome::Nak(NakCode::RemoteOperational);
        }
        true
    }), "error code 0x63"),
    ("WIRE-RNR-1", "send/no_receive", "who is not ready says that all is well", Sent(|frame| {
        if let Ext::Aeth(aeth) = &mut frame.ext
            && matches!(aeth.syndrome, Syndrome::Rnr { .. })
        {
            aeth.syndrome = Syndrome::ACK;
        }
        true
    }), "got:      STATUS_SUCCESS"),
    ("WIRE-CNP-1", "congestion/marked_frames", "congestion is not told of", Sent(|frame| {
        frame.bth.opcode != Opcode::Cnp
    }), "register CNP_IN of node `a` is 0"),
    ("WIRE-PSN-2", "send/psn_wrap", "after the last PSN comes 1", Sent(|frame| {
        if frame.bth.psn == Psn::ZERO && !frame.bth.opcode.is_response() {
            frame.bth.psn = Psn::new(1);
        }
        true
    }), "got:      STATUS_IO_TIMEOUT"),
    ("NDK-CONN-5", "connection/private_data", "private data of a request does not leave", Sent(|frame| {
        if attribute(frame) == Some(REQUEST) {
            frame.payload.iter_mut().skip(200).for_each(|byte| *byte = 0);
        }
        true
    }), "step 4: it has private data"),
    ("NDK-ACC-2", "connection/private_data", "private data of a reply does not leave", Sent(|frame| {
        if attribute(frame) == Some(REPLY) {
            frame.payload.iter_mut().skip(60).for_each(|byte| *byte = 0);
        }
        true
    }), "step 7: it has private data"),
    ("NDK-CONN-7", "connection/nobody_listens", "nobody says that nobody listens", Sent(|frame| {
        attribute(frame) != Some(REJECT)
    }), "ended with STATUS_IO_TIMEOUT"),
    ("NDK-DISC-2", "connection/made", "a disconnect is not answered", Sent(|frame| {
        attribute(frame) != Some(GOODBYE)
    }), "ended with STATUS_IO_TIMEOUT"),
    // What an engine makes of a request.
    ("NDK-SEND-4", "send/fence", "fences do not hold", Request(|request| {
        request.set("read_fence", 0u8);
    }), "no SEND Only of node `a` passed after"),
    ("NDK-BIND-10", "bind/fence", "fences do not hold", Request(|request| {
        request.set("read_fence", 0u8);
    }), "no SEND Only of node `b` passed after"),
    ("NDK-SEND-3", "send/silent", "silent requests make entries", Request(|request| {
        request.set("silent", 0u8);
    }), "success reported, but the request is silent"),
    ("NDK-SEND-5", "completion/arm_solicited", "sends do not solicit", Request(|request| {
        request.set("solicited", 0u8);
    }), "for a notification of completion queue `cb`"),
    ("NDK-READ-14", "read/local_invalidate", "reads do not invalidate their sink", Request(|request| {
        request.set("local_invalidate", 0u8);
    }), "got:      STATUS_SUCCESS"),
    ("NDK-BIND-6", "bind/rights", "a window may be written always", Request(|request| {
        if is_request(request, WqeOpcode::Bind) {
            request.set("remote_write", 1u8);
        }
    }), "got:      STATUS_SUCCESS"),
    ("NDK-BIND-5", "bind/rights", "a window may not be read, although its Bind asks for it", Request(|request| {
        if is_request(request, WqeOpcode::Bind) {
            request.set("remote_read", 0u8);
        }
    }), "got:      STATUS_REMOTE_RESOURCES"),
    ("NDK-FREG-9", "fast_register/rights", "a region has all rights", Request(|request| {
        if is_request(request, WqeOpcode::FastRegister) {
            request.set("local_write", 1u8).set("remote_read", 1u8).set("remote_write", 1u8);
        }
    }), "got:      STATUS_SUCCESS"),
    ("NDK-FREG-5", "fast_register/basic", "a region begins where its first page does", Request(|request| {
        if is_request(request, WqeOpcode::FastRegister) {
            request.set("page_offset", 0u8);
        }
    }), "memory `far` differs"),
    ("NDK-FREG-8", "fast_register/again", "addresses count from the page", Request(|request| {
        if is_request(request, WqeOpcode::FastRegister) {
            let address = request.get("remote_address") & 0xFFF;
            request.set("remote_address", address);
        }
    }), "got:      STATUS_REMOTE_RESOURCES"),
    ("NDK-SGE-3", "send/scatter_gather", "the first two elements are exchanged", Request(|request| {
        swap(request, "sge0", "sge1");
    }), "memory `target` differs"),
    ("NDK-READ-6", "read/scatter", "the first two elements are exchanged", Request(|request| {
        swap(request, "sge0", "sge1");
    }), "memory `sink` differs"),
    // What an engine has in its tables.
    ("NDK-RMR-8", "memory/deregister", "tokens stay valid", Entry(|table, entry| {
        table != Table::Token || entry.get("valid") == 1
    }), "got:      STATUS_SUCCESS"),
    ("NDK-RMR-1", "memory/local_write_right", "every region has all rights", Entry(|table, entry| {
        if table == Table::Token {
            entry.set("local_write", 1u8).set("remote_read", 1u8).set("remote_write", 1u8);
        }
        true
    }), "got:      STATUS_SUCCESS"),
    ("WIRE-KEY-4", "memory/long_write_beyond", "regions have no end", Entry(|table, entry| {
        if table == Table::Token {
            entry.set("length", u64::from(u32::MAX));
        }
        true
    }), "no such memory"),
    ("WIRE-KEY-2", "shared_receive/foreign_domain", "there is only one protection domain", Entry(|table, entry| {
        if matches!(table, Table::Token | Table::Qp) {
            entry.set("pd", 0u8);
        }
        true
    }), "got:      STATUS_SUCCESS"),
    ("WIRE-MW-1", "bind/domains", "there is only one protection domain", Entry(|table, entry| {
        if matches!(table, Table::Token | Table::Qp) {
            entry.set("pd", 0u8);
        }
        true
    }), "got:      STATUS_SUCCESS"),
    ("NDK-CAP-4", "read/inbound_limit", "read limits are not agreed on", Entry(|table, entry| {
        if table == Table::Qp {
            entry.set("max_ord", 4u8).set("max_ird", 4u8);
        }
        true
    }), "up to 4 reads were in progress at queue pair `qb`, expected 1"),
    ("WIRE-RD-1", "read/limit_one", "one more read than allowed is under way", Entry(|table, entry| {
        if table == Table::Qp {
            entry.set("max_ord", 2u8).set("max_ird", 2u8);
        }
        true
    }), "no RDMA READ Request of node `a` passed after"),
    ("WIRE-SEG-1", "send/mtus", "packets are as short as can be", Entry(|table, entry| {
        if table == Table::Qp {
            entry.set("mtu", 1u8);
        }
        true
    }), "payload length is 0x100"),
    ("WIRE-TMO-4", "loss/retries_exhausted", "there is one retry more", Entry(|table, entry| {
        if table == Table::Qp {
            let retries = entry.get("retry_cnt");
            entry.set("retry_cnt", (retries + 1).min(7));
        }
        true
    }), "register TIMEOUTS of node `a` is 2, expected 1"),
    ("WIRE-TMO-1", "loss/timer_off", "a timer that is off runs", Entry(|table, entry| {
        if table == Table::Qp && entry.get("timeout") == 0 {
            entry.set("timeout", 8u8);
        }
        true
    }), "sent this RDMA WRITE Only 2 times, expected 1"),
    ("WIRE-RNR-8", "receiver_not_ready/without_end", "waits without end end", Entry(|table, entry| {
        if table == Table::Qp && entry.get("rnr_retry") == 7 {
            entry.set("rnr_retry", 6u8);
        }
        true
    }), "queue pair `qa` (Error)"),
    ("WIRE-RNR-5", "receiver_not_ready/longest_code", "code 0 is no wait", Entry(|table, entry| {
        if table == Table::Qp && entry.get("min_rnr_timer") == 0 {
            entry.set("min_rnr_timer", 1u8);
        }
        true
    }), "queue pair `qa` (Error)"),
    ("NDK-CQCB-3", "completion/overrun", "a completion queue is twice as deep", Entry(|table, entry| {
        if table == Table::Cq {
            let log = entry.get("log_size");
            entry.set("log_size", log + 1);
        }
        true
    }), "for a notification of completion queue `cb`"),
    ("NDK-FLUSH-2", "shared_receive/flush_midway", "a flush does nothing", Entry(|table, entry| {
        table != Table::Qp || entry.get("state") != QpState::Err as u128
    }), "next should be: STATUS_CANCELLED"),
    ("NDK-FLUSH-3", "posting/after_flush", "a flush does nothing", Entry(|table, entry| {
        table != Table::Qp || entry.get("state") != QpState::Err as u128
    }), "got:      STATUS_IO_TIMEOUT"),
    // Doorbells.
    ("NDK-ARM-3", "completion/arm_any", "nobody hears an arm", Doorbell(|offset, _| {
        offset != DbArm::OFFSET
    }), "for a notification of completion queue `cb`"),
    ("NDK-ARM-4", "completion/arm_solicited", "a solicited arm is one for any", Doorbell(|offset, value| {
        if offset == DbArm::OFFSET && *value >> 30 == 2 {
            *value = *value & !(3 << 30) | 1 << 30;
        }
        true
    }), "`cb` notified, which nobody expected"),
    ("NDK-CMPL-13", "completion/arm_twice_solicited", "every arm is one for any", Doorbell(|offset, value| {
        if offset == DbArm::OFFSET {
            *value = *value & !(3 << 30) | 1 << 30;
        }
        true
    }), "`cb` notified, which nobody expected"),
    ("NDK-SRQ-3", "shared_receive/threshold", "nobody hears of a threshold", Doorbell(|offset, _| {
        offset != DbSrqLimit::OFFSET
    }), "for a notification of shared receive queue `s`"),
    // Completion entries.
    ("NDK-RECV-4", "send/first", "a receive tells of a byte more", Completion(|entry| {
        if entry.get("receive") == 1 && entry.get("status") == 0 {
            let length = entry.get("byte_len") + 1;
            entry.set("byte_len", length);
        }
    }), "65 bytes"),
    ("NDK-RES-6", "bind/invalidated_by_the_peer", "no entry tells of a token", Completion(|entry| {
        entry.set("invalidated", 0u8).set("token", 0u8);
    }), "got:      STATUS_SUCCESS (0x00000000), context 0x14, QP context 0x5150000000000001, 0 bytes, Receive"),
    ("NDK-RES-10", "memory/local_faults", "no entry tells why", Completion(|entry| {
        entry.set("error_code", 0u8);
    }), "error code 0x0"),
    ("NDK-SEND-9", "completion/error_ends_connection", "what fails is cancelled, as what is behind it", Completion(|entry| {
        if entry.get("status") != Status::Success as u128 && entry.get("receive") == 0 {
            entry.set("status", Status::Flushed).set("opcode", 0u8).set("error_code", 0u8);
        }
    }), "result 1: STATUS_CANCELLED"),
    ("NDK-INVAL-2", "invalidate/not_valid_region", "what cannot be invalidated succeeds", Completion(|entry| {
        if entry.get("status") == Status::LocalQpOperation as u128 {
            entry.set("status", Status::Success);
        }
    }), "got:      STATUS_SUCCESS"),
    ("NDK-CMPL-5", "invalidate/invalidated_by_the_peer", "what cannot be invalidated succeeds", Completion(|entry| {
        if entry.get("status") == Status::LocalQpOperation as u128 {
            entry.set("status", Status::Success);
        }
    }), "got:      STATUS_SUCCESS"),
    // What a provider says.
    ("NDK-CQCB-1", "completion/arm_any", "notifications have another context", Told(|told| {
        if let Notification::Cq { context, .. } = told {
            *context ^= 1;
        }
        true
    }), "another notification of completion queue `cb`"),
    ("NDK-DEV-1", "connection/broken", "nobody is told that a connection broke", Told(|told| {
        !matches!(told, Notification::Disconnect { .. })
    }), "for the disconnect event of connector `c`"),
    ("NDK-CONN-6", "connection/unreachable", "who is not there has refused", Told(|told| {
        if let Notification::Completed { status, .. } = told
            && *status == NtStatus::HOST_UNREACHABLE
        {
            *status = NtStatus::CONNECTION_REFUSED;
        }
        true
    }), "ended with STATUS_CONNECTION_REFUSED"),
    ("NDK-OBJ-5", "shared_receive/close", "nobody is told that a close has ended", Told(|told| {
        !matches!(told, Notification::Closed(_))
    }), "for the end of a close"),
    ("NDK-LEP-4", "oid/unmapped", "an answer tells of one endpoint less", Answer(|_, buffer| {
        let count = buffer.get_mut(8);
        count.into_iter().for_each(|count| *count = count.wrapping_sub(1));
    }), "the answer differs"),
    ("NDK-OIDQ-2", "oid/short_buffer", "nobody says how many bytes would do", Answer(|outcome, _| {
        outcome.bytes_needed = 0;
    }), "BytesNeeded is 0"),
    ("NDK-OIDQ-3", "oid/short_buffer", "bytes count as written that were not", Answer(|outcome, _| {
        outcome.bytes_written += 1;
    }), "BytesWritten is 1, expected 0"),
    ("NDK-LEP-14", "oid/mapped", "endpoints lie on nothing", Config(|config| {
        config.endpoint_mapping = EndpointMapping::None;
    }), "BytesWritten is 88, expected 160"),
    ("NDK-LEP-10", "oid/unmapped", "endpoints lie on TCP", Config(|config| {
        config.endpoint_mapping = EndpointMapping::Tcp;
    }), "NDIS_STATUS_BUFFER_TOO_SHORT"),
    ("NDK-READ-18", "read/local_invalidate_unsupported", "a read invalidates although it cannot", Config(|config| {
        config.read_local_invalidate = true;
    }), "got:      STATUS_ACCESS_VIOLATION"),
];

/// What the vector says first with the breach, or without one; `None`: it passes.
fn said(path: &str, breach: Option<Breach>) -> Option<String> {
    let file = vector::load(Path::new(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    file.vectors.iter().find_map(|vector| {
        let options = RunOptions {
            breach,
            ..RunOptions::default()
        };
        let failure = world::run(vector, &options).err()?;
        let help = failure.fault.help.unwrap_or_default();
        Some(format!("{}\n{help}", failure.fault.message))
    })
}

#[test]
fn a_claim_fails_when_it_is_broken() {
    let mut wrong = Vec::new();
    for (id, name, what, breach, says) in CLAIMS {
        let path = format!("{}/vectors/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let file = vector::load(Path::new(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let covers = &file.vectors[0].head.covers;
        if covers.iter().all(|claimed| claimed.value() != id) {
            wrong.push(format!("{name} does not claim {id}"));
        }
        if let Some(said) = said(&path, None) {
            wrong.push(format!("{name} fails by itself: {said}"));
        }
        match said(&path, Some(*breach)) {
            Some(said) if said.contains(says) => println!("{id} {name}: {said}"),
            Some(said) => wrong.push(format!("{id}, {name}, {what}: it says\n{said}")),
            None => wrong.push(format!("{id}, {name}, {what}: it passes")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_sample_is_broad() {
    let ids: BTreeSet<&str> = CLAIMS.iter().map(|claim| claim.0).collect();
    assert_eq!(ids.len(), CLAIMS.len(), "each requirement once");
    let silent = CLAIMS.iter().find(|claim| claim.4.is_empty());
    assert!(silent.is_none(), "{silent:?}");
    assert!(ids.len() >= 50, "{}", ids.len());
    let folder = |name: &'static str| name.split_once('/').map_or(name, |(folder, _)| folder);
    let folders: BTreeSet<&str> = CLAIMS.iter().map(|claim| folder(claim.1)).collect();
    assert!(folders.len() >= 15, "{folders:?}");
}
