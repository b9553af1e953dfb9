use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The sources that a `.f` file list names: one path per line, relative to the root of the
/// repository, `//` comments, and `+incdir+DIR` for include directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// Sources in the order of the list.
    pub sources: Vec<PathBuf>,
    /// Include directories in the order of the list.
    pub include_dirs: Vec<PathBuf>,
}

impl FileList {
    /// Reads a file list. `list` is relative to `root`, and so are the paths in it; a path that
    /// does not exist is an error, so that nothing is skipped silently.
    pub fn read(root: &Path, list: &Path) -> Result<Self> {
        let path = root.join(list);
        let text = fs::read_to_string(&path).map_err(Error::io(list))?;
        let parsed = Self::parse(list, &text)?;
        for (kind, entry) in parsed
            .sources
            .iter()
            .map(|p| ("file", p))
            .chain(parsed.include_dirs.iter().map(|p| ("directory", p)))
        {
            if !root.join(entry).exists() {
                let line = text
                    .lines()
                    .position(|l| l.contains(&*entry.to_string_lossy()));
                return Err(Error::FileList {
                    list: list.into(),
                    line: line.map_or(0, |l| l + 1),
                    reason: format!("no such {kind}: {}", entry.display()),
                });
            }
        }
        Ok(parsed)
    }

    /// Parses the text of a file list; `list` is its name for messages.
    pub fn parse(list: &Path, text: &str) -> Result<Self> {
        let mut files = Self::default();
        for (number, line) in text.lines().enumerate() {
            let entry = line.split("//").next().unwrap_or_default().trim();
            if entry.is_empty() {
                continue;
            }
            let error = |reason: &str| Error::FileList {
                list: list.into(),
                line: number + 1,
                reason: reason.into(),
            };
            if let Some(dir) = entry.strip_prefix("+incdir+") {
                files.include_dirs.push(dir.into());
            } else if entry.starts_with(['+', '-']) {
                return Err(error("options other than +incdir+ are not supported"));
            } else if Path::new(entry).is_absolute() {
                return Err(error("absolute path"));
            } else {
                files.sources.push(entry.into());
            }
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_comments_and_include_directories() {
        let text = "// the engine\nrtl/nd_pkg.sv\n\n+incdir+rtl/lib\nrtl/nd_engine.sv // top\n";
        let files = FileList::parse(Path::new("x.f"), text).unwrap();
        assert_eq!(
            files.sources,
            ["rtl/nd_pkg.sv", "rtl/nd_engine.sv"].map(PathBuf::from)
        );
        assert_eq!(files.include_dirs, [PathBuf::from("rtl/lib")]);
    }

    #[test]
    fn unknown_options_are_refused_with_their_line() {
        let error = FileList::parse(Path::new("x.f"), "a.sv\n-f y.f\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "x.f:2: options other than +incdir+ are not supported"
        );
    }

    #[test]
    fn a_missing_source_is_refused_with_its_line() {
        let dir = std::env::temp_dir().join(format!("verilated-filelist-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("x.f"), "// none\nno/such.sv\n").unwrap();
        let error = FileList::read(&dir, Path::new("x.f")).unwrap_err();
        assert_eq!(error.to_string(), "x.f:2: no such file: no/such.sv");
        fs::remove_dir_all(&dir).unwrap();
    }
}
