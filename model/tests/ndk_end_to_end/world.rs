//! Two providers on two golden engines, joined by a wire.

use std::net::IpAddr;

use tandem_model::engine::Config;
use tandem_model::hal::{Hal, Target};
use tandem_model::ndk::bench::{ConnectParameters, PathMtu};
use tandem_model::ndk::{
    AdapterConfig, Cq, LocalToken, Mdl, Mr, MrFlags, MrUse, NdkResultEx, Notification, NtStatus,
    OperationType, Pd, Provider, Qp, QpParameters, RemoteToken, Sge,
};
use tandem_model::target::{ModelTarget, Scheduler};

pub const BUFFER: u32 = 1 << 16;
/// Virtual addresses are no logical ones.
pub const VA: u64 = 0x7F12_3456_7000;

pub struct Node {
    pub nic: Provider<ModelTarget>,
    pub pd: Pd,
    pub cq: Cq,
    pub qp: Qp,
    pub mr: Mr,
    /// Logical address of the buffer, which lies at `VA` for tokens.
    pub buffer: u64,
}

impl Node {
    pub fn new(mac: u8, ip: IpAddr, scheduler: Scheduler, change: &Change) -> Self {
        let target = ModelTarget::new(Config::default(), scheduler);
        let mut config = AdapterConfig {
            mac: [2, 0, 0, 0, 0, mac],
            ..AdapterConfig::default()
        };
        match ip {
            IpAddr::V4(ip) => config.ipv4 = Some(ip),
            IpAddr::V6(ip) => config.ipv6 = Some(ip),
        }
        config.cq_reserve = change.cq_reserve;
        let mut nic = Provider::open(target, config).unwrap();
        let pd = nic.create_pd().unwrap();
        let cq = nic.create_cq(change.cq_depth, u64::from(mac)).unwrap();
        let parameters = QpParameters {
            qp_context: 0xC0 + u64::from(mac),
            inline_data_size: 100,
            ..QpParameters::new(cq, cq)
        };
        let qp = nic.create_qp(pd, &parameters).unwrap();
        let buffer = nic.hal_mut().allocate(BUFFER as usize, 4096).unwrap();
        let mr = nic.create_mr(pd, MrUse::Register).unwrap();
        let rights = MrFlags::ALLOW_REMOTE_READ | MrFlags::ALLOW_REMOTE_WRITE;
        nic.register_mr(
            mr,
            &[Mdl::contiguous(VA, buffer, BUFFER)],
            BUFFER.into(),
            rights,
        )
        .unwrap();
        Self {
            nic,
            pd,
            cq,
            qp,
            mr,
            buffer,
        }
    }

    pub fn token(&self) -> LocalToken {
        self.nic.local_token_from_mr(self.mr).unwrap()
    }

    pub fn remote_token(&self) -> RemoteToken {
        self.nic.remote_token_from_mr(self.mr).unwrap()
    }

    /// An element of the buffer.
    pub fn sge(&self, offset: u32, length: u32) -> Sge {
        Sge {
            address: VA + u64::from(offset),
            length,
            token: self.token(),
        }
    }

    pub fn fill(&mut self, offset: u32, bytes: &[u8]) {
        let address = self.buffer + u64::from(offset);
        self.nic.hal_mut().write_memory(address, bytes).unwrap();
    }

    pub fn bytes(&mut self, offset: u32, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        let address = self.buffer + u64::from(offset);
        self.nic.hal_mut().read_memory(address, &mut bytes).unwrap();
        bytes
    }

    pub fn poll(&mut self) -> Vec<NdkResultEx> {
        self.nic.poll_cq(self.cq).unwrap()
    }

    /// (context, type, status) of the results there are.
    pub fn results(&mut self) -> Vec<(u64, OperationType, NtStatus)> {
        self.poll()
            .iter()
            .map(|r| (r.request_context, r.operation, r.status))
            .collect()
    }

    pub fn fired(&self, status: NtStatus) -> Notification {
        Notification::Cq {
            cq: self.cq,
            context: u64::from(self.nic.config().mac[5]),
            status,
        }
    }

    pub fn qp_error(&self, status: NtStatus) -> Notification {
        Notification::QpError {
            qp: self.qp,
            qp_context: 0xC0 + u64::from(self.nic.config().mac[5]),
            status,
        }
    }
}

