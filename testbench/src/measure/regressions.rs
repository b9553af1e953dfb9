//! What a regression makes of the processors, and how its time grows with the work.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Figure, MeasureError, Result};
use crate::files;
use crate::regress::{
    Begun, Folder, Merged, RegressError, Seeds, Settings, Shard, Suite, Utilisation, Work,
    run_shard,
};
use crate::suite;
use crate::vector::TargetKind;

const VECTORS: u32 = 200;
const SEEDS: u64 = 5;
/// Requests at a time.
const BATCH: u64 = 32;
/// Work requests, in multiples of the least.
const GROWTH: [u64; 3] = [1, 4, 16];

/// Runs 200 vectors, each with five seeds and so many requests, on all processors; then with 4 and 16 times as many.
///
/// # Errors
/// If a run fails, or results cannot be written.
pub(super) fn measure(figures: &mut Vec<Figure>, requests: u64, kind: TargetKind) -> Result<()> {
    let mut times = Vec::new();
    for growth in GROWTH {
        let spent = spend(requests * growth, kind)?;
        let name = format!(
            "{kind}: {VECTORS} vectors x {SEEDS} seeds x {} requests",
            requests * growth
        );
        for (what, percent, machine) in [
            ("jobs with a run", spent.busy_percent(), false),
            ("processors used", spent.processors_percent(), true),
            ("of what others left", spent.left_percent(), false),
        ] {
            figures.push(Figure::new(
                format!("{name}: {what}"),
                percent,
                "%",
                machine,
            ));
        }
        times.push(spent.processors);
    }
    let [first, middle, last] = times[..] else {
        return Ok(());
    };
    for (growth, time) in [(4, middle), (16, last)] {
        let name = format!("{kind}: time of a regression with {growth} x the requests");
        figures.push(Figure::new(name, time / first, "x", false));
    }
    // 1 if it is linear, whatever a run costs that has no request.
    let slopes = [middle - first, last - middle].map(|more| more.max(f64::MIN_POSITIVE));
    let name = format!("{kind}: one request more, from 4 to 16 x against 1 to 4 x");
    figures.push(Figure::new(name, slopes[1] / slopes[0] / 4.0, "x", false));
    Ok(())
}

fn spend(requests: u64, kind: TargetKind) -> Result<Utilisation> {
    let parent = tempfile::tempdir().map_err(|source| RegressError::File {
        path: std::env::temp_dir(),
        source,
    })?;
    let vectors = parent.path().join("vectors");
    write(&vectors, requests)?;
    let suite = Suite::load(Settings {
        paths: vec![vectors],
        case: None,
        seeds: Seeds::Count(SEEDS),
        target: kind,
        nodes: BTreeMap::new(),
        scheduler: None,
        inject: None,
        debug: false,
        cover: false,
    })?;
    let folder = Folder::new(parent.path().join("regression"));
    let begun = Begun::now(&suite)?.begin(&folder)?;
    let work = Work {
        suite: &suite,
        begun: &begun,
        folder: &folder,
        jobs: suite::threads(),
        words: &|_, failed| failed.failure.fault.message.clone(),
    };
    let used = run_shard(&work, Shard::WHOLE, &mut |_| {})?;
    let merged = Merged::new(&folder, &begun, &suite)?;
    let wrong = merged.runs.iter().find_map(|row| row.failure.as_ref());
    match wrong {
        Some(told) => Err(MeasureError::Run(told.message.clone())),
        None => Ok(used),
    }
}

/// Vectors that differ in the size of their messages, so that some take longer than others.
fn write(folder: &Path, requests: u64) -> Result<()> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |source| RegressError::File { path, source }
    };
    std::fs::create_dir_all(folder).map_err(wrong(folder))?;
    for number in 0..VECTORS {
        let path = folder.join(format!("sends_{number}.toml"));
        let text = vector(number, requests, 64 << (number % 6));
        files::replace(&path, &text).map_err(wrong(&path))?;
    }
    Ok(())
}

/// Sends of a size, in batches, with every result expected.
fn vector(number: u32, requests: u64, size: u32) -> String {
    let batch = requests.min(BATCH);
    let mut text = format!(
        r#"name = "sends_{number}"
about = "Sends, with every result expected."
setup = "pair"
[memory.source]
node = "a"
bytes = {size}
fill = "counter"
[memory.target]
node = "b"
bytes = {size}
[region.source]
memory = "source"
[region.target]
memory = "target"
flags = ["ALLOW_LOCAL_WRITE"]
"#
    );
    for _ in 0..requests / batch.max(1) {
        text += &format!(
            r#"
[[steps]]
receive = "qb"
times = {batch}
sgl = [{{ region = "target", length = {size} }}]
[[steps]]
send = "qa"
times = {batch}
sgl = [{{ region = "source", length = {size} }}]
[[steps]]
expect_results = "ca"
results = [{{ context = 0, times = {batch} }}]
[[steps]]
expect_results = "cb"
results = [{{ context = 0, times = {batch}, bytes = {size} }}]
"#
        );
    }
    text + "\n[[steps]]\nexpect_memory = \"target\"\nsame_as = { memory = \"source\" }\n"
}
