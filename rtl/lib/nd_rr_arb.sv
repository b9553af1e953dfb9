// Round-robin arbiter.
//
// `gnt` is one-hot (zero without a request) and combinational from `req`. When `advance` is high
// with a grant, the granted requester becomes the last in turn.
module nd_rr_arb #(
  // requesters
  parameter int unsigned N = 2,
  localparam int unsigned IdxWidth = N > 1 ? $clog2(N) : 1
) (
  input  logic                clk,
  input  logic                rst,
  input  logic [N-1:0]        req,
  input  logic                advance,
  output logic [N-1:0]        gnt,
  output logic [IdxWidth-1:0] gnt_idx
);
  if (N < 1) begin : g_check
    $error("%m: N must be at least 1");
  end

  // Set above the lowest request. In groups, so that many requesters make no long chain.
  localparam int unsigned Width = 8;
  function automatic logic [N-1:0] above(logic [N-1:0] r);
    logic [N-1:0] a;
    logic         before_group, before_bit;
    for (int unsigned g = 0; g < N; g += Width) begin
      before_group = 1'b0;
      for (int unsigned h = 0; h < g; h++) before_group |= r[h];
      before_bit = 1'b0;
      for (int unsigned i = g; i < N && i < g + Width; i++) begin
        a[i] = before_group || before_bit;
        before_bit |= r[i];
      end
    end
    return a;
  endfunction

  // the requesters that come before the others in this turn
  logic [N-1:0] mask_q, mask_d;
  logic [N-1:0] favoured, above_favoured, above_all;

  // The lowest request of the favoured ones, or else of all.
  assign favoured       = req & mask_q;
  assign above_favoured = above(favoured);
  assign above_all      = above(req);
  assign gnt            = |favoured ? favoured & ~above_favoured : req & ~above_all;

  always_comb begin
    mask_d = mask_q;
    if (advance && |req) mask_d = |favoured ? above_favoured : above_all;
  end

  always_comb begin
    gnt_idx = '0;
    for (int unsigned i = 0; i < N; i++) if (gnt[i]) gnt_idx |= IdxWidth'(i);
  end

  always_ff @(posedge clk) begin
    mask_q <= mask_d;
    if (rst) mask_q <= '0;
  end

`ifdef FORMAL
  logic past_valid = 1'b0;
  always_ff @(posedge clk) begin
    past_valid <= 1'b1;
    if (!past_valid) assume (rst);
    if (past_valid && !rst) begin
      a_onehot: assert ($onehot0(gnt));
      a_asked:  assert ((gnt & ~req) == '0);
      a_work:   assert ((|gnt) == (|req));
    end
  end
`endif
endmodule
