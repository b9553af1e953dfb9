// Operation that lets time pass: until a bit of `status` that is asked for is high, or `n` * 64 clocks.
module nd_link_wait
  import nd_link_pkg::*;
(
  input  logic       clk,
  input  logic       rst,

  input  logic       start,
  input  logic [15:0] n,
  input  logic [7:0] mask,
  output logic       done,
  output logic       out_valid,
  input  logic       out_ready,
  output logic [7:0] out_data,

  input  logic [7:0] status
);
  typedef enum logic [1:0] {
    Idle,
    Waiting,
    Give,
    Ended
  } state_e;

  state_e      state_q, state_d;
  logic [21:0] left_q, left_d;
  logic [7:0]  status_q, status_d;

  assign done      = state_q == Ended;
  assign out_valid = state_q == Give;
  assign out_data  = status_q;

  always_comb begin
    state_d  = state_q;
    left_d   = left_q;
    status_d = status_q;
    case (state_q)
      Idle: begin
        left_d = {n, 6'd0};
        if (start) state_d = Waiting;
      end
      Waiting: begin
        left_d   = left_q - 22'd1;
        status_d = status;
        if (left_q == '0 || (status & mask) != '0) state_d = Give;
      end
      Give:    if (out_ready) state_d = Ended;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    left_q   <= left_d;
    status_q <= status_d;
    if (rst) state_q <= Idle;
  end
endmodule
