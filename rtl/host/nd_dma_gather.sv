// Gather: reads the payload of what is sent, chunk by chunk, into dense beats.
//
// A burst is offered when the buffer has room for all its beats, so a beat is taken whenever it comes.
// Many bursts are under way; they are answered in order. The bytes of a frame's chunks (`chunk_last`
// ends a frame) are joined: all beats are full but the last one. A bus error anywhere in a frame shows
// on its last beat as `tx_data_error`; `error` stays set after the first one. `frames_done` counts the
// frames whose reads are all answered and used.
module nd_dma_gather
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // beats that the buffer holds, a power of two, at least a burst
  parameter int unsigned Beats = 512,
  // chunks under way, a power of two
  parameter int unsigned Outstanding = 16,
  localparam int unsigned LaneBits = $clog2(DataWidth / 8)
) (
  input  logic                 clk,
  input  logic                 rst,

  input  logic                 chunk_valid,
  output logic                 chunk_ready,
  input  chunk_t               chunk,
  input  logic                 chunk_last,

  output logic                 burst_valid,
  input  logic                 burst_ready,
  output addr_t                burst_addr,
  output logic [7:0]           burst_len,

  input  logic                 beat_valid,
  input  logic                 beat_error,
  input  logic [DataWidth-1:0] beat_data,

  output logic                 tx_data_valid,
  input  logic                 tx_data_ready,
  output logic [DataWidth-1:0] tx_data,
  output logic [LaneBits:0]    tx_data_bytes,
  output logic                 tx_data_last,
  output logic                 tx_data_error,
  output logic [7:0]           frames_done,
  output logic                 error
);
  localparam int unsigned LongestBurst = DataWidth > 128 ? 32768 / DataWidth : 256;
  if (Beats < LongestBurst || Outstanding < 2) begin : g_check
    $error("%m: Beats must hold the longest burst, Outstanding must be at least 2");
  end

  localparam int unsigned FreeWidth = $clog2(Beats) + 1;
  typedef logic [FreeWidth-1:0] free_t;
  typedef logic [LaneBits-1:0]  lane_t;
  typedef logic [LaneBits:0]    bytes_t;

  typedef struct packed {
    lane_t offset;
    len_t  len;
    logic  frame_end;
  } meta_t;
  typedef struct packed {
    logic                 error;
    logic [DataWidth-1:0] data;
  } beat_t;

  logic [$clog2(Outstanding):0] meta_count;
  logic [FreeWidth-1:0]         beat_count;
  logic [3:0]                   error_count;
  logic                         unused;

  // ---- bursts --------------------------------------------------------------------------------

  logic       take, meta_room, cut_ready, issue;
  logic [7:0] next_len;
  free_t      free_q, free_d;  // beats of the buffer that no burst has reserved
  free_t      kept, reserved;  // without the next burst, and with it

  assign chunk_ready = cut_ready && meta_room;
  assign take        = chunk_valid && chunk_ready;

  nd_dma_burst #(.DataWidth(DataWidth)) u_burst (
    .clk, .rst, .chunk_valid(take), .chunk_ready(cut_ready), .chunk,
    .next_len, .allow(free_q > free_t'(next_len)), .issue,
    .burst_valid, .burst_ready, .burst_addr, .burst_len
  );

  // ---- beats of the answer, and which of their bytes count -----------------------------------

  meta_t  meta_in, meta;
  logic   meta_valid, meta_ready;
  beat_t  beat;
  logic   beat_avail, beat_room, use_beat;
  logic   part_valid, part_last, part_end;
  lane_t  part_offset;
  bytes_t part_bytes;

  assign meta_in = '{offset: lane_t'(chunk.addr), len: chunk.len, frame_end: chunk_last};

  nd_fifo #(.T(meta_t), .Depth(Outstanding)) u_meta (
    .clk, .rst, .in_valid(take), .in_ready(meta_room), .in_data(meta_in),
    .out_valid(meta_valid), .out_ready(meta_ready), .out_data(meta), .count(meta_count)
  );

  nd_dma_slice #(.DataWidth(DataWidth), .T(logic)) u_slice (
    .clk, .rst, .in_valid(meta_valid), .in_ready(meta_ready),
    .in_offset(meta.offset), .in_len(meta.len), .in_tag(meta.frame_end),
    .out_valid(part_valid), .out_ready(use_beat), .out_offset(part_offset),
    .out_bytes(part_bytes), .out_last(part_last), .out_tag(part_end)
  );

  nd_fifo #(.T(beat_t), .Depth(Beats)) u_beats (
    .clk, .rst, .in_valid(beat_valid), .in_ready(beat_room),
    .in_data('{error: beat_error, data: beat_data}),
    .out_valid(beat_avail), .out_ready(use_beat), .out_data(beat), .count(beat_count)
  );

  // ---- to the low lanes, then dense ----------------------------------------------------------

  logic                 low_valid_q, low_valid_d, low_ready;
  logic [DataWidth-1:0] low_data_q, low_data_d;
  bytes_t               low_bytes_q, low_bytes_d;
  logic                 low_last_q, low_last_d;
  logic                 bad_q, bad_d;      // a beat of the frame failed
  logic                 error_q, error_d;
  logic [7:0]           frames_q;
  logic                 frame_done, frame_bad, bad_valid, bad_room;

  assign use_beat   = part_valid && beat_avail && (low_ready || !low_valid_q);
  assign frame_done = low_valid_q && low_ready && low_last_q;

  always_comb begin
    // Less `next_len` + 1. Both at once, since `issue` comes late.
    kept        = free_q + free_t'(use_beat);
    reserved    = free_q + free_t'(use_beat) + ~free_t'(next_len);
    free_d      = issue ? reserved : kept;
    low_valid_d = low_valid_q;
    low_data_d  = low_data_q;
    low_bytes_d = low_bytes_q;
    low_last_d  = low_last_q;
    bad_d       = bad_q && !frame_done;
    error_d     = error_q;
    if (low_ready || !low_valid_q) begin
      low_valid_d = use_beat;
      low_data_d  = beat.data >> {part_offset, 3'b000};
      low_bytes_d = part_bytes;
      low_last_d  = part_last && part_end;
    end
    if (use_beat && beat.error) begin
      bad_d   = 1'b1;
      error_d = 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    free_q      <= free_d;
    low_valid_q <= low_valid_d;
    low_data_q  <= low_data_d;
    low_bytes_q <= low_bytes_d;
    low_last_q  <= low_last_d;
    bad_q       <= bad_d;
    error_q     <= error_d;
    frames_q    <= frames_q + 8'(frame_done);
    if (rst) begin
      free_q      <= free_t'(Beats);
      low_valid_q <= 1'b0;
      bad_q       <= 1'b0;
      error_q     <= 1'b0;
      frames_q    <= '0;
    end
  end

  nd_pack #(.DataWidth(DataWidth)) u_pack (
    .clk, .rst, .in_valid(low_valid_q), .in_ready(low_ready), .in_data(low_data_q),
    .in_bytes(low_bytes_q), .in_last(low_last_q),
    .out_valid(tx_data_valid), .out_ready(tx_data_ready), .out_data(tx_data),
    .out_bytes(tx_data_bytes), .out_last(tx_data_last)
  );

  // The packer holds fewer frame ends than this queue, and takes longer.
  nd_fifo #(.T(logic), .Depth(8)) u_bad (
    .clk, .rst, .in_valid(frame_done), .in_ready(bad_room), .in_data(bad_q),
    .out_valid(bad_valid), .out_ready(tx_data_valid && tx_data_ready && tx_data_last),
    .out_data(frame_bad), .count(error_count)
  );

  assign tx_data_error = tx_data_last && frame_bad;
  assign error         = error_q;
  assign frames_done   = frames_q;
  assign unused = ^{meta_count, beat_count, error_count, beat_room, bad_room, bad_valid};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_room: assert (!beat_valid || beat_room);
      a_bad:  assert (!frame_done || bad_room);
    end
  end
`endif
endmodule
