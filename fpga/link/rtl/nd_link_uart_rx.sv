// UART receiver: one start bit, eight data bits from the lowest up, one stop bit.
//
// A bit lasts `Step` / 256 clocks; it is read once, in its middle. `out_error` is high with a byte
// whose stop bit was low: a wrong baud rate, noise, or a break. After that the line must have been
// high before the next start bit counts. There is no back-pressure.
module nd_link_uart_rx #(
  // clocks of a bit, times 256
  parameter int unsigned Step = 5333
) (
  input  logic       clk,
  input  logic       rst,

  input  logic       rxd,  // not synchronous to clk

  output logic       out_valid,
  output logic [7:0] out_data,
  output logic       out_error
);
  if (Step < 1024 || Step >= 1 << 24) begin : g_check
    $error("%m: a bit must last 4 clocks at least and less than 65536");
  end

  typedef enum logic [1:0] {
    Idle,
    Bits,
    Recover  // the stop bit was low: wait for the line to be high
  } state_e;
  typedef logic [24:0] time_t;

  // An edge is seen between half a clock and one and a half clocks after it came into the second flip-flop.
  localparam time_t Half = time_t'(Step / 2) - time_t'(256);

  logic [2:0] sync_q;
  state_e     state_q, state_d;
  time_t      time_q, time_d;  // until the next bit is read, in 1/256 of a clock
  logic [3:0] bit_q, bit_d;    // 0 start, 1 to 8 data, 9 stop
  logic [7:0] data_q, data_d;
  logic       valid_q, valid_d, error_q, error_d;
  logic       line, due;

  assign line = sync_q[2];
  assign due  = time_q < time_t'(256);

  always_comb begin
    state_d = state_q;
    bit_d   = bit_q;
    data_d  = data_q;
    valid_d = 1'b0;
    error_d = 1'b0;
    time_d  = due ? time_q + time_t'(Step) - time_t'(256) : time_q - time_t'(256);
    case (state_q)
      Idle: begin
        time_d = Half;
        bit_d  = 4'd0;
        if (!line) state_d = Bits;
      end
      Bits: begin
        if (due) begin
          bit_d = bit_q + 4'd1;
          if (bit_q == 4'd0) begin
            if (line) state_d = Idle;  // a spike
          end else if (bit_q == 4'd9) begin
            valid_d = 1'b1;
            error_d = !line;
            state_d = line ? Idle : Recover;
          end else begin
            data_d = {line, data_q[7:1]};
          end
        end
      end
      default: if (line) state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    sync_q  <= {sync_q[1:0], rxd};
    state_q <= state_d;
    time_q  <= time_d;
    bit_q   <= bit_d;
    data_q  <= data_d;
    valid_q <= valid_d;
    error_q <= error_d;
    if (rst) begin
      sync_q  <= '1;
      state_q <= Recover;
      valid_q <= 1'b0;
    end
  end

  assign out_valid = valid_q;
  assign out_data  = data_q;
  assign out_error = error_q;
endmodule
