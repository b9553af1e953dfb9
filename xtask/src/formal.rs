//! Proofs of modules, for all inputs and all time: Yosys makes the netlist, ABC's property-directed
//! reachability proves it or shows how it fails.
//!
//! What is proved stands in `rtl/formal/` and in the modules themselves under `FORMAL`. Every cover must
//! be reached, so that no assumption makes a proof empty; and every mutant must be refuted, so that
//! the properties are known to say something.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use verilated_build::FileList;

use crate::failure::{Failure, Result};
use crate::process::{heading, root};
use crate::tools::abc;
use crate::yosys;

/// The sources of all proofs.
const LIST: &str = "rtl/formal/nd_formal.f";

/// The folder of everything that is made.
const SCRATCH: &str = "target/formal";

/// Seconds after which ABC gives up on a proof.
const PATIENCE: u32 = 1800;

/// A module and the parameters of its proof.
struct Proof {
    module: &'static str,
    parameters: &'static [(&'static str, u32)],
}

impl Proof {
    /// The module with its proof's properties.
    fn top(&self) -> String {
        format!("{}_proof", self.module)
    }

    /// The parameters, for people.
    fn variant(&self) -> String {
        let texts: Vec<String> = self
            .parameters
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        texts.join(" ")
    }

    /// The folder of its files.
    fn folder(&self) -> String {
        let variant = self.variant().replace(' ', "-");
        format!(
            "{}{}{variant}",
            self.module,
            if variant.is_empty() { "" } else { "-" }
        )
    }
}

const fn proof(module: &'static str, parameters: &'static [(&'static str, u32)]) -> Proof {
    Proof { module, parameters }
}

/// Block memory is taken for more than `Distributed` entries: few, so that there is little to search.
const PROOFS: &[Proof] = &[
    proof("nd_skid", &[]),
    proof("nd_fifo", &[("Depth", 2)]),
    proof("nd_fifo", &[("Depth", 4)]),
    proof("nd_fifo", &[("Depth", 4), ("Distributed", 2)]),
    proof("nd_fifo_commit", &[("Depth", 4)]),
    proof("nd_fifo_commit", &[("Depth", 4), ("Distributed", 2)]),
    proof("nd_rr_arb", &[("N", 2)]),
    proof("nd_rr_arb", &[("N", 5)]),
    proof("nd_rr_arb", &[("N", 9)]),
    proof("nd_rr_turn", &[("N", 4)]),
    proof("nd_rr_turn", &[("N", 16)]),
    proof("nd_pack", &[("DataWidth", 16)]),
    proof("nd_host_axil", &[]),
];

/// A mistake put into a module, which its proof must find.
struct Mutant {
    what: &'static str,
    proof: Proof,
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        what: "the second entry overtakes the first",
        proof: proof("nd_skid", &[]),
        file: "rtl/lib/nd_skid.sv",
        from: "skid_valid_q ? skid_q : in_data",
        to: "in_data",
    },
    Mutant {
        what: "what is stored is overtaken",
        proof: proof("nd_fifo", &[("Depth", 4)]),
        file: "rtl/lib/nd_fifo_reg.sv",
        from: "stored ? mem[rd_q] : in_data",
        to: "in_data",
    },
    Mutant {
        // Of more entries than the queue holds, or there are none too many.
        what: "more is fetched than the output queue holds",
        proof: proof("nd_fifo", &[("Depth", 8), ("Distributed", 2)]),
        file: "rtl/lib/nd_fifo_commit.sv",
        from: "taken_q != 3'(Queue)",
        to: "taken_q != 3'(Queue + 1)",
    },
    Mutant {
        what: "what is discarded is counted on",
        proof: proof("nd_fifo_commit", &[("Depth", 4)]),
        file: "rtl/lib/nd_fifo_commit.sv",
        from: "wr_d    = safe_q;",
        to: "",
    },
    Mutant {
        what: "an entry comes out that was not committed",
        proof: proof("nd_fifo_commit", &[("Depth", 4), ("Distributed", 2)]),
        file: "rtl/lib/nd_fifo_commit.sv",
        from: "fetch   = rd_q != safe_q && taken_q",
        to: "fetch   = rd_q != wr_q && taken_q",
    },
    Mutant {
        what: "the lowest always goes first",
        proof: proof("nd_rr_arb", &[("N", 5)]),
        file: "rtl/lib/nd_rr_arb.sv",
        from: "favoured       = req & mask_q",
        to: "favoured       = req",
    },
    Mutant {
        what: "who was taken keeps its turn",
        proof: proof("nd_rr_turn", &[("N", 4)]),
        file: "rtl/lib/nd_rr_turn.sv",
        from: "RowBits'(i) > last_q",
        to: "RowBits'(i) >= last_q",
    },
    Mutant {
        what: "the last byte of a full beat is told to spill",
        proof: proof("nd_pack", &[("DataWidth", 16)]),
        file: "rtl/lib/nd_pack.sv",
        from: "last1_q && total_q > bytes_t'(Lanes)",
        to: "last1_q && total_q >= bytes_t'(Lanes)",
    },
    Mutant {
        what: "write data that came during an answer are lost",
        proof: proof("nd_host_axil", &[]),
        file: "rtl/host/nd_host_axil.sv",
        from: "!(state_q == Access && wr_ack)",
        to: "!(state_q == Answer && is_wr_q)",
    },
];

/// What became of the assertions of a proof.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// They hold, always.
    Proved,
    /// One fails this many clocks after the start.
    Refuted(usize),
    /// ABC gave up.
    Open,
}

