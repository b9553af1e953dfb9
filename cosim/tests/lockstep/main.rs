//! The checker against records of a run that is right, and of the same run with one thing wrong.
//!
//! The records come from a golden engine that runs as if it were hardware, so what the checker finds here
//! is what was put in by hand: each kind of difference, its room, and its message.

mod invalidation;
mod rings;
mod shadow;
mod timing;

use shadow::records;
use tandem_cosim::lockstep::{Difference, Divergence, Lockstep, Record, Summary};
use tandem_model::abi::{CommitKind, Fault, Status};
use tandem_model::engine::{Action, Config};

fn check(records: Vec<Record>) -> Result<Summary, Box<Divergence>> {
    let mut lockstep = Lockstep::start(Config::default(), "b", 7, None).unwrap();
    for record in records {
        lockstep.push(record);
    }
    lockstep.finish(10_000, 0, true)
}

/// The run with one change; `change` returns whether it changed anything.
fn broken(change: impl FnOnce(&mut Vec<Record>) -> bool) -> Divergence {
    let mut records = records();
    assert!(change(&mut records), "the run has nothing to change");
    *check(records).expect_err("the checker must find it")
}

fn first(records: &[Record], fits: impl Fn(&Record) -> bool) -> Option<usize> {
    records.iter().position(fits)
}

fn commit_of(kind: CommitKind) -> impl Fn(&Record) -> bool {
    move |record| matches!(record, Record::Commit { action, .. } if action.kind == kind)
}

#[test]
fn a_run_that_is_right_passes_and_is_counted() {
    let summary = check(records()).unwrap_or_else(|divergence| panic!("{divergence}"));
    assert!(summary.actions > 10, "{summary:?}");
    assert!(summary.frames >= 2, "{summary:?}");
    assert!(summary.payload_writes >= 1, "{summary:?}");
    assert!(summary.completion_writes >= 2, "{summary:?}");
}

