//! ARP, neighbour discovery and ICMP echo, by smoltcp.
//!
//! smoltcp keeps what it knows of neighbours to itself, so that it is asked by a probe: a small UDP datagram, which it
//! sends as soon as it knows the next hop. The probe never gets out; its Ethernet header is the answer.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr};

use crate::wire::eth::EthView;
use crate::wire::{Eth, MacAddr};

/// Bytes of the longest frame, without FCS.
const FRAME_BYTES: usize = 1514;
/// UDP port of probes; nothing else that the stack sends is UDP.
const PROBE_PORT: u16 = 9;

/// A subnet of the adapter, and the way out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subnet<A> {
    /// Bits of the prefix.
    pub prefix: u8,
    /// Router to all other networks.
    pub gateway: Option<A>,
}

/// Frames that have come in and are to go out.
#[derive(Default)]
struct Queues {
    received: VecDeque<Vec<u8>>,
    sent: Vec<Vec<u8>>,
    /// Next hops that probes told.
    answers: Vec<(IpAddr, MacAddr)>,
}

/// A frame on its way to smoltcp.
struct Received(Vec<u8>);

/// A place for a frame of smoltcp.
struct Sending<'a>(&'a mut Queues);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut frame = vec![0; length];
        let result = f(&mut frame);
        match probed(&frame) {
            Some(answer) => self.0.answers.push(answer),
            None => self.0.sent.push(frame),
        }
        result
    }
}

impl Device for Queues {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sending<'_>)> {
        let frame = self.received.pop_front()?;
        Some((Received(frame), Sending(self)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sending<'_>> {
        Some(Sending(self))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = FRAME_BYTES;
        capabilities
    }
}

/// Address and next hop of a probe.
fn probed(frame: &[u8]) -> Option<(IpAddr, MacAddr)> {
    use crate::wire::ip::{Ipv4View, Ipv6View, PROTOCOL_UDP};
    let view = EthView::new_checked(frame).ok()?;
    let packet = frame.get(view.header_len()..)?;
    let ip = match view.ethertype() {
        crate::wire::eth::ETHERTYPE_IPV4 => {
            let ip = Ipv4View::new_checked(packet).ok()?;
            (ip.protocol() == PROTOCOL_UDP).then(|| IpAddr::V4(ip.dst()))?
        }
        crate::wire::eth::ETHERTYPE_IPV6 => {
            let ip = Ipv6View::new_checked(packet).ok()?;
            (ip.next_header() == PROTOCOL_UDP).then(|| IpAddr::V6(ip.dst()))?
        }
        _ => return None,
    };
    Some((ip, Eth::parse(&view).dst))
}

/// The stack of one adapter.
pub(super) struct Stack {
    interface: Interface,
    queues: Queues,
    sockets: SocketSet<'static>,
    probes: BTreeMap<IpAddr, SocketHandle>,
    ipv4: Option<(Ipv4Addr, Subnet<Ipv4Addr>)>,
    ipv6: Option<(Ipv6Addr, Subnet<Ipv6Addr>)>,
}

impl Stack {
    pub(super) fn new(
        mac: MacAddr,
        ipv4: Option<(Ipv4Addr, Subnet<Ipv4Addr>)>,
        ipv6: Option<(Ipv6Addr, Subnet<Ipv6Addr>)>,
        seed: u64,
    ) -> Self {
        let mut queues = Queues::default();
        let mut config = Config::new(HardwareAddress::Ethernet(EthernetAddress(mac.0)));
        config.random_seed = seed;
        let mut interface = Interface::new(config, &mut queues, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            // There is room for two.
            if let Some((ip, subnet)) = ipv4 {
                let _ = addresses.push(IpCidr::new(ip.into(), subnet.prefix.min(32)));
            }
            if let Some((ip, subnet)) = ipv6 {
                let _ = addresses.push(IpCidr::new(ip.into(), subnet.prefix.min(128)));
            }
        });
        // There is room for one route of each version.
        if let Some(gateway) = ipv4.and_then(|(_, subnet)| subnet.gateway) {
            let _ = interface.routes_mut().add_default_ipv4_route(gateway);
        }
        if let Some(gateway) = ipv6.and_then(|(_, subnet)| subnet.gateway) {
            let _ = interface.routes_mut().add_default_ipv6_route(gateway);
        }
        Self {
            interface,
            queues,
            sockets: SocketSet::new(Vec::new()),
            probes: BTreeMap::new(),
            ipv4,
            ipv6,
        }
    }

