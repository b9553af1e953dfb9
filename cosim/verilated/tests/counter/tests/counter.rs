//! What a verilated model promises, on the counter.

use std::fs;
use std::path::PathBuf;
use std::thread;

use verilated::{Error, Reset, Settings};
use verilated_counter::{Counter, In, Out};

const RESET: In = In {
    rst: true,
    en: false,
    bad: false,
    halt: false,
    die: false,
    pause: false,
    twist: false,
};
const IDLE: In = In {
    rst: false,
    ..RESET
};
const COUNT: In = In { en: true, ..IDLE };
const SOURCE: &str = "cosim/verilated/tests/counter/rtl/counter.sv";

/// The line of the source with this text, from 1.
fn line_of(text: &str) -> u32 {
    let source = include_str!("../rtl/counter.sv");
    let line = source.lines().position(|line| line.contains(text));
    u32::try_from(line.expect("the text is in the source")).unwrap() + 1
}

fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&dir).unwrap();
    dir.join(name)
}

fn after_reset(mut counter: Counter) -> Counter {
    assert_eq!(counter.step(RESET).unwrap().count, 0);
    counter
}

fn all() -> [Counter; 3] {
    let settings = Settings::default();
    [
        Counter::fast(&settings),
        Counter::debug(&settings),
        Counter::coverage(&settings),
    ]
    .map(|counter| after_reset(counter.unwrap()))
}

#[test]
fn counts_and_wraps_at_its_width() {
    for mut counter in all() {
        let counts: Vec<u8> = (0..66)
            .map(|_| counter.step(COUNT).unwrap().count)
            .collect();
        let expected: Vec<u8> = (1..=66).map(|n| n % 64).collect();
        assert_eq!(counts, expected);
        assert_eq!(counter.model().time(), 2 * 67);
    }
}

#[test]
fn random_initialisation_is_by_seed_and_repeats() {
    let first = |seed| {
        Counter::fast(&Settings::with_seed(seed))
            .unwrap()
            .step(RESET)
            .unwrap()
            .never_reset
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
    assert_ne!(first(u64::MAX), first(u64::MAX - (1 << 40)));
    let with = |reset| {
        let settings = Settings {
            reset,
            ..Settings::default()
        };
        Counter::fast(&settings)
            .unwrap()
            .step(RESET)
            .unwrap()
            .never_reset
    };
    assert_eq!(with(Reset::Zeros), 0);
    assert_eq!(with(Reset::Ones), u64::MAX);
}

#[test]
fn plus_arguments_reach_the_design() {
    let marked = |args: &[&str]| {
        let plus_args = args.iter().map(ToString::to_string).collect();
        let settings = Settings {
            plus_args,
            ..Settings::default()
        };
        Counter::fast(&settings)
            .unwrap()
            .step(RESET)
            .unwrap()
            .marked
    };
    assert!(marked(&["+mark"]));
    assert!(!marked(&[]));
    let settings = Settings {
        plus_args: vec!["+verilator+no+such".into()],
        ..Settings::default()
    };
    let error = Counter::fast(&settings).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::PlusArguments { .. }), "{error}");
}

#[test]
fn finish_is_an_error_with_its_place() {
    for mut counter in all() {
        let error = counter.step(In { halt: true, ..IDLE }).unwrap_err();
        let line = line_of("if (halt)");
        assert_eq!(
            error,
            Error::Finish {
                file: SOURCE.into(),
                line,
                time: 3
            }
        );
        assert!(counter.model().got_finish());
        // It stays stopped until the failure is taken.
        assert_eq!(counter.step(IDLE).unwrap_err(), error);
        assert_eq!(counter.model().take_failures(), [error]);
        counter.step(IDLE).unwrap();
    }
}

#[test]
fn fatal_and_stop_are_errors_with_their_places() {
    for mut counter in all() {
        counter.step(COUNT).unwrap();
        let error = counter.step(In { die: true, ..IDLE }).unwrap_err();
        let expected = Error::Fatal {
            file: SOURCE.into(),
            line: line_of("if (die)"),
            time: 5,
            scope: "TOP.counter".into(),
            message: "died at 1".into(),
        };
        assert_eq!(error, expected);
        counter.model().take_failures();
        let error = counter
            .step(In {
                pause: true,
                ..IDLE
            })
            .unwrap_err();
        assert_eq!(
            error,
            Error::Stop {
                file: SOURCE.into(),
                line: line_of("if (pause)"),
                time: 7
            }
        );
    }
}

#[test]
fn a_failed_assertion_is_an_error_with_its_place() {
    let [mut fast, mut debug, mut coverage] = all();
    let bad = In { bad: true, ..IDLE };
    fast.step(bad).unwrap();
    for counter in [&mut debug, &mut coverage] {
        counter.step(COUNT).unwrap();
        let error = counter.step(bad).unwrap_err();
        let expected = Error::Assertion {
            file: SOURCE.into(),
            line: line_of("a_good"),
            time: 5,
            scope: "TOP.counter.a_good".into(),
            message: "bad at 1".into(),
        };
        assert_eq!(error, expected);
        assert_eq!(
            error.to_string(),
            format!(
                "{SOURCE}:{}: assertion failed at time 5 in TOP.counter.a_good: bad at 1",
                line_of("a_good")
            )
        );
        assert!(counter.model().take_output().contains("Assertion failed"));
    }
    let settings = Settings {
        assertions: false,
        ..Settings::default()
    };
    after_reset(Counter::debug(&settings).unwrap())
        .step(bad)
        .unwrap();
}

