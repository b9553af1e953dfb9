//! What can be cut from the text of a vector, as a tree.

use std::collections::BTreeSet;

use toml::{Table, Value};

/// Whether a smaller one is as good.
type Holds<'a> = &'a mut dyn FnMut(&Table) -> bool;

/// A place in the tree.
type Path = Vec<Key>;

#[derive(Clone, Debug, PartialEq)]
enum Key {
    Name(String),
    Index(usize),
}

/// Tables of objects by their names, and of variables, which objects may need.
const OBJECTS: [&str; 13] = [
    "connection",
    "connector",
    "listener",
    "shared_endpoint",
    "qp",
    "srq",
    "window",
    "region",
    "memory",
    "cq",
    "pd",
    "node",
    "matrix",
];

/// Numbers that say how much or how long.
const AMOUNTS: [&str; 18] = [
    "length",
    "bytes",
    "times",
    "clocks",
    "offset",
    "jitter",
    "buffer",
    "mark",
    "duplicate",
    "reorder",
    "interval",
    "count",
    "requests",
    "queue_pairs",
    "max_size",
    "tokens",
    "srqs",
    "pages",
];

/// Amounts that must fit each other, as the lengths of a send and of its receive.
const FITTING: [&str; 2] = ["length", "bytes"];

/// What random traffic can do without.
const EXTRAS: [&str; 4] = ["loss", "duplicate", "reorder", "corrupt"];

/// Leaves one value in each variable, as long as the case is still there: `has_case` says so of a text.
pub(super) fn one_case(doc: &mut Table, has_case: impl Fn(&str) -> bool) {
    let has_case = |doc: &Table| toml::to_string(doc).is_ok_and(|text| has_case(&text));
    if let Some(Value::Array(rows)) = doc.get("cases").cloned() {
        try_each(
            doc,
            rows,
            |doc, row| {
                doc.insert("cases".into(), Value::Array(vec![row]));
            },
            &has_case,
        );
    }
    let Some(Value::Table(matrix)) = doc.get("matrix").cloned() else {
        return;
    };
    for (name, values) in matrix {
        let Value::Array(values) = values else {
            continue;
        };
        try_each(
            doc,
            values,
            |doc, value| {
                if let Some(Value::Table(matrix)) = doc.get_mut("matrix") {
                    matrix.insert(name.clone(), Value::Array(vec![value]));
                }
            },
            &has_case,
        );
    }
}

/// Puts the first value in with which it is good.
fn try_each(
    doc: &mut Table,
    values: Vec<Value>,
    put: impl Fn(&mut Table, Value),
    is_good: &dyn Fn(&Table) -> bool,
) {
    for value in values {
        let mut one = doc.clone();
        put(&mut one, value);
        if is_good(&one) {
            *doc = one;
            return;
        }
    }
}

/// Cuts as long as anything can be cut.
pub(super) fn all(doc: &mut Table, holds: Holds<'_>) {
    loop {
        let before = doc.clone();
        for list in ["steps", "network"] {
            shorten(doc, &[Key::Name(list.into())], holds);
        }
        objects(doc, holds);
        together(doc, holds);
        let mut paths = Vec::new();
        walk(&Value::Table(doc.clone()), &mut Vec::new(), &mut paths);
        for path in paths.iter().rev() {
            one(doc, path, holds);
        }
        if *doc == before {
            return;
        }
    }
}

/// Leaves objects out that nothing needs.
fn objects(doc: &mut Table, holds: Holds<'_>) {
    for kind in OBJECTS {
        let names: Vec<String> = match doc.get(kind) {
            Some(Value::Table(all)) => all.keys().cloned().collect(),
            _ => continue,
        };
        for name in names {
            let mut fewer = doc.clone();
            if let Some(Value::Table(all)) = fewer.get_mut(kind) {
                all.remove(&name);
                if all.is_empty() {
                    fewer.remove(kind);
                }
            }
            keep_if(doc, fewer, holds);
        }
    }
}

fn keep_if(doc: &mut Table, smaller: Table, holds: Holds<'_>) -> bool {
    let good = smaller != *doc && holds(&smaller);
    if good {
        *doc = smaller;
    }
    good
}

