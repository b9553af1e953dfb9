// COBS decoder: a byte stream with frames between zero bytes becomes the bytes of packets.
//
// `end_valid` closes a packet, in a clock without a byte; `end_good` says that its groups were
// complete. A byte with `in_error` ends the packet as not good, and what follows up to the next zero byte is
// not looked at. Nothing between two zero bytes is no packet. One byte a clock, never back-pressure.
module nd_link_unstuff (
  input  logic       clk,
  input  logic       rst,

  input  logic       in_valid,
  input  logic [7:0] in_data,
  input  logic       in_error,

  output logic       out_valid,
  output logic [7:0] out_data,
  output logic       end_valid,
  output logic       end_good
);
  typedef enum logic [1:0] {
    Start,  // nothing since the last zero byte
    Groups,
    Skip
  } state_e;

  state_e     state_q, state_d;
  logic [7:0] left_q, left_d;  // bytes left of the group
  logic       zero_q, zero_d;  // a zero stands between this group and the next
  logic       valid_q, valid_d, end_q, end_d, good_q, good_d;
  logic [7:0] data_q, data_d;

  always_comb begin
    state_d = state_q;
    left_d  = left_q;
    zero_d  = zero_q;
    valid_d = 1'b0;
    end_d   = 1'b0;
    good_d  = left_q == '0;
    data_d  = in_data;
    if (in_valid && in_error) begin
      state_d = Skip;
      end_d   = 1'b1;
      good_d  = 1'b0;
    end else if (in_valid && in_data == '0) begin
      state_d = Start;
      end_d   = state_q == Groups;
    end else if (in_valid && state_q != Skip) begin
      state_d = Groups;
      if (state_q == Start || left_q == '0) begin
        left_d  = in_data - 8'd1;
        zero_d  = in_data != 8'hFF;
        valid_d = state_q == Groups && zero_q;
        data_d  = '0;
      end else begin
        left_d  = left_q - 8'd1;
        valid_d = 1'b1;
      end
    end
  end

  always_ff @(posedge clk) begin
    state_q <= state_d;
    left_q  <= left_d;
    zero_q  <= zero_d;
    valid_q <= valid_d;
    data_q  <= data_d;
    end_q   <= end_d;
    good_q  <= good_d;
    if (rst) begin
      state_q <= Skip;
      valid_q <= 1'b0;
      end_q   <= 1'b0;
    end
  end

  assign out_valid = valid_q;
  assign out_data  = data_q;
  assign end_valid = end_q;
  assign end_good  = good_q;
endmodule
