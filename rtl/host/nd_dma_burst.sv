// Cuts a chunk of host memory into AXI bursts.
//
// Bursts start at a whole beat, have at most 256 beats and stay in the chunk's 4 KiB page, as the chunk
// does. One burst a clock; the chunk is taken with its last burst before it leaves, and the output
// holds until taken.
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

  output logic       burst_valid,
  input  logic       burst_ready,
  output addr_t      burst_addr,
  output logic [7:0] burst_len  // beats - 1
);
  if (DataWidth < 64 || DataWidth > 512 || (DataWidth & (DataWidth - 1)) != 0) begin : g_check
    $error("%m: DataWidth must be 64, 128, 256 or 512");
  end

  localparam int unsigned LaneBits = $clog2(DataWidth / 8);

  logic       valid_q, valid_d;
  addr_t      addr_q, addr_d;
  logic [8:0] beats_q, beats_d;  // beats that are left - 1; bit 8: more than one burst
  len_t       end_byte;          // last byte, counted from the first beat's lane 0

  assign chunk_ready = !valid_q || (burst_ready && !beats_q[8]);
  assign burst_valid = valid_q;
  assign burst_addr  = addr_q;
  assign burst_len   = beats_q[8] ? 8'hFF : beats_q[7:0];

  always_comb begin
    valid_d  = valid_q;
    addr_d   = addr_q;
    beats_d  = beats_q;
    end_byte = chunk.len + len_t'(chunk.addr[LaneBits-1:0]) - 13'd1;
    if (chunk_ready) begin
      valid_d = chunk_valid;
      addr_d  = {chunk.addr[63:LaneBits], LaneBits'(0)};
      beats_d = 9'(end_byte >> LaneBits);
    end else if (burst_ready) begin
      addr_d[11:0] = addr_q[11:0] + 12'(256 << LaneBits);
      beats_d[8]   = 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    valid_q <= valid_d;
    addr_q  <= addr_d;
    beats_q <= beats_d;
    if (rst) valid_q <= 1'b0;
  end
endmodule
