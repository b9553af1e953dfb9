//! Checks of impairments.

use super::super::impairment::{Doing, Impairment, Psns};
use super::super::step::Step;
use super::super::{At, Fault, Vector, opcode};
use super::{Result, find};

/// Greatest PSN.
const MAX_PSN: u32 = 0xFF_FFFF;

/// Checks the impairments that are there from the start.
pub(super) fn check(vector: &Vector) -> Result {
    for table in &vector.head.network {
        let doing = impairment(vector, table)?;
        if matches!(doing, Doing::Heal | Doing::Resume | Doing::Release) {
            return Err(
                Fault::new(table.span(), "`heal`, `resume` and `release` are for steps")
                    .help("as `network = { heal = true }` in [[steps]]"),
            );
        }
    }
    Ok(())
}

/// Checks an impairment, or what a step changes; what it does.
pub(super) fn impairment(vector: &Vector, table: &At<Impairment>) -> Result<Doing> {
    let head = &vector.head;
    let mut doings = table.doings();
    let doing = match (doings.pop(), doings.len()) {
        (Some(doing), 0) => doing,
        (None, _) => {
            return Err(Fault::new(
                table.span(),
                "this impairment does not say what it does",
            )
            .help(
                "one of drop, duplicate, reorder, hold, corrupt, alter, delay, script, throttle, pause",
            ));
        }
        (Some(_), more) => {
            let message = format!("an impairment does one thing, this one {}", more + 1);
            return Err(Fault::new(table.span(), message).help("write one table for each of them"));
        }
    };
    for node in [&table.from, &table.to].into_iter().flatten() {
        find(&head.node, "node", node)?;
    }
    if let Some(qp) = &table.qp {
        let found = find(&head.qp, "queue pair", qp)?;
        if let Some(to) = &table.to {
            super::same_node(qp, to, &found.node)?;
        }
    }
    if let Some(names) = &table.opcode
        && let Some(name) = names.all().iter().find(|name| opcode(name).is_none())
    {
        let message = format!("no opcode has the name `{name}`");
        return Err(Fault::new(names.span(), message));
    }
    if let Some(psns) = &table.psn {
        let (first, last) = match *psns.value() {
            Psns::One(psn) => (psn, psn),
            Psns::Range { from, to } => (from, to),
        };
        if first.max(last) > MAX_PSN {
            return Err(Fault::new(psns.span(), "a PSN has 24 bits"));
        }
    }
    conditions(table)?;
    match &doing {
        Doing::Act(_) => {}
        Doing::Script(actions) => {
            if actions.is_empty() {
                return Err(Fault::new(table.span(), "this script is empty"));
            }
            if table.conditions() {
                return Err(Fault::new(
                    table.span(),
                    "a script says itself which frames it is about",
                )
                .help("its first action is for the first frame meant; \"pass\" does nothing"));
            }
        }
        Doing::Throttle(throttle) => {
            whole_direction(table, "a throttle")?;
            if throttle.bytes == 0 || throttle.clocks == 0 {
                return Err(Fault::new(
                    table.span(),
                    "a throttle lets at least 1 byte pass in at least 1 clock",
                ));
            }
        }
        Doing::Pause(_) | Doing::Resume => {
            whole_direction(table, "a pause")?;
            if let Some(to) = &table.to {
                return Err(
                    Fault::new(to.span(), "a pause concerns all that a node sends")
                        .help("`from` says which node"),
                );
            }
        }
        Doing::Heal => {
            whole_direction(table, "`heal`")?;
            known_name(vector, table)?;
        }
        Doing::Release => whole_direction(table, "`release`")?,
    }
    Ok(doing)
}

fn conditions(table: &Impairment) -> Result {
    if let Some(nth) = &table.nth
        && (nth.value().all().is_empty() || nth.value().all().contains(&0))
    {
        return Err(Fault::new(nth.span(), "frames are counted from 1"));
    }
    if let Some(every) = &table.every
        && *every.value() == 0
    {
        return Err(Fault::new(every.span(), "`every` must be at least 1"));
    }
    if let Some(probability) = &table.probability
        && !(0.0..=1.0).contains(probability.value())
    {
        let message = format!("{} is not a probability", probability.value());
        return Err(Fault::new(probability.span(), message).label("must be 0.0 to 1.0"));
    }
    Ok(())
}

/// What concerns a direction cannot name frames of it.
fn whole_direction(table: &At<Impairment>, what: &str) -> Result {
    if !table.selects() && !table.conditions() {
        return Ok(());
    }
    let message = format!("{what} concerns a whole direction, and not some frames of it");
    Err(Fault::new(table.span(), message))
}

/// What a step ends was begun somewhere.
fn known_name(vector: &Vector, table: &At<Impairment>) -> Result {
    let Some(name) = &table.name else {
        return Ok(());
    };
    let steps = vector.steps.iter().filter_map(|step| match step.value() {
        Step::Network(step) if !step.network.heal => step.network.name.as_ref(),
        _ => None,
    });
    let names: Vec<&str> = vector
        .head
        .network
        .iter()
        .filter_map(|table| table.name.as_ref())
        .chain(steps)
        .map(|name| name.value().as_str())
        .collect();
    if names.contains(&name.value().as_str()) {
        return Ok(());
    }
    let message = format!("no impairment is called `{}`", name.value());
    let fault = Fault::new(name.span(), message).label("not an impairment of this vector");
    Err(match names.is_empty() {
        true => fault.help("none has a name"),
        false => fault.help(format!("there are {}", names.join(", "))),
    })
}
