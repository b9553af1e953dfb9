//! OID_NDK_CONNECTIONS, byte for byte.

use tandem_model::ndk::{
    AdapterConfig, Connection, EndpointMapping, EndpointOwner, NtStatus, Oid, OidOutcome,
    OidRequestType, Provider, Qp, QpParameters,
};

use crate::fake::{Bed, Fake, peer};

fn bed(endpoint_mapping: EndpointMapping) -> Bed {
    let config = AdapterConfig {
        endpoint_mapping,
        ipv4: Some([10, 1, 2, 3].into()),
        ..AdapterConfig::default()
    };
    let mut bed = Bed::with(config, |_| ());
    let connection = Connection {
        local: "10.1.2.3:445".parse().unwrap(),
        remote: "10.9.8.7:49152".parse().unwrap(),
        tcp_ports: (0xABCD, 80),
        owner: EndpointOwner::UserMode { pid: 0x0102_0304 },
    };
    bed.nic.bench().set_connection(bed.qp, connection).unwrap();
    bed
}

fn connect_another(bed: &mut Bed) -> Qp {
    let parameters = QpParameters::new(bed.cq, bed.cq);
    let qp = bed.nic.create_qp(bed.pd, &parameters).unwrap();
    bed.nic.bench().connect(qp, &peer()).unwrap();
    qp
}

fn query(nic: &mut Provider<Fake>, buffer: &mut [u8]) -> OidOutcome {
    nic.oid_request(
        OidRequestType::QueryInformation,
        Oid::NDK_CONNECTIONS,
        buffer,
    )
}

fn written(bytes: u32) -> OidOutcome {
    OidOutcome {
        status: NtStatus::SUCCESS,
        bytes_written: bytes,
        bytes_needed: 0,
    }
}

fn address(port: [u8; 2], ip: [u8; 4]) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[0] = 2;
    bytes[2..4].copy_from_slice(&port);
    bytes[4..8].copy_from_slice(&ip);
    bytes
}

const LOCAL: [u8; 4] = [10, 1, 2, 3];

// Covers: NDK-CNX-1, NDK-CNX-2, NDK-CNX-5
#[test]
fn ndk_cnx_1_not_mapped() {
    let mut bed = bed(EndpointMapping::None);
    let second = connect_another(&mut bed);
    let mut buffer = [0xEE; 150];
    assert_eq!(query(&mut bed.nic, &mut buffer), written(144));
    let mut expected = vec![0x80, 1, 144, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
    expected.extend(address([0x01, 0xBD], LOCAL));
    expected.extend(address([0xC0, 0x00], [10, 9, 8, 7]));
    expected.extend([1, 0, 0, 0, 4, 3, 2, 1]);
    // One that a bench connected has no ports.
    expected.extend(address([0, 0], LOCAL));
    expected.extend(address([0, 0], [10, 0, 0, 2]));
    expected.extend([0; 8]);
    expected.extend([0xEE; 6]);
    assert_eq!(buffer[..], expected[..]);
    // What is not active is not listed.
    bed.nic.flush(bed.qp).unwrap();
    assert_eq!(query(&mut bed.nic, &mut buffer), written(80));
    assert_eq!(buffer[16..44], address([0, 0], LOCAL));
    bed.nic.flush(second).unwrap();
    assert_eq!(query(&mut bed.nic, &mut buffer), written(16));
    assert_eq!(
        buffer[..16],
        [0x80, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    );
}

// Covers: NDK-CNX-3, NDK-CNX-4
#[test]
fn ndk_cnx_3_mapped() {
    let mut bed = bed(EndpointMapping::Tcp);
    let mut buffer = [0xEE; 144];
    assert_eq!(query(&mut bed.nic, &mut buffer), written(144));
    let mut expected = vec![0x80, 1, 144, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0];
    expected.extend(address([0x01, 0xBD], LOCAL));
    expected.extend(address([0xC0, 0x00], [10, 9, 8, 7]));
    expected.extend([1, 0, 0, 0, 4, 3, 2, 1]);
    expected.extend(address([0xAB, 0xCD], LOCAL));
    expected.extend(address([0, 80], [10, 9, 8, 7]));
    expected.extend([0xEE; 8]);
    assert_eq!(buffer[..], expected[..]);
}

/// Reading O24.
// Covers: NDK-OIDQ-1, NDK-OIDQ-2
#[test]
fn ndk_oidq_1_short_connections() {
    let mut bed = bed(EndpointMapping::Tcp);
    for length in [0, 15, 16, 80, 143] {
        let mut buffer = vec![0xEE; length];
        let outcome = query(&mut bed.nic, &mut buffer);
        assert_eq!(outcome.status, NtStatus::NDIS_BUFFER_TOO_SHORT);
        assert_eq!((outcome.bytes_written, outcome.bytes_needed), (0, 144));
        assert_eq!(buffer, vec![0xEE; length]);
    }
}

/// The size in the header saturates, nothing else.
// Covers: NDK-CNX-1
#[test]
fn ndk_cnx_1_size_saturates() {
    for (count, size) in [(1023u32, 65488u16), (1024, 65535), (1030, 65535)] {
        let mut hal = Fake::new();
        // 2048 queue pairs.
        hal.registers
            .insert(0x008, 11 | 5 << 8 | 8 << 16 | 10 << 24);
        let mut nic = Provider::open(hal, AdapterConfig::default()).unwrap();
        let pd = nic.create_pd().unwrap();
        let cq = nic.create_cq(16, 0).unwrap();
        let parameters = QpParameters {
            receive_queue_depth: 1,
            initiator_queue_depth: 1,
            ..QpParameters::new(cq, cq)
        };
        for _ in 0..count {
            let qp = nic.create_qp(pd, &parameters).unwrap();
            nic.bench().connect(qp, &peer()).unwrap();
        }
        let length = 16 + 64 * count;
        let mut buffer = vec![0xEE; length as usize];
        assert_eq!(query(&mut nic, &mut buffer), written(length));
        assert_eq!(buffer[2..4], size.to_le_bytes());
        assert_eq!(buffer[8..12], count.to_le_bytes());
        let last = &buffer[buffer.len() - 64..];
        assert_eq!(last[28..56], address([0, 0], [10, 0, 0, 2]));
    }
}
