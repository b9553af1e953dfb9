//! The answer to OID_NDK_STATISTICS.

use std::mem::size_of;

use super::{NdisNdkPerformanceCounters, NdisNdkStatisticsInfo, OidOutcome};

/// Writes NDIS_NDK_STATISTICS_INFO (NDK-STAT-1).
pub(super) fn answer(counter_set: NdisNdkPerformanceCounters, buffer: &mut [u8]) -> OidOutcome {
    let info = NdisNdkStatisticsInfo::new(counter_set);
    let length = size_of::<NdisNdkStatisticsInfo>();
    match buffer.get_mut(..length) {
        Some(place) => {
            place.copy_from_slice(&info.to_bytes());
            OidOutcome::done(length)
        }
        None => OidOutcome::too_short(length),
    }
}
