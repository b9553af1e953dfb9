//! Coverage of a shard, in parts, so that a program that is killed loses no more than its last one.
//!
//! Lines of runs are written first and name their part; the part's file comes after them and at once. Lines of a part that is not there
//! do not count: their runs are done again, and counted once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::record::{Ended, Line, Writer};
use super::{Folder, Result};
use crate::coverage::Cover;
use crate::coverage::code::Points;
use crate::coverage::data::Data;

/// Time that a part takes up.
const PART: Duration = Duration::from_secs(10);

/// See the module.
pub(super) struct Parts {
    folder: PathBuf,
    /// Begin of the parts' names: none that an earlier program has used.
    prefix: String,
    number: u32,
    command: String,
    cover: Cover,
    waiting: Vec<Line>,
    since: Instant,
}

impl Parts {
    /// No part yet.
    pub(super) fn new(folder: &Folder, prefix: String, command: String) -> Self {
        Self {
            folder: folder.parts(),
            prefix,
            number: 1,
            command,
            cover: Cover::default(),
            waiting: Vec::new(),
            since: Instant::now(),
        }
    }

    /// Takes a run and what it covered.
    pub(super) fn take(
        &mut self,
        writer: &mut Writer,
        mut ended: Ended,
        cover: &Arc<Cover>,
    ) -> Result<()> {
        ended.part = Some(self.name());
        self.cover.add(cover);
        self.waiting.push(Line::Ended(Box::new(ended)));
        match self.since.elapsed() >= PART {
            true => self.write(writer),
            false => Ok(()),
        }
    }

    /// Writes what waits.
    pub(super) fn write(&mut self, writer: &mut Writer) -> Result<()> {
        self.since = Instant::now();
        if self.waiting.is_empty() {
            return Ok(());
        }
        let cover = std::mem::take(&mut self.cover);
        let data = Data {
            functional: cover.functional(),
            code: self.code(&cover)?,
            commands: vec![self.command.clone()],
        };
        writer.write(&self.waiting)?;
        data.write(&self.folder, &self.name())?;
        self.waiting.clear();
        self.number += 1;
        Ok(())
    }

    fn code(&self, cover: &Cover) -> Result<Points> {
        cover.code().map_err(|cause| super::RegressError::Content {
            path: self.folder.join(self.name()),
            cause,
        })
    }

    fn name(&self) -> String {
        format!("{}-{}", self.prefix, self.number)
    }
}
