//! Answers that are lists: NDIS_NDK_CONNECTIONS and NDIS_NDK_LOCAL_ENDPOINTS have the same header.

use std::mem::offset_of;

use super::OidOutcome;
use super::records::{NDIS_OBJECT_TYPE_DEFAULT, NdisNdkConnections, REVISION_1, put};
use crate::ndk::EndpointMapping;

/// Bytes of an answer without elements: the offset of its array.
const HEADER: usize = offset_of!(NdisNdkConnections, connections);

/// Writes the header, and lets `write` write each item into its element and, if endpoints lie on TCP endpoints, the
/// element behind it. The size in the header saturates; nothing else does.
///
/// Members are written, and the padding of header and elements as zeros; the second element of a pair is left
/// to `write` as it was.
pub(super) fn answer<T>(
    items: &[T],
    mapping: EndpointMapping,
    element: usize,
    buffer: &mut [u8],
    write: impl Fn(&T, &mut [u8], Option<&mut [u8]>),
) -> OidOutcome {
    let each = match mapping {
        EndpointMapping::None => 1,
        EndpointMapping::Tcp => 2,
    };
    let count = items.len() * each;
    let length = HEADER + element * count;
    let Some(place) = buffer.get_mut(..length) else {
        return OidOutcome::too_short(length);
    };
    let (header, elements) = place.split_at_mut(HEADER);
    let size = u16::try_from(length).unwrap_or(u16::MAX);
    let mapped = u8::from(mapping == EndpointMapping::Tcp);
    header.fill(0);
    put(header, 0, &[NDIS_OBJECT_TYPE_DEFAULT, REVISION_1]);
    put(header, 2, &size.to_le_bytes());
    let at = offset_of!(NdisNdkConnections, count);
    put(header, at, &(count as u32).to_le_bytes());
    put(
        header,
        offset_of!(NdisNdkConnections, mapped_to_tcp),
        &[mapped],
    );
    for (item, elements) in items.iter().zip(elements.chunks_mut(element * each)) {
        let (nd, tcp) = elements.split_at_mut(element);
        nd.fill(0);
        write(item, nd, Some(tcp).filter(|tcp| !tcp.is_empty()));
    }
    OidOutcome::done(length)
}
