rtl/abi/nd_abi_pkg.sv
rtl/nd_pkg.sv
rtl/nd_engine.sv
