//! OID_NDK_STATISTICS.

use tandem_model::abi::{Status, WqeOpcode};
use tandem_model::hal::HalError;
use tandem_model::ndk::{
    COUNTERS, NdkCounters, NtStatus, Oid, OidOutcome, OidRequestType, OpFlags, Provider,
};

use crate::fake::{Bed, CQ_ERROR, Fake, QP_ERROR, cqe};

const QUERY: OidRequestType = OidRequestType::QueryInformation;
const RX_FRAMES: u32 = 0x280;
const TX_FRAMES: u32 = 0x284;
const RX_OCTETS: u32 = 0x288;
const TX_OCTETS: u32 = 0x290;

const CONNECTION_ERROR: usize = 3;
const ACTIVE_CONNECTION: usize = 4;
const CQ_ERRORS: usize = 25;

fn query(nic: &mut Provider<Fake>, buffer: &mut [u8]) -> OidOutcome {
    nic.oid_request(QUERY, Oid::NDK_STATISTICS, buffer)
}

/// The counters by their indices.
fn counters(nic: &mut Provider<Fake>) -> [u64; COUNTERS] {
    let mut buffer = [0xEE; 248];
    assert_eq!(query(nic, &mut buffer).bytes_written, 248);
    let words = buffer[8..].chunks_exact(8);
    let mut all = [0; COUNTERS];
    for (to, from) in all.iter_mut().zip(words) {
        *to = u64::from_le_bytes(from.try_into().unwrap());
    }
    all
}

fn set(nic: &mut Provider<Fake>, registers: &[(u32, u32)]) {
    nic.hal_mut().registers.extend(registers.iter().copied());
}

// Covers: NDK-STAT-1, NDK-STAT-2, NDK-STAT-3, NDK-OIDQ-3
#[test]
fn ndk_stat_1_layout() {
    let mut bed = Bed::new();
    *bed.nic.bench().counters() = NdkCounters {
        connect: 0x0101_0000_0001,
        accept: 2,
        connect_failure: 3,
        connection_error: 4,
        cq_error: 5,
    };
    let registers = [
        (RX_FRAMES, 8),
        (TX_FRAMES, 9),
        (RX_OCTETS, 6),
        (RX_OCTETS + 4, 0x0606),
        (TX_OCTETS, 7),
        (TX_OCTETS + 4, 0x0707),
    ];
    set(&mut bed.nic, &registers);
    let mut buffer = [0xEE; 250];
    let outcome = query(&mut bed.nic, &mut buffer);
    let expected = OidOutcome {
        status: NtStatus::SUCCESS,
        bytes_written: 248,
        bytes_needed: 0,
    };
    assert_eq!(outcome, expected);
    assert_eq!(buffer[..8], [0x80, 1, 248, 0, 0, 0, 0, 0]);
    assert_eq!(buffer[248..], [0xEE; 2]);
    let mut expected = [0; COUNTERS];
    // One queue pair is connected.
    expected[..5].copy_from_slice(&[0x0101_0000_0001, 2, 3, 4, 1]);
    expected[25..].copy_from_slice(&[5, 0x0606_0000_0006, 0x0707_0000_0007, 8, 9]);
    assert_eq!(counters(&mut bed.nic), expected);
}

/// Reading O24; sets and methods are not for it.
// Covers: NDK-OIDQ-1, NDK-OIDQ-2
#[test]
fn ndk_oidq_1_short_statistics() {
    let mut bed = Bed::new();
    for length in [0, 8, 247] {
        let mut buffer = vec![0xEE; length];
        let outcome = query(&mut bed.nic, &mut buffer);
        let expected = OidOutcome {
            status: NtStatus::NDIS_BUFFER_TOO_SHORT,
            bytes_written: 0,
            bytes_needed: 248,
        };
        assert_eq!(outcome, expected, "{length}");
        assert_eq!(buffer, vec![0xEE; length]);
    }
}

