// Round robin over many requesters, in two clocks.
//
// `valid` and `row` tell, in this clock, who of the requests of the clock before is next in turn.
// `take` makes that one the last in turn; it may be high every other clock at most.
module nd_rr_turn #(
  // requesters, a power of two
  parameter int unsigned N = 64,
  localparam int unsigned RowBits = $clog2(N)
) (
  input  logic               clk,
  input  logic               rst,
  input  logic [N-1:0]       req,
  input  logic               take,
  output logic               valid,
  output logic [RowBits-1:0] row
);
  if (N < 2 || (N & (N - 1)) != 0) begin : g_check
    $error("%m: N must be a power of two, at least 2");
  end

  // Requests in groups: the first group that has any, beside the first one in each group.
  localparam int unsigned Width  = N > 8 ? 8 : N;
  localparam int unsigned Groups = N / Width;

  typedef struct packed {
    logic               any;
    logic [RowBits-1:0] row;
  } first_t;

  function automatic first_t first(logic [N-1:0] r);
    first_t             f;
    logic [Groups-1:0]  any;
    logic [Width-1:0]   group;
    logic [RowBits-1:0] inner;
    logic               before_group, before_bit;
    for (int unsigned g = 0; g < Groups; g++) any[g] = |r[g*Width +: Width];
    f = '0;
    f.any = |any;
    for (int unsigned g = 0; g < Groups; g++) begin
      before_group = 1'b0;
      for (int unsigned h = 0; h < g; h++) before_group |= any[h];
      group = r[g*Width +: Width];
      inner = '0;
      for (int unsigned i = 0; i < Width; i++) begin
        before_bit = 1'b0;
        for (int unsigned h = 0; h < i; h++) before_bit |= group[h];
        if (group[i] && !before_bit) inner |= RowBits'(g * Width + i);
      end
      if (any[g] && !before_group) f.row |= inner;
    end
    return f;
  endfunction

  logic [N-1:0]       req_q, mask_q, mask_d;  // mask: those after the one taken last
  logic [RowBits-1:0] last_q, last_d;
  first_t             after, all;

  always_comb begin
    after  = first(req_q & mask_q);
    all    = first(req_q);
    valid  = all.any;
    row    = after.any ? after.row : all.row;
    last_d = take && valid ? row : last_q;
    for (int unsigned i = 0; i < N; i++) mask_d[i] = RowBits'(i) > last_q;
  end

  always_ff @(posedge clk) begin
    req_q  <= req;
    mask_q <= mask_d;
    last_q <= last_d;
    if (rst) begin
      req_q  <= '0;
      last_q <= '0;
    end
  end
endmodule
