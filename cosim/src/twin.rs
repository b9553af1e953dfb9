//! The RTL beside its netlist: the same inputs, and every port compared in every clock.

use verilated::{Reset, Settings};

use crate::ports::{PortsIn, PortsOut};
use crate::sim::{Build, Simulation, SimulationError};

/// The RTL that a netlist is compared with.
pub(crate) struct Twin {
    rtl: Simulation,
    outputs: PortsOut,
    /// All ports of the RTL in all clocks so far.
    ports: u64,
}

impl Twin {
    /// How netlist and RTL begin: what is not initialised is zero, as in the device when that has been configured.
    pub(crate) fn settings() -> Settings {
        Settings {
            reset: Reset::Zeros,
            ..Settings::default()
        }
    }

    /// The RTL in reset.
    pub(crate) fn new() -> Result<Self, SimulationError> {
        Ok(Self {
            rtl: Simulation::with(Build::Fast, &Self::settings())?,
            outputs: PortsOut::default(),
            ports: 0,
        })
    }

    /// One clock of the RTL.
    ///
    /// # Errors
    /// What stopped it.
    pub(crate) fn step(&mut self, inputs: &PortsIn) -> Result<(), verilated::Error> {
        self.rtl.step(inputs, &mut self.outputs)
    }

    /// Compares all ports of this clock.
    ///
    /// # Errors
    /// Those that differ, in words.
    pub(crate) fn compare(
        &mut self,
        netlist: &mut Simulation,
        outputs: &PortsOut,
    ) -> Result<(), String> {
        let (own, other) = (self.rtl.digest(), netlist.digest());
        self.ports = self.ports.rotate_left(7) ^ own;
        if own == other {
            return Ok(());
        }
        let (rtl, netlist) = (format!("{:#?}", self.outputs), format!("{outputs:#?}"));
        let lines = rtl.lines().zip(netlist.lines());
        let different: Vec<String> = lines
            .filter(|(rtl, netlist)| rtl != netlist)
            .map(|(rtl, netlist)| format!("RTL {}  netlist {}", rtl.trim(), netlist.trim()))
            .collect();
        Err(match different.is_empty() {
            true => "they differ in a port at which the bench does not look now".into(),
            false => different.join("\n"),
        })
    }

    /// All ports in all clocks so far, in one number; the netlist's is the same.
    pub(crate) fn ports(&self) -> u64 {
        self.ports
    }
}
