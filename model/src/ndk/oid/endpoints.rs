//! The answer to OID_NDK_LOCAL_ENDPOINTS.

use std::mem::{offset_of, size_of};

use super::records::{NdisNdkLocalEndpointEntry as Entry, put, sockaddr_inet};
use super::{OidOutcome, list};
use crate::ndk::{Endpoint, EndpointKind, EndpointMapping};

/// Writes NDIS_NDK_LOCAL_ENDPOINTS. In the second element of a pair nothing but the address is written (NDK-LEP-18).
pub(super) fn answer(
    endpoints: &[Endpoint],
    mapping: EndpointMapping,
    buffer: &mut [u8],
) -> OidOutcome {
    let write = |endpoint: &Endpoint, nd: &mut [u8], tcp: Option<&mut [u8]>| {
        const LOCAL: usize = offset_of!(Entry, local);
        put(nd, LOCAL, &sockaddr_inet(endpoint.local));
        let (user_mode, pid) = endpoint.owner.members();
        let listener = endpoint.kind == EndpointKind::Listener;
        put(nd, offset_of!(Entry, user_mode_owner), &[user_mode]);
        put(nd, offset_of!(Entry, listener), &[u8::from(listener)]);
        put(nd, offset_of!(Entry, owner_pid), &pid.to_le_bytes());
        if let Some(tcp) = tcp {
            let mut below = endpoint.local;
            below.set_port(endpoint.tcp_port);
            put(tcp, LOCAL, &sockaddr_inet(below));
        }
    };
    list::answer(endpoints, mapping, size_of::<Entry>(), buffer, write)
}
