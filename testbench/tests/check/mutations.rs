//! Good captures with one thing broken: it is caught, by the requirement that it breaks.

use std::time::Duration;

use tandem_model::wire::{Ext, Ip, Opcode, Pkey, Qpn, Token};
use tandem_testbench::blackbox::{self, Options};

use crate::change::{Capture, bth_offset};
use crate::support::{complete, linux, of_file, violations};

/// A capture, the requirement that breaks, and how.
struct Mutation {
    capture: &'static str,
    id: &'static str,
    name: &'static str,
    change: fn(&mut Capture),
}

macro_rules! mutations {
    ($( $capture:literal { $( $id:literal, $name:literal: $change:expr; )+ } )+) => {
        [$( $( Mutation { capture: $capture, id: $id, name: $name, change: $change }, )+ )+]
    };
}

use Opcode::*;

#[rustfmt::skip]
static FRAMES: [Mutation; 25] = mutations! {
    "send_recv.pcap" {
        "WIRE-ICRC-8", "a bit of the ICRC": |c| { let at = c.nth(SendOnly, 1); c.raw(at, |bytes| *bytes.last_mut().unwrap() ^= 1); };
        "WIRE-ICRC-8", "a bit of the payload": |c| { let at = c.nth(SendFirst, 0); c.raw(at, |bytes| bytes[100] ^= 4); };
        "WIRE-FRM-1", "the IP checksum": |c| { let at = c.nth(SendOnly, 2); c.raw(at, |bytes| bytes[24] ^= 1); };
        "WIRE-FRM-1", "no DF": |c| { let at = c.nth(SendOnly, 2); c.fields(at, |frame| if let Ip::V4(ip) = &mut frame.ip { ip.dont_fragment = false }); };
        "WIRE-FRM-4", "the UDP length": |c| { let at = c.nth(SendOnly, 2); c.raw(at, |bytes| bytes[39] ^= 4); };
        "WIRE-FRM-5", "a UDP checksum": |c| { let at = c.nth(SendOnly, 2); c.fields(at, |frame| frame.udp_checksum = tandem_model::wire::UdpChecksum::Computed); };
        "WIRE-FRM-7", "a wrong UDP checksum": |c| { let at = c.nth(SendOnly, 2); c.raw(at, |bytes| bytes[40] = 7); };
        "WIRE-FRM-10", "cut short": |c| { let at = c.nth(SendOnly, 2); c.raw(at, |bytes| bytes.truncate(80)); };
        "WIRE-UDP-1", "a low source port": |c| { let at = c.nth(SendOnly, 2); c.fields(at, |frame| frame.udp_sport = 1000); };
        "WIRE-BTH-1", "a reserved bit": |c| { let at = c.nth(SendOnly, 2); c.fields(at, |frame| frame.bth.reserved7 = 1); };
        "WIRE-BTH-1", "a reserved bit that routers may change": |c| { let at = c.nth(SendOnly, 2); c.fields(at, |frame| frame.bth.reserved6 = 1); };
        "WIRE-BTH-2", "the version": |c| { let at = c.nth(SendOnly, 2); c.bytes(at, |bytes| { let bth = bth_offset(bytes); bytes[bth + 1] |= 1 }); };
        "WIRE-BTH-3", "the partition": |c| { let at = c.nth(SendOnly, 2); c.fields(at, |frame| frame.bth.pkey = Pkey(0x7FFF)); };
        "WIRE-BTH-5", "SE in a middle packet": |c| { let at = c.nth(SendMiddle, 0); c.fields(at, |frame| frame.bth.solicited = true); };
        "WIRE-BTH-7", "an ACK that asks": |c| { let at = c.nth(Acknowledge, 0); c.fields(at, |frame| frame.bth.ack_req = true); };
        "WIRE-BTH-9", "an opcode that is none": |c| { let at = c.nth(SendOnly, 2); c.bytes(at, |bytes| { let bth = bth_offset(bytes); bytes[bth] = 0x15 }); };
        "WIRE-BTH-10", "the pad count": |c| { let at = c.nth(SendOnly, 1); c.fields(at, |frame| frame.bth.pad = 1); };
        "WIRE-BTH-10", "pad bytes": |c| { let at = c.nth(SendOnly, 1); c.fields(at, |frame| frame.pad_bytes = [1; 3]); };
        "WIRE-BTH-12", "an ACK without AETH": |c| { let at = c.nth(Acknowledge, 0); c.fields(at, |frame| frame.ext = Ext::None); };
        "WIRE-ACK-14", "a last packet that does not ask": |c| { let at = c.nth(SendLast, 0); c.fields(at, |frame| frame.bth.ack_req = false); };
        "WIRE-EXT-5", "an ACK with payload": |c| { let at = c.nth(Acknowledge, 0); c.payload(at, |payload| payload.extend([0; 4])); };
        "WIRE-EXT-6", "a syndrome that is none": |c| { let at = c.nth(Acknowledge, 0); c.syndrome(at, 0x9F); };
        "WIRE-NAK-15", "a NAK that is none": |c| { let at = c.nth(Acknowledge, 0); c.syndrome(at, 0x65); };
    }
    "atomic.pcap" {
        "WIRE-NAK-10", "an atomic at an odd address": |c| { let at = c.nth(FetchAdd, 0); c.fields(at, |frame| if let Ext::Atomic(atomic) = &mut frame.ext { atomic.va += 4 }); };
    }
    "congestion/marked_frames.toml" {
        "WIRE-CNP-1", "a CNP without BECN": |c| { let at = c.nth(Cnp, 0); c.fields(at, |frame| frame.bth.becn = false); };
    }
};

