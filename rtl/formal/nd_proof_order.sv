// What goes in comes out once, unchanged and in order: of any one entry, which `pick` chooses.
//
// `inside_count` is the number of entries that went in and did not come out.
module nd_proof_order #(
  // bits of an entry
  parameter int unsigned Width = 2,
  // most entries inside
  parameter int unsigned Most = 4,
  localparam int unsigned CountWidth = $clog2(Most + 1)
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic                  push,
  input  logic [Width-1:0]      push_data,
  input  logic                  pop,
  input  logic [Width-1:0]      pop_data,
  input  logic                  pick,    // free: the entry that goes in is the one to be followed
  output logic [CountWidth-1:0] inside_count
);
  typedef logic [CountWidth-1:0] count_t;

  count_t           count_q, count_d;
  logic             followed_q, followed_d;
  count_t           ahead_q, ahead_d;  // entries that come out before it
  logic [Width-1:0] data_q, data_d;

  assign inside_count = count_q;

  always_comb begin
    count_d    = count_q + count_t'(push) - count_t'(pop);
    followed_d = followed_q;
    ahead_d    = ahead_q;
    data_d     = data_q;
    if (!followed_q) begin
      followed_d = push && pick;
      ahead_d    = count_q - count_t'(pop);
      data_d     = push_data;
    end else if (pop) begin
      followed_d = ahead_q != '0;
      ahead_d    = ahead_q - count_t'(1);
    end
  end

  always_ff @(posedge clk) begin
    count_q    <= count_d;
    followed_q <= followed_d;
    ahead_q    <= ahead_d;
    data_q     <= data_d;
    if (rst) begin
      count_q    <= '0;
      followed_q <= 1'b0;
    end
    if (!rst) begin
      a_from_inside: assert (!pop || count_q != '0);
      a_room:        assert (!push || pop || count_q != count_t'(Most));
      a_in_order:    assert (!(followed_q && pop && ahead_q == '0) || pop_data == data_q);
      c_through:     cover (followed_q && pop && ahead_q == '0);
      c_full:        cover (count_q == count_t'(Most));
    end
  end
endmodule
