//! What a user is told whose design cannot be built: a package of its own is built with cargo, as a user does it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use verilated_build::Verilator;

const BUILD: &str = r#"
use verilated_build::{Design, Error};

fn main() {
    verilated_build::script(|| {
        let mut shim = cc::Build::new();
        Design::new("card").file_list("rtl/card.f").build()?.configure(&mut shim);
        println!("cargo::rerun-if-changed=src");
        shim.file("src/shim.cc").try_compile("card_shim").map_err(Error::compiling("src/shim.cc"))
    });
}
"#;
const LIST: &str = "rtl/card.sv\n";
const DESIGN: &str = "\
module card (
  input  logic       clk,
  output logic [7:0] count
);
  always_ff @(posedge clk) count <= count + 8'd1;
endmodule
";
const SHIM: &str = "#include \"Vcard.h\"\nunsigned card_ports() { return sizeof(Vcard); }\n";

/// The package.
struct Card(PathBuf);

impl Card {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("card");
        for part in ["rtl", "src"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let helper = env!("CARGO_MANIFEST_DIR");
        let manifest = format!(
            "[package]\nname = \"card\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[build-dependencies]\n\
             cc = \"1\"\nverilated-build = {{ path = {helper:?} }}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        // The versions that are here already.
        let lock = Path::new(helper).join("../../../Cargo.lock");
        fs::copy(lock, folder.join("Cargo.lock")).unwrap();
        fs::write(folder.join("build.rs"), BUILD).unwrap();
        fs::write(folder.join("src/lib.rs"), "").unwrap();
        Self(folder)
    }

    /// Builds it with these three files; what cargo says if it fails.
    fn build(&self, list: &str, design: &str, shim: &str) -> Result<(), String> {
        for (path, text) in [
            ("rtl/card.f", list),
            ("rtl/card.sv", design),
            ("src/shim.cc", shim),
        ] {
            fs::write(self.0.join(path), text).unwrap();
        }
        let verilator = Verilator::find().unwrap();
        let output = Command::new(env!("CARGO"))
            .args(["build", "--offline", "--color", "never"])
            .current_dir(&self.0)
            .env("CARGO_TARGET_DIR", self.0.join("target"))
            .env("TANDEM_VERILATOR", verilator.binary())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => Ok(()),
            Some(101) => Err(said),
            other => panic!("cargo ended with {other:?}:\n{said}"),
        }
    }
}

#[test]
fn file_line_and_cause_are_told() {
    let card = Card::new();
    card.build(LIST, DESIGN, SHIM)
        .unwrap_or_else(|said| panic!("{said}"));

    let design = |from: &str, to: &str| {
        assert!(DESIGN.contains(from));
        DESIGN.replace(from, to)
    };
    // A slip of the pen, a module that is not there, a file that is not there, C++ that Verilator takes as it is, the
    // user's own C++.
    let cases: [(&str, String, &str, &[&str]); 5] = [
        (
            LIST,
            design("count + 8'd1;", "count +;"),
            SHIM,
            &[
                "verilating card failed:",
                "%Error: rtl/card.sv:5:",
                "syntax error, unexpected ';'",
            ],
        ),
        (
            LIST,
            design("endmodule", "  nothing u_nothing (.clk);\nendmodule"),
            SHIM,
            &[
                "verilating card failed:",
                "rtl/card.sv:6:",
                "Cannot find file containing module: 'nothing'",
            ],
        ),
        (
            "rtl/card.sv\nrtl/none.sv\n",
            DESIGN.into(),
            SHIM,
            &["rtl/card.f:2: no such file: rtl/none.sv"],
        ),
        (
            LIST,
            design("count <= count + 8'd1;", "$c(\"this is no C++;\");"),
            SHIM,
            &[
                "Vcard/generated/Vcard___024root",
                ".cpp:",
                "error: expected",
                "compiling Vcard failed",
            ],
        ),
        (
            LIST,
            DESIGN.into(),
            "#include \"Vcard.h\"\nunsigned card_ports() { return sizeof(Vcart); }\n",
            &[
                "src/shim.cc:2:",
                "'Vcart' was not declared",
                "compiling src/shim.cc failed",
            ],
        ),
    ];
    for (list, design, shim, parts) in cases {
        let said = card.build(list, &design, shim).expect_err("it is broken");
        for part in parts {
            assert!(said.contains(part), "no {part:?} in:\n{said}");
        }
        assert!(!said.contains("panicked"), "{said}");
    }
    // What was broken is forgotten.
    card.build(LIST, DESIGN, SHIM)
        .unwrap_or_else(|said| panic!("{said}"));
}
