//! Two JSON values.

use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN: usize = 400;
/// Keys whose value tells which entry of a list it is.
const NAMES: [&str; 4] = ["title", "name", "id", "number"];

/// The first place at which they differ.
pub(super) fn difference(a: &Value, b: &Value) -> Option<String> {
    let mut path = String::new();
    find(a, b, &mut path)
}

fn find(a: &Value, b: &Value, path: &mut String) -> Option<String> {
    if a == b {
        return None;
    }
    match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            let more = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(more) {
                let length = path.len();
                path.push_str(&format!("/{key}"));
                let found = match (one.get(key), other.get(key)) {
                    (Some(a), Some(b)) => find(a, b, path),
                    (a, b) => Some(told(path, a, b)),
                };
                if found.is_some() {
                    return found;
                }
                path.truncate(length);
            }
            None
        }
        (Value::Array(one), Value::Array(other)) => {
            for (index, (a, b)) in one.iter().zip(other).enumerate() {
                let length = path.len();
                path.push_str(&format!("/{index}{}", name(a)));
                let found = find(a, b, path);
                if found.is_some() {
                    return found;
                }
                path.truncate(length);
            }
            let at = one.len().min(other.len());
            path.push_str(&format!("/{at}"));
            Some(told(path, one.get(at), other.get(at)))
        }
        (a, b) => Some(told(path, Some(a), Some(b))),
    }
}

/// What an entry is called.
fn name(entry: &Value) -> String {
    let found = NAMES.iter().find_map(|key| entry.get(key));
    found.map_or_else(String::new, |value| format!(" ({})", shown(Some(value))))
}

fn told(path: &str, a: Option<&Value>, b: Option<&Value>) -> String {
    let path = if path.is_empty() { "/" } else { path };
    format!("at {path}\nA {}\nB {}\n", shown(a), shown(b))
}

/// Text as lines, everything else as JSON.
fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None => return "has nothing there".into(),
        Some(Value::String(text)) => text.trim_end().replace('\n', "\n  "),
        Some(other) => other.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
