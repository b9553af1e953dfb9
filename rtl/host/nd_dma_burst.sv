// Cuts a chunk of host memory into AXI bursts.
//
// Bursts start at a whole beat, have at most 256 beats and stay in the chunk's 4 KiB page, as the chunk
// does. `next_len` is the burst that waits; it becomes a burst at the output only when `allow` is high,
// and `issue` tells so. Outputs are registers, and so is `chunk_ready`: a chunk every other clock.
module nd_dma_burst
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64
) (
  input  logic       clk,
  input  logic       rst,

  input  logic       chunk_valid,
  output logic       chunk_ready,
  input  chunk_t     chunk,

  output logic [7:0] next_len,  // beats - 1
  input  logic       allow,
  output logic       issue,

  output logic       burst_valid,
  input  logic       burst_ready,
  output addr_t      burst_addr,
  output logic [7:0] burst_len  // beats - 1
);
  if (DataWidth < 64 || DataWidth > 512 || (DataWidth & (DataWidth - 1)) != 0) begin : g_check
    $error("%m: DataWidth must be 64, 128, 256 or 512");
  end

  localparam int unsigned LaneBits = $clog2(DataWidth / 8);

  // The chunk, or what is left of it.
  logic       valid_q, valid_d;
  addr_t      addr_q, addr_d;
  logic [8:0] beats_q, beats_d;  // beats that are left - 1; bit 8: more than one burst
  len_t       end_byte;          // last byte, counted from the first beat's lane 0

  // The burst.
  logic       out_valid_q, out_valid_d;
  addr_t      out_addr_q, out_addr_d;
  logic [7:0] out_len_q, out_len_d;

  assign chunk_ready = !valid_q;
  assign next_len    = beats_q[8] ? 8'hFF : beats_q[7:0];
  assign issue       = valid_q && allow && (burst_ready || !out_valid_q);
  assign burst_valid = out_valid_q;
  assign burst_addr  = out_addr_q;
  assign burst_len   = out_len_q;

  always_comb begin
    valid_d     = valid_q;
    addr_d      = addr_q;
    beats_d     = beats_q;
    out_valid_d = out_valid_q && !burst_ready;
    out_addr_d  = out_addr_q;
    out_len_d   = out_len_q;
    end_byte    = chunk.len + len_t'(chunk.addr[LaneBits-1:0]) - 13'd1;
    if (!valid_q) begin
      valid_d = chunk_valid;
      addr_d  = {chunk.addr[63:LaneBits], LaneBits'(0)};
      beats_d = 9'(end_byte >> LaneBits);
    end else if (issue) begin
      valid_d      = beats_q[8];
      addr_d[11:0] = addr_q[11:0] + 12'(256 << LaneBits);
      beats_d[8]   = 1'b0;
    end
    if (burst_ready || !out_valid_q) begin
      out_valid_d = issue;
      out_addr_d  = addr_q;
      out_len_d   = next_len;
    end
  end

  always_ff @(posedge clk) begin
    valid_q     <= valid_d;
    addr_q      <= addr_d;
    beats_q     <= beats_d;
    out_valid_q <= out_valid_d;
    out_addr_q  <= out_addr_d;
    out_len_q   <= out_len_d;
    if (rst) begin
      valid_q     <= 1'b0;
      out_valid_q <= 1'b0;
    end
  end
endmodule