/// Proves everything, or the modules named, and tries the mutants.
pub fn run(only: &[String]) -> Result {
    let wanted = |module: &str| only.is_empty() || only.iter().any(|name| name == module);
    if let Some(unknown) = only
        .iter()
        .find(|name| !PROOFS.iter().any(|proof| proof.module == **name))
    {
        return Err(Failure(format!("there is no proof of {unknown}")));
    }
    let files = FileList::read(&root(), Path::new(LIST))?;
    let mut failed = Vec::new();

    heading("Proofs");
    println!(
        "{}",
        line(["module", "parameters", "asserted", "covered", "seconds", ""])
    );
    for proof in PROOFS.iter().filter(|proof| wanted(proof.module)) {
        let start = Instant::now();
        let result = prove(proof, &files)?;
        let verdict = match &result.outcome {
            Outcome::Proved if result.missed.is_empty() => "proved".to_owned(),
            Outcome::Proved => format!("NEVER REACHED: {}", result.missed.join(", ")),
            Outcome::Refuted(clock) => format!(
                "FAILS in clock {clock}: {}; {}",
                result.failing.join(", "),
                result.trace.display()
            ),
            Outcome::Open => format!("NOT PROVED in {PATIENCE} s"),
        };
        if verdict != "proved" {
            failed.push(proof.folder());
        }
        println!(
            "{}",
            line([
                proof.module,
                &proof.variant(),
                &result.asserted.to_string(),
                &result.covered.to_string(),
                &format!("{:.1}", start.elapsed().as_secs_f64()),
                &verdict,
            ])
        );
    }

    heading("Mutants: each must fail");
    for mutant in MUTANTS.iter().filter(|mutant| wanted(mutant.proof.module)) {
        let result = refute(mutant, &files)?;
        let verdict = match &result.outcome {
            Outcome::Refuted(clock) => {
                format!("fails in clock {clock}: {}", result.failing.join(", "))
            }
            _ => {
                failed.push(format!("mutant of {}", mutant.proof.module));
                "NOT FOUND".to_owned()
            }
        };
        println!("{:15} {}: {verdict}", mutant.proof.module, mutant.what);
    }

    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure(format!("not proved: {}", failed.join(", "))))
}

/// A line of the table.
fn line(columns: [&str; 6]) -> String {
    let [module, parameters, asserted, covered, seconds, verdict] = columns;
    format!("{module:15} {parameters:22} {asserted:>8} {covered:>8} {seconds:>8}  {verdict}")
        .trim_end()
        .to_owned()
}

/// The result of a proof.
struct Proven {
    outcome: Outcome,
    asserted: usize,
    covered: usize,
    /// Covers that nothing reaches.
    missed: Vec<String>,
    /// Assertions that fail in the trace.
    failing: Vec<String>,
    trace: PathBuf,
}

fn prove(proof: &Proof, sources: &FileList) -> Result<Proven> {
    let dir = Path::new(SCRATCH).join(proof.folder());
    let mut result = check(proof, sources, &dir)?;
    if result.outcome == Outcome::Proved {
        let names = netlist(proof, sources, &dir, Part::Covers)?;
        let told = abc_says(&dir, "read_aiger covers.aig; fold; pdr -a -T 600")?;
        let reached = reached(&told);
        result.covered = reached.len();
        result.missed = missed(&names, &reached);
    }
    Ok(result)
}

