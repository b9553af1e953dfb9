// Proof of nd_fifo: nothing lost, doubled or turned; full at `Depth` entries, none shown late.
module nd_fifo_proof #(
  // entries, a power of two
  parameter int unsigned Depth = 4,
  // most entries in distributed memory
  parameter int unsigned Distributed = 64,
  localparam int unsigned CountWidth = $clog2(Depth) + 1
) (
  input logic       clk,
  input logic       rst,
  input logic       in_valid,
  input logic       in_data,
  input logic       out_ready,
  input logic       pick
);
  localparam int unsigned Latency = Depth <= Distributed ? 1 : 5;

  logic                  in_ready, out_valid;
  logic                  out_data;
  logic [CountWidth-1:0] count, held;
  logic [2:0]            late_q;  // clocks that something is in and nothing is shown

  nd_fifo #(.T(logic), .Depth(Depth), .Distributed(Distributed)) u_dut (.*);

  nd_proof_reset u_reset (.*);
  nd_proof_stream #(.Width(1)) u_stream (
    .clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data)
  );
  nd_proof_order #(.Width(1), .Most(Depth)) u_order (
    .clk, .rst, .push(in_valid && in_ready), .push_data(in_data),
    .pop(out_valid && out_ready), .pop_data(out_data), .pick, .inside_count(held)
  );

  always_ff @(posedge clk) begin
    late_q <= held != '0 && !out_valid ? late_q + 3'd1 : 3'd0;
    if (rst) late_q <= 3'd0;
    if (!rst) begin
      a_count: assert (count == held);
      a_full:  assert (in_ready == (held != CountWidth'(Depth)));
      // The clock in which it went in counts.
      a_late:  assert (late_q < 3'(Latency));
    end
  end
endmodule