    /// Whether there is a way to an address: in the subnet, or by a router.
    pub(super) fn has_route(&self, to: IpAddr) -> bool {
        match to {
            IpAddr::V4(to) => self.ipv4.is_some_and(|(own, subnet)| {
                let differing = (u32::from(own) ^ u32::from(to)).leading_zeros();
                subnet.gateway.is_some() || differing >= subnet.prefix.min(32).into()
            }),
            IpAddr::V6(to) => self.ipv6.is_some_and(|(own, subnet)| {
                let differing = (u128::from(own) ^ u128::from(to)).leading_zeros();
                subnet.gateway.is_some() || differing >= subnet.prefix.min(128).into()
            }),
        }
    }

    /// A frame that is not RoCEv2.
    pub(super) fn receive(&mut self, frame: Vec<u8>) {
        self.queues.received.push_back(frame);
    }

    /// Begins to look for the next hop to an address.
    pub(super) fn probe(&mut self, to: IpAddr) {
        if self.probes.contains_key(&to) {
            return;
        }
        let buffer = || PacketBuffer::new(vec![PacketMetadata::EMPTY; 1], vec![0; 16]);
        let mut socket = Socket::new(buffer(), buffer());
        // A fresh socket takes any port but 0, and a datagram that fits its buffer.
        let _ = socket.bind(PROBE_PORT);
        let _ = socket.send_slice(&[0; 8], (to, PROBE_PORT));
        self.probes.insert(to, self.sockets.add(socket));
    }

    /// Gives up looking for it.
    pub(super) fn forget(&mut self, to: IpAddr) {
        if let Some(handle) = self.probes.remove(&to) {
            self.sockets.remove(handle);
        }
    }

    /// Lets the stack work: the frames to send, and the next hops found.
    pub(super) fn poll(&mut self, now: Duration) -> (Vec<Vec<u8>>, Vec<(IpAddr, MacAddr)>) {
        let now = instant(now);
        self.interface
            .poll(now, &mut self.queues, &mut self.sockets);
        let answers = std::mem::take(&mut self.queues.answers);
        for (to, _) in &answers {
            self.forget(*to);
        }
        (std::mem::take(&mut self.queues.sent), answers)
    }

    /// How long from now it wants to be polled again, if nothing comes in.
    pub(super) fn poll_delay(&mut self, now: Duration) -> Option<Duration> {
        self.interface
            .poll_delay(instant(now), &self.sockets)
            .map(Duration::from)
    }
}

