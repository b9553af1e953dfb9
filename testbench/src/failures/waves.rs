//! What a wave viewer is to show of an engine: a save file for GTKWave, a command file for Surfer.

use std::path::Path;

/// Ports of the engine by what they are for: name and bits.
const GROUPS: [(&str, &[(&str, u32)]); 8] = [
    ("clock", &[("clk", 1), ("rst", 1), ("irq", 1)]),
    ("decisions", &[("commit_valid", 1), ("commit", 112)]),
    (
        "frames received",
        &[
            ("s_axis_tvalid", 1),
            ("s_axis_tready", 1),
            ("s_axis_tdata", 64),
            ("s_axis_tkeep", 8),
            ("s_axis_tlast", 1),
            ("s_axis_tuser", 1),
        ],
    ),
    (
        "frames sent",
        &[
            ("m_axis_tvalid", 1),
            ("m_axis_tready", 1),
            ("m_axis_tdata", 64),
            ("m_axis_tkeep", 8),
            ("m_axis_tlast", 1),
            ("m_axis_tuser", 1),
        ],
    ),
    (
        "memory read",
        &[
            ("m_axi_arvalid", 1),
            ("m_axi_arready", 1),
            ("m_axi_arid", 2),
            ("m_axi_araddr", 64),
            ("m_axi_arlen", 8),
            ("m_axi_rvalid", 1),
            ("m_axi_rready", 1),
            ("m_axi_rid", 2),
            ("m_axi_rdata", 64),
            ("m_axi_rresp", 2),
            ("m_axi_rlast", 1),
        ],
    ),
    (
        "memory written",
        &[
            ("m_axi_awvalid", 1),
            ("m_axi_awready", 1),
            ("m_axi_awid", 2),
            ("m_axi_awaddr", 64),
            ("m_axi_awlen", 8),
            ("m_axi_wvalid", 1),
            ("m_axi_wready", 1),
            ("m_axi_wdata", 64),
            ("m_axi_wstrb", 8),
            ("m_axi_wlast", 1),
            ("m_axi_bvalid", 1),
            ("m_axi_bready", 1),
            ("m_axi_bid", 2),
            ("m_axi_bresp", 2),
        ],
    ),
    (
        "registers written",
        &[
            ("s_axil_awvalid", 1),
            ("s_axil_awready", 1),
            ("s_axil_awaddr", 12),
            ("s_axil_wvalid", 1),
            ("s_axil_wready", 1),
            ("s_axil_wdata", 32),
            ("s_axil_bvalid", 1),
            ("s_axil_bready", 1),
        ],
    ),
    (
        "registers read",
        &[
            ("s_axil_arvalid", 1),
            ("s_axil_arready", 1),
            ("s_axil_araddr", 12),
            ("s_axil_rvalid", 1),
            ("s_axil_rready", 1),
            ("s_axil_rdata", 32),
        ],
    ),
];

/// Rooms, whose instances are `u_<room>`.
const ROOMS: [&str; 6] = ["wire", "context", "host", "send", "receive", "complete"];
/// The scope of the engine, in which its ports are and its rooms.
const ENGINE: &str = "TOP.nd_engine";
/// Units of a wave's time in a clock: the shim lets one pass before each edge.
const UNITS: u64 = 2;
/// GTKWave's flags of a signal: shown right-aligned, as a bit or as hexadecimal digits; of a line of words.
const BIT: &str = "@28";
const HEXADECIMAL: &str = "@22";
const WORDS: &str = "@200";

/// Where to look in a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    /// The wave.
    pub(super) file: &'a Path,
    /// Clock in which it went wrong.
    pub(super) clock: u64,
    /// The report, which names the room if there was a divergence.
    pub(super) report: &'a str,
}

