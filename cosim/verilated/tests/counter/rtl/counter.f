cosim/verilated/tests/counter/rtl/counter.sv