#[rustfmt::skip]
static REQUESTS: [Mutation; 19] = mutations! {
    "send_recv.pcap" {
        "WIRE-PSN-3", "a PSN in a message": |c| { let at = c.nth(SendMiddle, 1); c.psn(at, 64); };
        "WIRE-PSN-3", "a packet that is not there": |c| { let at = c.nth(SendMiddle, 1); c.remove(at); };
        "WIRE-SEG-11", "first for middle": |c| { let at = c.nth(SendMiddle, 1); c.fields(at, |frame| frame.bth.opcode = SendFirst); };
        "WIRE-SEG-11", "last for middle": |c| { let at = c.nth(SendMiddle, 1); c.fields(at, |frame| { frame.bth.opcode = SendLast; frame.bth.ack_req = true }); };
        "WIRE-SEG-11", "write for send": |c| { let at = c.nth(SendMiddle, 1); c.fields(at, |frame| frame.bth.opcode = WriteMiddle); };
        "WIRE-SEG-2", "a short middle packet": |c| { let at = c.nth(SendMiddle, 1); c.payload(at, |payload| payload.truncate(1020)); };
        "WIRE-SEG-3", "an empty last packet": |c| { let at = c.nth(SendLast, 0); c.payload(at, Vec::clear); };
        "WIRE-SEG-1", "an only packet beyond the path MTU": |c| { let at = c.nth(SendOnly, 3); c.payload(at, |payload| payload.extend([0; 4])); };
    }
    "rdma_write.pcap" {
        "WIRE-EXT-2", "the length of a write": |c| { let at = c.nth(WriteFirst, 1); c.reth(at, |reth| reth.length += 1); };
        "WIRE-EXT-2", "the length of a short write": |c| { let at = c.nth(WriteOnly, 1); c.reth(at, |reth| reth.length += 1); };
    }
    "rdma_read.pcap" {
        "WIRE-PSN-4", "the length of a read": |c| { let at = c.nth(ReadRequest, 3); c.reth(at, |reth| reth.length += 3000); };
        "WIRE-SEG-10", "a read above the longest": |c| { let at = c.nth(ReadRequest, 3); c.reth(at, |reth| reth.length |= 0xC000_0000); };
    }
    "lost_ack.b.pcap" {
        "WIRE-PSN-8", "a payload that is sent again": |c| { let at = c.nth(SendOnly, 1); c.payload(at, |payload| payload[7] ^= 1); };
    }
    "lost_read_response.a.pcap" {
        "WIRE-RD-3", "the address of the rest": |c| { let at = c.nth(ReadRequest, 1); c.reth(at, |reth| reth.va += 1024); };
        "WIRE-RD-3", "the length of the rest": |c| { let at = c.nth(ReadRequest, 1); c.reth(at, |reth| reth.length += 1024); };
    }
    "cm_rping.pcap" {
        "WIRE-PSN-7", "the first PSN": |c| { let at = c.nth(SendOnly, 0); c.psn(at, -1); };
        "WIRE-PSN-7", "a later first PSN": |c| { let at = c.nth(SendOnly, 0); c.psn(at, 100); };
        "WIRE-QP-2", "a request behind the end": |c| { let (from, to) = (c.nth(SendOnly, 0), c.len()); let at = c.copy(from, to); c.psn(at, 50); };
        "WIRE-RD-1", "more reads than agreed": |c| { let at = c.nth(UdSendOnly, 0); c.payload(at, |payload| payload[24 + 35] = 0); };
    }
};

