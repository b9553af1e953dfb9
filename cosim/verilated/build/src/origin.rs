//! Which clone of the repository a target directory was built from last.
//!
//! Clones may share a target directory, and cargo compares times of files only: sources of this clone that are older than
//! what was built from another one look as if they had been built. A clone has a mark for each output directory that holds
//! what was built from it; it is taken away as another clone builds there. Cargo finds it missing then, and builds anew.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};

/// Where marks are, in a clone.
const MARKS: &str = ".tools/built";

/// What is in `out` comes from the clone `root` from now on. Its mark there.
pub(crate) fn claim(root: &Path, out: &Path) -> Result<PathBuf> {
    let mark = mark(out);
    let record = out.join("origin");
    if let Ok(last) = fs::read_to_string(&record)
        && Path::new(&last) != root
    {
        // It may be gone, with its clone.
        let _ = fs::remove_file(Path::new(&last).join(&mark));
    }
    let path = root.join(&mark);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let file = File::create(&path).map_err(Error::io(&path))?;
    // Cargo takes what is newer than the start of this script for a change.
    let set = file.set_modified(SystemTime::UNIX_EPOCH);
    set.map_err(Error::io(&path))?;
    fs::write(&record, root.as_os_str().as_encoded_bytes()).map_err(Error::io(&record))?;
    Ok(mark)
}

/// The mark of an output directory, from the root of a clone.
fn mark(out: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    out.hash(&mut hasher);
    Path::new(MARKS).join(format!("{:016x}", hasher.finish()))
}

/// A path below the root of a clone as seen from the folder of a package in it: in another clone it leads to that one's.
pub(crate) fn seen_from(package: &Path, root: &Path, path: &Path) -> PathBuf {
    let Ok(below) = package.strip_prefix(root) else {
        return root.join(path);
    };
    let up = below.components().map(|_| "..");
    up.collect::<PathBuf>().join(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_clone_has_its_mark() {
        let folder = std::env::temp_dir().join(format!("tandem-origin-{}", std::process::id()));
        let [a, b, out, other] = ["a", "b", "out", "other"].map(|name| folder.join(name));
        for out in [&out, &other] {
            fs::create_dir_all(out).unwrap();
        }
        let has = |root: &Path, mark: &Path| root.join(mark).is_file();
        let mark = claim(&a, &out).unwrap();
        let elsewhere = claim(&a, &other).unwrap();
        assert!(has(&a, &mark) && !has(&b, &mark));
        for (last, before) in [(&b, &a), (&b, &a), (&a, &b)] {
            assert_eq!(claim(last, &out).unwrap(), mark);
            assert!(has(last, &mark) && !has(before, &mark));
            assert!(has(&a, &elsewhere), "another output directory");
        }
        let modified = fs::metadata(a.join(&mark)).unwrap().modified();
        assert_eq!(modified.unwrap(), SystemTime::UNIX_EPOCH);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn paths_lead_up_from_the_package() {
        let seen = |package: &str| {
            let path = seen_from(Path::new(package), Path::new("/x"), Path::new("rtl/a.sv"));
            path.display().to_string()
        };
        assert_eq!(seen("/x/cosim"), "../rtl/a.sv");
        assert_eq!(seen("/x/cosim/verilated"), "../../rtl/a.sv");
        assert_eq!(seen("/x"), "rtl/a.sv");
        assert_eq!(seen("/elsewhere"), "/x/rtl/a.sv");
    }
}