/// Leaves entries of a list out: halves first, then quarters, at last single ones, from the end.
fn shorten(doc: &mut Table, path: &[Key], holds: Holds<'_>) {
    let length = |doc: &Table| match at(doc, path) {
        Some(Value::Array(entries)) => entries.len(),
        _ => 0,
    };
    let mut size = length(doc).div_ceil(2);
    while size > 0 {
        let mut end = length(doc);
        while end > 0 {
            let start = end.saturating_sub(size);
            let mut fewer = doc.clone();
            if let Some(Value::Array(entries)) = at_mut(&mut fewer, path) {
                entries.drain(start..end);
            }
            keep_if(doc, fewer, holds);
            end = start;
        }
        size /= 2;
    }
}

/// Makes all lengths of the same value smaller at once.
fn together(doc: &mut Table, holds: Holds<'_>) {
    let mut paths = Vec::new();
    walk(&Value::Table(doc.clone()), &mut Vec::new(), &mut paths);
    paths.retain(|path| {
        FITTING
            .iter()
            .any(|name| path.last() == Some(&Key::Name((*name).into())))
    });
    let number = |doc: &Table, path: &[Key]| at(doc, path).and_then(Value::as_integer);
    let values: BTreeSet<i64> = paths.iter().filter_map(|path| number(doc, path)).collect();
    for value in values.into_iter().rev() {
        let all: Vec<&[Key]> = paths
            .iter()
            .map(Vec::as_slice)
            .filter(|path| number(doc, path) == Some(value))
            .collect();
        if all.len() > 1 {
            reduce(doc, &all, value, holds);
        }
    }
}

/// Makes what stands at a place smaller.
fn one(doc: &mut Table, path: &[Key], holds: Holds<'_>) {
    let name = path.iter().rev().find_map(|key| match key {
        Key::Name(name) => Some(name.as_str()),
        Key::Index(_) => None,
    });
    let name = name.unwrap_or_default();
    // A value of a variable may be any amount; what it must not be, the checks say.
    let in_matrix = path.first() == Some(&Key::Name("matrix".into()));
    let in_traffic = path.first() == Some(&Key::Name("traffic".into()));
    let set = |doc: &Table, value: Value| {
        let mut other = doc.clone();
        if let Some(place) = at_mut(&mut other, path) {
            *place = value;
        }
        other
    };
    match at(doc, path).cloned() {
        // The lists of the top are objects' and steps', and have had their turn.
        Some(Value::Array(_)) if path.len() > 1 => shorten(doc, path, holds),
        Some(Value::Integer(value)) if in_matrix || AMOUNTS.contains(&name) => {
            reduce(doc, &[path], value, holds);
        }
        Some(Value::Float(value)) if in_traffic && value != 0.0 && EXTRAS.contains(&name) => {
            keep_if(doc, set(doc, Value::Float(0.0)), holds);
        }
        Some(Value::Boolean(true)) if in_traffic => {
            keep_if(doc, set(doc, Value::Boolean(false)), holds);
        }
        _ => {}
    }
}

/// The least number at some places that holds, by halves of what is left.
fn reduce(doc: &mut Table, paths: &[&[Key]], mut value: i64, holds: Holds<'_>) {
    let mut step = value;
    while step > 0 {
        let mut less = doc.clone();
        for path in paths {
            if let Some(place) = at_mut(&mut less, path) {
                *place = Value::Integer(value - step);
            }
        }
        if value >= step && keep_if(doc, less, holds) {
            value -= step;
            step = step.min(value);
        } else {
            step /= 2;
        }
    }
}

/// All places below one.
fn walk(value: &Value, here: &mut Path, out: &mut Vec<Path>) {
    if !here.is_empty() {
        out.push(here.clone());
    }
    let children: Vec<(Key, &Value)> = match value {
        Value::Table(table) => table
            .iter()
            .map(|(name, value)| (Key::Name(name.clone()), value))
            .collect(),
        Value::Array(entries) => entries
            .iter()
            .enumerate()
            .map(|(index, value)| (Key::Index(index), value))
            .collect(),
        _ => return,
    };
    for (key, child) in children {
        here.push(key);
        walk(child, here, out);
        here.pop();
    }
}

fn at<'a>(doc: &'a Table, path: &[Key]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let Key::Name(name) = first else {
        return None;
    };
    rest.iter()
        .try_fold(doc.get(name)?, |value, key| match key {
            Key::Name(name) => value.get(name),
            Key::Index(index) => value.get(index),
        })
}

fn at_mut<'a>(doc: &'a mut Table, path: &[Key]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    let Key::Name(name) = first else {
        return None;
    };
    rest.iter()
        .try_fold(doc.get_mut(name)?, |value, key| match key {
            Key::Name(name) => value.get_mut(name),
            Key::Index(index) => value.get_mut(index),
        })
}
