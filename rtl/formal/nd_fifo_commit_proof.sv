// Proof of nd_fifo_commit: only what is committed comes out, in order; what is discarded never does.
module nd_fifo_commit_proof #(
  // entries, a power of two
  parameter int unsigned Depth = 4,
  // most entries in distributed memory
  parameter int unsigned Distributed = 64,
  localparam int unsigned CountWidth = $clog2(Depth) + 1
) (
  input logic       clk,
  input logic       rst,
  input logic       in_valid,
  input logic       in_data,
  input logic       commit,
  input logic       discard,
  input logic       out_ready,
  input logic       pick      // free: the entry that goes in is the one to be followed
);
  typedef logic [CountWidth-1:0] count_t;
  localparam int unsigned Latency = Depth <= Distributed ? 1 : 4;

  logic       in_ready, out_valid, push, pop;
  logic       out_data;
  count_t     count;

  nd_fifo_commit #(.T(logic), .Depth(Depth), .Distributed(Distributed)) u_dut (.*);

  nd_proof_reset u_reset (.*);
  nd_proof_stream #(.Width(1)) u_stream (
    .clk, .rst, .valid(out_valid), .ready(out_ready), .data(out_data)
  );

  count_t     safe_q, safe_d;          // entries inside that are committed
  count_t     open_q, open_d;          // ... and that are not
  logic       followed_q, followed_d;
  logic       mine_open_q, mine_open_d; // the one followed is not committed
  count_t     ahead_q, ahead_d;        // entries that come out before it
  logic       data_q, data_d;
  logic [2:0] late_q;                  // clocks that something is to come out and nothing is shown

  assign push = in_valid && in_ready;
  assign pop  = out_valid && out_ready;

  always_comb begin
    safe_d = safe_q - count_t'(pop);
    open_d = open_q + count_t'(push);
    if (discard) begin
      open_d = '0;
    end else if (commit) begin
      safe_d = safe_d + open_d;
      open_d = '0;
    end

    followed_d  = followed_q;
    mine_open_d = mine_open_q && !commit;
    ahead_d     = ahead_q;
    data_d      = data_q;
    if (!followed_q) begin
      followed_d  = push && pick && !discard;
      mine_open_d = !commit;
      ahead_d     = safe_q + open_q - count_t'(pop);
      data_d      = in_data;
    end else begin
      if (pop) begin
        followed_d = ahead_q != '0;
        ahead_d    = ahead_q - count_t'(1);
      end
      if (mine_open_q && discard) followed_d = 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    safe_q      <= safe_d;
    open_q      <= open_d;
    followed_q  <= followed_d;
    mine_open_q <= mine_open_d;
    ahead_q     <= ahead_d;
    data_q      <= data_d;
    late_q      <= safe_q != '0 && !out_valid ? late_q + 3'd1 : 3'd0;
    if (rst) begin
      safe_q     <= '0;
      open_q     <= '0;
      followed_q <= 1'b0;
      late_q     <= 3'd0;
    end
    if (!rst) begin
      a_count:     assert (count == safe_q + open_q);
      a_full:      assert (in_ready == (count != count_t'(Depth)));
      a_committed: assert (!out_valid || safe_q != '0);
      a_in_order:  assert (!(followed_q && pop && ahead_q == '0)
                           || (out_data == data_q && !mine_open_q));
      a_late:      assert (late_q <= 3'(Latency));
      c_through:   cover (followed_q && pop && ahead_q == '0);
      c_discard:   cover (discard && open_q > count_t'(1) && safe_q != '0);
      c_full:      cover (open_q == count_t'(Depth));
    end
  end
endmodule
