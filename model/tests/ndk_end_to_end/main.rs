//! Two providers on two golden engines: the five operations and their real status codes, under every scheduler.

mod completion;
mod errors;
mod local;
mod queues;
mod retries;
mod shared;
mod transfers;
mod world;

use tandem_model::ndk::OpFlags;
use tandem_model::target::Scheduler;

use world::{Change, World};

const NONE: OpFlags = OpFlags::NONE;
const SILENT: OpFlags = OpFlags::SILENT_SUCCESS;

/// A test in a world of each scheduler.
fn each(change: &Change, test: impl Fn(&mut World)) {
    let schedulers = [Scheduler::Fair, Scheduler::Adversarial]
        .into_iter()
        .chain((0..6).map(Scheduler::Random));
    for scheduler in schedulers {
        println!("{scheduler:?}");
        let mut world = World::new(scheduler, change);
        test(&mut world);
        world.finish();
    }
}

fn pattern(length: u32) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}
