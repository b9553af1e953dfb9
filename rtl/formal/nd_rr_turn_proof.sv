// Proof of nd_rr_turn: the one that is shown asked in the clock before; nobody is passed over twice by
// the same other.
module nd_rr_turn_proof #(
  // requesters, a power of two
  parameter int unsigned N = 4,
  localparam int unsigned RowBits = $clog2(N)
) (
  input logic               clk,
  input logic               rst,
  input logic [N-1:0]       req,
  input logic               take,
  input logic [RowBits-1:0] who   // free, but it never changes: the one that is looked at
);
  logic               valid;
  logic [RowBits-1:0] row;

  nd_rr_turn #(.N(N)) u_dut (.*);

  nd_proof_reset u_reset (.*);

  logic               started_q = 1'b0;
  logic               take_q, used;
  logic [N-1:0]       req_q;
  logic [RowBits-1:0] who_q;
  logic [N-1:0]       before_q, before_d;  // taken since `who` asks

  assign used = take && valid;

  always_comb begin
    before_d = before_q;
    if (used) before_d[row] = 1'b1;
    if (!req_q[who] || (used && row == who)) before_d = '0;
  end

  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    req_q     <= req;
    who_q     <= who;
    take_q    <= take;
    before_q  <= before_d;
    if (started_q) assume (who == who_q);
    if (rst) begin
      req_q    <= '0;
      take_q   <= 1'b0;
      before_q <= '0;
    end
    if (!rst) begin
      assume (!(take && take_q));
      a_work:  assert (valid == (req_q != '0));
      a_asked: assert (!valid || req_q[row]);
      a_fair:  assert (!(used && req_q[who]) || !before_q[row]);
      c_last:  cover (req_q[who] && $countones(before_q) == N - 1);
    end
  end
endmodule
