use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::compile::{self, Role};
use crate::origin;
use crate::{Error, FileList, Result, Variant, Verilator, workspace_root};

/// A SystemVerilog design to be verilated and compiled.
///
/// Relative paths are relative to the root of the workspace; Verilator runs there, so that
/// messages name files as they are named in the repository.
#[derive(Clone, Debug)]
pub struct Design {
    top: String,
    prefix: String,
    variant: Variant,
    lists: Vec<PathBuf>,
    sources: Vec<PathBuf>,
    include_dirs: Vec<PathBuf>,
    arguments: Vec<String>,
    savable: bool,
}

impl Design {
    /// A design with this top module, as the fast variant, with the class name `V<top>`.
    pub fn new(top: &str) -> Self {
        Self {
            top: top.into(),
            prefix: format!("V{top}"),
            variant: Variant::Fast,
            lists: Vec::new(),
            sources: Vec::new(),
            include_dirs: Vec::new(),
            arguments: Vec::new(),
            savable: true,
        }
    }

    /// The name of the generated C++ class. Variants in one program need different ones.
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How to verilate it.
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = variant;
        self
    }

    /// Adds the sources of a file list.
    pub fn file_list(mut self, list: impl Into<PathBuf>) -> Self {
        self.lists.push(list.into());
        self
    }

    /// Adds one source.
    pub fn source(mut self, source: impl Into<PathBuf>) -> Self {
        self.sources.push(source.into());
        self
    }

    /// Adds a directory in which `` `include `` looks.
    pub fn include_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.include_dirs.push(dir.into());
        self
    }

    /// Sets a parameter of the top module.
    pub fn parameter(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.arguments.push(format!("-G{name}={value}"));
        self
    }

    /// Defines a preprocessor macro.
    pub fn define(mut self, name: &str, value: Option<&str>) -> Self {
        let value = value.map(|v| format!("={v}")).unwrap_or_default();
        self.arguments.push(format!("+define+{name}{value}"));
        self
    }

    /// Gives Verilator another argument.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Leaves out save and restore, for a design that Verilator cannot make savable.
    pub fn without_save(mut self) -> Self {
        self.savable = false;
        self
    }

    /// Verilates and compiles the design, links it into the crate that is being built, and tells
    /// cargo when to do so again. What did not change is not compiled again.
    pub fn build(self) -> Result<Built> {
        let out = env::var_os("OUT_DIR").ok_or(Error::NotABuildScript("OUT_DIR"))?;
        let dir = Path::new(&out).join(&self.prefix);
        let verilator = Verilator::find()?;
        let root = workspace_root();
        let files = self.files(&root)?;
        fs::create_dir_all(&dir).map_err(Error::io(&dir))?;
        let mark = origin::claim(&root, &dir)?;
        let package = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| root.clone(), PathBuf::from);
        for path in self
            .lists
            .iter()
            .chain(&files.sources)
            .chain(&files.include_dirs)
            .chain([&mark])
        {
            let path = origin::seen_from(&package, &root, path);
            println!("cargo::rerun-if-changed={}", path.display());
        }

        let generated = dir.join("generated");
        self.verilate(&verilator, &root, &files, &generated)?;
        let (hot, cold) = generated_sources(&generated)?;
        let library = dir.join(format!("lib{}.a", self.prefix));
        let stamp = dir.join("stamp");
        let fingerprint = fingerprint(&verilator, &generated)?;
        if !library.is_file() || fs::read_to_string(&stamp).ok().as_ref() != Some(&fingerprint) {
            let objects = dir.join("objects");
            recreate(&objects)?;
            compile::library(&self.prefix, &objects, &verilator, &hot, &cold)?;
            let built = objects.join(format!("lib{}.a", self.prefix));
            fs::copy(&built, &library).map_err(Error::io(&library))?;
            fs::write(&stamp, fingerprint).map_err(Error::io(&stamp))?;
        }
        println!("cargo::rustc-link-search=native={}", dir.display());
        println!("cargo::rustc-link-lib=static={}", self.prefix);
        Ok(Built {
            generated,
            verilator,
        })
    }

    fn files(&self, root: &Path) -> Result<FileList> {
        let mut files = FileList {
            sources: Vec::new(),
            include_dirs: self.include_dirs.clone(),
        };
        for list in &self.lists {
            let list = FileList::read(root, list)?;
            files.sources.extend(list.sources);
            files.include_dirs.extend(list.include_dirs);
        }
        files.sources.extend(self.sources.iter().cloned());
        Ok(files)
    }

    fn verilate(
        &self,
        verilator: &Verilator,
        root: &Path,
        files: &FileList,
        generated: &Path,
    ) -> Result<()> {
        recreate(generated)?;
        let mut flags = self.variant.flags(verilator.version());
        if !self.savable {
            flags.retain(|flag| *flag != "--savable");
        }
        let mut command = verilator.command();
        command
            .current_dir(root)
            // Without this, 5.048 computes `(a << b) << c` wrong.
            .arg("-fno-dfg")
            .args([
                "--cc",
                "-O3",
                "--x-assign",
                "unique",
                "--x-initial",
                "unique",
            ])
            // Warnings are the business of the lint command, which has them all on.
            .args(["-Wno-fatal", "-Wno-lint", "-Wno-style"])
            .args([
                "--top-module",
                &self.top,
                "--prefix",
                &self.prefix,
                "--Mdir",
            ])
            .arg(generated)
            .args(flags)
            .args(&self.arguments)
            .args(
                files
                    .include_dirs
                    .iter()
                    .map(|dir| format!("+incdir+{}", dir.display())),
            )
            .args(&files.sources);
        let output = command.output().map_err(Error::io(verilator.binary()))?;
        let messages = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let (top, messages) = (self.top.clone(), messages.trim_end().to_string());
            return Err(Error::Verilation { top, messages });
        }
        for line in messages.lines().filter(|line| line.starts_with("%Warning")) {
            println!("cargo::warning={line}");
        }
        Ok(())
    }
}

