//! Waivers: what need not be covered, each with its reason.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::code::{Kind, Spot};

/// A file of waivers that cannot be used.
#[derive(Debug, Error)]
#[error("{}: {cause}", path.display())]
pub struct WaiverError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, with line and column where it is the text.
    pub cause: String,
}

/// Waivers of a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waivers {
    /// Of points of the code.
    #[serde(default)]
    pub code: Vec<CodeWaiver>,
    /// Of bins of cover points.
    #[serde(default)]
    pub functional: Vec<BinWaiver>,
}

/// Whether something could be covered at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// It cannot be reached. If it is, that is an error.
    Unreachable,
    /// It could be reached, and is not.
    Untested,
}

/// A waiver of points of the code.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeWaiver {
    /// Files, from `rtl/` on; `*` stands for anything.
    pub file: String,
    /// Kind of the points; without one all but toggles.
    pub kind: Option<Kind>,
    /// What of the line, as reports name it; `*` stands for anything.
    #[serde(default = "anything")]
    pub what: String,
    /// Text that the line has: it is found by it, wherever it moves. Without one all lines.
    pub text: Option<String>,
    /// Whether it could be reached.
    pub claim: Claim,
    /// Why it is waived.
    pub reason: String,
}

/// A waiver of bins.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinWaiver {
    /// The point.
    pub point: String,
    /// Bins, as reports name them; `*` stands for anything.
    pub bin: String,
    /// Whether it could be reached.
    pub claim: Claim,
    /// Why it is waived.
    pub reason: String,
}

fn anything() -> String {
    "*".into()
}

impl Waivers {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not as it should be.
    pub fn read(path: &Path) -> Result<Self, WaiverError> {
        let wrong = |cause: String| WaiverError {
            path: path.into(),
            cause,
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let waivers: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let code = waivers.code.iter().map(|waiver| &waiver.reason);
        let functional = waivers.functional.iter().map(|waiver| &waiver.reason);
        match code
            .chain(functional)
            .any(|reason| reason.trim().is_empty())
        {
            true => Err(wrong("a waiver has no reason".into())),
            false => Ok(waivers),
        }
    }
}

impl CodeWaiver {
    /// Whether it is about a point; `source` is the text of its line.
    pub fn fits(&self, spot: &Spot, source: Option<&str>) -> bool {
        let kind = match self.kind {
            Some(kind) => kind == spot.kind,
            None => spot.kind != Kind::Toggle,
        };
        let text = self.text.as_deref();
        kind && fits(&self.file, &spot.file)
            && fits(&self.what, &spot.what)
            && text.is_none_or(|text| source.is_some_and(|source| source.contains(text)))
    }
}

impl BinWaiver {
    /// Whether it is about a bin of a point.
    pub fn fits(&self, point: &str, bin: &str) -> bool {
        self.point == point && fits(&self.bin, bin)
    }
}

/// Whether a text is as a pattern says, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let head = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(head) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest.get(at + part.len()..).unwrap_or_default();
        last = Some(part);
    }
    match last {
        None => rest.is_empty(),
        // The text may end with it again.
        Some(part) => part.is_empty() || rest.is_empty() || text.ends_with(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_they_should() {
        for (pattern, text, expected) in [
            ("*", "anything", true),
            ("a*", "abc", true),
            ("a*c", "abc", true),
            ("a*b", "abab", true),
            ("a*c", "abcd", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("*[3]", "data[3]", true),
            ("*[3]", "data[30]", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} and {text}");
        }
    }

    #[test]
    fn a_waiver_needs_a_reason_and_known_fields() {
        let folder = std::env::temp_dir().join(format!("tandem-waivers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("waivers.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Waivers::read(&path).map_err(|error| error.to_string())
        };
        let bin = "[[functional]]\npoint = 'a'\nbin = '*'\nclaim = 'unreachable'\n";
        assert!(read(&format!("{bin}reason = 'it is so'\n")).is_ok());
        assert!(
            read(&format!("{bin}reason = ' '\n"))
                .unwrap_err()
                .contains("no reason")
        );
        assert!(read(bin).unwrap_err().contains("reason"));
        let unknown = read(&format!("{bin}reason = 'x'\nwhat = 'y'\n")).unwrap_err();
        assert!(
            unknown.contains("what") && unknown.contains("line"),
            "{unknown}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
