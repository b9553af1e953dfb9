//! Which state of a repository something was made from.

use std::path::Path;
use std::process::Command;

/// The commit of a folder; `None`: it is in no repository, or there is no `git`.
pub fn commit(folder: &Path) -> Option<String> {
    git(folder, &["rev-parse", "HEAD"])
}

/// The commit of a folder, with `+` if something in it differs.
pub fn state(folder: &Path) -> Option<String> {
    let commit = commit(folder)?;
    let changed = git(folder, &["status", "--porcelain"])?;
    Some(match changed.is_empty() {
        true => commit,
        false => commit + "+",
    })
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let ran = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .output();
    let ran = ran.ok().filter(|ran| ran.status.success())?;
    Some(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}