// Covers: NDK-STAT-5
#[test]
fn ndk_stat_5_direct_path() {
    let mut bed = Bed::new();
    set(&mut bed.nic, &[(RX_FRAMES, 77)]);
    let mut plain = [0; 248];
    let mut direct = [0xEE; 248];
    let by_statistics = OidRequestType::QueryStatistics;
    let outcome = bed
        .nic
        .direct_oid_request(by_statistics, Oid::NDK_STATISTICS, &mut direct);
    assert_eq!(outcome, query(&mut bed.nic, &mut plain));
    assert_eq!(direct, plain);
    let others = [
        Oid::NDK_SET_STATE,
        Oid::NDK_CONNECTIONS,
        Oid::NDK_LOCAL_ENDPOINTS,
    ];
    for oid in others {
        let outcome = bed.nic.direct_oid_request(QUERY, oid, &mut direct);
        assert_eq!(outcome.status, NtStatus::NOT_SUPPORTED);
    }
}

/// The rule of the module: a wrap of 32 bits is not lost if the registers are looked at before the next.
#[test]
fn frames_go_on_over_a_wrap() {
    let mut bed = Bed::new();
    let mut frames = |value| {
        set(&mut bed.nic, &[(RX_FRAMES, value), (TX_FRAMES, value)]);
        bed.nic.sample_counters().unwrap();
        let all = counters(&mut bed.nic);
        assert_eq!(all[28], all[29]);
        all[28]
    };
    let looks = [0xFFFF_FFFF, 0, 0, 7, 6].map(&mut frames);
    assert_eq!(
        looks,
        [0xFFFF_FFFF, 1 << 32, 1 << 32, (1 << 32) + 7, (2 << 32) + 6]
    );
}

/// Told once for a queue, whatever its queue pairs; they fail with it.
// Covers: NDK-STAT-6
#[test]
fn ndk_stat_6_cq_error() {
    let mut bed = Bed::new();
    assert_eq!(counters(&mut bed.nic)[CQ_ERRORS], 0);
    for _ in 0..2 {
        bed.nic.hal_mut().event(CQ_ERROR, 0, 0);
        bed.nic.poll_events().unwrap();
    }
    let all = counters(&mut bed.nic);
    assert_eq!(all[CQ_ERRORS], 1);
    assert_eq!((all[CONNECTION_ERROR], all[ACTIVE_CONNECTION]), (1, 0));
}

/// Failures count once, in whatever order they become known; what the consumer ends does not.
// Covers: NDK-STAT-7
#[test]
fn ndk_stat_7_connection_error() {
    let mut known_by_event = Bed::new();
    let code = Status::RetryExceeded as u8;
    let qpn = known_by_event.qpn;
    known_by_event.nic.hal_mut().event(QP_ERROR, code, qpn);
    known_by_event.nic.poll_events().unwrap();
    known_by_event.nic.flush(known_by_event.qp).unwrap();
    let all = counters(&mut known_by_event.nic);
    assert_eq!((all[CONNECTION_ERROR], all[ACTIVE_CONNECTION]), (1, 0));

    let mut known_by_result = Bed::new();
    known_by_result.send(1, OpFlags::NONE).unwrap();
    let failed = cqe(qpn, 0, WqeOpcode::Send, Status::RetryExceeded);
    known_by_result.complete(failed);
    assert_eq!(known_by_result.contexts(), [1]);
    let active = counters(&mut known_by_result.nic)[ACTIVE_CONNECTION];
    assert_eq!(active, 0);
    let status = known_by_result.nic.close_qp(known_by_result.qp);
    assert_eq!(status, Ok(NtStatus::SUCCESS));
    assert_eq!(counters(&mut known_by_result.nic)[CONNECTION_ERROR], 1);

    let mut ended = Bed::new();
    ended.nic.flush(ended.qp).unwrap();
    ended.nic.hal_mut().event(QP_ERROR, code, qpn);
    ended.nic.poll_events().unwrap();
    let all = counters(&mut ended.nic);
    assert_eq!((all[CONNECTION_ERROR], all[ACTIVE_CONNECTION]), (0, 0));
}

/// As after a surprise removal.
#[test]
fn an_adapter_that_is_gone() {
    let mut bed = Bed::new();
    bed.nic.hal_mut().broken = Some(HalError::Stopped("gone".into()));
    let mut buffer = [0xEE; 248];
    let outcome = query(&mut bed.nic, &mut buffer);
    assert_eq!(outcome.status, NtStatus::NDIS_NOT_ACCEPTED);
    assert_eq!((outcome.bytes_written, buffer), (0, [0xEE; 248]));
}