#[test]
fn a_design_that_does_not_settle_is_an_error_and_not_a_hang() {
    for mut counter in all() {
        let error = counter
            .step(In {
                twist: true,
                ..IDLE
            })
            .unwrap_err();
        assert!(matches!(&error, Error::Runtime { message, .. } if message.contains("converge")));
        counter.model().take_failures();
        assert!(counter.model().is_dead());
        counter.step(IDLE).unwrap_err();
    }
}

#[test]
fn the_shim_of_another_design_is_found_out() {
    let mut counter = Counter::mismatched().unwrap();
    assert_eq!(counter.step(RESET).unwrap_err(), Error::WrongDesign);
}

#[test]
fn the_debug_variant_writes_an_fst_trace() {
    let [mut fast, mut debug, _] = all();
    let path = scratch("counter.fst");
    debug.model().open_trace(&path, 99).unwrap();
    assert!(debug.model().is_tracing());
    for _ in 0..40 {
        debug.step(COUNT).unwrap();
    }
    debug.model().close_trace();
    let bytes = fs::read(&path).unwrap();
    // An FST file starts with a header block (type 0) of 329 bytes.
    assert_eq!(bytes[..9], [0, 0, 0, 0, 0, 0, 0, 1, 73]);
    assert!(bytes.len() > 400, "{} bytes", bytes.len());

    let error = fast.model().open_trace(&path, 99).unwrap_err();
    assert!(
        error.to_string().ends_with("verilated without trace"),
        "{error}"
    );
    let nowhere = scratch("no/such/folder/x.fst");
    let error = debug.model().open_trace(&nowhere, 99).unwrap_err();
    assert!(matches!(error, Error::Trace { .. }), "{error}");
}

#[test]
fn the_coverage_variant_writes_its_counts() {
    let [_, _, mut counter] = all();
    for _ in 0..64 {
        counter.step(COUNT).unwrap();
    }
    let path = scratch("counter.dat");
    counter.model().write_coverage(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# SystemC::Coverage"), "{text}");
    let point = text
        .lines()
        .find(|line| line.contains("c_wrap"))
        .expect("the cover point");
    assert!(point.ends_with(" 1"), "{point}");
    for kind in ["v_line", "v_toggle", "v_user"] {
        assert!(text.contains(kind), "no {kind}");
    }
    let nowhere = scratch("no/such/folder/x.dat");
    assert!(matches!(
        counter.model().write_coverage(&nowhere),
        Err(Error::Coverage { .. })
    ));
}

#[test]
fn a_saved_state_is_restored_exactly() {
    let [mut fast, mut debug, mut coverage] = all();
    for counter in [&mut fast, &mut debug] {
        counter.step(COUNT).unwrap();
        let state = counter.model().save().unwrap();
        let time = counter.model().time();
        let run = |counter: &mut Counter| -> Vec<Out> {
            (0..10).map(|_| counter.step(COUNT).unwrap()).collect()
        };
        let first = run(counter);
        counter.model().restore(&state).unwrap();
        assert_eq!(counter.model().time(), time);
        assert_eq!(run(counter), first);
        // A state that lacks its end is refused.
        let error = counter
            .model()
            .restore(&state[..state.len() / 2])
            .unwrap_err();
        assert!(matches!(error, Error::Restore { .. }), "{error}");
        assert!(counter.model().is_dead());
    }
    assert!(!coverage.model().can_save());
    assert!(matches!(coverage.model().save(), Err(Error::Save { .. })));
}

#[test]
fn a_state_of_another_variant_is_refused() {
    let [mut fast, mut debug, _] = all();
    let state = fast.model().save().unwrap();
    let error = debug.model().restore(&state).unwrap_err();
    assert!(matches!(error, Error::Restore { .. }), "{error}");
    let error = fast.model().restore(b"nonsense").unwrap_err();
    assert!(matches!(error, Error::Restore { .. }), "{error}");
}

#[test]
fn models_in_two_threads_do_not_disturb_each_other() {
    let run = |seed: u64, clocks: usize| {
        let settings = Settings::with_seed(seed);
        let mut counter = after_reset(Counter::debug(&settings).unwrap());
        let last = (0..clocks)
            .map(|_| counter.step(COUNT).unwrap())
            .last()
            .unwrap();
        let error = counter.step(In { bad: true, ..IDLE }).unwrap_err();
        (last, counter.model().time(), error)
    };
    let alone: Vec<_> = [(3, 5000), (4, 5001)].map(|(s, n)| run(s, n)).into();
    let together: Vec<_> = [(3, 5000), (4, 5001)]
        .map(|(s, n)| thread::spawn(move || run(s, n)))
        .map(|thread| thread.join().unwrap())
        .into();
    assert_eq!(together, alone);
    assert_ne!(alone[0].0, alone[1].0);
}

#[test]
fn a_model_may_be_handed_to_another_thread_and_two_may_share_one() {
    let [mut one, mut two, _] = all();
    let (mut one, mut two) = thread::spawn(move || {
        for _ in 0..5 {
            one.step(COUNT).unwrap();
        }
        two.step(COUNT).unwrap();
        (one, two)
    })
    .join()
    .unwrap();
    assert_eq!(one.step(IDLE).unwrap().count, 5);
    two.step(In { bad: true, ..COUNT }).unwrap_err();
    assert_eq!(one.step(COUNT).unwrap().count, 6);
    assert_eq!(one.model().check(), Ok(()));
    assert_eq!(two.model().failures().len(), 1);
}
