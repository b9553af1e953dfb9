//! What jobs need, and which were submitted: a collector that is begun again finds those of the one before.

use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Request, SlurmError, client, ranges};
use crate::regress::{Folder, Shard};

/// A job that was submitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Submitted {
    /// Its number.
    pub(super) job: u64,
    /// Its shards.
    pub(super) shards: Vec<Shard>,
}

/// The jobs of a regression.
pub(super) struct Jobs {
    folder: PathBuf,
    options: Vec<String>,
    at_once: Option<u32>,
    /// All that were submitted, the last one last.
    pub(super) submitted: Vec<Submitted>,
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> SlurmError {
    |source| SlurmError::File {
        path: path.into(),
        source,
    }
}

/// A word that the shell leaves as it is.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

impl Jobs {
    /// Writes what jobs need: the script, and a copy of this program, which may be built anew while they wait.
    pub(super) fn prepare(folder: &Folder, request: &Request) -> Result<Self, SlurmError> {
        let parent = folder.slurm();
        std::fs::create_dir_all(&parent).map_err(at(&parent))?;
        let all = parent.canonicalize().map_err(at(&parent))?;
        let program = all.join("tandem");
        if !program.is_file() {
            let own = std::env::current_exe().map_err(at(&program))?;
            let part = all.join("tandem.part");
            std::fs::copy(&own, &part).map_err(at(&part))?;
            std::fs::rename(&part, &program).map_err(at(&program))?;
        }
        let output = folder.path().canonicalize().map_err(at(folder.path()))?;
        let script = all.join("shard.sh");
        let text = format!(
            "#!/bin/sh\n# A shard of a regression: Slurm says which one.\nexport TANDEM_CONFIG=\n\
             exec {} regress --output {} --resume --shard \"$SLURM_ARRAY_TASK_ID/{}\" --jobs {} --quiet\n",
            quoted(&program),
            quoted(&output),
            request.shards,
            request.jobs,
        );
        std::fs::write(&script, text).map_err(at(&script))?;
        std::fs::set_permissions(&script, Permissions::from_mode(0o755)).map_err(at(&script))?;
        let log = all.display().to_string().replace('%', "%%") + "/%A_%a.log";
        let mut options = vec![
            "--job-name=tandem-regress".to_owned(),
            format!("--output={log}"),
            "--open-mode=append".into(),
            format!("--cpus-per-task={}", request.jobs),
        ];
        options.extend(request.options.iter().cloned());
        let mut jobs = Self {
            folder: all,
            options,
            at_once: request.at_once,
            submitted: Vec::new(),
        };
        jobs.remember()?;
        Ok(jobs)
    }

    fn list(&self) -> PathBuf {
        self.folder.join("jobs.jsonl")
    }

    fn remember(&mut self) -> Result<(), SlurmError> {
        let path = self.list();
        if !path.is_file() {
            return Ok(());
        }
        let text = std::fs::read_to_string(&path).map_err(at(&path))?;
        let lines = text.lines();
        self.submitted = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        Ok(())
    }

    /// Submits shards as an array; the number of the job.
    pub(super) fn submit(&mut self, shards: &[Shard]) -> Result<u64, SlurmError> {
        let mut options = self.options.clone();
        let limit = self.at_once.map(|limit| format!("%{limit}"));
        let limit = limit.unwrap_or_default();
        options.push(format!("--array={}{limit}", ranges(shards)));
        let job = client::submit(&options, &self.folder.join("shard.sh"))?;
        let submitted = Submitted {
            job,
            shards: shards.to_vec(),
        };
        let path = self.list();
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let line = serde_json::to_string(&submitted).unwrap_or_default() + "\n";
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(at(&path))?;
        self.submitted.push(submitted);
        Ok(job)
    }

    /// The last job of a shard.
    pub(super) fn last(&self, shard: Shard) -> Option<u64> {
        let mut jobs = self.submitted.iter().rev();
        let job = jobs.find(|job| job.shards.contains(&shard))?;
        Some(job.job)
    }

    /// Numbers of all jobs.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.submitted.iter().map(|job| job.job).collect()
    }

    /// The end of what the last program of a shard printed.
    pub(super) fn printed(&self, job: u64, shard: Shard) -> Option<String> {
        const LINES: usize = 6;
        let path = self.folder.join(format!("{job}_{}.log", shard.index()));
        let text = std::fs::read(path).ok()?;
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(LINES);
        Some(lines.get(from..)?.join("\n")).filter(|text| !text.is_empty())
    }
}
