//! Expected frames.

use tandem_model::wire::{Frame, Ip, Opcode, Psn, Syndrome};

use super::state::{Result, State, StepError};
use crate::vector::opcode;
use crate::vector::step::{
    ExpectFrames, ExpectOrder, ExpectRegisters, ExpectSent, FrameFields, FrameKind,
};

/// The opcode of a frame, if it is a RoCE frame.
fn opcode_of(frame: &[u8]) -> Option<Opcode> {
    Frame::parse(frame).ok().map(|frame| frame.bth.opcode)
}

fn shown(frames: &[Vec<u8>]) -> String {
    let names = frames
        .iter()
        .map(|frame| opcode_of(frame).map_or("not RoCE", Opcode::name));
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((last, count)) if *last == name => *count += 1,
            _ => runs.push((name, 1)),
        }
    }
    if runs.is_empty() {
        return "none".into();
    }
    let words: Vec<String> = runs
        .iter()
        .map(|(name, count)| match count {
            1 => (*name).to_owned(),
            count => format!("{count} x {name}"),
        })
        .collect();
    words.join(", ")
}

/// What a node has sent since it was looked at last.
fn since(state: &mut State, place: usize, of: FrameKind) -> Vec<Vec<u8>> {
    let from = state.looked_at.get(place).copied().unwrap_or(0);
    if let Some(looked_at) = state.looked_at.get_mut(place) {
        *looked_at = state.world.passed.len();
    }
    let frames = state.world.passed.iter().skip(from);
    frames
        .filter(|passed| passed.from == place)
        .map(|passed| passed.frame.clone())
        .filter(|frame| {
            let response = opcode_of(frame).is_some_and(Opcode::is_response);
            match of {
                FrameKind::All => true,
                FrameKind::Requests => !response,
                FrameKind::Responses => response,
            }
        })
        .collect()
}

/// Counts what a node has sent since it was looked at last.
pub(super) fn sent(state: &mut State, step: &ExpectSent) -> Result {
    state.world.settle()?;
    let place = state.place(&step.expect_sent)?;
    let frames = since(state, place, FrameKind::All);
    for sent in &step.frames {
        let mut count = 0;
        for frame in &frames {
            count += u32::from(differs(state, place, &sent.frame.0, 0, frame)?.is_none());
        }
        if !sent.times.fits(count) {
            let message = format!(
                "node `{}` sent this {} {count} times, expected {}",
                step.expect_sent.value(),
                sent.frame.0.opcode,
                sent.times
            );
            return Err(StepError::new(message)
                .at(sent.span())
                .help(format!("it sent: {}", listed(&frames))));
        }
    }
    Ok(())
}

/// Opcodes with PSNs.
fn listed(frames: &[Vec<u8>]) -> String {
    let words: Vec<String> = frames
        .iter()
        .map(|frame| match Frame::parse(frame) {
            Ok(frame) => format!("{} {:#x}", frame.bth.opcode.name(), frame.bth.psn.get()),
            Err(_) => "not RoCE".into(),
        })
        .collect();
    words.join(", ")
}

/// Compares what a node has sent since it was looked at last.
pub(super) fn frames(state: &mut State, step: &ExpectFrames) -> Result {
    state.world.settle()?;
    let place = state.place(&step.expect_frames)?;
    let frames = since(state, place, step.of);
    let node = step.expect_frames.value();
    let mut left = frames.iter();
    for wanted in &step.frames {
        for turn in 0..wanted.0.times.unwrap_or(1) {
            let Some(frame) = left.next() else {
                let message = format!("node `{node}` did not send this frame: {}", wanted.0.opcode);
                return Err(StepError::new(message)
                    .at(wanted.span())
                    .help(format!("it sent: {}", shown(&frames))));
            };
            if let Some(difference) = differs(state, place, &wanted.0, turn, frame)? {
                return Err(StepError::new(format!(
                    "node `{node}` sent another frame: {difference}"
                ))
                .at(wanted.span())
                .help(format!(
                    "it sent: {}\n\n{}",
                    shown(&frames),
                    tandem_model::wire::dissect(frame).trim_end()
                )));
            }
        }
    }
    match left.len() {
        0 => Ok(()),
        more => Err(StepError::new(format!(
            "node `{node}` sent {more} frames more than expected"
        ))
        .help(format!("it sent: {}", shown(&frames)))),
    }
}

