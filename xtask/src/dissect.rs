//! A dissector that is not ours reads what the vectors put on the wire: it must find nothing wrong.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::process::{output, root, run, tandem};

/// A run to capture, and what must be seen in it.
struct Capture {
    vector: &'static str,
    case: Option<&'static str>,
    /// Words of the dissector's column of information.
    seen: &'static [&'static str],
}

const MADE: &[&str] = &[
    "CM: ConnectRequest",
    "CM: ConnectReply",
    "CM: ReadyToUse",
    "RC Send First",
    "RC Acknowledge",
    "CM: DisconnectRequest",
    "CM: DisconnectReply",
];

const CAPTURES: [Capture; 6] = [
    Capture {
        vector: "connection/made",
        case: Some("[ip = 4]"),
        seen: MADE,
    },
    Capture {
        vector: "connection/made",
        case: Some("[ip = 6]"),
        seen: MADE,
    },
    Capture {
        vector: "connection/lossy",
        case: None,
        seen: MADE,
    },
    Capture {
        vector: "connection/rejected",
        case: None,
        seen: &["CM: ConnectReject"],
    },
    Capture {
        vector: "bind/invalidated_by_the_peer",
        case: None,
        seen: &["RC Send Only Invalidate", "RC RDMA Write Only"],
    },
    Capture {
        vector: "read/refused_midway",
        case: None,
        seen: &["RC RDMA Read Request", "RC RDMA Read Response"],
    },
];

/// Frames that cannot be dissected, or that have an error.
const WRONG: &str = "_ws.malformed || _ws.expert.severity >= 8388608";
/// What the dissector has against a UDP checksum of 0 over IPv6, which is right for RoCEv2: the only thing that may be wrong.
const RIGHT: &str = "Illegal checksum value (0)";
/// A heuristic of the dissector that takes short sends for something else.
const QUIRKS: [&str; 2] = ["--disable-protocol", "rpcordma"];

/// Captures the runs on the model, and has each dissected. Where the dissector is not installed nothing is checked, but on
/// a machine of continuous integration it has to be.
pub fn all() -> Result {
    if Command::new("tshark").arg("--version").output().is_err() {
        if std::env::var_os("CI").is_some() {
            return Err(Failure("tshark is not on the PATH".into()));
        }
        println!("not checked: tshark is not on the PATH");
        return Ok(());
    }
    let folder = root().join("target/dissect");
    fs::create_dir_all(&folder)
        .map_err(|error| Failure(format!("cannot make {}: {error}", folder.display())))?;
    for (number, capture) in CAPTURES.iter().enumerate() {
        let file = folder.join(format!("{number}.pcapng"));
        let vector = format!("testbench/vectors/{}.toml", capture.vector);
        let mut command = tandem(&["--quiet", "--no-default-features"], &["run", &vector]);
        if let Some(case) = capture.case {
            command.args(["--case", case]);
        }
        run("tandem run", command.arg("--capture").arg(&file))?;
        let messages = [
            "-T",
            "fields",
            "-e",
            "frame.number",
            "-e",
            "_ws.expert.message",
        ];
        let wrong = dissected(&file, &[&["-Y", WRONG], &messages[..]].concat())?;
        let wrong = wrong.lines().filter(|line| {
            let (_, message) = line.split_once('\t').unwrap_or((line, ""));
            message != RIGHT
        });
        let wrong: Vec<&str> = wrong.collect();
        if !wrong.is_empty() {
            let (title, wrong) = (capture.vector, wrong.join("\n"));
            return Err(Failure(format!("{title}: frames with errors:\n{wrong}")));
        }
        let lines = dissected(&file, &[])?;
        if let Some(missing) = capture.seen.iter().find(|words| !lines.contains(**words)) {
            let title = capture.vector;
            return Err(Failure(format!("{title}: no `{missing}` in\n{lines}")));
        }
        println!("{} frames dissected", lines.lines().count());
    }
    Ok(())
}

/// What the dissector prints, with those options: a line for each frame.
fn dissected(file: &Path, options: &[&str]) -> Result<String> {
    let mut tshark = Command::new("tshark");
    tshark.args(QUIRKS).arg("-r").arg(file);
    tshark.args(options);
    let found = output("tshark", &mut tshark)?;
    if !found.status.success() {
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        return Err(Failure(format!("tshark failed: {said}")));
    }
    Ok(String::from_utf8_lossy(&found.stdout).into_owned())
}
