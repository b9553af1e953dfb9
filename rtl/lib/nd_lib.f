rtl/lib/nd_ram.sv
rtl/lib/nd_skid.sv
rtl/lib/nd_rr_arb.sv
rtl/lib/nd_rr_turn.sv
rtl/lib/nd_fifo_reg.sv
rtl/lib/nd_fifo_commit.sv
rtl/lib/nd_fifo.sv
rtl/lib/nd_pack.sv
