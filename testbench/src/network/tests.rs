//! Frames through impairments.

use super::*;

/// A network of two nodes with rules for the direction from the first to the second one.
fn network(rules: Vec<What>) -> Network {
    let mut network = Network::new(2, 1);
    for what in rules {
        network.add(&Rule {
            name: None,
            from: Some(0),
            to: Some(1),
            what,
        });
    }
    network
}

fn does(when: When, action: Action) -> What {
    What::Frames {
        selection: Selection::default(),
        when,
        action,
    }
}

fn nth(number: u64) -> When {
    When {
        nth: vec![number],
        ..When::default()
    }
}

/// Offers frames 1, 2, … at a clock, and says which have arrived by it.
fn through(network: &mut Network, frames: u8, clock: u64) -> Vec<u8> {
    for number in 1..=frames {
        network.offer(0, 1, clock, vec![number; 100]);
    }
    numbers(network, clock)
}

fn numbers(network: &mut Network, clock: u64) -> Vec<u8> {
    let arrivals = network.arrivals(clock);
    arrivals.iter().map(|arrival| arrival.bytes[0]).collect()
}

#[test]
fn without_rules_everything_passes() {
    let network = network(Vec::new());
    assert!(network.is_clear());
    assert!(!network.is_moving() && !network.pauses(0, 0));
}

#[test]
fn frames_are_lost_doubled_and_exchanged() {
    let mut lossy = network(vec![does(nth(2), Action::Drop)]);
    assert_eq!(through(&mut lossy, 3, 0), [1, 3]);
    let mut double = network(vec![does(nth(2), Action::Duplicate(2))]);
    assert_eq!(through(&mut double, 3, 0), [1, 2, 2, 2, 3]);
    let swap = Action::Reorder(Reorder::By(1));
    let mut swapped = network(vec![does(nth(1), swap)]);
    assert_eq!(through(&mut swapped, 3, 0), [2, 1, 3]);
}

#[test]
fn frames_that_wait_for_each_other_come_in_the_order_of_their_turn() {
    let by = |frames| Action::Reorder(Reorder::By(frames));
    let mut network = network(vec![does(nth(1), by(2)), does(nth(2), by(1))]);
    assert_eq!(through(&mut network, 4, 0), [3, 2, 1, 4]);
}

#[test]
fn a_frame_that_nothing_overtakes_is_let_go() {
    let mut network = network(vec![does(nth(2), Action::Reorder(Reorder::By(5)))]);
    assert_eq!(through(&mut network, 2, 0), [1]);
    assert!(!network.is_moving());
    assert!(network.let_go(7) && !network.let_go(7));
    assert_eq!(numbers(&mut network, 7), [2]);
}

#[test]
fn what_a_rule_loses_the_next_does_not_count() {
    let rules = vec![does(nth(1), Action::Drop), does(nth(1), Action::Drop)];
    assert_eq!(through(&mut network(rules), 3, 0), [3]);
}

#[test]
fn late_frames_hold_the_others_back_unless_they_may_be_overtaken() {
    let late = |overtake| {
        Action::Delay(Delay {
            clocks: 100,
            jitter: 0,
            overtake,
        })
    };
    let mut ordered = network(vec![does(nth(2), late(false))]);
    assert_eq!(through(&mut ordered, 3, 10), [1]);
    assert!(ordered.is_moving());
    assert_eq!(numbers(&mut ordered, 109), [0; 0]);
    assert_eq!(numbers(&mut ordered, 110), [2, 3]);
    let mut loose = network(vec![does(nth(2), late(true))]);
    assert_eq!(through(&mut loose, 3, 10), [1, 3]);
    assert_eq!(numbers(&mut loose, 110), [2]);
}

#[test]
fn held_frames_come_when_they_are_released() {
    let mut network = network(vec![does(nth(1), Action::Hold)]);
    assert_eq!(through(&mut network, 2, 0), [2]);
    assert!(!network.is_moving() && !network.let_go(0));
    network.release(None, None, 50);
    assert_eq!(numbers(&mut network, 50), [1]);
}

