// Counters in a memory, of which one at most counts in a clock.
//
// `count` adds one to counter `count_index`; it may be high in every clock. `read` asks for counter
// `read_index` and holds, with its index, until `read_done`, the clock in which `read_count` is valid;
// counting comes first. All counters start at zero after reset.
module nd_host_tally #(
  // counters
  parameter int unsigned Depth = 32,
  localparam int unsigned IndexWidth = $clog2(Depth)
) (
  input  logic                  clk,
  input  logic                  rst,

  input  logic                  count,
  input  logic [IndexWidth-1:0] count_index,

  input  logic                  read,
  input  logic [IndexWidth-1:0] read_index,
  output logic                  read_done,
  output logic [31:0]           read_count
);
  if (Depth < 2) begin : g_check
    $error("%m: Depth must be at least 2");
  end

  typedef logic [IndexWidth-1:0] index_t;

  // Two steps: the memory is read, then written.
  logic [Depth-1:0] used_q, used_d;  // counters written since reset; others count as zero
  index_t           addr, addr_q;
  logic             count_q, read_q, read_d;
  logic             valid_q;         // the counter was used when it was read
  // what was written in the clock before: the memory has not given it
  logic             wrote_q;
  index_t           wrote_addr_q;
  logic [31:0]      wrote_count_q;
  logic [31:0]      word, old_count, new_count;

  assign addr       = count ? count_index : read_index;
  assign read_d     = read && !count && !read_q;
  assign new_count  = old_count + 32'd1;
  assign read_done  = read_q;
  assign read_count = old_count;

  nd_ram #(.T(logic [31:0]), .Depth(Depth)) u_counts (
    .clk, .we(count_q), .waddr(addr_q), .wdata(new_count), .raddr(addr), .rdata(word)
  );

  always_comb begin
    used_d = used_q;
    if (count_q) used_d[addr_q] = 1'b1;
    old_count = valid_q ? word : '0;
    if (wrote_q && wrote_addr_q == addr_q) old_count = wrote_count_q;
  end

  always_ff @(posedge clk) begin
    used_q        <= used_d;
    count_q       <= count;
    read_q        <= read_d;
    addr_q        <= addr;
    valid_q       <= used_q[addr];
    wrote_q       <= count_q;
    wrote_addr_q  <= addr_q;
    wrote_count_q <= new_count;
    if (rst) begin
      used_q  <= '0;
      count_q <= 1'b0;
      read_q  <= 1'b0;
      wrote_q <= 1'b0;
    end
  end
endmodule
