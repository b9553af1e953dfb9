//! Exploration: a small world holds, and each fault that is put into the engines is found.

use tandem_testbench::explore::{
    Counterexample, Exploration, Invariant, Mutation, Outcome, Report, SearchOptions, WORLDS, world,
};

const BOOK: &str = include_str!("../../docs/src/explore.md");

fn exploration(name: &str) -> Exploration {
    Exploration {
        search: SearchOptions {
            threads: 1,
            max_states: None,
        },
        ..Exploration::of(*world(name).unwrap())
    }
}

fn explore(exploration: Exploration) -> Report {
    exploration.run(&|_| {})
}

fn counterexample(exploration: Exploration) -> Counterexample {
    match explore(exploration).outcome {
        Outcome::Broken(found) => found,
        other => panic!("nothing was found: {other:?}"),
    }
}

/// Each fault, a world in which it shows, and the invariant that is there for it.
const FAULTS: [(Mutation, &str, Invariant); 16] = [
    (Mutation::AckBeforeData, "send", Invariant::AckAfterData),
    (Mutation::CompletionBeforeData, "send", Invariant::DataFirst),
    (Mutation::RetireBeforeData, "fence", Invariant::Fence),
    (Mutation::FenceIgnored, "fence", Invariant::Fence),
    (Mutation::DuplicateExecuted, "sends", Invariant::ExactlyOnce),
    (
        Mutation::InvalidationForgotten,
        "refused",
        Invariant::DeadToken,
    ),
    (Mutation::KeyIgnored, "again", Invariant::DeadToken),
    (Mutation::InvalidateToldEarly, "drain", Invariant::DeadToken),
    (Mutation::WindowTooLong, "bounds", Invariant::Window),
    (Mutation::WindowRightsIgnored, "rights", Invariant::Window),
    (
        Mutation::RegisteredBeforeList,
        "register",
        Invariant::Registration,
    ),
    (
        Mutation::SharedReceiveTwice,
        "shared",
        Invariant::SharedReceive,
    ),
    (Mutation::LimitEarly, "shared", Invariant::Limit),
    (Mutation::LetGoEarly, "letgo", Invariant::LetGo),
    (Mutation::CompletionsSwapped, "send", Invariant::InOrder),
    (Mutation::NoTimeout, "send", Invariant::Completes),
];

#[test]
fn small_worlds_hold() {
    for (name, states, steps) in [("send", 4240, 13326), ("fence", 12794, 44177)] {
        let report = explore(exploration(name));
        assert_eq!(report.outcome, Outcome::Holds, "{report}");
        let walked = (report.progress.states, report.progress.steps);
        assert_eq!(walked, (states, steps), "{report}");
        let results = report.actions["RxRequest"].join(" ");
        assert_eq!(results, "Accept Duplicate NakSequence");
        assert!(report.actions["RxResponse"].contains(&"GoBack".into()));
        assert!(report.actions.contains_key("Timeout"));
    }
}

/// Two queue pairs, receives that come late, both directions at once.
// Covers: WIRE-ORD-5
#[test]
fn worlds_of_more_than_a_hundred_thousand_states_hold() {
    for name in ["lanes", "receives", "crossing"] {
        let report = explore(exploration(name));
        assert_eq!(report.outcome, Outcome::Holds, "{report}");
        assert!(report.progress.states > 100_000, "{report}");
        let row = format!(
            "| {name} | {} | {} |",
            world(name).unwrap().doc,
            grouped(report.progress.states)
        );
        assert!(BOOK.contains(&row), "the book has no {row}");
    }
}

/// Windows, registrations, invalidations and shared receive queues.
#[test]
fn worlds_of_tokens_and_shared_queues_hold() {
    for name in ["bounds", "again", "shared"] {
        let report = explore(exploration(name));
        assert_eq!(report.outcome, Outcome::Holds, "{report}");
        let states = grouped(report.progress.states);
        let row = format!("| {name} | {} | {states} |", world(name).unwrap().doc);
        assert!(BOOK.contains(&row), "the book has no {row}");
    }
}

/// A number as the book writes it.
fn grouped(number: usize) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

#[test]
fn threads_find_the_same_states() {
    let mut both = exploration("send");
    both.search.threads = 2;
    let [one, two] = [exploration("send"), both].map(|exploration| explore(exploration).progress);
    assert_eq!((one.states, one.steps), (two.states, two.steps));
}

#[test]
fn each_fault_is_found_by_its_invariant() {
    assert_eq!(FAULTS.map(|(mutation, ..)| mutation), Mutation::ALL);
    for (mutation, world, invariant) in FAULTS {
        let found = counterexample(Exploration {
            mutation: Some(mutation),
            only: Some(invariant),
            ..exploration(world)
        });
        assert_eq!(found.invariant, invariant, "{mutation:?}");
    }
}

/// A token can be dead in two ways: it is used no more, which its own fault shows, and nothing is under way
/// through it when its end is told of.
#[test]
fn bytes_that_land_through_a_dead_token_are_found() {
    let found = counterexample(Exploration {
        mutation: Some(Mutation::CompletionBeforeData),
        only: Some(Invariant::DeadToken),
        ..exploration("tokens")
    });
    let how = &found.how;
    assert!(how.contains("after the completion that told"), "{how}");
}

#[test]
fn each_fault_is_found_when_all_invariants_are_looked_at() {
    // What breaks these breaks nothing else before.
    let exact = [
        Invariant::DeadToken,
        Invariant::Window,
        Invariant::Registration,
        Invariant::SharedReceive,
        Invariant::Limit,
        Invariant::LetGo,
    ];
    for (mutation, world, invariant) in FAULTS {
        let found = counterexample(Exploration {
            mutation: Some(mutation),
            ..exploration(world)
        });
        assert!(!found.how.is_empty() && !found.steps.is_empty());
        let other = found.invariant != invariant && exact.contains(&invariant);
        assert!(!other, "{mutation:?} breaks {}", found.invariant);
    }
}

#[test]
fn a_counterexample_tells_the_whole_story() {
    let exploration = Exploration {
        mutation: Some(Mutation::NoTimeout),
        ..exploration("send")
    };
    let found = counterexample(exploration);
    assert_eq!(found.text, include_str!("explore/no_timeout.txt"));
}

#[test]
fn each_world_begins_well() {
    for world in WORLDS {
        let mut exploration = exploration(world.name);
        exploration.search.max_states = Some(500);
        let report = explore(exploration);
        assert_eq!(report.outcome, Outcome::Cut, "{report}");
    }
}

#[test]
fn a_search_may_give_up() {
    let mut exploration = exploration("send");
    exploration.search.max_states = Some(1000);
    let report = explore(exploration);
    assert_eq!(report.outcome, Outcome::Cut);
    assert!((1000..4000).contains(&report.progress.states), "{report}");
}

#[test]
fn the_book_tells_of_each_world_and_invariant() {
    for world in WORLDS {
        let row = format!("| {} | {} |", world.name, world.doc);
        assert!(BOOK.contains(&row), "{row}");
    }
    for invariant in Invariant::ALL {
        let row = format!("| {} | {} |", invariant.name(), invariant.statement());
        assert!(BOOK.contains(&row), "{row}");
    }
}