#[rustfmt::skip]
static ANSWERS: [Mutation; 22] = mutations! {
    "send_recv.pcap" {
        "WIRE-ACK-5", "an MSN too great": |c| { let at = c.nth(Acknowledge, 3); c.msn(at, 1); };
        "WIRE-ACK-5", "an MSN too small": |c| { let at = c.nth(Acknowledge, 3); c.msn(at, -1); };
        "WIRE-ACK-11", "an ACK beyond what was sent": |c| { let at = c.nth(Acknowledge, 3); c.psn(at, 1); };
        "WIRE-RNR-1", "an RNR NAK inside a send": |c| { let at = c.nth(Acknowledge, 4); c.syndrome(at, 0x34); };
        "WIRE-NAK-8", "a send whose key is refused": |c| { let at = c.nth(Acknowledge, 2); c.syndrome(at, 0x62); };
        "WIRE-NAK-6", "answers behind a fatal NAK": |c| { let at = c.nth(Acknowledge, 2); c.syndrome(at, 0x61); };
        "WIRE-NAK-1", "a NAK with nothing behind": |c| { let at = c.nth(Acknowledge, 3); c.syndrome(at, 0x60); };
        "WIRE-RD-8", "a read response to a send": |c| { let at = c.nth(Acknowledge, 2); c.fields(at, |frame| frame.bth.opcode = ReadResponseOnly); };
    }
    "rdma_read.pcap" {
        "WIRE-EXT-7", "a NAK in a read response": |c| { let at = c.nth(ReadResponseFirst, 0); c.syndrome(at, 0x62); };
        "WIRE-EXT-5", "a read response without AETH": |c| { let at = c.nth(ReadResponseLast, 0); let aeth = bth_offset(&c.0[at].bytes) + 12; c.bytes(at, |bytes| { bytes.drain(aeth..aeth + 4); shorten(bytes) }); };
        "WIRE-ACK-6", "another MSN in the last response": |c| { let at = c.nth(ReadResponseLast, 0); c.msn(at, 1); };
        "WIRE-SEG-1", "last for middle": |c| { let at = c.nth(ReadResponseMiddle, 0); c.fields(at, |frame| { frame.bth.opcode = ReadResponseLast; frame.ext = Ext::Aeth(tandem_model::wire::Aeth { syndrome: tandem_model::wire::Syndrome::ACK, msn: tandem_model::wire::Msn::new(3) }) }); };
        "WIRE-RD-5", "a short response": |c| { let at = c.nth(ReadResponseLast, 0); c.payload(at, |payload| payload.truncate(payload.len() - 8)); };
    }
    "read/sizes.toml" {
        "WIRE-RD-6", "bytes for a read of none": |c| { let at = c.nth(ReadResponseOnly, 0); c.payload(at, |payload| payload.extend([0; 4])); };
    }
    "lost_request.a.pcap" {
        "WIRE-NAK-2", "a gap that is told twice": |c| { let from = c.nth(Acknowledge, 0); let at = c.copy(from, from + 1); c.fields(at, |frame| if let Ip::V4(ip) = &mut frame.ip { ip.ident ^= 0x5A }); };
        "WIRE-ACK-7", "an MSN that a NAK moves": |c| { let at = c.nth(Acknowledge, 0); c.msn(at, 1); };
    }
    "rnr_nak.pcap" {
        "WIRE-RNR-4", "an ACK without the send": |c| { while c.0.iter().filter(|packet| packet.bytes[42] == 4).count() > 1 { let at = c.nth(SendOnly, 1); c.remove(at); } };
        "WIRE-RNR-4", "an MSN that an RNR NAK moves": |c| { let at = c.nth(Acknowledge, 1); c.msn(at, 1); };
    }
    "lost_atomic_ack.b.pcap" {
        "WIRE-DUP-7", "another value from the saved result": |c| { let at = c.nth(AtomicAcknowledge, 1); c.fields(at, |frame| if let Ext::AethAtomicAck(_, value) = &mut frame.ext { *value += 5 }); };
    }
    "access_error.pcap" {
        "WIRE-NAK-6", "an ACK behind a fatal NAK": |c| { let from = c.nth(Acknowledge, 0); let at = c.copy(from, from + 1); c.syndrome(at, 0x1F); };
    }
    "send_invalidate.pcap" {
        "WIRE-NAK-4", "a refusal of what was acknowledged": |c| { let at = c.nth(Acknowledge, 2); c.psn(at, -1); };
    }
    "loss/one_of_thirty.toml" {
        "WIRE-PSN-6", "an ACK of what the network lost": |c| { let at = c.nth(Acknowledge, 0); let psn = c.0[at].bytes[51..54].to_vec(); let sent = c.0.iter().position(|packet| packet.bytes[51..54] == psn[..]).unwrap(); c.0[sent].comment = Some("lost".into()); };
    }
};

