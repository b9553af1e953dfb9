//! The commands of Slurm.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use super::SlurmError;

/// States of tasks that will not run any more.
const OVER: [&str; 10] = [
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
];

/// What the queue says of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// In Slurm's word.
    pub(super) word: String,
    /// Why it waits.
    pub(super) reason: String,
}

impl State {
    /// Whether it runs or will run.
    pub(super) fn is_active(&self) -> bool {
        !OVER.contains(&self.word.as_str())
    }

    /// Whether it has not begun.
    pub(super) fn waits(&self) -> bool {
        self.is_active() && matches!(self.word.as_str(), "PENDING" | "REQUEUED" | "SPECIAL_EXIT")
    }
}

/// Tasks by their job and number.
pub(super) type Tasks = BTreeMap<(u64, u32), State>;

fn output(program: &'static str, arguments: &[String]) -> Result<Output, SlurmError> {
    // Ctrl-C is for this program: in a group of its own, the other one ends what it does.
    let mut command = Command::new(program);
    let ran = command.args(arguments).process_group(0).output();
    ran.map_err(|source| SlurmError::Missing { program, source })
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// Submits a script; the number of the job.
pub(super) fn submit(options: &[String], script: &Path) -> Result<u64, SlurmError> {
    let mut arguments = options.to_vec();
    arguments.push("--parsable".into());
    arguments.push(script.display().to_string());
    let ran = output("sbatch", &arguments)?;
    let text = said(&ran.stdout);
    // In a federation the cluster stands behind it.
    let job = text.lines().last().and_then(|line| line.split(';').next());
    match job.and_then(|job| job.parse().ok()) {
        Some(job) if ran.status.success() => Ok(job),
        _ => Err(SlurmError::Refused {
            command: format!("sbatch {}", arguments.join(" ")),
            message: said(&[ran.stderr, ran.stdout].concat()),
        }),
    }
}

/// Takes jobs out of the queue and ends what runs of them.
pub(super) fn cancel(jobs: &[u64]) -> Result<(), SlurmError> {
    let arguments: Vec<String> = jobs.iter().map(u64::to_string).collect();
    let ran = output("scancel", &arguments)?;
    match ran.status.success() {
        true => Ok(()),
        false => Err(SlurmError::Refused {
            command: format!("scancel {}", arguments.join(" ")),
            message: said(&ran.stderr),
        }),
    }
}

/// Asks for the tasks of jobs; what squeue said, if it does not answer. Slurm forgets tasks some minutes after their end.
pub(super) fn tasks(jobs: &[u64]) -> Result<Result<Tasks, String>, SlurmError> {
    let jobs: Vec<String> = jobs.iter().map(u64::to_string).collect();
    let arguments = [
        "--noheader".to_owned(),
        "--array".into(),
        "--states=all".into(),
        format!("--jobs={}", jobs.join(",")),
        "--format=%F|%K|%T|%r".into(),
    ];
    let ran = output("squeue", &arguments)?;
    if ran.status.success() {
        return Ok(Ok(parse(&said(&ran.stdout))));
    }
    let message = said(&ran.stderr);
    match message.contains("Invalid job id") {
        true => Ok(Ok(Tasks::new())),
        false => Ok(Err(message)),
    }
}

fn parse(text: &str) -> Tasks {
    let lines = text.lines().filter_map(|line| {
        let mut fields = line.split('|').map(str::trim);
        let job = fields.next()?.parse().ok()?;
        let task = fields.next()?.parse().ok()?;
        let word = fields.next()?.to_owned();
        let reason = fields.next().unwrap_or_default().to_owned();
        Some(((job, task), State { word, reason }))
    });
    lines.collect()
}

/// What became of a task that the queue has forgotten, where Slurm keeps accounts.
pub(super) fn account(job: u64, task: u32) -> Option<String> {
    let arguments = [
        "--noheader".to_owned(),
        "--parsable2".into(),
        "--allocations".into(),
        format!("--jobs={job}_{task}"),
        "--format=State,ExitCode".into(),
    ];
    let ran = output("sacct", &arguments).ok()?;
    let text = said(&ran.stdout);
    let (state, code) = text.lines().next()?.split_once('|')?;
    ran.status
        .success()
        .then(|| format!("{state}, exit code {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_with_their_states() {
        let text = "12|1|RUNNING|None\n12|2|PENDING|Resources\n12|3|CANCELLED|None\n13|3|NODE_FAIL|NodeDown\n12|N/A|x|y\n";
        let tasks = parse(text);
        let state = |job, task| &tasks[&(job, task)];
        assert_eq!(tasks.len(), 4);
        assert!(state(12, 1).is_active() && !state(12, 1).waits());
        assert!(state(12, 2).waits());
        assert_eq!(state(12, 2).reason, "Resources");
        assert!(!state(12, 3).is_active());
        assert!(!state(13, 3).is_active());
        assert!(parse("").is_empty());
    }
}