/// Proves the assertions, or finds a trace that breaks one.
fn check(proof: &Proof, sources: &FileList, dir: &Path) -> Result<Proven> {
    let names = netlist(proof, sources, dir, Part::Assertions)?;
    // One property for all: each then helps to prove the others.
    let all = format!("read_aiger assertions.aig; fold; orpos; scorr; pdr -T {PATIENCE}");
    let outcome = outcome(&abc_says(dir, &all)?);
    let trace = dir.join("trace.vcd");
    let mut failing = Vec::new();
    if let Outcome::Refuted(clock) = outcome {
        let again = format!(
            "read_aiger assertions.aig; fold; bmc3 -F {}; write_cex -a trace.aiw",
            clock + 2
        );
        abc_says(dir, &again)?;
        let script = format!(
            "read_rtlil {dir}/assertions.il\n\
             sim -zinit -clock clk -r {dir}/trace.aiw -map {dir}/assertions.aim -vcd {trace}\n",
            dir = dir.display(),
            trace = trace.display(),
        );
        failing = broken(&yosys::run(dir, "trace", &script)?.log);
    }
    Ok(Proven {
        outcome,
        asserted: names.len(),
        covered: 0,
        missed: Vec::new(),
        failing,
        trace,
    })
}

/// Proves a module with a mistake, which is expected to fail.
fn refute(mutant: &Mutant, sources: &FileList) -> Result<Proven> {
    let dir = Path::new(SCRATCH)
        .join("mutant")
        .join(mutant.proof.folder());
    let text = fs::read_to_string(root().join(mutant.file))
        .map_err(Failure::at(Path::new(mutant.file)))?;
    let text = mutate(&text, mutant.from, mutant.to).ok_or_else(|| {
        Failure(format!(
            "{}: a mutant changes `{}`, which is not there just once",
            mutant.file, mutant.from
        ))
    })?;
    let changed = dir.join("mutant.sv");
    fs::create_dir_all(root().join(&dir)).map_err(Failure::at(&dir))?;
    fs::write(root().join(&changed), text).map_err(Failure::at(&changed))?;
    let mut sources = sources.clone();
    for source in &mut sources.sources {
        if source == Path::new(mutant.file) {
            source.clone_from(&changed);
        }
    }
    check(&mutant.proof, &sources, &dir)
}

/// Replaces the only place of a text in another.
fn mutate(text: &str, from: &str, to: &str) -> Option<String> {
    (text.matches(from).count() == 1).then(|| text.replace(from, to))
}

/// Which properties a netlist has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Assertions,
    Covers,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Assertions => "assertions",
            Self::Covers => "covers",
        }
    }

    /// Commands that leave just these, as assertions.
    fn selection(self) -> &'static str {
        match self {
            Self::Assertions => "chformal -cover -remove",
            Self::Covers => "chformal -assert -remove\ntechmap -map xtask/tools/cover.v",
        }
    }
}

/// Makes the netlist of a proof, and tells the names of its properties in their order.
fn netlist(proof: &Proof, sources: &FileList, dir: &Path, part: Part) -> Result<Vec<String>> {
    let script = script(proof, sources, dir, part);
    yosys::run(dir, part.name(), &script)?.expect_passed()?;
    let path = dir.join(format!("{}.ywm", part.name()));
    let map = fs::read_to_string(root().join(&path)).map_err(Failure::at(&path))?;
    let names = properties(&map);
    if names.is_empty() && part == Part::Assertions {
        return Err(Failure(format!("{}: nothing to prove", proof.folder())));
    }
    Ok(names)
}

fn script(proof: &Proof, sources: &FileList, dir: &Path, part: Part) -> String {
    let parameters: Vec<String> = proof
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!(
        "{read}\n\
         hierarchy -check -top {top}\n\
         proc\n\
         flatten\n\
         opt_clean\n\
         async2sync\n\
         chformal -lower\n\
         memory_nordff\n\
         memory_map\n\
         {selection}\n\
         delete -output\n\
         setundef -undriven -anyseq\n\
         opt -fast\n\
         techmap\n\
         opt -fast\n\
         dffunmap\n\
         abc -g AND\n\
         opt_clean\n\
         write_rtlil {out}.il\n\
         write_aiger -zinit -B -ywmap {out}.ywm -map {out}.aim {out}.aig\n",
        read = yosys::read_slang("-D FORMAL", &proof.top(), &parameters, sources),
        top = proof.top(),
        selection = part.selection(),
        out = dir.join(part.name()).display(),
    )
}

