// Cuts a range of bytes into the parts that lie in one bus beat each.
//
// The range starts at lane `in_offset` of its first beat and has `in_len` bytes, at least one. For each
// beat it gives the lane of the first byte, the number of bytes, and whether it is the last; `in_tag`
// goes with all of them. One beat a clock, also from one range to the next; outputs are registers.
module nd_dma_slice
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // what goes along
  parameter type T = logic,
  localparam int unsigned LaneBits = $clog2(DataWidth / 8)
) (
  input  logic                clk,
  input  logic                rst,

  input  logic                in_valid,
  output logic                in_ready,
  input  logic [LaneBits-1:0] in_offset,
  input  len_t                in_len,
  input  T                    in_tag,

  output logic                out_valid,
  input  logic                out_ready,
  output logic [LaneBits-1:0] out_offset,
  output logic [LaneBits:0]   out_bytes,
  output logic                out_last,
  output T                    out_tag
);
  localparam int unsigned Lanes = DataWidth / 8;
  typedef logic [LaneBits:0] bytes_t;

  logic                valid_q, valid_d;
  logic [LaneBits-1:0] offset_q, offset_d;
  bytes_t              bytes_q, bytes_d;
  logic                last_q, last_d;
  len_t                left_q, left_d;  // bytes after this beat
  T                    tag_q, tag_d;
  bytes_t              room;            // lanes of the next beat
  len_t                todo;            // bytes in the next beat and after it

  assign in_ready   = !valid_q || (out_ready && last_q);
  assign out_valid  = valid_q;
  assign out_offset = offset_q;
  assign out_bytes  = bytes_q;
  assign out_last   = last_q;
  assign out_tag    = tag_q;

  always_comb begin
    valid_d  = valid_q;
    offset_d = offset_q;
    bytes_d  = bytes_q;
    last_d   = last_q;
    left_d   = left_q;
    tag_d    = tag_q;
    room     = bytes_t'(Lanes);
    todo     = left_q;
    if (in_ready) begin
      room = bytes_t'(Lanes) - bytes_t'(in_offset);
      todo = in_len;
    end
    if (in_ready || out_ready) begin
      last_d   = todo <= len_t'(room);
      bytes_d  = last_d ? bytes_t'(todo) : room;
      left_d   = todo - len_t'(room);
      offset_d = in_ready ? in_offset : '0;
    end
    if (in_ready) begin
      valid_d = in_valid;
      tag_d   = in_tag;
    end
  end

  always_ff @(posedge clk) begin
    valid_q  <= valid_d;
    offset_q <= offset_d;
    bytes_q  <= bytes_d;
    last_q   <= last_d;
    left_q   <= left_d;
    tag_q    <= tag_d;
    if (rst) valid_q <= 1'b0;
  end
endmodule
