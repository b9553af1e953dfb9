//! A run that failed: what a person is told, and what is kept of it.

use std::path::Path;

use tandem_testbench::failures::{self, Failed, KeepError, Kept};
use tandem_testbench::signoff::FailureRow;

use super::{Targets, report};

/// Keeps the files of a run that failed; `None` if it had no engine, and those alone are kept. `file` is where its
/// vector stands.
pub fn keep(
    targets: &Targets,
    file: &Path,
    failed: &Failed<'_>,
) -> Option<Result<Kept, KeepError>> {
    if !targets.keep_all && failures::engines(failed.vector, failed.options).is_empty() {
        return None;
    }
    let report = words(file, failed);
    let failed = Failed {
        report: &report,
        ..*failed
    };
    Some(failures::keep(&targets.failures, &failed))
}

/// The report.
pub fn words(file: &Path, failed: &Failed<'_>) -> String {
    let fault = report::fault(file, failed.text, &failed.failure.fault);
    let detail = failed.failure.detail.as_deref().unwrap_or_default();
    format!(
        "FAILED {}: {}\n{}\n{}",
        failed.vector.title(),
        failed.failure.kind,
        report::plain(&fault),
        detail.trim_end()
    )
    .trim_end()
    .to_owned()
}

/// Prints what was kept, and how to run it again: from what was kept, else with `otherwise`.
pub fn print(kept: Option<&Result<Kept, KeepError>>, failed: &Failed<'_>, otherwise: &str) {
    match kept {
        Some(Ok(kept)) => {
            if let Some(note) = &kept.note {
                println!("{}\n", note.trim_end());
            }
            println!("kept of it:");
            for file in &kept.files {
                println!("  {}", file.display());
            }
            let command = failures::command(&kept.vector, failed.vector, failed.options);
            println!("\nrun it again with:\n  {command}\n");
        }
        Some(Err(error)) => println!("{error}\n\nrun it again with:\n  {otherwise}\n"),
        None => println!("run it again with:\n  {otherwise}\n"),
    }
}

/// A run that failed; `file` is where its vector stands, `command` does it again.
pub fn row(
    title: String,
    file: &Path,
    found: &Failed<'_>,
    kept: Option<&Result<Kept, KeepError>>,
    command: String,
) -> FailureRow {
    let mut report = words(file, found);
    let (mut files, mut timing) = Default::default();
    match kept {
        None => {}
        Some(Ok(kept)) => {
            if let Some(note) = &kept.note {
                report.push_str(&format!("\n\n{note}"));
            }
            files = kept.files.clone();
            timing = kept.timings.clone();
        }
        Some(Err(error)) => report.push_str(&format!("\n\n{error}")),
    }
    FailureRow {
        title,
        kind: found.failure.kind,
        message: found.failure.fault.message.clone(),
        report,
        command,
        files,
        timing,
    }
}
