// The example design: a counter that can be told to misbehave in every way a design can.
module counter #(
  parameter int unsigned Width = 8  // bits of the count
) (
  input  logic             clk,
  input  logic             rst,
  input  logic             en,
  input  logic             bad,     // fail an assertion
  input  logic             halt,    // $finish
  input  logic             die,     // $fatal
  input  logic             pause,   // $stop
  input  logic             twist,   // close a loop that does not settle
  output logic [Width-1:0] count,
  output logic [63:0]      never_reset,
  output logic             marked
);

  logic [63:0] never_reset_q;
  assign never_reset = never_reset_q;

  // verilator lint_off UNOPTFLAT
  logic knot;  // does not settle while `twist`: on purpose
  // verilator lint_on UNOPTFLAT
  assign knot = twist ? !knot : 1'b0;

  always_ff @(posedge clk) begin
    if (rst) begin
      count <= '0;
    end else if (en) begin
      count <= count + 1'b1;
    end
    never_reset_q <= never_reset_q ^ 64'(knot);
  end

  initial marked = $test$plusargs("mark");

  always_ff @(posedge clk) begin
    if (!rst) begin
      if (halt) $finish;
      if (pause) $stop;
      if (die) $fatal(1, "died at %0d", count);
      a_good: assert (!bad) else $error("bad at %0d", count);
      c_wrap: cover (count == '1);
    end
  end

endmodule
