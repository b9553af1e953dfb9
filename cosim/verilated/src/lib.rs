//! Safe bindings to Verilator 5 models.
