// Simulation models of the cells of a synthesised netlist.
fpga/flow/cells/ecp5_logic.sv
fpga/flow/cells/ecp5_memory.sv
