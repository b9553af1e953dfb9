//! The RDMA IP CM service: who calls from which address, at the head of a request's private data.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::messages::REQ_PRIVATE;
use super::record::{Part, bits, bytes, record};
use super::{CmError, gid};

/// Consumer's private data of a request, bytes (WIRE-CM-6).
pub const REQ_CONSUMER: usize = REQ_PRIVATE - Header::LEN;

record! {
    /// The header as it stands there (WIRE-CM-5).
    Header, "IP CM header", 36 bytes {
        /// Major version, 0.
        major: u8 = [bits(0, 7, 4)];
        /// Minor version, 0.
        minor: u8 = [bits(0, 3, 4)];
        /// 4 or 6.
        ip_version: u8 = [bits(1, 7, 4)];
        /// Port of the active side.
        source_port: u16 = [bytes(2, 2)];
        /// Address of the active side; IPv4 in the last four bytes, behind zeros.
        source: Ipv6Addr = [bytes(4, 16)];
        /// Address of the passive side.
        destination: Ipv6Addr = [bytes(20, 16)];
    }
}

/// Addresses of a conversation, and what the consumer says to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpCm {
    /// Address and port of the active side.
    pub source: SocketAddr,
    /// Address of the passive side, of the same IP version; its port is in the service id.
    pub destination: IpAddr,
    /// Consumer's private data.
    pub consumer_data: [u8; REQ_CONSUMER],
}

impl IpCm {
    /// Takes a request's private data apart.
    ///
    /// # Errors
    /// [`CmError::Field`]: a version other than 0.0, an IP version other than 4 and 6, or an IPv4 address with
    /// something before it.
    pub fn parse(private_data: &[u8; REQ_PRIVATE]) -> Result<Self, CmError> {
        let header = Header::parse_part(private_data)?;
        let misfit = |field, value| CmError::Field {
            record: "IP CM header",
            field,
            value,
        };
        if header.major != 0 {
            return Err(misfit("major", header.major.into()));
        }
        if header.minor != 0 {
            return Err(misfit("minor", header.minor.into()));
        }
        let address = |field, ip: Ipv6Addr| match header.ip_version {
            4 => low_ipv4(ip)
                .map(IpAddr::V4)
                .map_err(|value| misfit(field, value)),
            6 => Ok(IpAddr::V6(ip)),
            other => Err(misfit("ip_version", other.into())),
        };
        let source = address("source", header.source)?;
        let mut consumer_data = [0; REQ_CONSUMER];
        consumer_data
            .iter_mut()
            .zip(private_data.iter().skip(Header::LEN))
            .for_each(|(to, from)| *to = *from);
        Ok(Self {
            source: SocketAddr::new(source, header.source_port),
            destination: address("destination", header.destination)?,
            consumer_data,
        })
    }

    /// The private data of a request.
    pub fn emit(&self) -> [u8; REQ_PRIVATE] {
        let plain = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => Ipv6Addr::from(u128::from(u32::from(ip))),
            IpAddr::V6(_) => gid(ip),
        };
        let header = Header {
            major: 0,
            minor: 0,
            ip_version: if self.source.is_ipv4() { 4 } else { 6 },
            source_port: self.source.port(),
            source: plain(self.source.ip()),
            destination: plain(self.destination),
        };
        let mut bytes = [0; REQ_PRIVATE];
        bytes
            .iter_mut()
            .zip(header.emit().iter().chain(&self.consumer_data))
            .for_each(|(to, from)| *to = *from);
        bytes
    }
}

/// The IPv4 address behind twelve zero bytes; else all that stands there.
fn low_ipv4(ip: Ipv6Addr) -> Result<Ipv4Addr, u128> {
    let number = u128::from(ip);
    u32::try_from(number)
        .map(Ipv4Addr::from)
        .map_err(|_| number)
}
