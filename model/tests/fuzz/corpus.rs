//! What the fuzzer begins with: the golden packets and the captures, as frames and as runs of the engine.

#![allow(dead_code, reason = "the example needs no regressions")]

#[path = "../wire_support/golden.rs"]
mod golden;

use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};

use pcap_file::pcap::PcapReader;

use super::properties::script::{self, Control, Sends};

/// An input, and the name of its file.
pub type Seed = (String, Vec<u8>);

/// Every frame once: inputs of the target `parse`.
pub fn frames() -> Vec<Seed> {
    let golden = golden::packets()
        .into_iter()
        .map(|golden| (format!("golden-{}", golden.name()), golden.frame));
    let captured = captures().into_iter().flat_map(|(name, frames)| {
        let numbered = (1..).zip(frames);
        numbered.map(move |(number, frame)| (format!("{name}-{number}"), frame))
    });
    golden.chain(captured).collect()
}

/// Runs of the engine, inputs of the target `receive`: each golden packet as it is, and aimed at the engine while it has
/// something of each kind under way; each capture in pieces of a few frames.
pub fn runs() -> Vec<Seed> {
    let aimed = Control::AIM.and(Control::EXPECTED).and(Control::SEAL);
    let mut runs = Vec::new();
    for golden in golden::packets() {
        let (name, frame) = (golden.name(), golden.frame.as_slice());
        let controls = [
            ("is", Control::AIM),
            ("alone", aimed),
            ("received", aimed.and(Control::RECEIVE)),
            ("sent", aimed.sending(Sends::Send)),
            ("written", aimed.sending(Sends::Write)),
            ("read", aimed.sending(Sends::Read)),
            ("invalidated", aimed.sending(Sends::Invalidate)),
        ];
        for (what, control) in controls {
            let later = Control::AIM.and(Control::SEAL).and(Control::TIME);
            let run = script::write([(control, frame), (control, frame), (later, frame)]);
            runs.push((format!("golden-{name}-{what}"), run));
        }
    }
    for (name, frames) in captures() {
        let control = aimed.and(Control::RECEIVE);
        for (number, piece) in frames.chunks(PIECE).enumerate() {
            let steps = piece.iter().map(|frame| (control, frame.as_slice()));
            runs.push((format!("{name}-{number}"), script::write(steps)));
        }
    }
    runs
}

/// What fuzzing once found, of a target.
pub fn regressions(target: &str) -> Vec<Seed> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions");
    let Ok(entries) = directory.join(target).read_dir() else {
        // Nothing was found yet.
        return Vec::new();
    };
    let read = |entry: std::io::Result<DirEntry>| {
        let path = entry.expect("a readable folder").path();
        let bytes = fs::read(&path).expect("a readable input");
        (path.display().to_string(), bytes)
    };
    entries.map(read).collect()
}

/// Frames of a capture in one run.
const PIECE: usize = 8;

/// The frames of each capture.
fn captures() -> Vec<(String, Vec<Vec<u8>>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rxe-captures");
    let entries = directory.read_dir().expect("the captures are there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "pcap"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let file = File::open(path).expect("a readable capture");
        let mut reader = PcapReader::new(file).expect("a capture");
        let mut frames = Vec::new();
        while let Some(packet) = reader.next_packet() {
            frames.push(packet.expect("a whole capture").data.into_owned());
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        (name.into_owned(), frames)
    };
    paths.iter().map(read).collect()
}