#[test]
fn a_throttle_spaces_frames_and_loses_what_does_not_fit() {
    let slow = Throttle {
        bytes: 1,
        clocks: 2,
        buffer: None,
        mark: None,
    };
    let mut narrow = network(vec![What::Throttle(slow)]);
    assert_eq!(through(&mut narrow, 3, 1000), [0; 0]);
    let arrivals: Vec<u64> = (1000..2000)
        .filter(|clock| !narrow.arrivals(*clock).is_empty())
        .collect();
    assert_eq!(arrivals, [1200, 1400, 1600]);
    let full = Throttle {
        buffer: Some(150),
        ..slow
    };
    let mut narrow = network(vec![What::Throttle(full)]);
    through(&mut narrow, 5, 0);
    assert_eq!(numbers(&mut narrow, 10_000), [1, 2]);
}

#[test]
fn pauses_hold_the_sender() {
    let window = Window { from: 10, to: 20 };
    let mut network = network(vec![What::Pause(window)]);
    let paused: Vec<u64> = (0..30).filter(|clock| network.pauses(0, *clock)).collect();
    assert_eq!(paused, (10..20).collect::<Vec<u64>>());
    assert!(!network.pauses(1, 15));
    network.resume(Some(0));
    assert!(!network.pauses(0, 15));
}

#[test]
fn healing_ends_everything_and_brings_what_was_kept() {
    let mut network = network(vec![
        does(nth(1), Action::Hold),
        does(
            nth(2),
            Action::Delay(Delay {
                clocks: 1000,
                ..Delay::default()
            }),
        ),
        does(When::default(), Action::Duplicate(1)),
    ]);
    assert_eq!(through(&mut network, 2, 0), [0; 0]);
    network.heal(None, None, None, 5);
    assert_eq!(numbers(&mut network, 5), [2, 2, 1, 1]);
    assert!(network.is_clear());
}

#[test]
fn one_rule_of_several_can_be_taken_away() {
    let mut network = Network::new(2, 1);
    for (name, number) in [("one", 1), ("two", 2)] {
        network.add(&Rule {
            name: Some(name.into()),
            from: None,
            to: None,
            what: does(
                When {
                    every: Some(number),
                    ..When::default()
                },
                Action::Drop,
            ),
        });
    }
    network.heal(None, None, Some("one"), 0);
    assert_eq!(through(&mut network, 4, 0), [1, 3]);
}

#[test]
fn the_same_seed_makes_the_same_network_and_another_one_another() {
    let run = |seed| {
        let mut network = Network::new(2, seed);
        for action in [
            Action::Drop,
            Action::Corrupt(Corruption::RANDOM),
            Action::Reorder(Reorder::UpTo { up_to: 4 }),
        ] {
            network.add(&Rule {
                name: None,
                from: None,
                to: None,
                what: does(
                    When {
                        probability: Some(0.1),
                        ..When::default()
                    },
                    action,
                ),
            });
        }
        for number in 0..200 {
            network.offer(0, 1, number, vec![number as u8; 64]);
            network.offer(1, 0, number, vec![number as u8; 64]);
        }
        network.arrivals(1000)
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    let both = run(3);
    let (there, back): (Vec<_>, Vec<_>) = both.iter().partition(|arrival| arrival.from == 0);
    let bytes = |side: &[&Delivery]| side.iter().map(|d| d.bytes.clone()).collect::<Vec<_>>();
    assert_ne!(bytes(&there), bytes(&back));
}

#[test]
fn what_was_done_is_noted_on_both_ends() {
    let corrupt = Action::Corrupt(Corruption::At { byte: 5, bit: 1 });
    let mut network = network(vec![does(When::default(), corrupt)]);
    let notes = network.offer(0, 1, 0, vec![0; 64]);
    let turned = Note::new(Fate::Corrupted, "bit 1 of byte 5 turned over");
    assert_eq!(notes, [turned]);
    assert_eq!(network.arrivals(0)[0].notes, notes);
}
