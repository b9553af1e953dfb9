//! Programs around the library: compiled, linked with its static form, run.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
}

/// A program that is being put together.
pub struct Program {
    compiler: Command,
    sources: Vec<PathBuf>,
    place: TempDir,
}

/// A program, for as long as it is used.
pub struct Built {
    program: PathBuf,
    _place: TempDir,
}

/// What a program did.
pub struct Ran(Output);

/// The folder of this package.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The library that cargo built for this test: it stands beside the test's program.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let library = program.with_file_name("libtandem_model_c.a");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

impl Program {
    pub fn new(language: Language) -> Self {
        let target = option_env!("TARGET").map_or_else(host, str::to_owned);
        let place = TempDir::new().unwrap();
        let mut build = cc::Build::new();
        build
            .cpp(language == Language::Cpp)
            .std(match language {
                Language::C => "c11",
                Language::Cpp => "c++20",
            })
            .target(&target)
            .host(&target)
            .opt_level(0)
            .cargo_metadata(false)
            .include(here().join("include"))
            .include(here().join("tests/c"))
            .warnings(true)
            .warnings_into_errors(true)
            .flag_if_supported("-Wno-unused-function")
            .out_dir(place.path());
        let mut compiler = build.get_compiler().to_command();
        compiler.current_dir(here());
        if language == Language::Cpp {
            // The sources are named `.c`.
            compiler.args(["-x", "c++"]);
        }
        Self {
            compiler,
            sources: Vec::new(),
            place,
        }
    }

    pub fn source(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.push(path.into());
        self
    }

    pub fn include(mut self, folder: impl AsRef<Path>) -> Self {
        self.compiler.arg("-I").arg(folder.as_ref());
        self
    }

    /// Sources that are not ours have warnings that are not either.
    pub fn foreign(mut self) -> Self {
        self.compiler.arg("-w");
        self
    }

    /// Builds and runs it.
    pub fn run(self, arguments: &[&str]) -> Ran {
        self.build().run(arguments)
    }

    pub fn build(mut self) -> Built {
        let program = self.place.path().join("program");
        self.compiler.args(&self.sources).args(["-x", "none"]);
        self.compiler.arg("-o").arg(&program).arg(library());
        self.compiler.args(["-lpthread", "-ldl", "-lm"]);
        let built = self.compiler.output().unwrap();
        let messages = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{:?}\n{messages}", self.compiler);
        Built {
            program,
            _place: self.place,
        }
    }
}

impl Built {
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(&self.program).args(arguments).output();
        Ran(output.unwrap())
    }
}

impl Ran {
    pub fn succeeds_with(&self, line: &str) {
        let (out, error) = (self.out(), String::from_utf8_lossy(&self.0.stderr));
        assert!(self.0.status.success(), "{}\n{out}{error}", self.0.status);
        assert!(out.lines().any(|told| told == line), "{out}");
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }
}

/// The target that this was compiled for, as compilers name it.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.unwrap().to_owned()
}
