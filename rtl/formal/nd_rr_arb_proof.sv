// Proof of nd_rr_arb: one grant, to who asked, whenever anybody did; nobody is passed over twice by
// the same other.
module nd_rr_arb_proof #(
  // requesters
  parameter int unsigned N = 5,
  localparam int unsigned IdxWidth = N > 1 ? $clog2(N) : 1
) (
  input logic                clk,
  input logic                rst,
  input logic [N-1:0]        req,
  input logic                advance,
  input logic [IdxWidth-1:0] who      // free, but it never changes: the one that is looked at
);
  logic [N-1:0]        gnt;
  logic [IdxWidth-1:0] gnt_idx;

  nd_rr_arb #(.N(N)) u_dut (.*);

  nd_proof_reset u_reset (.*);

  logic                started_q = 1'b0;
  logic [IdxWidth-1:0] who_q;
  logic [N-1:0]        before_q, before_d;  // granted since `who` asks
  logic [N-1:0]        req_q, gnt_q;
  logic                still_q;             // no grant has been used

  always_comb begin
    before_d = before_q;
    if (advance) before_d = before_q | gnt;
    if (!req[who] || (gnt[who] && advance)) before_d = '0;
  end

  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    who_q     <= who;
    before_q  <= before_d;
    req_q     <= req;
    gnt_q     <= gnt;
    still_q   <= !advance;
    assume (who < IdxWidth'(N) || N == 2**IdxWidth);
    if (started_q) assume (who == who_q);
    if (rst) begin
      before_q <= '0;
      still_q  <= 1'b0;
    end
    if (!rst) begin
      a_one:    assert ($onehot0(gnt));
      a_asked:  assert ((gnt & ~req) == '0);
      a_work:   assert ((gnt != '0) == (req != '0));
      a_index:  assert (gnt == '0 || gnt[gnt_idx]);
      a_fair:   assert (!req[who] || (gnt & before_q) == '0);
      a_steady: assert (!(still_q && req == req_q) || gnt == gnt_q);
      c_last:   cover (req[who] && $countones(before_q) == N - 1);
    end
  end
endmodule
