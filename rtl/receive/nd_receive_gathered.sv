// Lets what tells of an invalidation pass when everything that was being read for frames as it came here
// has been read: nothing leaves through the token after that. All else passes at once.
//
// A gate of a valid/ready pair: `in_tells` belongs to what is offered. The counts wrap, and lie less than
// half their range apart.
module nd_receive_gathered (
  input  logic       clk,
  input  logic       rst,

  input  logic [7:0] gathers_begun,
  input  logic [7:0] gathers_done,

  input  logic       in_valid,
  output logic       in_ready,
  input  logic       in_tells,
  output logic       out_valid,
  input  logic       out_ready
);
  typedef enum logic [1:0] {
    Look,
    Wait,  // for what was begun
    Pass
  } state_e;

  state_e     state_q, state_d;
  logic [7:0] count_q, count_d, left;
  logic       open;

  assign left      = count_q - gathers_done;
  assign open      = state_q == Pass || (state_q == Look && !in_tells);
  assign out_valid = in_valid && open;
  assign in_ready  = out_ready && open;

  always_comb begin
    state_d = state_q;
    count_d = count_q;
    unique case (state_q)
      Look: begin
        count_d = gathers_begun;
        if (in_valid && in_tells) state_d = Wait;
      end
      Wait: if (left == '0 || left[7]) state_d = Pass;
      default: if (out_ready) state_d = Look;  // Pass
    endcase
  end

  always_ff @(posedge clk) begin
    state_q <= state_d;
    count_q <= count_d;
    if (rst) state_q <= Look;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) a_kept: assert (state_q == Look || (in_valid && in_tells));
`endif
endmodule
