// UART sender: one start bit, eight data bits from the lowest up, one stop bit.
//
// A bit lasts `Step` / 256 clocks on average; a byte starts with its whole stop bit before it.
module nd_link_uart_tx #(
  // clocks of a bit, times 256
  parameter int unsigned Step = 5333
) (
  input  logic       clk,
  input  logic       rst,

  input  logic       in_valid,
  output logic       in_ready,
  input  logic [7:0] in_data,

  output logic       txd
);
  if (Step < 1024 || Step >= 1 << 24) begin : g_check
    $error("%m: a bit must last 4 clocks at least and less than 65536");
  end

  typedef logic [24:0] time_t;

  time_t      time_q, time_d;  // until the bit ends, in 1/256 of a clock
  logic [3:0] left_q, left_d;  // bits not ended
  logic [8:0] bits_q, bits_d;  // the line is the lowest
  logic       due;

  assign due      = time_q < time_t'(256);
  assign in_ready = left_q == '0;
  assign txd      = bits_q[0];

  always_comb begin
    left_d = left_q;
    bits_d = bits_q;
    time_d = due ? time_q + time_t'(Step) - time_t'(256) : time_q - time_t'(256);
    if (in_ready) begin
      time_d = time_t'(Step) - time_t'(256);
      if (in_valid) begin
        left_d = 4'd10;
        bits_d = {in_data, 1'b0};
      end
    end else if (due) begin
      left_d = left_q - 4'd1;
      bits_d = {1'b1, bits_q[8:1]};
    end
  end

  always_ff @(posedge clk) begin
    time_q <= time_d;
    left_q <= left_d;
    bits_q <= bits_d;
    if (rst) begin
      left_q <= '0;
      bits_q <= '1;
    end
  end
endmodule
