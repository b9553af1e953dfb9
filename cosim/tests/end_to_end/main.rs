//! Two Verilated engines in lockstep, a wire between them, the provider above: the shortest run of each
//! request. Everything else is in the vectors.

use std::net::IpAddr;

use tandem_cosim::bus::Traffic;
use tandem_cosim::{Options, RtlTarget};
use tandem_model::hal::{Hal, Target};
use tandem_model::ndk::bench::ConnectParameters;
use tandem_model::ndk::{
    AdapterConfig, Cq, Mdl, MrFlags, MrUse, NtStatus, OpFlags, OperationType, Provider, Qp,
    QpParameters, RemoteToken, Sge,
};

const BYTES: u32 = 1 << 16;

struct Node {
    nic: Provider<RtlTarget>,
    cq: Cq,
    qp: Qp,
    buffer: u64,
    token: tandem_model::ndk::LocalToken,
    remote: RemoteToken,
}

impl Node {
    fn new(number: u8, traffic: Traffic, seed: u64) -> Self {
        let node = char::from(b'a' + number - 1).to_string();
        let options = Options {
            node,
            seed,
            traffic,
            ..Options::default()
        };
        let target = RtlTarget::new(options).unwrap_or_else(|error| panic!("{error}"));
        let config = AdapterConfig {
            mac: [2, 0, 0, 0, 0, number],
            ipv4: Some([10, 0, 0, number].into()),
            ..AdapterConfig::default()
        };
        let mut nic = Provider::open(target, config).unwrap_or_else(|error| panic!("{error}"));
        let pd = nic.create_pd().unwrap();
        let cq = nic.create_cq(64, 0).unwrap();
        let qp = nic.create_qp(pd, &QpParameters::new(cq, cq)).unwrap();
        let buffer = nic.hal_mut().allocate(BYTES as usize, 4096).unwrap();
        let mr = nic.create_mr(pd, MrUse::Register).unwrap();
        let rights = MrFlags::ALLOW_REMOTE_READ | MrFlags::ALLOW_REMOTE_WRITE;
        nic.register_mr(mr, &[Mdl::identity(buffer, BYTES)], BYTES.into(), rights)
            .unwrap();
        let token = nic.local_token_from_mr(mr).unwrap();
        let remote = nic.remote_token_from_mr(mr).unwrap();
        Self {
            nic,
            cq,
            qp,
            buffer,
            token,
            remote,
        }
    }

    fn connect(&mut self, number: u8, qpn: u32) {
        let ip: IpAddr = [10, 0, 0, number].into();
        self.nic
            .bench()
            .connect(
                self.qp,
                &ConnectParameters::to([2, 0, 0, 0, 0, number], ip, qpn),
            )
            .unwrap();
    }

    fn sge(&self, offset: u32, length: u32) -> Sge {
        Sge {
            address: self.buffer + u64::from(offset),
            length,
            token: self.token,
        }
    }

    fn fill(&mut self, offset: u32, bytes: &[u8]) {
        let address = self.buffer + u64::from(offset);
        self.nic.hal_mut().write_memory(address, bytes).unwrap();
    }

    fn bytes(&mut self, offset: u32, length: u32) -> Vec<u8> {
        let mut bytes = vec![0; length as usize];
        let address = self.buffer + u64::from(offset);
        self.nic.hal_mut().read_memory(address, &mut bytes).unwrap();
        bytes
    }

    fn results(&mut self) -> Vec<(u64, OperationType, NtStatus)> {
        let results = self.nic.poll_cq(self.cq).unwrap();
        results
            .iter()
            .map(|r| (r.request_context, r.operation, r.status))
            .collect()
    }
}

/// Lets time pass until both engines are idle.
fn settle(a: &mut Node, b: &mut Node) {
    for _ in 0..2000 {
        let mut busy = false;
        for node in [&mut *a, &mut *b] {
            busy |= node
                .nic
                .hal_mut()
                .advance(32)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        for frame in a.nic.hal_mut().take_frames().unwrap() {
            b.nic.hal_mut().send_frame(&frame).unwrap();
            busy = true;
        }
        for frame in b.nic.hal_mut().take_frames().unwrap() {
            a.nic.hal_mut().send_frame(&frame).unwrap();
            busy = true;
        }
        if !busy {
            return;
        }
    }
    panic!("the engines do not come to rest");
}

fn run(traffic: Traffic, seed: u64) {
    let (mut a, mut b) = (Node::new(1, traffic, seed), Node::new(2, traffic, seed + 1));
    let (qa, qb) = (
        a.nic.qp_number(a.qp).unwrap(),
        b.nic.qp_number(b.qp).unwrap(),
    );
    a.connect(2, qb);
    b.connect(1, qa);
    let pattern: Vec<u8> = (0..10_000u32).map(|i| (i * 7 + i / 251) as u8).collect();
    a.fill(0, &pattern);
    let none = OpFlags::default();

    b.nic
        .receive(b.qp, 1, &[b.sge(101, 2000), b.sge(5003, 3000)])
        .unwrap();
    settle(&mut a, &mut b);
    a.nic
        .send(a.qp, 2, &[a.sge(3, 1001), a.sge(4000, 2500)], none)
        .unwrap();
    settle(&mut a, &mut b);
    assert_eq!(a.results(), [(2, OperationType::Send, NtStatus::SUCCESS)]);
    assert_eq!(
        b.results(),
        [(1, OperationType::Receive, NtStatus::SUCCESS)]
    );
    let sent = [&pattern[3..1004], &pattern[4000..6500]].concat();
    assert_eq!([b.bytes(101, 2000), b.bytes(5003, 1501)].concat(), sent);

    let (address, remote) = (b.buffer + 20_001, b.remote);
    a.nic
        .write(a.qp, 3, &[a.sge(7, 5000)], address, remote, none)
        .unwrap();
    a.nic
        .read(
            a.qp,
            4,
            &[a.sge(30_000, 2000), a.sge(40_001, 3000)],
            address,
            remote,
            none,
        )
        .unwrap();
    settle(&mut a, &mut b);
    let done = [
        (3, OperationType::Write, NtStatus::SUCCESS),
        (4, OperationType::Read, NtStatus::SUCCESS),
    ];
    assert_eq!(a.results(), done);
    assert_eq!(b.bytes(20_001, 5000), pattern[7..5007]);
    assert_eq!(
        [a.bytes(30_000, 2000), a.bytes(40_001, 3000)].concat(),
        pattern[7..5007]
    );

    for node in [&mut a, &mut b] {
        node.nic
            .hal_mut()
            .finish()
            .unwrap_or_else(|error| panic!("{error}"));
        let summary = node.nic.hal().summary().expect("the checker has finished");
        assert!(summary.actions > 20 && summary.frames > 5, "{summary:?}");
    }
}

#[test]
fn each_request_on_ideal_buses() {
    run(Traffic::IDEAL, 1);
}

#[test]
fn each_request_on_disturbed_buses() {
    for seed in 2..8 {
        run(Traffic::RANDOM, seed);
    }
}
