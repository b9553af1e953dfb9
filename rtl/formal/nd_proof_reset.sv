// The first clock is one of reset; there may be others.
module nd_proof_reset (
  input logic clk,
  input logic rst
);
  logic started_q = 1'b0;

  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    if (!started_q) assume (rst);
  end
endmodule