#[test]
fn a_wrong_byte_in_a_frame_is_shown_with_both_frames() {
    let divergence = broken(|records| {
        let at = first(records, |r| matches!(r, Record::FrameOut(_)));
        at.is_some_and(|at| match &mut records[at] {
            Record::FrameOut(frame) => frame.get_mut(60).is_some_and(|byte| {
                *byte ^= 0x10;
                true
            }),
            _ => false,
        })
    });
    assert_eq!(divergence.room(), "wire");
    let text = divergence.to_string();
    for part in [
        "node b",
        "seed 7",
        "first difference at byte 60",
        "expected frame",
        "last actions",
    ] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

#[test]
fn a_wrong_field_of_an_action_is_named() {
    let divergence = broken(|records| {
        let at = first(records, commit_of(CommitKind::SqEmit));
        at.is_some_and(|at| match &mut records[at] {
            Record::Commit { action, .. } => {
                action.psn += 1;
                true
            }
            _ => false,
        })
    });
    assert_eq!(divergence.room(), "send");
    assert!(divergence.to_string().contains("psn"), "{divergence}");
}

#[test]
fn a_completion_before_its_data_is_too_early() {
    let divergence = broken(|records| {
        let Some(answer) = first(records, |r| matches!(r, Record::Answered { id: 0 })) else {
            return false;
        };
        let answered = records.remove(answer);
        let end = records.len() - 1;
        records.insert(end, answered);
        true
    });
    assert!(
        matches!(divergence.difference, Difference::TooEarly { .. }),
        "{divergence}"
    );
}

#[test]
fn payload_at_another_address_is_found() {
    let divergence = broken(|records| {
        let at = first(records, |r| matches!(r, Record::Written { id: 0, .. }));
        at.is_some_and(|at| match &mut records[at] {
            Record::Written { address, .. } => {
                *address += 8;
                true
            }
            _ => false,
        })
    });
    assert!(matches!(
        divergence.difference,
        Difference::Effect {
            channel: "payload writes",
            ..
        }
    ));
}

#[test]
fn a_gather_read_of_another_length_is_found() {
    let divergence = broken(|records| {
        let at = first(
            records,
            |r| matches!(r, Record::Read(burst) if burst.id == 2),
        );
        at.is_some_and(|at| match &mut records[at] {
            Record::Read(burst) => {
                burst.bytes.extend([0; 4096]);
                true
            }
            _ => false,
        })
    });
    assert!(
        matches!(divergence.difference, Difference::Read { .. }),
        "{divergence}"
    );
}

/// A bus error on the bytes of a frame; `turn` says whether the frame leaves so that nobody takes it.
fn bus_error(turn: bool) -> Vec<Record> {
    let mut records = records();
    let read = first(
        &records,
        |r| matches!(r, Record::Read(burst) if burst.id == 2),
    );
    if let Some(Record::Read(burst)) = read.map(|at| &mut records[at]) {
        burst.error = true;
    }
    let frame = first(&records, |r| matches!(r, Record::FrameOut(_)));
    if let Some(Record::FrameOut(frame)) = frame.map(|at| &mut records[at])
        && turn
    {
        let end = frame.len();
        frame[end - 4..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    records
}

#[test]
fn bytes_that_the_bus_did_not_have_leave_in_a_frame_that_nobody_takes() {
    check(bus_error(true)).unwrap_or_else(|divergence| panic!("{divergence}"));
    let divergence = check(bus_error(false)).expect_err("the frame looks right");
    assert!(
        matches!(
            divergence.difference,
            Difference::Effect {
                channel: "frames",
                ..
            }
        ),
        "{divergence}"
    );
}

#[test]
fn a_run_that_is_broken_off_has_the_divergences_up_to_there() {
    let break_off = |records: Vec<Record>| {
        let mut lockstep = Lockstep::start(Config::default(), "b", 7, None).unwrap();
        for record in records {
            lockstep.push(record);
        }
        lockstep.break_off()
    };
    let right = records();
    for length in 0..right.len() {
        let found = break_off(right[..length].to_vec());
        assert!(
            found.is_none(),
            "after {length} records: {}",
            found.unwrap()
        );
    }
    let mut wrong = right;
    let at = first(&wrong, commit_of(CommitKind::SqEmit)).unwrap();
    if let Record::Commit { action, .. } = &mut wrong[at] {
        action.psn += 1;
    }
    // Its frame is not there any more.
    let frame = |r: &Record| matches!(r, Record::FrameStarted);
    let end = at + first(&wrong[at..], frame).unwrap();
    wrong.truncate(end);
    assert!(break_off(wrong).is_some());
}

#[test]
fn what_never_came_and_what_nobody_explains_are_found() {
    let missing = broken(|records| {
        let at = records
            .iter()
            .rposition(|r| matches!(r, Record::Written { id: 1, .. }));
        at.is_some_and(|at| {
            records.remove(at);
            true
        })
    });
    assert!(
        matches!(missing.difference, Difference::Missing { .. }),
        "{missing}"
    );

    let surplus = broken(|records| {
        let end = records.len();
        records.insert(
            end,
            Record::Written {
                id: 0,
                address: 64,
                bytes: vec![1],
            },
        );
        true
    });
    assert!(
        matches!(surplus.difference, Difference::Surplus { .. }),
        "{surplus}"
    );

    let frame = broken(|records| {
        records.push(Record::FrameStarted);
        true
    });
    assert!(
        matches!(
            frame.difference,
            Difference::Surplus {
                channel: "frames",
                ..
            }
        ),
        "{frame}"
    );

    let unseen = broken(|records| {
        records.push(Record::FrameIn(vec![0; 60]));
        true
    });
    assert!(
        matches!(unseen.difference, Difference::FramesLeft { left: 1 }),
        "{unseen}"
    );
}

#[test]
fn a_record_of_no_kind_and_a_wrong_interrupt_are_found() {
    let bad = broken(|records| {
        records.push(Record::BadCommit {
            cycle: 5,
            bits: 0xFF,
            cause: "kind 255".into(),
        });
        true
    });
    assert!(bad.to_string().contains("kind 255"), "{bad}");

    let mut lockstep = Lockstep::start(Config::default(), "b", 7, None).unwrap();
    for record in records() {
        lockstep.push(record);
    }
    let low = lockstep
        .finish(10_000, 0, false)
        .expect_err("the line is high");
    assert!(
        matches!(low.difference, Difference::Interrupt { observed: false }),
        "{low}"
    );
}

/// The room named for a frame in which this byte is another one, with its ICRC made right again or not.
fn suspect(byte: usize, sealed: bool) -> String {
    let divergence = broken(|records| {
        let at = first(records, |r| matches!(r, Record::FrameOut(_)));
        at.is_some_and(|at| match &mut records[at] {
            Record::FrameOut(frame) => {
                frame[byte] ^= 1;
                !sealed || tandem_model::wire::seal(frame)
            }
            _ => false,
        })
    });
    divergence.room()
}

#[test]
fn a_frame_points_at_the_room_that_made_the_difference() {
    // ICRC; RETH; UDP source port.
    assert_eq!(suspect(60, false), "wire");
    assert_eq!(suspect(57, true), "send or wire");
    assert_eq!(suspect(35, true), "wire");
}

#[test]
fn a_decision_that_is_due_and_never_made_is_told_with_its_room() {
    let divergence = broken(|records| {
        let Some(last) = records.iter().rposition(commit_of(CommitKind::Complete)) else {
            return false;
        };
        let end = records.len() - 1;
        records.drain(last..end);
        true
    });
    assert!(
        matches!(divergence.difference, Difference::Undone { .. }),
        "{divergence}"
    );
    assert!(divergence.room().ends_with("complete"), "{divergence}");
    assert!(
        divergence
            .to_string()
            .contains("Complete: completion queue"),
        "{divergence}"
    );
}

#[test]
fn a_token_that_one_side_refused_points_at_context() {
    let divergence = broken(|records| {
        let at = first(records, commit_of(CommitKind::SqEmit));
        at.is_some_and(|at| match &mut records[at] {
            Record::Commit { action, .. } => {
                *action = Action {
                    kind: CommitKind::SqFail,
                    psn: 0,
                    token: Fault::TokenKey as u32,
                    cause: Status::LocalProtection as u8,
                    ..*action
                };
                true
            }
            _ => false,
        })
    });
    assert_eq!(divergence.room(), "context or send", "{divergence}");
}