/// A design that was verilated and compiled.
#[derive(Clone, Debug)]
pub struct Built {
    generated: PathBuf,
    verilator: Verilator,
}

impl Built {
    /// Gives the C++ code that calls the model what it needs: include paths, the language
    /// version, defines and optimisation that agree with the model's.
    pub fn configure(&self, shim: &mut cc::Build) {
        compile::configure(shim, &self.verilator, Role::Hot);
        shim.include(&self.generated);
    }

    /// The folder with the generated class.
    pub fn generated(&self) -> &Path {
        &self.generated
    }
}

fn recreate(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(Error::io(dir))?;
    }
    fs::create_dir_all(dir).map_err(Error::io(dir))
}

/// The generated sources, those that run every clock and those that run once.
fn generated_sources(dir: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut sources: Vec<PathBuf> = fs::read_dir(dir)
        .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect())
        .map_err(Error::io(dir))?;
    sources.retain(|path| path.extension().is_some_and(|e| e == "cpp"));
    sources.sort();
    let cold = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        name.ends_with("__Slow") || name.ends_with("__Syms")
    };
    let (cold, hot) = sources.into_iter().partition(cold);
    Ok((hot, cold))
}

/// Changes when the generated code, the Verilator or the compiler's environment does.
fn fingerprint(verilator: &Verilator, generated: &Path) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    verilator.include().hash(&mut hasher);
    verilator.version().hash(&mut hasher);
    include_str!("compile.rs").hash(&mut hasher);
    for variable in ["CXX", "CXXFLAGS", "TARGET"] {
        env::var_os(variable).hash(&mut hasher);
    }
    let mut files: Vec<PathBuf> = fs::read_dir(generated)
        .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect())
        .map_err(Error::io(generated))?;
    files.retain(|path| path.extension().is_some_and(|e| e == "cpp" || e == "h"));
    files.sort();
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file).map_err(Error::io(&file))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}
