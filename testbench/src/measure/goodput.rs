//! What losses cost: bytes that arrive in a clock at several rates of loss, and how often is gone back.

use tandem_model::ndk::OpFlags;

use super::rig::{Rig, Shape};
use super::{Figure, MeasureError, MeasureOptions, Result, targets};
use crate::network::{Action, Rule, Selection, What, When};
use crate::vector::TargetKind;
use crate::vector::step::FrameKind;
use crate::world::register;

/// Rates of loss, either way, and the bytes that are written at each.
const RATES: [(f64, u32); 4] = [
    (0.0, 1 << 20),
    (0.001, 4 << 20),
    (0.01, 1 << 20),
    (0.05, 1 << 20),
];
/// Sizes of the writes.
const SIZES: [(&str, u32); 2] = [("4 KiB", 4 << 10), ("1 MiB", 1 << 20)];
/// Code of the timer: 16,384 clocks, about twice what the packets between two acknowledgements take.
const TIMEOUT: u8 = 6;
/// Clocks between two looks at the network.
const QUANTUM: u32 = 16;
/// Packets of a write in which one is lost.
const PACKETS: u32 = 64;

fn rig(options: &MeasureOptions, kind: TargetKind) -> Result<Rig> {
    let kinds = [kind; 2];
    let shape = Shape {
        timeout: Some(TIMEOUT),
        ..Shape::of(&kinds, QUANTUM)
    };
    Ok(Rig::new(shape, &targets(options))?)
}

/// Loses frames.
fn lose(rig: &mut Rig, of: FrameKind, when: When) {
    rig.impair(&Rule {
        name: None,
        from: None,
        to: None,
        what: What::Frames {
            selection: Selection {
                of,
                ..Selection::default()
            },
            when,
            action: Action::Drop,
        },
    });
}

/// Writes in pieces of a size, and waits until all are done; bytes in a clock.
fn write(rig: &mut Rig, size: u32, total: u32) -> Result<f64> {
    let before = rig.clock();
    let writes = total / size;
    for turn in 1..=writes {
        let flags = match turn == writes {
            true => OpFlags::NONE,
            false => OpFlags::SILENT_SUCCESS | OpFlags::DEFER,
        };
        rig.write(size, flags)?;
    }
    rig.complete(1, 0)?;
    Ok(f64::from(total) / (rig.clock() - before).max(1) as f64)
}

/// Go-backs and timeouts of `a`, which must be as many as expected.
fn counters(rig: &mut Rig, what: &str, expected: [u32; 2]) -> Result<()> {
    for (counter, expected) in ["GO_BACKS", "TIMEOUTS"].into_iter().zip(expected) {
        let offset = register(counter).unwrap_or_default();
        let counted = rig.register(0, offset)?;
        if counted != expected {
            return Err(MeasureError::Retransmissions {
                what: what.into(),
                counter,
                counted,
                expected,
            });
        }
    }
    Ok(())
}

/// Checks that nothing is sent again without a loss, and that one loss is one go-back.
///
/// # Errors
/// If it is otherwise, or what stopped a node.
pub(super) fn counts(
    figures: &mut Vec<Figure>,
    options: &MeasureOptions,
    kind: TargetKind,
) -> Result<()> {
    for (name, size) in SIZES {
        let mut rig = rig(options, kind)?;
        write(&mut rig, size, 1 << 20)?;
        counters(&mut rig, &format!("writes of {name} without loss"), [0, 0])?;
    }
    figures.push(Figure::new(
        format!("{kind}: go-backs and timeouts without loss"),
        0.0,
        "",
        false,
    ));
    for lost in [1, 2, PACKETS / 2, PACKETS - 1] {
        let mut rig = rig(options, kind)?;
        let when = When {
            nth: vec![lost.into()],
            ..When::default()
        };
        lose(&mut rig, FrameKind::Requests, when);
        write(&mut rig, PACKETS * 1024, PACKETS * 1024)?;
        counters(
            &mut rig,
            &format!("packet {lost} of {PACKETS} lost"),
            [1, 0],
        )?;
    }
    figures.push(Figure::new(
        format!("{kind}: go-backs after one loss"),
        1.0,
        "",
        false,
    ));
    Ok(())
}

/// Bytes that arrive in a clock, at several rates of loss.
///
/// # Errors
/// What stopped a node.
pub(super) fn goodput(
    figures: &mut Vec<Figure>,
    options: &MeasureOptions,
    kind: TargetKind,
) -> Result<()> {
    for (name, size) in SIZES {
        for (rate, total) in RATES {
            let mut rig = rig(options, kind)?;
            if rate > 0.0 {
                let when = When {
                    probability: Some(rate),
                    ..When::default()
                };
                lose(&mut rig, FrameKind::All, when);
            }
            let bytes = write(&mut rig, size, total)?;
            let name = format!("writes of {name}, {} % of frames lost", rate * 100.0);
            figures.push(Figure::new(name, bytes, "bytes/clock", false));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: MeasureOptions = MeasureOptions {
        model_requests: 0,
        engine_requests: 0,
        engine: false,
        seed: 1,
    };

    #[test]
    fn the_model_goes_back_once_for_a_loss_and_never_without() {
        let mut figures = Vec::new();
        counts(&mut figures, &OPTIONS, TargetKind::Model).unwrap();
        assert_eq!(figures.len(), 2);
    }

    #[test]
    fn losses_cost_bytes() {
        let mut figures = Vec::new();
        goodput(&mut figures, &OPTIONS, TargetKind::Model).unwrap();
        let bytes: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
        assert_eq!(bytes.len(), 8);
        assert!(bytes[0] > bytes[2] && bytes[2] > bytes[3], "{bytes:?}");
        assert!(bytes[4] > bytes[6] && bytes[6] > bytes[7], "{bytes:?}");
    }

    #[test]
    fn a_count_that_is_another_is_an_error() {
        let mut rig = rig(&OPTIONS, TargetKind::Model).unwrap();
        write(&mut rig, 4096, 4096).unwrap();
        let error = counters(&mut rig, "one write", [1, 0]).unwrap_err();
        assert_eq!(error.to_string(), "one write: 0 GO_BACKS, expected 1");
    }
}