#[rustfmt::skip]
static MANAGEMENT: [Mutation; 8] = mutations! {
    "cm_rping.pcap" {
        "WIRE-CM-1", "the version of the class": |c| { let at = c.nth(UdSendOnly, 0); c.payload(at, |payload| payload[2] = 1); };
        "WIRE-CM-2", "the transaction of a REP": |c| { let at = c.nth(UdSendOnly, 1); c.payload(at, |payload| payload[15] ^= 1); };
        "WIRE-CM-7", "the transaction of an RTU": |c| { let at = c.nth(UdSendOnly, 2); c.payload(at, |payload| payload[15] ^= 1); };
        "WIRE-CM-5", "the address in a REQ's private data": |c| { let at = c.nth(UdSendOnly, 0); c.payload(at, |payload| payload[24 + 140 + 19] ^= 1); };
        "WIRE-CM-9", "the queue pair of a DREQ": |c| { let at = c.nth(UdSendOnly, 3); c.payload(at, |payload| payload[24 + 10] ^= 1); };
        "WIRE-CM-10", "the transaction of a DREP": |c| { let at = c.nth(UdSendOnly, 4); c.payload(at, |payload| payload[15] ^= 1); };
        "WIRE-CM-13", "reads that nobody offered": |c| { let at = c.nth(UdSendOnly, 1); c.payload(at, |payload| payload[24 + 25] = 99); };
        "WIRE-EXT-8", "the Q_Key": |c| { let at = c.nth(UdSendOnly, 0); c.fields(at, |frame| if let Ext::Deth(deth) = &mut frame.ext { deth.qkey = 7 }); };
    }
};

/// Those that need every frame where it was sent.
#[rustfmt::skip]
static COMPLETE: [Mutation; 6] = mutations! {
    "send/many.toml" {
        "WIRE-PSN-3", "a packet that is not there": |c| { let at = c.nth(SendOnly, 2); c.remove(at); };
        "WIRE-PSN-3", "packets out of order": |c| { let at = c.nth(SendOnly, 2); let other = c.nth(SendOnly, 3); c.0.swap(at, other); };
        "WIRE-ICRC-8", "a bit of an ACK": |c| { let at = c.nth(Acknowledge, 0); c.raw(at, |bytes| bytes[55] ^= 1); };
    }
    "read/megabyte.toml" {
        "WIRE-PSN-5", "a response that is not there": |c| { let at = c.nth(ReadResponseMiddle, 7); c.remove(at); };
        "WIRE-PSN-5", "responses out of order": |c| { let at = c.nth(ReadResponseMiddle, 7); let other = c.nth(ReadResponseMiddle, 8); c.0.swap(at, other); };
        "WIRE-RD-3", "another key for the rest of a read": |c| { let from = c.nth(ReadRequest, 0); let at = c.copy(from, from + 1); c.reth(at, |reth| reth.token = Token(reth.token.0 ^ 1)); };
    }
};

