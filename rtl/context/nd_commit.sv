// Commit arbiter: at most one action takes effect in a clock, in round-robin order of the rooms.
//
// A room holds `req` with its record `rec` only when the whole action can take effect in this
// clock; `gnt` is one-hot and combinational. The granted record leaves on `commit` in the same
// clock: the order of those records is the order of effects. `verdict` names, in the same clock, the
// queue pair of a response and what it led to, so that sending stops or goes back at once.
module nd_commit
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // rooms' request pairs
  parameter int unsigned N = 8
) (
  input  logic            clk,
  input  logic            rst,

  input  logic    [N-1:0] req,
  input  commit_t [N-1:0] rec,
  output logic    [N-1:0] gnt,

  output logic            commit_valid,
  output commit_t         commit,

  output logic            verdict_valid,
  output qp_t             verdict_qp,
  output rx_result_e      verdict
);
  localparam int unsigned IdxWidth = N > 1 ? $clog2(N) : 1;

  logic [IdxWidth-1:0] unused_gnt_idx;

  nd_rr_arb #(.N(N)) u_arb (
    .clk, .rst, .req, .advance(1'b1), .gnt, .gnt_idx(unused_gnt_idx)
  );

  always_comb begin
    commit = '0;
    for (int unsigned i = 0; i < N; i++) if (gnt[i]) commit |= rec[i];
  end

  assign commit_valid  = |gnt;
  assign verdict_valid = commit_valid && commit.kind == CommitRxResponse;
  assign verdict_qp    = qp_t'(commit.qpn);
  assign verdict       = rx_result_e'(commit.cause);

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_onehot: assert ($onehot0(gnt));
      a_asked:  assert ((gnt & ~req) == '0);
    end
  end
`endif
endmodule
