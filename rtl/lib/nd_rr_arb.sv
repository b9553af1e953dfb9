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

  // set for the requesters that come before the others in this turn
  logic [N-1:0] mask_q, mask_d;
  logic [N-1:0] first, above;

  // lowest requester of the favoured ones, or else of all
  assign first = |(req & mask_q) ? req & mask_q : req;
  assign gnt   = first & (~first + 1'b1);

  always_comb begin
    above = '0;
    for (int unsigned i = 1; i < N; i++) above[i] = above[i-1] | gnt[i-1];
    mask_d = advance && |gnt ? above : mask_q;
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
