//! The Verilated engine driven in lockstep with the golden model.
