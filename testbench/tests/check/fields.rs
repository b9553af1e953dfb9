//! Every field of every frame of good captures, changed alone: how many changes are caught.

use std::collections::BTreeMap;
use std::fmt::Write;

use tandem_model::wire::{Ext, Frame, Ip, Opcode, Psn, Qpn, Syndrome, UdpChecksum, seal};
use tandem_testbench::blackbox::file::Packet;
use tandem_testbench::blackbox::{self, Options};

use crate::support::{complete, linux, of_file, repository};

const LINUX: [&str; 13] = [
    "atomic.pcap",
    "cm_rping.pcap",
    "duplicated.b.pcap",
    "ipv6.pcap",
    "lost_ack.b.pcap",
    "lost_read_response.a.pcap",
    "lost_request.a.pcap",
    "psn_wrap.pcap",
    "rdma_read.pcap",
    "rdma_write.pcap",
    "rnr_nak.pcap",
    "send_invalidate.pcap",
    "send_recv.pcap",
];
const VECTORS: [&str; 3] = [
    "loss/read_response_lost.toml",
    "send_and_invalidate/wire.toml",
    "write/basic.toml",
];

type Change = fn(&mut Frame<'_>) -> bool;

/// Changes of fields; they say whether the frame has the field. Lengths and checksums follow.
#[rustfmt::skip]
static FIELDS: [(&str, Change); 32] = [
    ("IPv4 identification", |f| match &mut f.ip { Ip::V4(ip) => { ip.ident ^= 0x100; true } Ip::V6(_) => false }),
    ("IPv4 DF", |f| match &mut f.ip { Ip::V4(ip) => { ip.dont_fragment = false; true } Ip::V6(_) => false }),
    ("traffic class, hop limit", |f| { f.ip = f.ip.with_path(4, 9); true }),
    ("source address", |f| { match &mut f.ip { Ip::V4(ip) => ip.src = [10, 9, 9, 9].into(), Ip::V6(ip) => ip.src = 9.into() }; true }),
    ("destination address", |f| { match &mut f.ip { Ip::V4(ip) => ip.dst = [10, 9, 9, 9].into(), Ip::V6(ip) => ip.dst = 9.into() }; true }),
    ("UDP source port, to another one", |f| { f.udp_sport ^= 1; true }),
    ("UDP source port, to a low one", |f| { f.udp_sport = 1024; true }),
    ("UDP checksum", |f| { f.udp_checksum = UdpChecksum::Computed; true }),
    ("BTH SE set", |f| !std::mem::replace(&mut f.bth.solicited, true)),
    ("BTH M", |f| { f.bth.migration = true; true }),
    ("BTH PadCnt", |f| { f.bth.pad ^= 1; true }),
    ("BTH P_Key", |f| { f.bth.pkey.0 ^= 0x8000; true }),
    ("BTH FECN, BECN", |f| { (f.bth.fecn, f.bth.becn) = (true, true); true }),
    ("BTH reserved, 6 bits", |f| { f.bth.reserved6 = 5; true }),
    ("BTH DestQP", |f| { f.bth.dest_qp = Qpn::new(f.bth.dest_qp.get() ^ 0x40); true }),
    ("BTH A", |f| { f.bth.ack_req = !f.bth.ack_req; true }),
    ("BTH reserved, 7 bits", |f| { f.bth.reserved7 = 5; true }),
    ("BTH PSN, one more", |f| { f.bth.psn = f.bth.psn.next(); true }),
    ("BTH PSN, one less", |f| { f.bth.psn = f.bth.psn.prev(); true }),
    ("BTH PSN, far away", |f| { f.bth.psn = Psn::new(f.bth.psn.get() ^ 0x40_0000); true }),
    ("RETH address", |f| reth(f, |reth| reth.va ^= 0x1000)),
    ("RETH key", |f| reth(f, |reth| reth.token.0 ^= 1)),
    ("RETH length, one more", |f| reth(f, |reth| reth.length += 1)),
    ("RETH length, much more", |f| reth(f, |reth| reth.length += 5000)),
    ("IETH key", |f| match &mut f.ext { Ext::Ieth(token) => { token.0 ^= 1; true } _ => false }),
    ("immediate data", |f| match &mut f.ext { Ext::Imm(imm) | Ext::RethImm(_, imm) => { imm[0] ^= 1; true } _ => false }),
    ("AETH syndrome, NAK 0x61", |f| aeth(f, |aeth| aeth.syndrome = Syndrome::decode(0x61))),
    ("AETH syndrome, NAK 0x60", |f| aeth(f, |aeth| aeth.syndrome = Syndrome::decode(0x60))),
    ("AETH syndrome, RNR NAK", |f| aeth(f, |aeth| aeth.syndrome = Syndrome::decode(0x30))),
    ("AETH syndrome, reserved", |f| aeth(f, |aeth| aeth.syndrome = Syndrome::decode(0x5F))),
    ("AETH MSN, one more", |f| aeth(f, |aeth| aeth.msn = aeth.msn.next())),
    ("AETH MSN, one less", |f| aeth(f, |aeth| aeth.msn = aeth.msn.prev())),
];

fn reth(frame: &mut Frame<'_>, change: fn(&mut tandem_model::wire::Reth)) -> bool {
    let found = match &mut frame.ext {
        Ext::Reth(reth) | Ext::RethImm(reth, _) => Some(reth),
        _ => None,
    };
    found.map(change).is_some()
}

fn aeth(frame: &mut Frame<'_>, change: fn(&mut tandem_model::wire::Aeth)) -> bool {
    let found = match &mut frame.ext {
        Ext::Aeth(aeth) | Ext::AethAtomicAck(aeth, _) => Some(aeth),
        _ => None,
    };
    found.map(change).is_some()
}

/// All changes of one frame: the field, and the bytes.
fn changes(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let Ok(frame) = Frame::parse(bytes) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (name, change) in &FIELDS {
        let mut frame = frame;
        if change(&mut frame) {
            all.push((*name, frame.to_vec()));
        }
    }
    let bth = if matches!(frame.ip, Ip::V4(_)) {
        42
    } else {
        62
    };
    for opcode in Opcode::ALL {
        let mut other = frame;
        other.bth.opcode = *opcode;
        if *opcode != frame.bth.opcode && opcode.ext() == frame.bth.opcode.ext() {
            all.push(("BTH opcode, of the same headers", other.to_vec()));
        }
    }
    let mut raw = |name, change: &dyn Fn(&mut Vec<u8>), seals: bool| {
        let mut bytes = bytes.to_vec();
        change(&mut bytes);
        if seals {
            seal(&mut bytes);
        }
        all.push((name, bytes));
    };
    raw(
        "BTH opcode, of other headers",
        &|bytes| bytes[bth] = if bytes[bth] == 0x11 { 0x04 } else { 0x11 },
        true,
    );
    raw("BTH opcode, unknown", &|bytes| bytes[bth] = 0x15, true);
    raw("BTH TVer", &|bytes| bytes[bth + 1] ^= 2, true);
    raw(
        "ICRC",
        &|bytes| {
            let icrc =
                bth - 8 + usize::from(bytes[bth - 3]) + 256 * usize::from(bytes[bth - 4]) - 1;
            bytes[icrc] ^= 1
        },
        false,
    );
    if !frame.payload.is_empty() {
        let payload = bth + 12 + frame.bth.opcode.ext().len();
        raw("payload", &|bytes| bytes[payload] ^= 1, true);
        let longer = [frame.payload, &[0; 4]].concat();
        all.push((
            "payload length, four more",
            frame.with_payload(&longer).to_vec(),
        ));
        let (_, shorter) = frame.payload.split_at(frame.payload.len().min(4));
        all.push((
            "payload length, four less",
            frame.with_payload(shorter).to_vec(),
        ));
    }
    all
}

/// Where frames were captured, as far as the capture agrees: both ends, one of them, or nobody knows.
fn sound(packets: &[Packet]) -> Options {
    let both = complete(packets);
    let ends = both.at.iter().map(|end| Options {
        at: [*end].into(),
        ..Options::default()
    });
    let mut all = std::iter::once(both.clone()).chain(ends);
    let good = all.find(|options| {
        blackbox::check(packets, options)
            .violations()
            .next()
            .is_none()
    });
    good.unwrap_or_default()
}

/// Caught and tried.
#[derive(Clone, Copy, Default)]
struct Share {
    tried: usize,
    anywhere: usize,
    where_sent: usize,
}

fn survey() -> BTreeMap<&'static str, Share> {
    let mut shares: BTreeMap<&'static str, Share> = BTreeMap::new();
    let linux = LINUX.iter().map(|name| linux(name));
    let vectors = VECTORS.iter().map(|path| of_file(path, 1008));
    for packets in linux.chain(vectors) {
        let whole = sound(&packets);
        let mut packets: Vec<Packet> = packets
            .into_iter()
            .filter(|packet| !packet.is_arrival())
            .collect();
        assert!(
            packets.len() < 80,
            "{} frames take their time",
            packets.len()
        );
        for place in 0..packets.len() {
            let good = packets[place].clone();
            for (name, bytes) in changes(&good.bytes) {
                packets[place].length = bytes.len();
                packets[place].bytes = bytes;
                let caught = |options: &Options| {
                    blackbox::check(&packets, options)
                        .violations()
                        .next()
                        .is_some()
                };
                let share = shares.entry(name).or_default();
                share.tried += 1;
                share.anywhere += usize::from(caught(&Options::default()));
                share.where_sent += usize::from(caught(&whole));
            }
            packets[place] = good;
        }
    }
    shares
}

