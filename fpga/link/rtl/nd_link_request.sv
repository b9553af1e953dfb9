// Request buffer: keeps one packet whose CRC is right until its executor is done with it.
//
// `length` is its number of bytes, CRC included, valid with `pending`. `take` reads it from the
// first byte on; `release_i` drops what is left. A packet that begins while one is kept is not looked at:
// it can only be a repetition. The other outputs are high for one clock.
module nd_link_request
  import nd_link_pkg::*;
#(
  // bytes of the buffer, a power of two
  parameter int unsigned PacketBytes = 2048,
  localparam int unsigned LengthWidth = $clog2(PacketBytes) + 1
) (
  input  logic                   clk,
  input  logic                   rst,

  input  logic                   in_valid,
  input  logic [7:0]             in_data,
  input  logic                   end_valid,
  input  logic                   end_good,

  output logic                   pending,
  output logic [LengthWidth-1:0] length,
  output logic                   out_valid,
  input  logic                   out_ready,
  output logic [7:0]             out_data,
  input  logic                   release_i,

  output logic                   broken,     // its CRC is wrong
  output logic                   malformed,  // no packet: cut, too long, too short, a line error
  output logic                   busy        // it came while another was kept
);
  typedef logic [LengthWidth-1:0] length_t;

  localparam length_t Shortest = length_t'(HeaderBytes + CrcBytes);
  localparam length_t Longest = length_t'(PacketBytes - Overhead);

  logic    pending_q, pending_d;
  logic    inside_q, inside_d;  // a byte of this packet was seen
  logic    drop_q, drop_d;      // ... and it is not looked at
  length_t length_q, length_d;
  crc_t    crc_q, crc_d;
  logic    sized, right, take, keep, unused_ready;
  length_t unused_count;

  assign sized = length_q >= Shortest && length_q <= Longest;
  assign right = crc_q == CrcResidue;

  always_comb begin
    pending_d = pending_q && !release_i;
    inside_d  = inside_q;
    drop_d    = drop_q;
    length_d  = length_q;
    crc_d     = crc_q;
    take      = in_valid && !pending_q && !(inside_q && drop_q);
    keep      = 1'b0;
    broken    = 1'b0;
    malformed = 1'b0;
    busy      = 1'b0;
    if (in_valid) begin
      inside_d = 1'b1;
      if (!inside_q) drop_d = pending_q;
    end
    if (take) begin
      crc_d    = crc_byte(inside_q ? crc_q : '1, in_data);
      length_d = !inside_q ? length_t'(1) : length_q + length_t'(length_q <= Longest);
    end
    if (end_valid) begin
      inside_d = 1'b0;
      if (inside_q ? drop_q : pending_q) begin
        busy = 1'b1;
      end else if (!inside_q || !end_good || !sized) begin
        malformed = 1'b1;
      end else if (!right) begin
        broken = 1'b1;
      end else begin
        keep      = 1'b1;
        pending_d = 1'b1;
      end
    end
  end

  always_ff @(posedge clk) begin
    pending_q <= pending_d;
    inside_q  <= inside_d;
    drop_q    <= drop_d;
    length_q  <= length_d;
    crc_q     <= crc_d;
    if (rst) begin
      pending_q <= 1'b0;
      inside_q  <= 1'b0;
    end
  end

  nd_fifo_commit #(.Depth(PacketBytes)) u_bytes (
    .clk, .rst(rst || release_i), .in_valid(take), .in_ready(unused_ready), .in_data,
    .commit(keep), .discard(broken || malformed), .out_valid, .out_ready, .out_data,
    .count(unused_count)
  );

  assign pending = pending_q;
  assign length  = length_q;
endmodule