#[derive(Clone)]
pub struct Change {
    pub ipv6: bool,
    pub mtu: PathMtu,
    pub cq_depth: u32,
    pub cq_reserve: Option<u32>,
    pub rnr_retry: u8,
}

pub const PLAIN: Change = Change {
    ipv6: false,
    mtu: PathMtu::B1024,
    cq_depth: 256,
    cq_reserve: None,
    rnr_retry: 6,
};

pub struct World {
    pub a: Node,
    pub b: Node,
    /// Frames that were sent.
    pub frames: u32,
    /// Which of them are lost, by their number.
    pub loses: fn(u32) -> bool,
}

impl World {
    pub fn new(scheduler: Scheduler, change: &Change) -> Self {
        let ip = |host: u8| -> IpAddr {
            if change.ipv6 {
                format!("fd00::{host}").parse().unwrap()
            } else {
                [10, 0, 0, host].into()
            }
        };
        let mut a = Node::new(1, ip(1), scheduler, change);
        // Another number than its peer's.
        let mut b = Node::new(2, ip(2), scheduler, change);
        let parameters = QpParameters {
            qp_context: 0xC2,
            inline_data_size: 100,
            ..QpParameters::new(b.cq, b.cq)
        };
        b.qp = b.nic.create_qp(b.pd, &parameters).unwrap();
        let (qpn_a, qpn_b) = (
            a.nic.qp_number(a.qp).unwrap(),
            b.nic.qp_number(b.qp).unwrap(),
        );
        let to_b = ConnectParameters {
            sq_psn: 0xFF_FFFE,
            rq_psn: 7,
            mtu: change.mtu,
            rnr_retry: change.rnr_retry,
            ..ConnectParameters::to([2, 0, 0, 0, 0, 2], ip(2), qpn_b)
        };
        let to_a = ConnectParameters {
            sq_psn: 7,
            rq_psn: 0xFF_FFFE,
            mtu: change.mtu,
            rnr_retry: change.rnr_retry,
            ..ConnectParameters::to([2, 0, 0, 0, 0, 1], ip(1), qpn_a)
        };
        a.nic.bench().connect(a.qp, &to_b).unwrap();
        b.nic.bench().connect(b.qp, &to_a).unwrap();
        Self {
            a,
            b,
            frames: 0,
            loses: |_| false,
        }
    }

    /// Lets time pass until nothing happens any more, by a timer either.
    pub fn run(&mut self) {
        for _ in 0..10_000 {
            self.settle();
            if !self.skip() {
                return;
            }
        }
        panic!("never idle");
    }

    /// Lets time pass until nothing happens before the first deadline.
    pub fn settle(&mut self) {
        for _ in 0..1_000_000 {
            let forth = self.carry(true, 16);
            let back = self.carry(false, 16);
            if !forth && !back {
                return;
            }
        }
        panic!("never idle");
    }

    /// Lets time pass to the first deadline; `false` if there is none.
    pub fn skip(&mut self) -> bool {
        let left = |node: &Node| {
            let target = node.nic.hal();
            let deadline = target.next_deadline()?;
            Some(deadline.saturating_sub(target.now()))
        };
        let first = [left(&self.a), left(&self.b)].into_iter().flatten().min();
        let Some(mut clocks) = first else {
            return false;
        };
        while clocks > 0 {
            let steps = clocks.min(u32::MAX.into());
            for node in [&mut self.a, &mut self.b] {
                node.nic.hal_mut().advance(steps as u32).unwrap();
            }
            clocks -= steps;
        }
        true
    }

    /// Nothing is left under way.
    pub fn finish(&mut self) {
        self.run();
        for node in [&mut self.a, &mut self.b] {
            node.nic.hal_mut().finish().unwrap();
        }
    }

    /// Lets one clock pass.
    pub fn tick(&mut self) {
        self.carry(true, 1);
        self.carry(false, 1);
    }

    /// Lets a node run for so many clocks, and takes its frames to the other; whether anything happened.
    fn carry(&mut self, forth: bool, clocks: u32) -> bool {
        let (from, to) = if forth {
            (&mut self.a, &mut self.b)
        } else {
            (&mut self.b, &mut self.a)
        };
        let busy = from.nic.hal_mut().advance(clocks).unwrap();
        let frames = from.nic.hal_mut().take_frames().unwrap();
        for frame in &frames {
            if !(self.loses)(self.frames) {
                to.nic.hal_mut().send_frame(frame).unwrap();
            }
            self.frames += 1;
        }
        busy || !frames.is_empty()
    }
}
