//! What the adapter cannot do, or not any more.

use tandem_model::hal::Hal;
use tandem_model::ndk::{
    AdapterConfig, AdapterFlags, NtStatus, Provider, QpParameters, SrqParameters,
};

use crate::fake::{Bed, Fake};

/// NDK-RSZ-3: with memory used up nothing changes; so it is with everything that needs a ring.
// Covers: NDK-RSZ-3
#[test]
fn ndk_rsz_3_no_memory_left() {
    let mut bed = Bed::new();
    let depth = bed.nic.cq_depth(bed.cq).unwrap();
    for length in [1 << 20, 1 << 12, 64] {
        while bed.nic.hal_mut().allocate(length, 64).is_ok() {}
    }
    let none = NtStatus::INSUFFICIENT_RESOURCES.into();
    assert_eq!(bed.nic.resize_cq(bed.cq, 2000), Err(none));
    assert_eq!(bed.nic.cq_depth(bed.cq), Ok(depth));
    let none = NtStatus::INSUFFICIENT_RESOURCES.into();
    assert_eq!(bed.nic.create_cq(64, 0), Err(none));
    let none = NtStatus::INSUFFICIENT_RESOURCES.into();
    let parameters = QpParameters::new(bed.cq, bed.cq);
    assert_eq!(bed.nic.create_qp(bed.pd, &parameters), Err(none));
    let none = NtStatus::INSUFFICIENT_RESOURCES.into();
    let parameters = SrqParameters {
        depth: 8,
        max_receive_request_sge: 1,
        notify_threshold: 0,
        notification_context: 0,
    };
    assert_eq!(bed.nic.create_srq(bed.pd, &parameters), Err(none));
}

/// NDK-MOD-11, -12: whoever does not say that it moderates refuses to; whoever does never does, whatever is asked for.
/// The call is done when it returns.
// Covers: NDK-MOD-11, NDK-MOD-12
#[test]
fn ndk_mod_12_moderation_is_said_and_done() {
    let flag = AdapterFlags::CQ_INTERRUPT_MODERATION_SUPPORTED;
    for interrupt_moderation in [false, true] {
        let config = AdapterConfig {
            interrupt_moderation,
            ..AdapterConfig::default()
        };
        let mut nic = Provider::open(Fake::new(), config).unwrap();
        let said = nic.query_adapter_info().adapter_flags.0 & flag.0 != 0;
        assert_eq!(said, interrupt_moderation);
        let cq = nic.create_cq(16, 0).unwrap();
        for interval in [0, 1, 100, 1_000_000, u32::MAX] {
            for count in [0, 1, 2, 16, 17, u32::MAX] {
                let outcome = nic.control_cq_interrupt_moderation(cq, interval, count);
                let expected = match (interrupt_moderation, interval, count) {
                    (false, ..) => Err(NtStatus::NOT_SUPPORTED.into()),
                    (true, u32::MAX, 17..) => Err(NtStatus::INVALID_PARAMETER_MIX.into()),
                    _ => Ok(()),
                };
                assert_eq!(outcome, expected, "{interval} {count}");
            }
        }
    }
}
