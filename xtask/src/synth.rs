//! Synthesis for ECP5: the engine's netlist, for simulation and for place and route, and what it costs by room.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use verilated_build::{FileList, Netlist};

use crate::failure::{Failure, Result};
use crate::process::{heading, root};
use crate::yosys;

/// The module that is synthesised, and its sources.
const TOP: &str = "nd_engine";
const LIST: &str = "rtl/nd_engine.f";

/// Its rooms: logic is not moved between them, so that each has a cost of its own.
const ROOMS: [&str; 6] = ["host", "context", "send", "receive", "wire", "complete"];

/// Cells of the device that are counted, and what stands above their column.
const CELLS: [(&str, &str); 5] = [
    ("LUT4", "LUT4"),
    ("CCU2C", "carry"),
    ("TRELLIS_DPR16X4", "dist. RAM"),
    ("TRELLIS_FF", "FF"),
    ("DP16KD", "block RAM"),
];

/// Synthesises the engine with these parameters (`Name=value`), unless it is there already.
pub fn engine(parameters: &[String]) -> Result<Netlist> {
    let netlist = Netlist::variant(TOP, parameters);
    let sources = FileList::read(&root(), Path::new(LIST))?;
    heading(&format!("Synthesis: {TOP} {}", parameters.join(" ")));
    if netlist.is_fresh(&sources)? {
        println!("{} is fresh", netlist.verilog().display());
    } else {
        let begin = Instant::now();
        netlist.make(&sources, || make(&netlist, &sources, parameters))?;
        println!(
            "{} in {:.0} s",
            netlist.folder().display(),
            begin.elapsed().as_secs_f64()
        );
    }
    print!("{}", table(&Statistics::of(&netlist)?));
    Ok(netlist)
}

fn make(netlist: &Netlist, sources: &FileList, parameters: &[String]) -> Result {
    let script = yosys_script(netlist, sources, parameters)?;
    yosys::run(netlist.folder(), TOP, &script)?.expect_passed()
}

/// Rooms are kept apart up to the statistics; the netlists are flat, and have one wire for each bit, since a
/// simulator takes the bits of a vector that depend on each other for a loop.
fn yosys_script(netlist: &Netlist, sources: &FileList, parameters: &[String]) -> Result<String> {
    let is_setting = |(name, value): (&str, &str)| {
        name.chars().all(|c| c.is_ascii_alphanumeric()) && value.parse::<u64>().is_ok()
    };
    for parameter in parameters {
        if !parameter.split_once('=').is_some_and(is_setting) {
            return Err(Failure(format!(
                "`{parameter}` is not a parameter: write `NumQp=16`"
            )));
        }
    }
    let rooms: Vec<String> = ROOMS.iter().map(|room| format!("nd_{room}$*")).collect();
    Ok(format!(
        "{read}\n\
         setattr -mod -set keep_hierarchy 1 {rooms}\n\
         synth_ecp5 -top {TOP} -run begin:check\n\
         check -assert\n\
         blackbox =A:whitebox\n\
         tee -q -o {statistics} stat -json -top {TOP}\n\
         setattr -mod -unset keep_hierarchy {rooms}\n\
         flatten\n\
         opt_clean -purge\n\
         write_json {json}\n\
         splitnets\n\
         opt_clean -purge\n\
         write_verilog -noattr -noexpr {verilog}\n",
        read = yosys::read_slang("--best-effort-hierarchy", TOP, parameters, sources),
        rooms = rooms.join(" "),
        statistics = netlist.file("stat").display(),
        json = netlist.json().display(),
        verilog = netlist.verilog().display(),
    ))
}

/// What Yosys counted.
#[derive(Debug, Deserialize)]
pub struct Statistics {
    modules: BTreeMap<String, Module>,
}

#[derive(Debug, Deserialize)]
struct Module {
    num_cells_by_type: BTreeMap<String, u64>,
}

impl Statistics {
    /// Those of a netlist.
    ///
    /// # Errors
    /// If they are not there.
    pub fn of(netlist: &Netlist) -> Result<Self> {
        let path = root().join(netlist.file("stat"));
        let text = fs::read_to_string(&path).map_err(Failure::at(&path))?;
        serde_json::from_str(&text).map_err(|error| Failure(format!("{}: {error}", path.display())))
    }

    /// Cells of a type in a room, and in what lies between the rooms.
    fn cells(&self, room: Option<&str>, cell: &str) -> u64 {
        let is_it = |name: &str| {
            let module = name.trim_start_matches('\\');
            let base = module.split('$').next().unwrap_or(module);
            match room {
                Some(room) => base.strip_prefix("nd_") == Some(room),
                None => base == TOP,
            }
        };
        let modules = self.modules.iter().filter(|(name, _)| is_it(name));
        modules
            .filter_map(|(_, module)| module.num_cells_by_type.get(cell))
            .sum()
    }

    /// Cells of a type in everything.
    pub fn total(&self, cell: &str) -> u64 {
        let rooms = ROOMS.iter().map(|room| self.cells(Some(room), cell));
        rooms.sum::<u64>() + self.cells(None, cell)
    }
}

/// Cells by room.
fn table(statistics: &Statistics) -> String {
    let mut text = format!("{:10}", "");
    for (_, name) in CELLS {
        text.push_str(&format!("{name:>11}"));
    }
    text.push('\n');
    let mut row = |name: &str, count: &dyn Fn(&str) -> u64| {
        text.push_str(&format!("{name:10}"));
        for (cell, _) in CELLS {
            text.push_str(&format!("{:11}", count(cell)));
        }
        text.push('\n');
    };
    for room in ROOMS {
        row(room, &|cell| statistics.cells(Some(room), cell));
    }
    row("between", &|cell| statistics.cells(None, cell));
    row("all", &|cell| statistics.total(cell));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked_and_given_to_yosys() {
        let netlist = Netlist::of(TOP);
        let files = FileList {
            sources: vec!["x.sv".into()],
            ..FileList::default()
        };
        let script = yosys_script(&netlist, &files, &["NumQp=16".into()]).unwrap();
        assert!(script.contains("--top nd_engine -G NumQp=16 "), "{script}");
        for wrong in ["NumQp", "NumQp=many", "Num Qp=1", "=;x"] {
            let error = yosys_script(&netlist, &files, &[wrong.into()]).unwrap_err();
            assert!(error.to_string().contains("NumQp=16"), "{error}");
        }
    }

    #[test]
    fn rooms_are_added_up() {
        let text = r#"{"modules": {
            "\\nd_engine": {"num_cells_by_type": {"LUT4": 1, "nd_send$nd_engine.u_send": 1}},
            "\\nd_send$nd_engine.u_send": {"num_cells_by_type": {"LUT4": 20, "DP16KD": 3}},
            "\\nd_wire$nd_engine.u_wire": {"num_cells_by_type": {"LUT4": 300}}}}"#;
        let statistics: Statistics = serde_json::from_str(text).unwrap();
        assert_eq!(statistics.total("LUT4"), 321);
        assert_eq!(statistics.cells(Some("send"), "DP16KD"), 3);
        assert_eq!(statistics.cells(Some("receive"), "LUT4"), 0);
        let table = table(&statistics);
        let all: Vec<&str> = table.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(all, ["all", "321", "0", "0", "0", "3"]);
    }
}
