//! OID_NDK_LOCAL_ENDPOINTS, byte for byte.

use std::net::SocketAddr;

use tandem_model::ndk::{
    AdapterConfig, Endpoint, EndpointKind, EndpointMapping, EndpointOwner, NtStatus, Oid,
    OidOutcome, OidRequestType, Provider,
};

use crate::fake::Fake;

const QUERY: OidRequestType = OidRequestType::QueryInformation;

fn nic(endpoint_mapping: EndpointMapping, endpoints: &[Endpoint]) -> Provider<Fake> {
    let config = AdapterConfig {
        endpoint_mapping,
        ..AdapterConfig::default()
    };
    let mut nic = Provider::open(Fake::new(), config).unwrap();
    for endpoint in endpoints {
        nic.bench().add_endpoint(*endpoint);
    }
    nic
}

fn listener() -> Endpoint {
    Endpoint {
        local: "10.1.2.3:445".parse().unwrap(),
        tcp_port: 0xABCD,
        kind: EndpointKind::Listener,
        owner: EndpointOwner::Kernel,
    }
}

fn shared() -> Endpoint {
    let address = "[fe80::1:2]:5445".parse().unwrap();
    let SocketAddr::V6(mut address) = address else {
        panic!("{address}");
    };
    address.set_scope_id(0x1234_5678);
    Endpoint {
        local: address.into(),
        tcp_port: 80,
        kind: EndpointKind::SharedEndpoint,
        owner: EndpointOwner::UserMode { pid: 0x0102_0304 },
    }
}

fn query(nic: &Provider<Fake>, buffer: &mut [u8]) -> OidOutcome {
    nic.oid_request(QUERY, Oid::NDK_LOCAL_ENDPOINTS, buffer)
}

fn written(bytes: u32) -> OidOutcome {
    OidOutcome {
        status: NtStatus::SUCCESS,
        bytes_written: bytes,
        bytes_needed: 0,
    }
}

fn too_short(bytes: u32) -> OidOutcome {
    OidOutcome {
        status: NtStatus::NDIS_BUFFER_TOO_SHORT,
        bytes_written: 0,
        bytes_needed: bytes,
    }
}

const LISTENER_ADDRESS: [u8; 28] = [
    2, 0, 0x01, 0xBD, 10, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];
const SHARED_ADDRESS: [u8; 28] = [
    23, 0, 0x15, 0x45, 0, 0, 0, 0, 0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0x78,
    0x56, 0x34, 0x12,
];

