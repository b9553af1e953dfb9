//! A run that failed: what a person is told, and what is kept of it.

use std::path::Path;

use tandem_testbench::failures::{self, Failed, KeepError, Kept};

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
