//! Every golden packet, taken apart, compared field by field, and put together again.
//!
//! Of the fields in the data only `cm_mad` is not compared: it decodes the payload of connection
//! management, which is opaque here (its bytes are compared as payload).

#[path = "wire_support/golden.rs"]
mod golden;

use golden::{Golden, hex, packets};
use serde_json::{Map, Value, json};
use tandem_model::wire::{
    BthView, Ext, Frame, Ip, NakCode, Opcode, Syndrome, UdpChecksum, dissect, icrc, seal,
};

#[test]
fn all_are_there() {
    assert_eq!(packets().len(), 111);
    assert!(
        packets()
            .iter()
            .all(|golden| golden.frame.len() == golden.record["frame_len"])
    );
}

// Covers: WIRE-BTH-1, WIRE-EXT-1, WIRE-EXT-3, WIRE-EXT-4, WIRE-EXT-5, WIRE-EXT-9, WIRE-EXT-10, WIRE-FRM-6
// Covers: WIRE-FRM-12, WIRE-ICRC-1, WIRE-ICRC-10
#[test]
fn all_fields_are_read() {
    for golden in packets() {
        let frame = parse(&golden);
        let mut expected = golden.record["fields"].as_object().unwrap().clone();
        expected.remove("cm_mad");
        assert_eq!(
            Value::Object(fields(&frame, &golden.frame)),
            Value::Object(expected),
            "{}",
            golden.name()
        );
    }
}

// Covers: WIRE-FRM-1, WIRE-FRM-2, WIRE-FRM-3, WIRE-FRM-4, WIRE-FRM-8, WIRE-BTH-2, WIRE-ICRC-1, WIRE-ICRC-4
#[test]
fn all_are_emitted_byte_for_byte() {
    for golden in packets() {
        let mut frame = parse(&golden);
        assert_eq!(
            hex(&frame.to_vec()),
            hex(&golden.frame),
            "{}",
            golden.name()
        );
        // The trailer of a frame padded to 60 bytes need not be asked for.
        frame.trailer = &[];
        assert_eq!(
            hex(&frame.to_vec()),
            hex(&golden.frame),
            "{}",
            golden.name()
        );
    }
}

/// A frame is appended to what the buffer already holds.
#[test]
fn emit_appends() {
    let golden = packets().swap_remove(10);
    let mut out = vec![0xAA; 7];
    parse(&golden).emit(&mut out);
    assert_eq!(out[..7], [0xAA; 7]);
    assert_eq!(out[7..], golden.frame);
}

/// WIRE-ICRC-5: the variants that routers make keep the ICRC; WIRE-FRM-12: so does a VLAN tag.
// Covers: WIRE-ICRC-5, WIRE-FRM-12
#[test]
fn variants_share_an_icrc() {
    let icrc = |name: &str| {
        let golden = golden::packet(name);
        golden.record["fields"]["icrc_wire_hex"].clone()
    };
    let plain = icrc("send_only");
    for variant in [
        "send_only_ttl_tos_changed",
        "send_only_fecn",
        "send_only_vlan",
    ] {
        assert_eq!(icrc(variant), plain, "{variant}");
    }
    assert_ne!(icrc("send_only_mig"), plain);
}

/// `seal` finds nothing to do in a whole frame, and mends what it is meant to mend.
#[test]
fn sealing_mends() {
    for golden in packets() {
        let mut frame = golden.frame.clone();
        assert!(seal(&mut frame));
        assert_eq!(frame, golden.frame, "{}", golden.name());

        let layout = golden.layout();
        frame[layout.icrc()].fill(0);
        if layout.ip_len == 20 {
            frame[layout.ip + 10] ^= 0x55;
        }
        assert!(seal(&mut frame));
        assert_eq!(frame, golden.frame, "{}", golden.name());

        frame[layout.udp + 6] = 1;
        assert!(seal(&mut frame));
        let parsed = Frame::parse(&frame).unwrap();
        assert_eq!(parsed.udp_checksum, UdpChecksum::Computed);
        assert_eq!(parsed.to_vec(), frame, "{}", golden.name());
        assert!(!seal(&mut frame[..layout.icrc().end - 1]));
    }
}

