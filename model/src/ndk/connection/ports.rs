//! Local endpoints: which address and port is held, and by how many.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use crate::ndk::NtStatus;

/// Ports that the provider chooses from (NDK-CONN-10).
const EPHEMERAL: RangeInclusive<u16> = 49152..=65535;

/// Endpoints and their reference counts (NDK-EPT-1 to -4).
#[derive(Default)]
pub(super) struct Ports {
    references: BTreeMap<SocketAddr, u32>,
    /// Where the search for a free port begins: one behind the last found.
    next: u16,
}

impl Ports {
    /// Takes an endpoint, with one reference. Port 0 asks for any.
    ///
    /// `STATUS_SHARING_VIOLATION`: it is held. `STATUS_TOO_MANY_ADDRESSES`: no port is left.
    pub(super) fn take(&mut self, at: SocketAddr) -> Result<SocketAddr, NtStatus> {
        let at = match at.port() {
            0 => self.free(at.ip()).ok_or(NtStatus::TOO_MANY_ADDRESSES)?,
            _ if self.references.contains_key(&at) => return Err(NtStatus::SHARING_VIOLATION),
            _ => at,
        };
        self.references.insert(at, 1);
        Ok(at)
    }

    /// One more holds it.
    pub(super) fn hold(&mut self, at: SocketAddr) {
        *self.references.entry(at).or_default() += 1;
    }

    /// One fewer does.
    pub(super) fn release(&mut self, at: SocketAddr) {
        if let Some(count) = self.references.get_mut(&at) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.references.remove(&at);
            }
        }
    }

    /// A free port. A port is used again as late as possible.
    fn free(&mut self, ip: IpAddr) -> Option<SocketAddr> {
        let first = self.next.max(*EPHEMERAL.start());
        let found = (first..=*EPHEMERAL.end())
            .chain(*EPHEMERAL.start()..first)
            .map(|port| SocketAddr::new(ip, port))
            .find(|at| !self.references.contains_key(at))?;
        self.next = found.port().wrapping_add(1);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> SocketAddr {
        SocketAddr::new([192, 0, 2, 1].into(), port)
    }

    /// NDK-EPT-1, -4.
    // Covers: NDK-EPT-1, NDK-EPT-4
    #[test]
    fn the_last_holder_frees_a_port() {
        let mut ports = Ports::default();
        assert_eq!(ports.take(at(7)), Ok(at(7)));
        ports.hold(at(7));
        ports.release(at(7));
        assert_eq!(ports.take(at(7)), Err(NtStatus::SHARING_VIOLATION));
        ports.release(at(7));
        assert_eq!(ports.take(at(7)), Ok(at(7)));
    }

    /// NDK-CONN-10: 16384 ports, and not one more.
    // Covers: NDK-CONN-10
    #[test]
    fn ports_come_to_an_end() {
        let mut ports = Ports::default();
        let first = ports.take(at(0)).unwrap();
        ports.release(first);
        assert_ne!(ports.take(at(0)), Ok(first), "used again at once");
        for _ in 1..16384 {
            let port = ports.take(at(0)).unwrap().port();
            assert!(EPHEMERAL.contains(&port));
        }
        assert_eq!(ports.take(at(0)), Err(NtStatus::TOO_MANY_ADDRESSES));
        ports.release(at(50000));
        assert_eq!(ports.take(at(0)), Ok(at(50000)));
    }
}