/// In which field a frame is another one.
fn differs(
    state: &mut State,
    place: usize,
    wanted: &FrameFields,
    turn: u32,
    bytes: &[u8],
) -> Result<Option<String>> {
    let frame = match Frame::parse(bytes) {
        Ok(frame) => frame,
        Err(cause) => return Ok(Some(format!("it is not a right RoCEv2 frame ({cause:?})"))),
    };
    if Some(frame.bth.opcode) != opcode(&wanted.opcode) {
        return Ok(Some(format!(
            "{}, expected {}",
            frame.bth.opcode.name(),
            wanted.opcode
        )));
    }
    let (reth, aeth, ieth) = (frame.ext.reth(), frame.ext.aeth(), frame.ext.ieth());
    let psn = wanted.psn.map(|psn| {
        // 24 bits, with wrap.
        (0..turn).fold(Psn::new(psn), |psn, _| psn.next()).get()
    });
    let ip: u8 = match frame.ip {
        Ip::V4(_) => 4,
        Ip::V6(_) => 6,
    };
    let fields: [(&str, Option<u64>, Option<u64>); 13] = [
        ("IP version", wanted.ip.map(u64::from), Some(ip.into())),
        (
            "SE",
            wanted.se.map(u64::from),
            Some(frame.bth.solicited.into()),
        ),
        (
            "AckReq",
            wanted.ack_req.map(u64::from),
            Some(frame.bth.ack_req.into()),
        ),
        (
            "BECN",
            wanted.becn.map(u64::from),
            Some(frame.bth.becn.into()),
        ),
        ("PSN", psn.map(u64::from), Some(frame.bth.psn.get().into())),
        ("pad", wanted.pad.map(u64::from), Some(frame.bth.pad.into())),
        (
            "payload length",
            wanted.payload.map(u64::from),
            Some(frame.payload.len() as u64),
        ),
        (
            "RETH address",
            wanted.va.map(|va| va.0),
            reth.map(|reth| reth.va),
        ),
        (
            "RETH length",
            wanted.length.map(u64::from),
            reth.map(|reth| reth.length.into()),
        ),
        (
            "RETH token",
            state.wire_token(place, &wanted.token)?.map(u64::from),
            reth.map(|reth| reth.token.0.into()),
        ),
        (
            "IETH token",
            state.wire_token(place, &wanted.ieth)?.map(u64::from),
            ieth.map(|token| token.0.into()),
        ),
        (
            "syndrome",
            wanted.syndrome.map(u64::from),
            aeth.map(|aeth| Syndrome::encode(aeth.syndrome).into()),
        ),
        (
            "MSN",
            wanted.msn.map(u64::from),
            aeth.map(|aeth| aeth.msn.get().into()),
        ),
    ];
    let wrong = fields
        .iter()
        .find(|(_, wanted, got)| wanted.is_some() && wanted != got);
    Ok(wrong.map(|(name, wanted, got)| {
        let got = got.map_or("absent".into(), |got| format!("{got:#x}"));
        format!("{name} is {got}, expected {:#x}", wanted.unwrap_or(0))
    }))
}

/// Frames of all nodes that passed in this order, others maybe between.
pub(super) fn order(state: &mut State, step: &ExpectOrder) -> Result {
    state.world.settle()?;
    let mut next = 0;
    for wanted in &step.expect_order {
        let place = state.place(&wanted.from)?;
        let fields = FrameFields {
            opcode: wanted.opcode.value().clone(),
            psn: wanted.psn,
            syndrome: wanted.syndrome,
            ..FrameFields::default()
        };
        let mut found = false;
        while let Some(passed) = state.world.passed.get(next).filter(|_| !found) {
            next += 1;
            let frame = passed.frame.clone();
            found = passed.from == place && differs(state, place, &fields, 0, &frame)?.is_none();
        }
        if !found {
            let names: Vec<String> = state
                .world
                .passed
                .iter()
                .map(|passed| {
                    let node = state.world.nodes.get(passed.from);
                    let node = node.map_or("", |node| node.name.as_str());
                    format!("{node}: {}", listed(std::slice::from_ref(&passed.frame)))
                })
                .collect();
            let message = format!(
                "no {} of node `{}` passed after those before it",
                wanted.opcode.value(),
                wanted.from.value()
            );
            return Err(StepError::new(message)
                .at(wanted.opcode.span())
                .help(format!("passed: {}", names.join(", "))));
        }
    }
    Ok(())
}

/// Compares registers.
pub(super) fn registers(state: &mut State, step: &ExpectRegisters) -> Result {
    use tandem_model::hal::Hal;

    state.world.settle()?;
    let place = state.place(&step.expect_registers)?;
    for (name, expected) in &step.values {
        let offset = super::register(name)
            .ok_or_else(|| StepError::new(format!("no register is called `{name}`")))?;
        let value = state.nic(place)?.hal_mut().read_register(offset);
        let value = value.map_err(|error| state.broken(place, error))?;
        if !expected.fits(value) {
            return Err(StepError::new(format!(
                "register {name} of node `{}` is {value}, expected {expected}",
                step.expect_registers.value()
            )));
        }
    }
    Ok(())
}
