//! The example of a consumer, on all targets.

#[path = "../examples/exchange/client.rs"]
mod client;
#[path = "../examples/exchange/message.rs"]
mod message;
#[path = "../examples/exchange/run.rs"]
mod run;
#[path = "../examples/exchange/server.rs"]
mod server;

use tandem_testbench::vector::TargetKind;

/// Runs it; how many decisions of engines were checked.
fn exchanged(client: TargetKind, server: TargetKind) -> u64 {
    let summary = run::run(client, server).unwrap();
    assert_eq!((summary.answers, summary.bytes), (6, 93_830));
    assert!(summary.clocks > 0);
    summary.decisions
}

#[test]
fn model_with_model() {
    assert_eq!(exchanged(TargetKind::Model, TargetKind::Model), 0);
}

#[cfg(feature = "rtl")]
#[test]
fn engines_and_worlds_of_both() {
    use TargetKind::{Model, Rtl};
    assert!(exchanged(Rtl, Rtl) > 300);
    assert!(exchanged(Rtl, Model) > 150);
    assert!(exchanged(Model, Rtl) > 150);
}