/// Takes four bytes off the lengths of a frame over IPv4.
fn shorten(bytes: &mut [u8]) {
    for offset in [16, 38] {
        let length = u16::from_be_bytes([bytes[offset], bytes[offset + 1]]) - 4;
        bytes[offset..offset + 2].copy_from_slice(&length.to_be_bytes());
    }
}

fn capture(name: &str, number: usize) -> Capture {
    Capture(match name.ends_with(".pcap") {
        true => linux(name),
        false => of_file(name, number),
    })
}

/// What is not caught, or by another requirement; `number` tells the runs of tests apart.
fn run(mutations: &[Mutation], number: usize, whole: bool) {
    let mut wrong = Vec::new();
    for mutation in mutations {
        let mut capture = capture(mutation.capture, number);
        let options = match whole {
            true => complete(&capture.0),
            false => Options::default(),
        };
        let good = violations(&blackbox::check(&capture.0, &options));
        assert!(good.is_empty(), "{}: {good:?}", mutation.capture);
        (mutation.change)(&mut capture);
        let report = blackbox::check(&capture.0, &options);
        if !report.violations().any(|finding| finding.id == mutation.id) {
            let Mutation {
                capture, id, name, ..
            } = mutation;
            wrong.push(format!(
                "{capture}, {name}: {id} expected\n  {}",
                violations(&report).join("\n  ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn frames_are_judged() {
    run(&FRAMES, 1001, false);
}

#[test]
fn requesters_are_judged() {
    run(&REQUESTS, 1002, false);
}

#[test]
fn responders_are_judged() {
    run(&ANSWERS, 1003, false);
}

#[test]
fn connection_management_is_judged() {
    run(&MANAGEMENT, 1004, false);
}

#[test]
fn more_is_certain_where_frames_are_sent() {
    run(&COMPLETE, 1005, true);
}

#[test]
fn a_wait_that_is_cut_short_is_caught() {
    let mut capture = capture("rnr_nak.pcap", 1006);
    let (refused, again) = (capture.nth(Acknowledge, 0), capture.nth(SendOnly, 1));
    // All of it at once: what a frame takes on its way is no excuse.
    let start = capture.0[0].time;
    for (packet, step) in capture.0.iter_mut().zip(0u64..) {
        packet.time = start + Duration::from_micros(step * step);
    }
    let report = blackbox::check(&capture.0, &Options::default());
    let first = report.violations().next().unwrap();
    assert_eq!(
        (first.id, first.at.number),
        ("WIRE-RNR-5", again + 1),
        "{refused}"
    );
    assert!(first.message.contains("10.24ms"), "{}", first.message);
}

#[test]
fn at_the_requester_a_refusal_is_known_to_be_heard() {
    let mut capture = capture("send_recv.pcap", 1009);
    let at = capture.nth(Acknowledge, 2);
    capture.syndrome(at, 0x61);
    let start = capture.0[0].time;
    for (packet, step) in capture.0.iter_mut().zip(0u64..) {
        packet.time = start + Duration::from_micros(step * step);
    }
    let here = Options {
        at: [[10, 77, 0, 1].into()].into(),
        ..Options::default()
    };
    let count = |options: &Options| {
        let report = blackbox::check(&capture.0, options);
        report
            .violations()
            .filter(|finding| finding.id == "WIRE-QP-2")
            .count()
    };
    assert_eq!(count(&Options::default()), 0);
    assert!(count(&here) > 5);
}

#[test]
fn a_response_of_another_queue_pair_is_none_of_ours() {
    let mut capture = capture("two_qps.pcap", 1007);
    let at = capture.nth(ReadResponseMiddle, 0);
    capture.fields(at, |frame| frame.bth.dest_qp = Qpn::new(0x99));
    let report = blackbox::check(&capture.0, &Options::default());
    assert_eq!(report.connections.len(), 3, "two, and a flow of its own");
}
