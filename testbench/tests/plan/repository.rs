//! A small repository with a plan, vectors and tests, for `tandem plan --root`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Its files. What claims to cover something is written with `\n`, so that it is no claim of the file here.
pub const FILES: [(&str, &str); 7] = [
    (
        "testbench/plan/ndk/transfers.toml",
        r#"[[set]]
prefix = "NDK-READ"
about = "NdkRead"
source = "NDK_FN_READ (ndkpi.h)"
rows = [
    [1, "posting", "provider", "arguments"],
    [2, "posting", "provider", "one request"],
    [3, "completion", "provider", "the context comes back"],
    [4, "completion", "open", "something undefined"],
]

[[set]]
prefix = "NDK-LAM"
about = "NdkBuildLAM"
source = "NDK_FN_BUILD_LAM (ndkpi.h)"
rows = [
    [1, "memory", "provider", "buffer too small"],
    [2, "memory", "provider", "size written"],
    [3, "memory", "consumer", "releases in time"],
]

[reasons]
NDK-LAM-2 = "it permits and asks for nothing"
"#,
    ),
    (
        "testbench/plan/rocev2/transport.toml",
        r#"[[set]]
prefix = "WIRE-PSN"
about = "packet sequence numbers"
source = "InfiniBand"
rows = [
    [1, "receive", "provider", "distances are signed"],
    [2, "send", "provider", "0 comes after the last one"],
]
"#,
    ),
    (
        "testbench/plan/open.toml",
        r#"[[open]]
missing = "logical address mappings"
ids = ["NDK-LAM-1"]
"#,
    ),
    (
        "testbench/plan/matrix.toml",
        r#"[[operation]]
name = "Send"
flags = ["SILENT_SUCCESS", "INLINE"]
returns = ["STATUS_CONNECTION_INVALID", "STATUS_DATA_OVERRUN"]
completes = ["STATUS_SUCCESS", "STATUS_CANCELLED"]

[[operation.never]]
flags = ["INLINE"]
returns = ["STATUS_DATA_OVERRUN"]
why = "inline requests have any number of elements"

[[operation]]
name = "Receive"
completes = ["STATUS_SUCCESS"]
"#,
    ),
    (
        "testbench/vectors/send.toml",
        r#"name = "send"
about = "A silent send and one that is told of."
covers = ["NDK-READ-1", "NDK-READ-2"]
setup = "pair"

[[steps]]
receive = "qb"
times = 2

[[steps]]
send = "qa"
flags = ["SILENT_SUCCESS"]

[[steps]]
send = "qa"
context = 1

[[steps]]
expect_results = "ca"
results = [{ context = 1 }]

[[steps]]
expect_results = "cb"
results = [{}, {}]
"#,
    ),
    (
        "model/tests/results.rs",
        "#[test]\n// Covers: NDK-READ-3, NDK-READ-2\nfn contexts_come_back() {}\n\n    // Covers: WIRE-PSN-2\n    #[test]\n    fn wraps(psn in any::<u32>()) {}\n",
    ),
    (
        "rtl/formal/distance.sv",
        "  // Covers: WIRE-PSN-1\n  a_signed: assert property (@(posedge clk) older == psn[23]);\n",
    ),
];

/// Puts it into a new folder, with one change: the file, what stands there, and what shall.
pub fn put(name: &str, change: Option<(&str, &str, &str)>) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("plan")
        .join(name);
    let _ = std::fs::remove_dir_all(&root);
    for (file, text) in FILES {
        let mut text = text.to_owned();
        if let Some((changed, from, to)) = change
            && changed == file
        {
            assert!(text.contains(from), "{name}: {from}");
            text = text.replacen(from, to, 1);
        }
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

/// Runs `tandem` there.
pub fn tandem(root: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(arguments)
        .current_dir(root)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// What it printed, without spaces at the ends of lines.
pub fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    let lines = out.lines().chain(err.lines());
    let text: String = lines.map(|line| format!("{}\n", line.trim_end())).collect();
    text.trim_end().to_owned() + "\n"
}

/// Compares with a golden text; with `TANDEM_BLESS=1` writes it instead.
pub fn compare(golden: &str, got: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/plan")
        .join(golden);
    if std::env::var_os("TANDEM_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, got).unwrap();
        return Ok(());
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if got == expected {
        return Ok(());
    }
    Err(format!("{golden}\nexpected:\n{expected}\ngot:\n{got}"))
}
