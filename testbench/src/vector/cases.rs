//! From text to vectors: steps by their keys, and one vector for each case.
//!
//! `[matrix]` gives each variable a list of values, and every combination is a case; each table of `[[cases]]` gives
//! each variable one value. A string `"$name"` anywhere in the vector stands for the value.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error, ValueDeserializer};

use super::step::Step;
use super::{At, Fault, Head, Vector};

/// Values of the variables of one case.
type Case<'a> = Vec<(String, Spanned<DeValue<'a>>)>;

/// More cases than any sensible file has.
const MAX_CASES: usize = 10_000;

/// Reads the text of a vector file.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Vector>, Fault> {
    let mut document = DeTable::parse(text).map_err(|error| fault(&error, 0..text.len()))?;
    let cases = take_cases(&mut document)?;
    cases
        .iter()
        .map(|case| vector(document.clone(), case, text))
        .collect()
}

fn vector<'a>(
    mut document: Spanned<DeTable<'a>>,
    case: &Case<'a>,
    text: &str,
) -> Result<Vector, Fault> {
    for value in document.get_mut().iter_mut().map(|(_, value)| value) {
        substitute(value, case)?;
    }
    let steps = match document.get_mut().remove("steps") {
        Some(steps) => read_steps(steps)?,
        None => Vec::new(),
    };
    let end = text.len();
    let mut head = Head::deserialize(Deserializer::from(document)).map_err(|error| {
        let mut fault = fault(&error, end.saturating_sub(1)..end);
        // The parser does not know of what was taken out before.
        fault.help = fault.help.map(|help| match help.contains("`setup`") {
            true => format!("{help}, `steps`, `matrix`, `cases`"),
            false => help,
        });
        fault
    })?;
    head.set_up();
    let case = case
        .iter()
        .map(|(name, value)| format!("{name} = {}", words(value.get_ref())))
        .collect::<Vec<_>>()
        .join(", ");
    Ok(Vector { head, steps, case })
}

fn read_steps(steps: Spanned<DeValue<'_>>) -> Result<Vec<At<Step>>, Fault> {
    let span = steps.span();
    let DeValue::Array(steps) = steps.into_inner() else {
        return Err(Fault::new(span, "`steps` must be tables: [[steps]]"));
    };
    steps.into_iter().map(read_step).collect()
}

fn read_step(step: Spanned<DeValue<'_>>) -> Result<At<Step>, Fault> {
    let span = step.span();
    let DeValue::Table(table) = step.get_ref() else {
        return Err(Fault::new(span, "a step must be a table"));
    };
    let verb = Step::VERBS.iter().find(|verb| table.contains_key(**verb));
    let Some(verb) = verb else {
        let place = table.keys().next().map_or(span, |key| key.span());
        return Err(
            Fault::new(place, "this step has no key that says what it does")
                .label("not a kind of step")
                .help(format!(
                    "one of these must be there: {}",
                    Step::VERBS.join(", ")
                )),
        );
    };
    // The header of a table of tables spans little; the key is what the reader looks for.
    let place = table
        .get_key_value(*verb)
        .map_or(span.clone(), |(key, value)| {
            key.span().start..value.span().end
        });
    Step::read(verb, ValueDeserializer::from(step))
        .map(|step| At::new(place.clone(), step))
        .map_err(|error| {
            let mut fault = fault(&error, place.clone());
            // An error without a place of its own gets that of the whole step.
            if fault.span == span {
                fault.span = place;
            }
            fault
        })
}

/// A parse error as a fault.
fn fault(error: &Error, otherwise: Range<usize>) -> Fault {
    let message = error.message().trim().replace('\n', ", ");
    match message.split_once(", expected ") {
        Some((what, expected)) if what.starts_with("unknown") => {
            Fault::new(error.span().unwrap_or(otherwise), what)
                .label("not known here")
                .help(format!("expected {expected}"))
        }
        _ => Fault::new(error.span().unwrap_or(otherwise), message),
    }
}

fn take_cases<'a>(document: &mut Spanned<DeTable<'a>>) -> Result<Vec<Case<'a>>, Fault> {
    let mut cases: Vec<Case<'a>> = vec![Vec::new()];
    if let Some(rows) = document.get_mut().remove("cases") {
        let span = rows.span();
        let wrong = || Fault::new(span.clone(), "`cases` must be tables: [[cases]]");
        let DeValue::Array(rows) = rows.into_inner() else {
            return Err(wrong());
        };
        cases = rows
            .into_iter()
            .map(|row| match row.into_inner() {
                DeValue::Table(row) => Ok(row
                    .into_iter()
                    .map(|(name, value)| (name.into_inner().into_owned(), value))
                    .collect()),
                _ => Err(wrong()),
            })
            .collect::<Result<_, _>>()?;
    }
    if let Some(matrix) = document.get_mut().remove("matrix") {
        let span = matrix.span();
        let DeValue::Table(matrix) = matrix.into_inner() else {
            return Err(Fault::new(span, "`matrix` must be a table: [matrix]"));
        };
        for (name, values) in matrix {
            let span = values.span();
            let DeValue::Array(values) = values.into_inner() else {
                return Err(Fault::new(
                    span,
                    "a variable of `matrix` must be a list of values",
                ));
            };
            cases = cases
                .into_iter()
                .flat_map(|case| {
                    let name = name.get_ref().clone().into_owned();
                    values.iter().map(move |value| {
                        let mut case = case.clone();
                        case.push((name.clone(), value.clone()));
                        case
                    })
                })
                .collect();
            if cases.len() > MAX_CASES {
                let message = format!("{} cases, more than {MAX_CASES}", cases.len());
                return Err(Fault::new(span, message));
            }
        }
    }
    Ok(cases)
}

/// Puts the values of a case in; the places stay those of the names.
fn substitute<'a>(value: &mut Spanned<DeValue<'a>>, case: &Case<'a>) -> Result<(), Fault> {
    let span = value.span();
    match value.get_mut() {
        DeValue::String(text) => {
            let Some(name) = text.strip_prefix('$') else {
                return Ok(());
            };
            let Some((_, with)) = case.iter().find(|(known, _)| known == name) else {
                return Err(Fault::new(span, format!("no variable `{name}`"))
                    .label("not in [matrix] or [[cases]]"));
            };
            *value.get_mut() = with.get_ref().clone();
            Ok(())
        }
        DeValue::Array(values) => values
            .iter_mut()
            .try_for_each(|value| substitute(value, case)),
        DeValue::Table(table) => table
            .iter_mut()
            .try_for_each(|(_, value)| substitute(value, case)),
        _ => Ok(()),
    }
}

/// A value as the name of a case shows it.
fn words(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| words(value.get_ref())).collect();
            format!("[{}]", values.join(" "))
        }
        DeValue::Table(table) => {
            let fields: Vec<String> = table
                .iter()
                .map(|(name, value)| format!("{} {}", name.get_ref(), words(value.get_ref())))
                .collect();
            fields.join(" ")
        }
        other => other.type_str().into(),
    }
}