impl Spot<'_> {
    /// Rooms that the report says to look in.
    fn rooms(&self) -> Vec<&'static str> {
        let named = self.report.split_once("look in room ");
        let named = named.and_then(|(_, rest)| rest.lines().next());
        let words: Vec<&str> = named.unwrap_or_default().split_whitespace().collect();
        let rooms = ROOMS.iter().copied();
        rooms.filter(|room| words.contains(room)).collect()
    }

    /// Name of the wave's file: what is written stands beside it.
    fn name(&self) -> String {
        let name = self.file.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// A save file for GTKWave, with the marker at the clock.
    pub(super) fn gtkwave(&self) -> String {
        let time = self.clock * UNITS;
        // About a hundred clocks in a window; each step of the scale doubles a unit.
        let mut text = format!(
            "[*] written by tandem: clock {}\n[dumpfile] \"{}\"\n[timestart] {}\n*-1.000000 {time}{}\n[treeopen] TOP.\n",
            self.clock,
            self.name(),
            time.saturating_sub(50 * UNITS),
            " -1".repeat(26),
        );
        if !self.rooms().is_empty() {
            text.push_str(&format!("[treeopen] {ENGINE}.\n"));
        }
        for room in self.rooms() {
            text.push_str(&format!("[treeopen] {ENGINE}.u_{room}.\n"));
        }
        for (group, signals) in GROUPS {
            text.push_str(&format!("{WORDS}\n-{group}\n"));
            for (name, bits) in signals {
                text.push_str(&match bits {
                    1 => format!("{BIT}\n{ENGINE}.{name}\n"),
                    bits => format!("{HEXADECIMAL}\n{ENGINE}.{name}[{}:0]\n", bits - 1),
                });
            }
        }
        text
    }

    /// A command file for Surfer, with the cursor and a marker at the clock.
    pub(super) fn surfer(&self) -> String {
        let mut text = String::new();
        for (group, signals) in GROUPS {
            text.push_str(&format!("divider_add {group}\n"));
            for (name, _) in signals {
                text.push_str(&format!("variable_add {ENGINE}.{name}\n"));
            }
        }
        for room in self.rooms() {
            text.push_str(&format!(
                "divider_add room {room}\nscope_add {ENGINE}.u_{room}\n"
            ));
        }
        let time = self.clock * UNITS;
        text.push_str(&format!(
            "cursor_set {time}\nmarker_set failure\ngoto_cursor\n"
        ));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGINE_SOURCE: &str = include_str!("../../../rtl/nd_engine.sv");

    /// Ports of the engine with their bits, as its source declares them with 64 bits of data.
    fn ports() -> Vec<(String, u32)> {
        let head = ENGINE_SOURCE.split("\n);").next().unwrap();
        let lines = head.lines().map(str::trim);
        let lines = lines.filter(|line| line.starts_with("input ") || line.starts_with("output "));
        let port = |line: &str| {
            let name = line
                .trim_end_matches(',')
                .split_whitespace()
                .last()
                .unwrap();
            let bits = match line.split_once('[') {
                None => 1,
                Some((_, rest)) => match rest.split_once(':').unwrap().0 {
                    "DataWidth-1" => 64,
                    "KeepWidth-1" => 8,
                    high => high.parse::<u32>().unwrap() + 1,
                },
            };
            (name.to_owned(), bits)
        };
        lines.map(port).collect()
    }

    #[test]
    fn signals_are_ports_of_the_engine() {
        let ports = ports();
        assert!(ports.len() > 60, "{ports:?}");
        for (name, bits) in GROUPS.iter().flat_map(|(_, signals)| *signals) {
            let found = ports.iter().find(|(port, _)| port == name);
            assert_eq!(found.map(|(_, bits)| bits), Some(bits), "{name}");
        }
        for room in ROOMS {
            let instance = format!(" u_{room} (");
            assert!(ENGINE_SOURCE.contains(&instance), "no {instance}");
        }
    }

    #[test]
    fn both_files_lead_to_the_clock_and_to_the_room() {
        let spot = Spot {
            file: Path::new("x/wave.a.fst"),
            clock: 1000,
            report: "divergence on node a in cycle 1000 (seed 1): look in room context or send\nmore",
        };
        let gtkwave = spot.gtkwave();
        assert!(
            gtkwave.contains("[dumpfile] \"wave.a.fst\"\n[timestart] 1900\n*-1.000000 2000 -1")
        );
        assert!(
            gtkwave.contains("@22\nTOP.nd_engine.commit[111:0]\n"),
            "{gtkwave}"
        );
        assert!(
            gtkwave.contains("[treeopen] TOP.nd_engine.u_context.\n"),
            "{gtkwave}"
        );
        assert!(!gtkwave.contains("u_wire"), "{gtkwave}");
        let surfer = spot.surfer();
        assert!(
            surfer.contains("scope_add TOP.nd_engine.u_send\n"),
            "{surfer}"
        );
        assert!(
            surfer.ends_with("cursor_set 2000\nmarker_set failure\ngoto_cursor\n"),
            "{surfer}"
        );
    }
}
