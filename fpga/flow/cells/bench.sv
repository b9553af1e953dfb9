// `probe` and its netlist on the cell models, with the same stimulus: they must be the same in each clock.
module bench;
  localparam int unsigned Clocks = 200_000;

  logic             clk = 1'b0, rst = 1'b1;
  logic [63:0]      stimulus = 64'h0123_4567_89ab_cdef;
  logic [6:0][35:0] ram, netlist_ram;
  logic [63:0]      sum, netlist_sum;
  logic [31:0]      count, netlist_count;
  logic [7:0]       picked, held, netlist_picked, netlist_held;
  int unsigned      clocks = 0, changes = 0;

  probe u_probe (.clk, .rst, .stimulus, .ram, .sum, .count, .picked, .held);

  probe_netlist u_netlist (
    .clk, .rst, .stimulus, .ram(netlist_ram), .sum(netlist_sum), .count(netlist_count),
    .picked(netlist_picked), .held(netlist_held)
  );

  always #5 clk = ~clk;

  always @(negedge clk) begin
    // A register with feedback of the primitive polynomial x^64 + x^63 + x^61 + x^60 + 1, several steps a clock.
    for (int i = 0; i < 37; i++) begin
      stimulus = {stimulus[62:0], stimulus[63] ^ stimulus[62] ^ stimulus[60] ^ stimulus[59]};
    end
    rst     <= clocks < 4 || clocks % 5000 == 0;
    changes <= changes + 32'(ram != '0);
    if (clocks > 8 && {ram, sum, count, picked, held}
        != {netlist_ram, netlist_sum, netlist_count, netlist_picked, netlist_held}) begin
      $fatal(1, "clock %0d: ram %h %h, sum %h %h, count %h %h, picked %h %h, held %h %h", clocks, ram,
             netlist_ram, sum, netlist_sum, count, netlist_count, picked, netlist_picked, held, netlist_held);
    end
    clocks <= clocks + 1;
    if (clocks == Clocks) begin
      if (changes < Clocks / 2) $fatal(1, "the memories gave next to nothing");
      $display("cells: the same in %0d clocks", clocks);
      $finish;
    end
  end
endmodule
