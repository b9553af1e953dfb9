// Skid buffer: full throughput with both sides registered.
//
// No combinational path from any input to any output. One clock of latency, two entries.
module nd_skid #(
  // what it carries
  parameter type T = logic [7:0]
) (
  input  logic clk,
  input  logic rst,

  input  logic in_valid,
  output logic in_ready,
  input  T     in_data,

  output logic out_valid,
  input  logic out_ready,
  output T     out_data
);
  logic out_valid_q, out_valid_d;
  logic skid_valid_q, skid_valid_d;
  T     out_q, out_d;
  T     skid_q, skid_d;

  assign in_ready  = !skid_valid_q;
  assign out_valid = out_valid_q;
  assign out_data  = out_q;

  always_comb begin
    out_valid_d  = out_valid_q;
    out_d        = out_q;
    skid_valid_d = skid_valid_q;
    skid_d       = skid_q;
    if (out_ready || !out_valid_q) begin
      out_valid_d  = skid_valid_q || in_valid;
      out_d        = skid_valid_q ? skid_q : in_data;
      skid_valid_d = 1'b0;
    end else if (in_valid && !skid_valid_q) begin
      skid_valid_d = 1'b1;
    end
    if (!skid_valid_q) skid_d = in_data;
  end

  always_ff @(posedge clk) begin
    out_q  <= out_d;
    skid_q <= skid_d;
    out_valid_q  <= out_valid_d;
    skid_valid_q <= skid_valid_d;
    if (rst) begin
      out_valid_q  <= 1'b0;
      skid_valid_q <= 1'b0;
    end
  end

`ifdef FORMAL
  logic past_valid = 1'b0;
  always_ff @(posedge clk) begin
    past_valid <= 1'b1;
    if (!past_valid) assume (rst);
    if (past_valid && !rst && !$past(rst)) begin
      a_hold: assert (!$past(out_valid && !out_ready) || (out_valid && $stable(out_data)));
      c_full: cover (skid_valid_q && out_valid_q);
    end
  end
`endif
endmodule