/// The table in the book, between these lines. `TANDEM_BLESS=1` writes it anew.
const MARKS: [&str; 2] = ["<!-- fields begin -->\n", "<!-- fields end -->"];

#[test]
fn so_many_changes_of_single_fields_are_caught() {
    let shares = survey();
    let mut text =
        String::from("\n| field | tried | caught | at the senders |\n| --- | --- | --- | --- |\n");
    let mut all = Share::default();
    let mut row = |name: &str, share: Share| {
        let percent = |count: usize| (100 * count).checked_div(share.tried).unwrap_or(0);
        let (anywhere, where_sent) = (percent(share.anywhere), percent(share.where_sent));
        writeln!(
            text,
            "| {name} | {} | {anywhere} % | {where_sent} % |",
            share.tried
        )
        .unwrap();
    };
    for (name, share) in &shares {
        row(name, *share);
        all.tried += share.tried;
        all.anywhere += share.anywhere;
        all.where_sent += share.where_sent;
    }
    row("all", all);
    text.push('\n');
    let path = repository("docs/src/check.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(MARKS[0]).unwrap();
    let (table, tail) = rest.split_once(MARKS[1]).unwrap();
    if std::env::var_os("TANDEM_BLESS").is_some() {
        let page = [head, MARKS[0], &text, MARKS[1], tail].concat();
        std::fs::write(&path, page).unwrap();
    } else {
        assert_eq!(table, text);
    }
}