/// What a person reads in a divergence report.
#[test]
fn dissection_reads_well() {
    let text = dissect(&golden::packet("send_only").frame);
    assert_eq!(
        text,
        "\
Ethernet 02:00:00:00:00:01 > 02:00:00:00:00:02, 66 bytes
IPv4 192.0.2.1 > 192.0.2.2, TOS 0x00, TTL 64, identification 0x0001, total length 52, DF
UDP 63102 > 4791, length 32, checksum 0x0000
BTH SEND Only (0x04), DestQP 0x11, PSN 0x000100, AckReq, solicited, pad 3, P_Key 0xffff
payload 5 bytes: 68656c6c6f
ICRC 88a0cdf2
accepted
"
    );
    let mut nak = golden::packet("nak_rem_access").frame;
    nak[61] ^= 1;
    let text = dissect(&nak);
    assert!(
        text.contains("AETH NAK remote access error, MSN 0x000011\n"),
        "{text}"
    );
    assert!(text.contains("would be right\n"), "{text}");
    assert!(text.ends_with("dropped: Icrc, ICRC\n"), "{text}");
}

fn parse(golden: &Golden) -> Frame<'_> {
    Frame::parse(&golden.frame)
        .unwrap_or_else(|cause| panic!("{}: {cause:?}\n{}", golden.name(), dissect(&golden.frame)))
}

/// A parsed frame in the shape of the data's `fields`.
fn fields(frame: &Frame<'_>, bytes: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.into(), value);

    let mut eth = json!({
        "dst": frame.eth.dst.to_string(),
        "src": frame.eth.src.to_string(),
        "ethertype": format!("{:#06x}", frame.ip.ethertype()),
    });
    if let Some(vlan) = frame.eth.vlan {
        eth["vlan"] = json!({"pcp": vlan.pcp, "vid": vlan.vid});
    }
    put("eth", eth);
    match frame.ip {
        Ip::V4(ip) => put(
            "ipv4",
            json!({
                "src": ip.src.to_string(),
                "dst": ip.dst.to_string(),
                "tos": ip.tos,
                "total_length": 20 + frame.udp_length(),
                "id": ip.ident,
                "df": u8::from(ip.dont_fragment),
                "ttl": ip.ttl,
                "protocol": 17,
            }),
        ),
        Ip::V6(ip) => put(
            "ipv6",
            json!({
                "src": ip.src.to_string(),
                "dst": ip.dst.to_string(),
                "traffic_class": ip.traffic_class,
                "flow_label": ip.flow_label,
                "hop_limit": ip.hop_limit,
                "next_header": 17,
            }),
        ),
    };
    assert_eq!(frame.udp_checksum, UdpChecksum::Zero);
    put(
        "udp",
        json!({
            "sport": frame.udp_sport,
            "dport": 4791,
            "length": frame.udp_length(),
            "checksum": 0,
        }),
    );

    let header_len = if frame.eth.vlan.is_some() { 18 } else { 14 };
    let bth_at = header_len + frame.ip.len() + 8;
    let bth = frame.bth;
    put(
        "bth",
        json!({
            "opcode": u8::from(bth.opcode),
            "opcode_name": opcode_name(bth.opcode),
            "se": u8::from(bth.solicited),
            "migreq": u8::from(bth.migration),
            "pad": bth.pad,
            "tver": BthView::new_checked(&bytes[bth_at..]).unwrap().transport_version(),
            "pkey": bth.pkey.0,
            "fecn": u8::from(bth.fecn),
            "becn": u8::from(bth.becn),
            "dest_qp": bth.dest_qp.get(),
            "ackreq": u8::from(bth.ack_req),
            "psn": bth.psn.get(),
        }),
    );
    assert_eq!((bth.reserved6, bth.reserved7), (0, 0));

    let ext = frame.ext;
    assert_eq!(ext.kind(), bth.opcode.ext());
    if let Some(reth) = ext.reth() {
        put(
            "reth",
            json!({
                "va": format!("{:#018x}", reth.va),
                "rkey": reth.token.to_string(),
                "dma_length": reth.length,
            }),
        );
    }
    if let Some(aeth) = ext.aeth() {
        let byte = aeth.syndrome.encode();
        let (kind, value) = match aeth.syndrome {
            Syndrome::Ack { credit } => ("ACK", credit),
            Syndrome::Rnr { timer } => ("RNR_NAK", timer),
            Syndrome::Nak(code) => {
                assert!(!matches!(code, NakCode::Reserved(_)));
                ("NAK", code.encode())
            }
            Syndrome::Reserved(_) => ("RESERVED", byte),
        };
        put(
            "aeth",
            json!({"syndrome": byte, "kind": kind, "value": value, "msn": aeth.msn.get()}),
        );
    }
    if let Some(token) = ext.ieth() {
        put("ieth", json!({"rkey": token.to_string()}));
    }
    if let Some(imm) = ext.immediate() {
        put("immdt", json!(format!("0x{}", hex(&imm))));
    }
    if let Some(deth) = ext.deth() {
        put(
            "deth",
            json!({"qkey": format!("{:#010x}", deth.qkey), "src_qp": deth.src_qp.get()}),
        );
    }
    match ext {
        Ext::Atomic(atomic) => {
            put(
                "atomiceth",
                json!({
                    "va": format!("{:#018x}", atomic.va),
                    "rkey": atomic.token.to_string(),
                    "swap_or_add": format!("{:#018x}", atomic.swap_or_add),
                    "compare": format!("{:#018x}", atomic.compare),
                }),
            );
        }
        Ext::AethAtomicAck(_, original) => {
            put(
                "atomicacketh",
                json!({"original": format!("{original:#018x}")}),
            );
        }
        Ext::Cnp(reserved) => {
            put("cnp_reserved_hex", json!(hex(&reserved)));
        }
        _ => {}
    }
    put(
        "payload",
        json!({"length": frame.payload.len(), "hex": hex(frame.payload)}),
    );
    put("pad_hex", json!(hex(&frame.pad_bytes[..bth.pad.into()])));
    put("eth_trailer_len", json!(frame.trailer.len()));
    let covered = header_len..bth_at - 8 + frame.udp_length() - 4;
    let icrc = icrc(&bytes[covered]);
    put("icrc_wire_hex", json!(hex(&icrc.to_le_bytes())));
    put("icrc_value_le", json!(format!("{icrc:#010x}")));
    fields
}

