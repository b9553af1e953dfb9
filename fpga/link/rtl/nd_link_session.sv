// What a request's header means: executed, answered again, or refused.
//
// The verdict holds from the clock after the header is valid; `accept` takes it over.
module nd_link_session
  import nd_link_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic [7:0]  version,
  input  logic [15:0] session,
  input  logic [15:0] sequence_i,
  output logic        execute,  // it is new
  output logic        repeated,
  output code_e       refusal,  // otherwise
  input  logic        accept
);
  logic        open_q;  // a session was opened since reset
  logic [15:0] session_q, last_q, next;
  logic        ours, opens;
  logic        execute_q, execute_d, repeated_q, repeated_d;
  code_e       refusal_q, refusal_d;

  always_comb begin
    next       = last_q == '1 ? 16'd1 : last_q + 16'd1;  // 0 opens a session
    ours       = open_q && session == session_q;
    opens      = sequence_i == '0;
    execute_d  = 1'b0;
    repeated_d = 1'b0;
    refusal_d  = Sequence;
    if (version != Version) refusal_d = BadVersion;
    else if (ours && sequence_i == last_q) repeated_d = 1'b1;
    else if (opens && !ours) execute_d = 1'b1;
    else if (!ours) refusal_d = NoSession;
    else if (sequence_i == next) execute_d = 1'b1;
  end

  always_ff @(posedge clk) begin
    execute_q  <= execute_d;
    repeated_q <= repeated_d;
    refusal_q  <= refusal_d;
    if (accept) begin
      open_q    <= 1'b1;
      session_q <= session;
      last_q    <= sequence_i;
    end
    if (rst) open_q <= 1'b0;
  end

  assign execute  = execute_q;
  assign repeated = repeated_q;
  assign refusal  = refusal_q;
endmodule
