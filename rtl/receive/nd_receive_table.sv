// Per-queue-pair memory with one write port and several read ports, each a copy.
//
// `clear` writes zero at `clear_qp`; it must not meet `we`. Reads as nd_ram: one clock later, old data
// when the word is being written.
module nd_receive_table
  import nd_pkg::*;
#(
  // word
  parameter type T = logic [7:0],
  // queue pairs
  parameter int unsigned NumQp = 64,
  // read ports
  parameter int unsigned Reads = 1
) (
  input  logic clk,
  input  logic clear,
  input  qp_t  clear_qp,
  input  logic we,
  input  qp_t  wqp,
  input  T     wdata,
  input  qp_t  rqp[Reads],
  output T     rdata[Reads]
);
  localparam int unsigned AddrWidth = NumQp > 1 ? $clog2(NumQp) : 1;
  typedef logic [AddrWidth-1:0] addr_bits_t;

  addr_bits_t waddr;
  T           word;

  assign waddr = addr_bits_t'(clear ? clear_qp : wqp);
  assign word  = clear ? '0 : wdata;

  for (genvar i = 0; i < Reads; i++) begin : g_read
    nd_ram #(.T(T), .Depth(NumQp)) u_ram (
      .clk, .we(we || clear), .waddr, .wdata(word), .raddr(addr_bits_t'(rqp[i])), .rdata(rdata[i])
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) a_port: assert (!(clear && we));
`endif
endmodule
