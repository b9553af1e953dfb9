// Moves a frame's payload to the byte lanes of its destination.
//
// Payload beats are dense and `rx_data_last` ends a frame. A part of `part_bytes` bytes takes that many
// from where the last one ended and puts them at lane `part_offset`. A part with `part_next` takes the
// rest of the frame instead, to its last beat, and gives nothing. One beat a clock.
module nd_dma_align
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned LaneBits = $clog2(Lanes)
) (
  input  logic                 clk,
  input  logic                 rst,

  input  logic                 part_valid,
  output logic                 part_ready,
  input  logic                 part_next,
  input  logic [LaneBits-1:0]  part_offset,
  input  logic [LaneBits:0]    part_bytes,
  input  logic                 part_last,  // of its burst, goes along

  input  logic                 rx_data_valid,
  output logic                 rx_data_ready,
  input  logic [DataWidth-1:0] rx_data,
  input  logic                 rx_data_last,

  output logic                 out_valid,
  input  logic                 out_ready,
  output logic [DataWidth-1:0] out_data,
  output logic [Lanes-1:0]     out_strb,
  output logic                 out_last
);
  typedef logic [LaneBits-1:0] lane_t;
  typedef logic [LaneBits:0]   bytes_t;
  typedef struct packed {
    logic                 last;
    logic [DataWidth-1:0] data;
  } beat_t;

  // Two beats of payload: a part that starts at byte `pos_q` of `first` may end in `second`.
  logic  first_valid_q, first_valid_d, second_valid_q, second_valid_d;
  beat_t first_q, first_d, second_q, second_d, rx_beat;
  lane_t pos_q, pos_d;

  // The part, from lane 0 up.
  logic                 valid_q, valid_d;
  logic [DataWidth-1:0] data_q, data_d;
  lane_t                offset_q, offset_d;
  bytes_t               bytes_q, bytes_d;
  logic                 last_q, last_d;

  bytes_t           end_pos;  // bytes of `first` and `second` up to the part's end
  logic             enough, move, drop;
  logic [Lanes-1:0] low_strb;

  assign end_pos       = bytes_t'(pos_q) + part_bytes;
  assign enough        = first_valid_q && (end_pos <= bytes_t'(Lanes) || second_valid_q);
  assign move          = part_valid && !part_next && enough && (out_ready || !valid_q);
  assign rx_data_ready = !second_valid_q || drop;
  assign rx_beat       = '{last: rx_data_last, data: rx_data};

  always_comb begin
    part_ready = move;
    drop       = move && end_pos >= bytes_t'(Lanes) && !first_q.last;
    pos_d      = move ? lane_t'(end_pos) : pos_q;
    if (part_valid && part_next && first_valid_q) begin
      drop       = 1'b1;
      part_ready = first_q.last;
      if (first_q.last) pos_d = '0;
    end
  end

  always_comb begin
    first_valid_d  = first_valid_q;
    first_d        = first_q;
    second_valid_d = second_valid_q;
    second_d       = second_q;
    if (drop || !first_valid_q) begin
      first_valid_d  = second_valid_q || rx_data_valid;
      first_d        = second_valid_q ? second_q : rx_beat;
      second_valid_d = second_valid_q && rx_data_valid;
      second_d       = rx_beat;
    end else if (!second_valid_q) begin
      second_valid_d = rx_data_valid;
      second_d       = rx_beat;
    end
  end

  always_comb begin
    valid_d  = valid_q;
    data_d   = data_q;
    offset_d = offset_q;
    bytes_d  = bytes_q;
    last_d   = last_q;
    if (out_ready || !valid_q) begin
      valid_d  = move;
      data_d   = DataWidth'({second_q.data, first_q.data} >> {pos_q, 3'b000});
      offset_d = part_offset;
      bytes_d  = part_bytes;
      last_d   = part_last;
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) low_strb[i] = bytes_t'(i) < bytes_q;
  end

  assign out_valid = valid_q;
  assign out_data  = data_q << {offset_q, 3'b000};
  assign out_strb  = low_strb << offset_q;
  assign out_last  = last_q;

  always_ff @(posedge clk) begin
    first_valid_q  <= first_valid_d;
    first_q        <= first_d;
    second_valid_q <= second_valid_d;
    second_q       <= second_d;
    pos_q          <= pos_d;
    valid_q        <= valid_d;
    data_q         <= data_d;
    offset_q       <= offset_d;
    bytes_q        <= bytes_d;
    last_q         <= last_d;
    if (rst) begin
      first_valid_q  <= 1'b0;
      second_valid_q <= 1'b0;
      pos_q          <= '0;
      valid_q        <= 1'b0;
    end
  end
endmodule
