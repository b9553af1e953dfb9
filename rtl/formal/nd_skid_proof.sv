// Proof of nd_skid: nothing lost, doubled or turned, two entries, one clock.
module nd_skid_proof (
  input logic       clk,
  input logic       rst,
  input logic       in_valid,
  input logic [1:0] in_data,
  input logic       out_ready,
  input logic       pick
);
  logic       in_ready, out_valid;
  logic [1:0] out_data, held;

  nd_skid #(.T(logic [1:0])) u_dut (.*);

  nd_proof_reset u_reset (.*);
  nd_proof_stream u_stream (
    .clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data)
  );
  nd_proof_order #(.Most(2)) u_order (
    .clk, .rst, .push(in_valid && in_ready), .push_data(in_data),
    .pop(out_valid && out_ready), .pop_data(out_data), .pick, .inside_count(held)
  );

  always_ff @(posedge clk) begin
    if (!rst) begin
      a_shown: assert (out_valid == (held != 2'd0));
      a_taken: assert (in_ready == (held != 2'd2));
    end
  end
endmodule
