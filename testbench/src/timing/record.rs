//! The signals of a diagram, as the Verilated engine's ports have them.

use tandem_cosim::Ports;
use tandem_model::abi::{COMMIT, Record};
use tandem_model::engine::Action;

use super::{Decision, Signal, Timing};

type Level = fn(&Ports) -> bool;

/// Signals by what they are for, under the names of the engine's ports.
const SIGNALS: [(&str, &[(&str, Level)]); 8] = [
    ("interrupt", &[("irq", |p| p.engine.irq)]),
    ("decisions", &[("commit_valid", |p| p.engine.commit_valid)]),
    (
        "frames received",
        &[
            ("s_axis_tvalid", |p| p.bench.rx.valid),
            ("s_axis_tready", |p| p.engine.rx_ready),
            ("s_axis_tlast", |p| p.bench.rx.last),
        ],
    ),
    (
        "frames sent",
        &[
            ("m_axis_tvalid", |p| p.engine.tx.valid),
            ("m_axis_tready", |p| p.bench.tx_ready),
            ("m_axis_tlast", |p| p.engine.tx.last),
        ],
    ),
    (
        "memory read",
        &[
            ("m_axi_arvalid", |p| p.engine.read.arvalid),
            ("m_axi_arready", |p| p.bench.read.arready),
            ("m_axi_rvalid", |p| p.bench.read.rvalid),
            ("m_axi_rready", |p| p.engine.read.rready),
            ("m_axi_rlast", |p| p.bench.read.rlast),
        ],
    ),
    (
        "memory written",
        &[
            ("m_axi_awvalid", |p| p.engine.write.awvalid),
            ("m_axi_awready", |p| p.bench.write.awready),
            ("m_axi_wvalid", |p| p.engine.write.wvalid),
            ("m_axi_wready", |p| p.bench.write.wready),
            ("m_axi_wlast", |p| p.engine.write.wlast),
            ("m_axi_bvalid", |p| p.bench.write.bvalid),
            ("m_axi_bready", |p| p.engine.write.bready),
        ],
    ),
    (
        "registers written",
        &[
            ("s_axil_awvalid", |p| p.bench.lite.awvalid),
            ("s_axil_awready", |p| p.engine.lite.awready),
            ("s_axil_wvalid", |p| p.bench.lite.wvalid),
            ("s_axil_wready", |p| p.engine.lite.wready),
            ("s_axil_bvalid", |p| p.engine.lite.bvalid),
            ("s_axil_bready", |p| p.bench.lite.bready),
        ],
    ),
    (
        "registers read",
        &[
            ("s_axil_arvalid", |p| p.bench.lite.arvalid),
            ("s_axil_arready", |p| p.engine.lite.arready),
            ("s_axil_rvalid", |p| p.engine.lite.rvalid),
            ("s_axil_rready", |p| p.bench.lite.rready),
        ],
    ),
];

impl Timing {
    /// The diagram of what was recorded; `None` if nothing was.
    pub(crate) fn of(ports: &[Ports], marked: u64) -> Option<Self> {
        let first = ports.first()?.clock;
        let signals = SIGNALS.iter().flat_map(|(group, signals)| {
            signals.iter().map(|(name, level)| Signal {
                group: (*group).into(),
                name: (*name).into(),
                levels: ports
                    .iter()
                    .map(|ports| if level(ports) { '1' } else { '0' })
                    .collect(),
            })
        });
        let decisions = ports.iter().filter_map(|ports| {
            Some(Decision {
                clock: ports.clock,
                action: words(ports.engine.commit()?),
            })
        });
        Some(Self {
            first,
            marked,
            signals: signals.collect(),
            decisions: decisions.collect(),
        })
    }
}

fn words(record: u128) -> String {
    match Action::from_record(&Record::from_bytes(&COMMIT, &record.to_le_bytes())) {
        Ok(action) => action.to_string(),
        Err(error) => format!("{record:#030x}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::SIGNALS;

    #[test]
    fn signals_are_ports_of_the_engine_that_have_one_bit() {
        let source = include_str!("../../../rtl/nd_engine.sv");
        let head = source.split("\n);").next().unwrap();
        for (name, _) in SIGNALS.iter().flat_map(|(_, signals)| *signals) {
            let port = head
                .lines()
                .find(|line| line.trim_end_matches(',').split_whitespace().last() == Some(name));
            let port = port.unwrap_or_else(|| panic!("no port {name}"));
            assert!(!port.contains('['), "{port}");
        }
    }
}