/// Runs commands of ABC in a folder, and gives back what it says.
fn abc_says(dir: &Path, commands: &str) -> Result<String> {
    let mut command = abc()?;
    command
        .arg("-q")
        .arg(commands)
        .current_dir(root().join(dir));
    let result = command
        .output()
        .map_err(|error| Failure(format!("cannot run abc: {error}")))?;
    Ok(String::from_utf8_lossy(&result.stdout).into_owned())
}

/// The outcome that ABC tells.
fn outcome(told: &str) -> Outcome {
    if told.contains("Property proved.") {
        return Outcome::Proved;
    }
    told.lines()
        .find_map(asserted)
        .map_or(Outcome::Open, |(_, clock)| Outcome::Refuted(clock))
}

/// The outputs that ABC could set.
fn reached(told: &str) -> Vec<usize> {
    told.lines().filter_map(asserted).map(|(n, _)| n).collect()
}

/// The output and the clock of a line like "Output 4 of miter "x" was asserted in frame 5.".
fn asserted(line: &str) -> Option<(usize, usize)> {
    let (output, clock) = line
        .trim()
        .strip_prefix("Output")?
        .split_once("was asserted in frame")?;
    let first = |text: &str| {
        let digits: String = text
            .trim()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    };
    Some((first(output)?, first(clock)?))
}

/// The names of properties that are not among those reached.
fn missed(names: &[String], reached: &[usize]) -> Vec<String> {
    names
        .iter()
        .enumerate()
        .filter(|(i, _)| !reached.contains(i))
        .map(|(_, name)| name.clone())
        .collect()
}

/// The properties of a netlist, from the map that Yosys writes beside it.
fn properties(map: &str) -> Vec<String> {
    map.lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("\"asserts\""))
        .skip(1)
        .take_while(|line| line.starts_with('['))
        .map(|line| {
            let name = line.trim_matches(|c| "[]\",\\".contains(c));
            name.strip_suffix(".reached").unwrap_or(name).to_owned()
        })
        .collect()
}

/// The assertions that fail in a simulation, each once.
fn broken(log: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in log
        .lines()
        .filter_map(|line| line.strip_prefix("Failed assertion "))
        .filter_map(|rest| rest.split_whitespace().next())
    {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_abc_says_is_understood() {
        assert_eq!(outcome("x\nProperty proved.  Time = 1\n"), Outcome::Proved);
        let told = "Output 0 of miter \"x\" was asserted in frame 5.  Time = 0.04 sec\n";
        assert_eq!(outcome(told), Outcome::Refuted(5));
        assert_eq!(outcome("Reached timeout.\n"), Outcome::Open);
        let told = "Output  3 was asserted in frame  3 ( 3) (solved  1 out of 12 outputs).\n\
                    Proved output 0 in frame 4 (converged).\n";
        assert_eq!(reached(told), [3]);
    }

    #[test]
    fn the_map_names_the_properties() {
        let map = "{\n  \"asserts\": [\n    [\"\\\\a_full\"],\n    [\"\\\\u_x.c_y.reached\"]\n  ],\n  \
                   \"assumes\": [\n    [\"$37\"]\n  ]\n}\n";
        assert_eq!(properties(map), ["a_full", "u_x.c_y"]);
        assert_eq!(missed(&properties(map), &[0]), ["u_x.c_y"]);
        assert_eq!(
            properties("{\n  \"asserts\": [\n  ]\n}\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn the_simulation_names_what_fails() {
        let log = "Warning: Assertion t.u.a failed.\nFailed assertion u.a at\n    x.sv:1\n\
                   Failed assertion u.a at\nFailed assertion b at\n";
        assert_eq!(broken(log), ["u.a", "b"]);
    }

    #[test]
    fn a_mutant_changes_one_place() {
        assert_eq!(mutate("a b c", "b", "d").as_deref(), Some("a d c"));
        assert_eq!(mutate("a b b", "b", "d"), None);
        assert_eq!(mutate("a", "b", "d"), None);
        for mutant in MUTANTS {
            let text = fs::read_to_string(root().join(mutant.file)).unwrap();
            assert!(
                mutate(&text, mutant.from, mutant.to).is_some(),
                "{}",
                mutant.what
            );
        }
    }

    #[test]
    fn parameters_are_told() {
        let proof = proof("m", &[("A", 1), ("B", 2)]);
        assert_eq!(proof.folder(), "m-A=1-B=2");
        let files = FileList {
            sources: vec!["x.sv".into()],
            ..FileList::default()
        };
        let script = script(&proof, &files, Path::new("d"), Part::Covers);
        assert!(
            script.contains("--top m_proof -G A=1 -G B=2 x.sv\n"),
            "{script}"
        );
        assert!(script.contains("cover.v"));
    }
}
