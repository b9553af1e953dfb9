// Proof of nd_pack: every byte comes out once, in order, in full beats; sequences end where they ended.
module nd_pack_proof #(
  // bits of a beat
  parameter int unsigned DataWidth = 16,
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned BytesWidth = $clog2(Lanes) + 1
) (
  input logic                  clk,
  input logic                  rst,
  input logic                  in_valid,
  input logic [DataWidth-1:0]  in_data,
  input logic [BytesWidth-1:0] in_bytes,
  input logic                  in_last,
  input logic                  out_ready,
  input logic                  pick,     // free: a byte that goes in is the one to be followed,
  input logic [BytesWidth-1:0] lane      // ... the one in this lane
);
  // Two beats in the buffer at the output, one in each stage and what spilled.
  localparam int unsigned Most = 5 * Lanes;
  localparam int unsigned CountWidth = $clog2(Most + 1);
  typedef logic [CountWidth-1:0] count_t;

  logic                  in_ready, out_valid, out_last, push, pop;
  logic [DataWidth-1:0]  out_data, above;
  logic [BytesWidth-1:0] out_bytes;

  nd_pack #(.DataWidth(DataWidth)) u_dut (.*);

  nd_proof_reset u_reset (.*);
  nd_proof_stream #(.Width(DataWidth + BytesWidth + 1)) u_stream (
    .clk, .rst, .valid(out_valid), .ready(out_ready), .data({out_last, out_bytes, out_data})
  );

  count_t     count_q, count_d, came, went;  // bytes inside
  logic [2:0] ends_q, ends_d;                // ends of sequences inside
  logic       followed_q, followed_d, last_q, last_d;
  count_t     ahead_q, ahead_d;              // bytes that come out before it
  logic [7:0] data_q, data_d;
  logic [1:0] late_q;  // clocks that a beat could be shown and none is

  assign push = in_valid && in_ready;
  assign pop  = out_valid && out_ready;

  always_comb begin
    came    = push ? count_t'(in_bytes) : '0;
    went    = pop ? count_t'(out_bytes) : '0;
    count_d = count_q + came - went;
    ends_d  = ends_q + 3'(push && in_last) - 3'(pop && out_last);

    followed_d = followed_q;
    ahead_d    = ahead_q;
    data_d     = data_q;
    last_d     = last_q;
    if (!followed_q) begin
      followed_d = push && pick && lane < in_bytes;
      ahead_d    = count_q - went + count_t'(lane);
      data_d     = 8'(in_data >> {lane, 3'b000});
      last_d     = in_last && lane + BytesWidth'(1) == in_bytes;
    end else if (pop) begin
      followed_d = ahead_q >= went;
      ahead_d    = ahead_q - went;
    end

    for (int unsigned i = 0; i < Lanes; i++) above[8*i +: 8] = {8{BytesWidth'(i) >= out_bytes}};
  end

  always_ff @(posedge clk) begin
    count_q    <= count_d;
    ends_q     <= ends_d;
    followed_q <= followed_d;
    ahead_q    <= ahead_d;
    data_q     <= data_d;
    last_q     <= last_d;
    late_q     <= !out_valid && (count_q >= count_t'(Lanes) || ends_q != '0) ? late_q + 2'd1 : '0;
    if (rst) begin
      count_q    <= '0;
      ends_q     <= '0;
      followed_q <= 1'b0;
      late_q     <= '0;
    end
    if (!rst) begin
      assume (!in_valid || (in_bytes != '0 && in_bytes <= BytesWidth'(Lanes)));
      a_some:   assert (!out_valid || (out_bytes != '0 && out_bytes <= BytesWidth'(Lanes)));
      a_inside: assert (went <= count_q);
      a_most:   assert (count_q <= count_t'(Most));
      a_dense:  assert (!out_valid || out_last || out_bytes == BytesWidth'(Lanes));
      a_clear:  assert (!out_valid || (out_data & above) == '0);
      if (followed_q && pop && ahead_q < went) begin
        a_in_order: assert (8'(out_data >> {ahead_q, 3'b000}) == data_q);
        a_end:      assert (last_q == (out_last && ahead_q + count_t'(1) == went));
      end
      a_late:   assert (late_q != 2'd3);
      c_end:    cover (followed_q && pop && ahead_q < went && last_q);
      c_joined: cover (followed_q && pop && ahead_q == count_t'(1) && count_q > count_t'(Lanes));
    end
  end
endmodule
