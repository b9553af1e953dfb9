// Small FIFO in distributed memory, first-word fall-through, output from a register.
//
// One clock from input to output. It holds `Depth` entries, the output register included.
module nd_fifo_reg #(
  // what it carries
  parameter type T = logic [7:0],
  // entries, a power of two
  parameter int unsigned Depth = 4,
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
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_check
    $error("%m: Depth must be a power of two, at least 2");
  end

  localparam int unsigned PtrWidth = $clog2(Depth);
  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [CountWidth-1:0] count_t;

  T       mem[Depth];
  T       out_q;
  logic   out_valid_q, out_valid_d;
  ptr_t   wr_q, wr_d, rd_q, rd_d;
  count_t count_q, count_d;
  logic   push, pop, load, stored, to_mem;

  // The depth is a power of two: full is one bit of the count.
  assign in_ready  = !count_q[PtrWidth];
  assign out_valid = out_valid_q;
  assign out_data  = out_q;
  assign count     = count_q;

  always_comb begin
    push   = in_valid && in_ready;
    pop    = out_valid_q && out_ready;
    stored = wr_q != rd_q;
    load   = pop || !out_valid_q;
    to_mem = push && !(load && !stored);
    out_valid_d = load ? stored || push : 1'b1;
    wr_d    = wr_q + ptr_t'(to_mem);
    rd_d    = rd_q + ptr_t'(load && stored);
    count_d = count_q + count_t'(push) - count_t'(pop);
  end

  always_ff @(posedge clk) begin
    if (to_mem) mem[wr_q] <= in_data;
    if (load) out_q <= stored ? mem[rd_q] : in_data;
    out_valid_q <= out_valid_d;
    wr_q        <= wr_d;
    rd_q        <= rd_d;
    count_q     <= count_d;
    if (rst) begin
      out_valid_q <= 1'b0;
      wr_q        <= '0;
      rd_q        <= '0;
      count_q     <= '0;
    end
  end

`ifdef FORMAL
  logic past_valid = 1'b0;
  always_ff @(posedge clk) begin
    past_valid <= 1'b1;
    if (!past_valid) assume (rst);
    if (past_valid && !rst && !$past(rst)) begin
      a_hold:  assert (!$past(out_valid && !out_ready) || (out_valid && $stable(out_data)));
      a_count: assert (count_q == count_t'(ptr_t'(wr_q - rd_q)) + count_t'(out_valid_q));
      c_full:  cover (!in_ready);
    end
  end
`endif
endmodule
