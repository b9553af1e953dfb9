//! Local endpoints: what listens, and what connections go out from; and the connections.

use std::net::SocketAddr;

/// Whether the RDMA technology puts ND endpoints on TCP endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndpointMapping {
    /// No: RoCE, RoCEv2, InfiniBand (NDK-LEP-10).
    #[default]
    None,
    /// Yes: iWARP. OID answers then have two elements an endpoint (NDK-LEP-14).
    Tcp,
}

/// What an endpoint is (NDK-LEE-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// A listener.
    Listener,
    /// A shared endpoint.
    SharedEndpoint,
}

/// Who owns an endpoint (NDK-LEE-2, -4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointOwner {
    /// A kernel consumer (NDKPI).
    Kernel,
    /// A process (NDSPI).
    UserMode {
        /// Its process id.
        pid: u32,
    },
}

impl EndpointOwner {
    /// UserModeOwner and OwnerPid.
    pub(super) const fn members(self) -> (u8, u32) {
        match self {
            Self::Kernel => (0, 0),
            Self::UserMode { pid } => (1, pid),
        }
    }
}

/// An active listener or shared endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Local IP address and ND port.
    pub local: SocketAddr,
    /// Port of the TCP endpoint below it; used with [`EndpointMapping::Tcp`] only.
    pub tcp_port: u16,
    /// What it is.
    pub kind: EndpointKind,
    /// Whose it is.
    pub owner: EndpointOwner,
}

/// An active connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Local IP address and ND port; port 0: the connection has none.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Local and remote port of the TCP connection below it; used with [`EndpointMapping::Tcp`] only.
    pub tcp_ports: (u16, u16),
    /// Whose it is.
    pub owner: EndpointOwner,
}
