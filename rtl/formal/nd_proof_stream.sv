// An offer stands until it is taken: `valid` and `data` hold while `ready` is low.
module nd_proof_stream #(
  // bits of the payload
  parameter int unsigned Width = 2
) (
  input logic             clk,
  input logic             rst,
  input logic             valid,
  input logic             ready,
  input logic [Width-1:0] data
);
  logic             waits_q;
  logic [Width-1:0] data_q;

  always_ff @(posedge clk) begin
    waits_q <= valid && !ready && !rst;
    data_q  <= data;
    if (rst) waits_q <= 1'b0;
    if (!rst && waits_q) begin
      a_stays:  assert (valid);
      a_stable: assert (data == data_q);
    end
    if (!rst) c_waits: cover (waits_q);
  end
endmodule
