//! The properties of the fuzz targets, over the corpus that fuzzing begins with, over simple mutations of it, and over
//! what fuzzing once found.

mod corpus;
#[path = "../../fuzz/properties/mod.rs"]
mod properties;

use properties::script::{self, Control};
use properties::{parse, receive};
use std::collections::BTreeMap;
use std::panic::{UnwindSafe, catch_unwind, resume_unwind};
use tandem_model::abi::{CommitKind, DropCause, RxResult};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

#[test]
fn the_parser_holds_on_the_corpus() {
    let frames = corpus::frames();
    assert!(frames.len() > 800, "{} frames", frames.len());
    for (name, frame) in frames.into_iter().chain(corpus::regressions("parse")) {
        named(&name, || parse::check(&frame));
    }
}

#[test]
fn the_engine_holds_on_the_corpus() {
    let runs = corpus::runs();
    assert!(runs.len() > 850, "{} runs", runs.len());
    let mut seen = BTreeMap::new();
    for (name, run) in runs.into_iter().chain(corpus::regressions("receive")) {
        for verdict in named(&name, || receive::check(&run)) {
            *seen.entry((verdict.kind, verdict.cause)).or_insert(0) += 1;
        }
    }
    // The corpus goes deep: all that can become of a request or a response, and drops behind the parser.
    use CommitKind::{RxDrop, RxRequest, RxResponse};
    let reached = |kind, causes: &[u8]| {
        for cause in causes {
            assert!(
                seen.contains_key(&(kind, *cause)),
                "{kind:?} {cause}: {seen:?}"
            );
        }
    };
    use RxResult::{Accept, Cnp, Fatal, GoBack, NakAccess, NakInvalid, NakSequence, Rnr, RnrWait};
    let requests = [Accept, NakSequence, NakInvalid, NakAccess, Rnr];
    reached(RxRequest, &requests.map(|result| result as u8));
    let responses = [Accept, Fatal, GoBack, RnrWait, Cnp];
    reached(RxResponse, &responses.map(|result| result as u8));
    use DropCause::{Icrc, QpState, Sequence, Service, StaleResponse, Unsupported};
    let drops = [Icrc, QpState, Sequence, Service, StaleResponse, Unsupported];
    reached(RxDrop, &drops.map(|cause| cause as u8));
}

#[test]
fn a_script_is_read_as_it_was_written() {
    let steps = [
        (Control::AIM, &[1, 2, 3][..]),
        (Control::SEAL.sending(script::Sends::Read), &[]),
    ];
    assert_eq!(script::read(&script::write(steps)), steps);
    // What is missing at the end is left out.
    assert_eq!(script::read(&[7, 4, 0, 9, 9]), [(Control(7), &[9, 9][..])]);
    assert_eq!(script::read(&[7, 4]), []);
}

/// Says which input it was, if a property does not hold.
fn named<T>(name: &str, check: impl FnOnce() -> T + UnwindSafe) -> T {
    catch_unwind(check).unwrap_or_else(|cause| {
        eprintln!("the input was {name}");
        resume_unwind(cause)
    })
}

thread_local! {
    static FRAMES: Vec<Vec<u8>> = corpus::frames().into_iter().map(|seed| seed.1).collect();
}

/// A frame of the corpus with some bytes set, cut or extended.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let damage = vec((any::<Index>(), any::<u8>()), 0..4);
    (any::<Index>(), damage, proptest::option::of(any::<Index>())).prop_map(
        |(which, damage, length)| {
            let mut bytes = FRAMES.with(|frames| which.get(frames).clone());
            for (at, value) in damage {
                let headers = bytes.len().min(90);
                bytes[at.index(headers)] = value;
            }
            if let Some(length) = length {
                bytes.resize(length.index(2 * bytes.len()), 0);
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_parser_holds_on_mutations(frame in mutated()) {
        parse::check(&frame);
    }

    /// Most frames reach the queue pair: aimed, with the PSN that is expected, and whole.
    #[test]
    fn the_engine_holds_on_mutations(
        steps in vec((mutated(), any::<u8>(), prop::bool::weighted(0.8)), 1..8),
    ) {
        let reach = Control::AIM.and(Control::EXPECTED).and(Control::SEAL);
        let control = |bits, reaches| match reaches {
            true => Control(bits).and(reach),
            false => Control(bits),
        };
        let steps = steps.iter().map(|(frame, bits, reaches)| {
            (control(*bits, *reaches), frame.as_slice())
        });
        receive::check(&script::write(steps));
    }
}