// Covers: NDK-LEP-1, NDK-LEP-2, NDK-LEP-3, NDK-LEP-4, NDK-LEP-6, NDK-LEP-7, NDK-LEP-8, NDK-LEP-10, NDK-LEP-21
// Covers: NDK-LEE-1, NDK-LEE-2, NDK-LEE-3, NDK-LEE-4
#[test]
fn ndk_lep_1_not_mapped() {
    let nic = nic(EndpointMapping::None, &[listener(), shared()]);
    let mut buffer = [0xEE; 100];
    assert_eq!(query(&nic, &mut buffer), written(88));
    let mut expected = vec![0x80, 1, 88, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
    expected.extend(LISTENER_ADDRESS);
    expected.extend([0, 1, 0, 0, 0, 0, 0, 0]);
    expected.extend(SHARED_ADDRESS);
    expected.extend([1, 0, 0, 0, 4, 3, 2, 1]);
    expected.extend([0xEE; 12]);
    assert_eq!(buffer[..], expected[..]);
}

// Covers: NDK-LEP-9, NDK-LEP-13, NDK-LEP-14, NDK-LEP-15, NDK-LEP-16, NDK-LEP-17, NDK-LEP-18, NDK-LEP-19, NDK-LEP-20
#[test]
fn ndk_lep_14_mapped() {
    let nic = nic(EndpointMapping::Tcp, &[listener(), shared()]);
    let mut buffer = [0xEE; 160];
    assert_eq!(query(&nic, &mut buffer), written(160));
    let mut expected = vec![0x80, 1, 160, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0];
    let untouched = [0xEE; 8];
    expected.extend(LISTENER_ADDRESS);
    expected.extend([0, 1, 0, 0, 0, 0, 0, 0]);
    let mut tcp = LISTENER_ADDRESS;
    tcp[2..4].copy_from_slice(&[0xAB, 0xCD]);
    expected.extend(tcp);
    expected.extend(untouched);
    expected.extend(SHARED_ADDRESS);
    expected.extend([1, 0, 0, 0, 4, 3, 2, 1]);
    let mut tcp = SHARED_ADDRESS;
    tcp[2..4].copy_from_slice(&[0, 80]);
    expected.extend(tcp);
    expected.extend(untouched);
    assert_eq!(buffer[..], expected[..]);
}

/// C46: without endpoints the answer is the 16 bytes in front of them.
#[test]
fn c46_empty() {
    let header = |mapped| [0x80, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, mapped, 0, 0, 0];
    for (mapping, mapped) in [(EndpointMapping::None, 0), (EndpointMapping::Tcp, 1)] {
        let nic = nic(mapping, &[]);
        let mut buffer = [0xEE; 16];
        assert_eq!(query(&nic, &mut buffer), written(16));
        assert_eq!(buffer, header(mapped));
    }
}

/// Reading O24.
// Covers: NDK-OIDQ-1, NDK-OIDQ-2
#[test]
fn ndk_oidq_1_short_buffer() {
    for (mapping, needed) in [(EndpointMapping::None, 88), (EndpointMapping::Tcp, 160)] {
        let nic = nic(mapping, &[listener(), shared()]);
        for length in [0, 1, 15, 16, 52, needed - 1] {
            let mut buffer = vec![0xEE; length];
            assert_eq!(
                query(&nic, &mut buffer),
                too_short(needed as u32),
                "{length}"
            );
            assert_eq!(buffer, vec![0xEE; length]);
        }
    }
}

/// Size saturates, Count and data do not.
// Covers: NDK-LEP-5, NDK-LEP-11
#[test]
fn ndk_lep_5_size_saturates() {
    for (count, size) in [(1819u32, 65500u16), (1820, 65535), (4000, 65535)] {
        let nic = nic(EndpointMapping::None, &vec![listener(); count as usize]);
        let length = 16 + 36 * count;
        let mut buffer = vec![0; length as usize];
        assert_eq!(query(&nic, &mut buffer), written(length));
        assert_eq!(buffer[2..4], size.to_le_bytes());
        assert_eq!(buffer[8..12], count.to_le_bytes());
        assert_eq!(buffer[buffer.len() - 36..][..28], LISTENER_ADDRESS);
        let mut short = vec![0; length as usize - 1];
        assert_eq!(query(&nic, &mut short), too_short(length));
    }
    let nic = nic(EndpointMapping::Tcp, &[listener(); 910]);
    let mut buffer = vec![0; 16 + 72 * 910];
    query(&nic, &mut buffer);
    assert_eq!(buffer[2..4], [0xFF, 0xFF]);
    assert_eq!(buffer[8..12], 1820u32.to_le_bytes());
}

#[test]
fn other_requests() {
    let nic = nic(EndpointMapping::None, &[]);
    let mut buffer = [0xEE; 64];
    let status = |request, oid, buffer: &mut [u8]| nic.oid_request(request, oid, buffer).status;
    for oid in [
        Oid::NDK_SET_STATE,
        Oid::NDK_STATISTICS,
        Oid::NDK_CONNECTIONS,
        Oid(0x0001_0101),
    ] {
        assert_eq!(status(QUERY, oid, &mut buffer), NtStatus::NDIS_INVALID_OID);
    }
    let set = OidRequestType::SetInformation;
    let outcome = status(set, Oid::NDK_LOCAL_ENDPOINTS, &mut buffer);
    assert_eq!(outcome, NtStatus::NOT_SUPPORTED);
    assert_eq!(buffer, [0xEE; 64]);
}
