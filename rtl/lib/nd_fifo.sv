// FIFO: first-word fall-through, output from a register, `Depth` entries.
//
// Up to `Distributed` entries it lies in distributed memory (one clock from input to output), above in
// block memory (five clocks). `in_ready` depends on the number of entries only. `count` is that number.
module nd_fifo #(
  // what it carries
  parameter type T = logic [7:0],
  // entries, a power of two
  parameter int unsigned Depth = 4,
  // most entries in distributed memory
  parameter int unsigned Distributed = 64,
  localparam int unsigned CountWidth = $clog2(Depth) + 1
) (
  input  logic                  clk,
  input  logic                  rst,

  input  logic                  in_valid,
  output logic                  in_ready,
  input  T                      in_data,

  output logic                  out_valid,
  input  logic                  out_ready,
  output T                      out_data,

  output logic [CountWidth-1:0] count
);
  if (Depth <= Distributed) begin : g_reg
    nd_fifo_reg #(.T(T), .Depth(Depth)) u_fifo (
      .clk, .rst, .in_valid, .in_ready, .in_data, .out_valid, .out_ready, .out_data, .count
    );
  end else begin : g_block
    nd_fifo_commit #(.T(T), .Depth(Depth), .Distributed(Distributed)) u_fifo (
      .clk, .rst, .in_valid, .in_ready, .in_data, .commit(1'b1), .discard(1'b0),
      .out_valid, .out_ready, .out_data, .count
    );
  end
endmodule