/// The data's name of an opcode.
fn opcode_name(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::SendFirst => "SEND_FIRST",
        Opcode::SendMiddle => "SEND_MIDDLE",
        Opcode::SendLast => "SEND_LAST",
        Opcode::SendLastImmediate => "SEND_LAST_IMM",
        Opcode::SendOnly => "SEND_ONLY",
        Opcode::SendOnlyImmediate => "SEND_ONLY_IMM",
        Opcode::WriteFirst => "WRITE_FIRST",
        Opcode::WriteMiddle => "WRITE_MIDDLE",
        Opcode::WriteLast => "WRITE_LAST",
        Opcode::WriteLastImmediate => "WRITE_LAST_IMM",
        Opcode::WriteOnly => "WRITE_ONLY",
        Opcode::WriteOnlyImmediate => "WRITE_ONLY_IMM",
        Opcode::ReadRequest => "READ_REQ",
        Opcode::ReadResponseFirst => "READ_RESP_FIRST",
        Opcode::ReadResponseMiddle => "READ_RESP_MIDDLE",
        Opcode::ReadResponseLast => "READ_RESP_LAST",
        Opcode::ReadResponseOnly => "READ_RESP_ONLY",
        Opcode::Acknowledge => "ACK",
        Opcode::AtomicAcknowledge => "ATOMIC_ACK",
        Opcode::CompareSwap => "CMP_SWAP",
        Opcode::FetchAdd => "FETCH_ADD",
        Opcode::SendLastInvalidate => "SEND_LAST_INV",
        Opcode::SendOnlyInvalidate => "SEND_ONLY_INV",
        Opcode::UdSendOnly => "UD_SEND_ONLY",
        Opcode::UdSendOnlyImmediate => "UD_SEND_ONLY_IMM",
        Opcode::Cnp => "CNP",
    }
}
