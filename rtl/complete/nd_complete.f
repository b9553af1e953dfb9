rtl/complete/nd_complete_pkg.sv
rtl/complete/nd_complete_step.sv
rtl/complete/nd_complete.sv
