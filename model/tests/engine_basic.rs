//! One connection, every operation, all sizes.

mod engine_support;

use engine_support::*;
use tandem_model::abi::{Status, WqeOpcode};
use tandem_model::target::Scheduler;

const SCHEDULERS: [Scheduler; 3] = [
    Scheduler::Fair,
    Scheduler::Random(11),
    Scheduler::Adversarial,
];

#[test]
fn send_and_receive() {
    for scheduler in SCHEDULERS {
        let mut w = World::connected(scheduler, QpOptions::default());
        let from = w.a.region(5000, Access::ALL);
        let to = w.b.region(6000, Access::ALL);
        let data = pattern(5000, 1);
        w.a.fill(&from, 0, &data);
        w.b.receive(QB, &[to.sge(3, 2000), to.sge(2100, 0), to.sge(2101, 3500)]);
        w.a.post(QA, &Request::send(vec![from.sge(0, 5000)]));
        w.run();
        assert_eq!(w.b.bytes(&to, 3, 2000), data[..2000]);
        assert_eq!(w.b.bytes(&to, 2101, 3000), data[2000..]);
        let sent = w.a.poll(SEND_CQ);
        assert_eq!(
            sent,
            [Cqe {
                index: 0,
                opcode: WqeOpcode::Send as u8,
                status: Status::Success,
                qpn: QA,
                receive: false,
                solicited: false,
                invalidated: None,
                byte_len: 0,
                error_code: 0,
            }]
        );
        let received = w.b.poll(RECV_CQ);
        assert_eq!(
            received,
            [Cqe {
                index: 0,
                opcode: 0x80,
                status: Status::Success,
                qpn: QB,
                receive: true,
                solicited: false,
                invalidated: None,
                byte_len: 5000,
                error_code: 0,
            }]
        );
    }
}
