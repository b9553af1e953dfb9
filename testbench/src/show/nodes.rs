//! Who sends and who receives: the columns.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use tandem_model::wire::MacAddr;
use tandem_model::wire::eth::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, EthView};
use tandem_model::wire::ip::{Ipv4View, Ipv6View};

use crate::blackbox::file::Packet;

/// An address of either layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Address {
    Ip(IpAddr),
    Mac([u8; 6]),
}

impl Address {
    fn words(self) -> String {
        match self {
            Self::Ip(address) => address.to_string(),
            Self::Mac(bytes) => MacAddr(bytes).to_string(),
        }
    }
}

/// Addresses of a frame: of the network if it has such, and of Ethernet. The receiver is `None` if all are.
struct Addresses {
    from: [Option<Address>; 2],
    to: Option<[Option<Address>; 2]>,
}

impl Addresses {
    fn of(bytes: &[u8]) -> Option<Self> {
        let eth = EthView::new_checked(bytes).ok()?;
        let packet = bytes.get(eth.header_len()..).unwrap_or_default();
        let pair: Option<(IpAddr, IpAddr)> = match eth.ethertype() {
            ETHERTYPE_IPV4 => Ipv4View::new_checked(packet)
                .ok()
                .map(|ip| (ip.src().into(), ip.dst().into())),
            ETHERTYPE_IPV6 => Ipv6View::new_checked(packet)
                .ok()
                .map(|ip| (ip.src().into(), ip.dst().into())),
            _ => None,
        };
        let (src, dst) = (eth.src().0, eth.dst().0);
        // The lowest bit of the first byte: a group.
        let to_all = dst[0] & 1 == 1;
        Some(Self {
            from: [
                pair.map(|pair| pair.0)
                    .filter(|address| {
                        *address != IpAddr::V4(Ipv4Addr::UNSPECIFIED)
                            && *address != IpAddr::V6(Ipv6Addr::UNSPECIFIED)
                    })
                    .map(Address::Ip),
                Some(Address::Mac(src)),
            ],
            to: (!to_all).then_some([
                pair.map(|pair| Address::Ip(pair.1)),
                Some(Address::Mac(dst)),
            ]),
        })
    }
}

/// The columns of a capture. A column is an interface if each node has one of its own, else an address.
pub(super) struct Nodes {
    names: Vec<String>,
    columns: BTreeMap<Address, usize>,
}

impl Nodes {
    pub(super) fn of(packets: &[Packet]) -> Self {
        Self::by_interface(packets).unwrap_or_else(|| Self::by_address(packets))
    }

    /// `None` if an interface saw both sides of anything.
    fn by_interface(packets: &[Packet]) -> Option<Self> {
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut columns = BTreeMap::new();
        let sent = || packets.iter().filter(|packet| !packet.is_arrival());
        for packet in sent() {
            let name = packet.interface.as_ref()?;
            let column = match names.iter().position(|known| known == name) {
                Some(column) => column,
                None => {
                    names.push(Arc::clone(name));
                    names.len() - 1
                }
            };
            let Some(addresses) = Addresses::of(&packet.bytes) else {
                continue;
            };
            for address in addresses.from.into_iter().flatten() {
                if *columns.entry(address).or_insert(column) != column {
                    return None;
                }
            }
        }
        let mut sorted = names.clone();
        sorted.sort();
        let place = |column: usize| {
            let name = names.get(column);
            name.and_then(|name| sorted.iter().position(|other| other == name))
        };
        let mut nodes = Self {
            names: sorted.iter().map(ToString::to_string).collect(),
            columns: columns
                .iter()
                .filter_map(|(address, column)| Some((*address, place(*column)?)))
                .collect(),
        };
        for packet in sent() {
            let from = nodes.column(Addresses::of(&packet.bytes).map(|found| found.from));
            let to = nodes.column(Addresses::of(&packet.bytes).and_then(|found| found.to));
            if from.is_some() && from == to {
                return None;
            }
        }
        nodes.add_receivers(packets);
        Some(nodes)
    }

    fn by_address(packets: &[Packet]) -> Self {
        let mut nodes = Self {
            names: Vec::new(),
            columns: BTreeMap::new(),
        };
        for packet in packets {
            if let Some(addresses) = Addresses::of(&packet.bytes) {
                nodes.add(addresses.from);
            }
        }
        nodes.add_receivers(packets);
        nodes
    }

    fn add_receivers(&mut self, packets: &[Packet]) {
        for packet in packets {
            if let Some(to) = Addresses::of(&packet.bytes).and_then(|addresses| addresses.to) {
                self.add(to);
            }
        }
    }

    /// Gives an address a column if it has none.
    fn add(&mut self, addresses: [Option<Address>; 2]) {
        if self.column(Some(addresses)).is_some() {
            return;
        }
        if let Some(address) = addresses.into_iter().flatten().next() {
            self.columns.insert(address, self.names.len());
            self.names.push(address.words());
        }
    }

    fn column(&self, addresses: Option<[Option<Address>; 2]>) -> Option<usize> {
        let mut known = addresses?.into_iter().flatten();
        known.find_map(|address| self.columns.get(&address).copied())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The columns of who sent a frame, and of whom it is for.
    pub(super) fn ends(&self, packet: &Packet) -> Option<(usize, Option<usize>)> {
        let addresses = Addresses::of(&packet.bytes)?;
        let arrives = packet.comment.as_deref().and_then(|comment| {
            let (name, _) = comment.strip_prefix("arrives at ")?.split_once(':')?;
            self.names.iter().position(|known| known == name)
        });
        let to = arrives.or_else(|| self.column(addresses.to));
        let from = self.column(Some(addresses.from)).or_else(|| {
            // A forged frame may have any sender: it comes from beside whom it is for.
            let to = to?;
            Some(if to == 0 {
                1.min(self.names.len() - 1)
            } else {
                to - 1
            })
        });
        Some((from?, to))
    }
}
