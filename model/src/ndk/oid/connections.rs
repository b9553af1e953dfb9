//! The answer to OID_NDK_CONNECTIONS.

use std::mem::{offset_of, size_of};

use super::records::{NdisNdkConnectionEntry as Entry, put, sockaddr_inet};
use super::{OidOutcome, list};
use crate::ndk::{Connection, EndpointMapping};

/// Writes NDIS_NDK_CONNECTIONS (NDK-CNX-1). In the second element of a pair nothing but the addresses is
/// written (NDK-CNX-4).
pub(super) fn answer(
    connections: &[Connection],
    mapping: EndpointMapping,
    buffer: &mut [u8],
) -> OidOutcome {
    let write = |connection: &Connection, nd: &mut [u8], tcp: Option<&mut [u8]>| {
        const LOCAL: usize = offset_of!(Entry, local);
        const REMOTE: usize = offset_of!(Entry, remote);
        let Connection { local, remote, .. } = *connection;
        put(nd, LOCAL, &sockaddr_inet(local));
        put(nd, REMOTE, &sockaddr_inet(remote));
        let (user_mode, pid) = connection.owner.members();
        put(nd, offset_of!(Entry, user_mode_owner), &[user_mode]);
        put(nd, offset_of!(Entry, owner_pid), &pid.to_le_bytes());
        if let Some(tcp) = tcp {
            let (mut local, mut remote) = (local, remote);
            let (local_port, remote_port) = connection.tcp_ports;
            local.set_port(local_port);
            remote.set_port(remote_port);
            put(tcp, LOCAL, &sockaddr_inet(local));
            put(tcp, REMOTE, &sockaddr_inet(remote));
        }
    };
    list::answer(connections, mapping, size_of::<Entry>(), buffer, write)
}