fn instant(now: Duration) -> Instant {
    Instant::from_micros(i64::try_from(now.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    use smoltcp::phy::ChecksumCapabilities;
    use smoltcp::wire::{
        ArpOperation, ArpPacket, ArpRepr, EthernetFrame, EthernetProtocol, Icmpv4Packet,
        Icmpv4Repr, IpProtocol, Ipv4Packet, Ipv4Repr,
    };

    const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

    fn ip4(host: u8) -> Ipv4Addr {
        Ipv4Addr::new(192, 0, 2, host)
    }

    fn ip6(host: u16) -> Ipv6Addr {
        Ipv6Addr::new(0xFD77, 0, 0, 0, 0, 0, 0, host)
    }

    fn stack(mac: MacAddr, host: u8) -> Stack {
        let v4 = Subnet {
            prefix: 24,
            gateway: None,
        };
        let v6 = Subnet {
            prefix: 64,
            gateway: None,
        };
        let ipv4 = Some((ip4(host), v4));
        Stack::new(mac, ipv4, Some((ip6(host.into()), v6)), 1)
    }

    /// Lets two stacks talk until they have nothing to say.
    fn talk(a: &mut Stack, b: &mut Stack, now: Duration) -> Vec<(IpAddr, MacAddr)> {
        let mut found = Vec::new();
        loop {
            let (forth, answers) = a.poll(now);
            found.extend(answers);
            let (back, _) = b.poll(now);
            if forth.is_empty() && back.is_empty() {
                return found;
            }
            forth.into_iter().for_each(|frame| b.receive(frame));
            back.into_iter().for_each(|frame| a.receive(frame));
        }
    }

    /// WIRE-ADR-1.
    // Covers: WIRE-ADR-1
    #[test]
    fn neighbours_are_found_by_both_versions() {
        let (mut a, mut b) = (stack(A, 1), stack(B, 2));
        // One question a second.
        for (at, to) in [(1, IpAddr::V4(ip4(2))), (3, IpAddr::V6(ip6(2)))] {
            a.probe(to);
            assert_eq!(talk(&mut a, &mut b, Duration::from_secs(at)), [(to, B)]);
        }
        assert!(a.probes.is_empty());
    }

    #[test]
    fn a_lost_question_is_asked_again() {
        let (mut a, mut b) = (stack(A, 1), stack(B, 2));
        let to = IpAddr::V4(ip4(2));
        a.probe(to);
        let mut now = Duration::from_secs(1);
        assert_eq!(a.poll(now).0.len(), 1);
        assert_eq!(a.poll(now).0.len(), 0);
        now += a.poll_delay(now).unwrap();
        assert_eq!(talk(&mut a, &mut b, now), [(to, B)]);
    }

    #[test]
    fn networks_have_ends() {
        let mut a = stack(A, 1);
        assert!(a.has_route(IpAddr::V4(ip4(77))));
        assert!(!a.has_route([198, 51, 100, 1].into()));
        assert!(a.has_route(IpAddr::V6(ip6(77))));
        assert!(!a.has_route("2001:db8::1".parse().unwrap()));
        a.ipv4 = a.ipv4.map(|(ip, _)| {
            let gateway = Some(ip4(254));
            (
                ip,
                Subnet {
                    prefix: 24,
                    gateway,
                },
            )
        });
        assert!(a.has_route([198, 51, 100, 1].into()));
    }

    /// A frame of smoltcp's own making.
    fn frame(ethertype: EthernetProtocol, length: usize, emit: impl FnOnce(&mut [u8])) -> Vec<u8> {
        let mut bytes = vec![0; 14 + length];
        let mut frame = EthernetFrame::new_unchecked(&mut bytes);
        frame.set_src_addr(EthernetAddress(A.0));
        frame.set_dst_addr(EthernetAddress(B.0));
        frame.set_ethertype(ethertype);
        emit(frame.payload_mut());
        bytes
    }

    /// WIRE-ADR-1.
    // Covers: WIRE-ADR-1
    #[test]
    fn questions_are_answered() {
        let mut b = stack(B, 2);
        let question = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Request,
            source_hardware_addr: EthernetAddress(A.0),
            source_protocol_addr: ip4(1),
            target_hardware_addr: EthernetAddress([0; 6]),
            target_protocol_addr: ip4(2),
        };
        let length = question.buffer_len();
        b.receive(frame(EthernetProtocol::Arp, length, |bytes| {
            question.emit(&mut ArpPacket::new_unchecked(bytes));
        }));
        let (frames, _) = b.poll(Duration::ZERO);
        let [answer] = &frames[..] else {
            panic!("{frames:?}");
        };
        let packet = ArpPacket::new_checked(&answer[14..]).unwrap();
        assert_eq!(answer[..6], A.0);
        assert_eq!(
            (packet.operation(), packet.source_hardware_addr()),
            (ArpOperation::Reply, &B.0[..])
        );
    }

    #[test]
    fn an_echo_is_answered() {
        // Who asks for an echo has asked for the neighbour before.
        let (mut a, mut b) = (stack(A, 1), stack(B, 2));
        a.probe(IpAddr::V4(ip4(2)));
        talk(&mut a, &mut b, Duration::from_secs(1));
        let echo = Icmpv4Repr::EchoRequest {
            ident: 7,
            seq_no: 9,
            data: b"are you there",
        };
        let ip = Ipv4Repr {
            src_addr: ip4(1),
            dst_addr: ip4(2),
            next_header: IpProtocol::Icmp,
            payload_len: echo.buffer_len(),
            hop_limit: 64,
        };
        let sums = ChecksumCapabilities::default();
        let length = 20 + echo.buffer_len();
        b.receive(frame(EthernetProtocol::Ipv4, length, |bytes| {
            let mut packet = Ipv4Packet::new_unchecked(bytes);
            ip.emit(&mut packet, &sums);
            echo.emit(
                &mut Icmpv4Packet::new_unchecked(packet.payload_mut()),
                &sums,
            );
        }));
        let (frames, _) = b.poll(Duration::from_secs(2));
        let [answer] = &frames[..] else {
            panic!("{frames:?}");
        };
        let packet = Icmpv4Packet::new_checked(&answer[34..]).unwrap();
        let answer = Icmpv4Repr::parse(&packet, &sums).unwrap();
        let expected = Icmpv4Repr::EchoReply {
            ident: 7,
            seq_no: 9,
            data: b"are you there",
        };
        assert_eq!(answer, expected);
    }
}
