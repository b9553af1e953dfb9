// Inferred memory with one write port and one read port on one clock.
//
// `rdata` is mem[raddr] one clock later. Reading the word that is being written gives the old one, for
// which a block RAM needs two flip-flops and a LUT a bit; without `ReadOld` it gives anything (in
// simulation the inverse of the old one), and costs nothing. All words are zero at power-up. `rdata` is
// the memory's own output register: of a big memory it must meet a bare flip-flop before any logic.
module nd_ram #(
  // word
  parameter type T = logic [7:0],
  // words
  parameter int unsigned Depth = 16,
  // whether a read that meets a write of its word gives the old one
  parameter bit ReadOld = 1'b1,
  localparam int unsigned AddrWidth = Depth > 1 ? $clog2(Depth) : 1
) (
  input  logic                 clk,
  input  logic                 we,
  input  logic [AddrWidth-1:0] waddr,
  input  T                     wdata,
  input  logic [AddrWidth-1:0] raddr,
  output T                     rdata
);
  if (Depth < 1) begin : g_check
    $error("%m: Depth must be at least 1");
  end

  (* no_rw_check = !ReadOld *) T mem[Depth];

  initial begin
    for (int unsigned i = 0; i < Depth; i++) mem[i] = '0;
  end

  always_ff @(posedge clk) begin
    if (we) mem[waddr] <= wdata;
    rdata <= mem[raddr];
`ifndef SYNTHESIS
    if (!ReadOld && we && waddr == raddr) rdata <= T'(~mem[raddr]);
`endif
  end
endmodule
