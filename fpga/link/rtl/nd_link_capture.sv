// Frames of the core's network output for the host: kept whole, given in pieces.
//
// With `lossless` a frame waits for room; only one that cannot fit at all is dropped. Without, frames
// are dropped for which there is no room. A dropped frame goes as a whole and is counted.
module nd_link_capture
  import nd_link_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // beats of the buffer, a power of two
  parameter int unsigned Beats = 1024,
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned LaneWidth = $clog2(Lanes)
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 clear,     // the core is in reset
  input  logic                 lossless,

  input  logic                 start,
  input  logic [15:0]          n,
  output logic                 done,
  output logic                 out_valid,
  input  logic                 out_ready,
  output logic [7:0]           out_data,

  output logic                 waiting,   // a frame can be taken
  output logic                 captured,  // one clock for each frame
  output logic                 dropped,
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [DataWidth-1:0] s_axis_tdata,
  input  logic [Lanes-1:0]     s_axis_tkeep,
  input  logic                 s_axis_tlast,
  input  logic                 s_axis_tuser
);
  // Frames, whose length is known.
  localparam int unsigned Frames = 64;
  typedef struct packed {
    logic        bad;
    logic [14:0] bytes;
  } frame_t;

  // ---- in
  logic        dropping_q, dropping_d;
  logic [14:0] bytes_q, bytes_d;
  logic        take, room, frame_room, full, keep, drop;
  logic [LaneWidth:0] lanes;
  frame_t      frame_in, frame;
  logic        frame_valid, frame_ready;
  logic [$clog2(Frames):0] frames;
  logic [$clog2(Beats):0]  unused_held;

  assign full = !room || !frame_room;
  // A frame that fills the buffer alone would wait for ever.
  assign s_axis_tready = dropping_q || !lossless || !full || frames == '0;

  always_comb begin
    lanes = '0;
    for (int unsigned i = 0; i < Lanes; i++) lanes = lanes + (LaneWidth + 1)'(s_axis_tkeep[i]);
  end

  always_comb begin
    dropping_d = dropping_q;
    bytes_d    = bytes_q;
    keep       = 1'b0;
    drop       = 1'b0;
    take       = s_axis_tvalid && s_axis_tready && !dropping_q && !full;
    if (s_axis_tvalid && s_axis_tready) begin
      bytes_d = s_axis_tlast ? '0 : bytes_q + 15'(lanes);
      if (full && !dropping_q) begin
        dropping_d = 1'b1;
        drop       = 1'b1;
      end
      keep = take && s_axis_tlast;
      if (s_axis_tlast) dropping_d = 1'b0;
    end
    frame_in = '{bad: s_axis_tuser, bytes: bytes_q + 15'(lanes)};
  end

  assign captured = keep;
  assign dropped  = drop;

  // ---- out
  typedef enum logic [2:0] {
    Idle,
    Piece,
    Length,
    High,
    Flags,
    Byte,
    Ended
  } state_e;

  state_e               state_q, state_d;
  logic [14:0]          left_q, left_d;    // bytes of the frame
  logic [14:0]          piece_q, piece_d;  // bytes of the piece
  logic                 inside_q, inside_d, last_q, last_d, bad_q, bad_d;
  logic [LaneWidth-1:0] lane_q, lane_d;
  logic [Lanes-1:0][7:0] word;
  logic                 word_valid, word_ready;

  assign waiting   = frame_valid || inside_q;
  assign done      = state_q == Ended;

  always_comb begin
    state_d     = state_q;
    left_d      = left_q;
    piece_d     = piece_q;
    inside_d    = inside_q && !clear;
    last_d      = last_q;
    bad_d       = bad_q;
    lane_d      = lane_q;
    frame_ready = 1'b0;
    word_ready  = 1'b0;
    out_valid   = 1'b0;
    out_data    = word[lane_q];
    case (state_q)
      Idle: begin
        if (start) begin
          state_d = Piece;
          if (!inside_q) begin
            frame_ready = 1'b1;
            left_d      = frame_valid ? frame.bytes : '0;
            bad_d       = frame_valid && frame.bad;
            lane_d      = '0;
            inside_d    = frame_valid && !clear;
          end
        end
      end
      Piece: begin
        piece_d = n < 16'(left_q) ? n[14:0] : left_q;
        last_d  = inside_q && n >= 16'(left_q);
        state_d = Length;
      end
      Length: begin
        out_valid = 1'b1;
        out_data  = piece_q[7:0];
        if (out_ready) state_d = High;
      end
      High: begin
        out_valid = 1'b1;
        out_data  = 8'(piece_q[14:8]);
        if (out_ready) state_d = Flags;
      end
      Flags: begin
        out_valid = 1'b1;
        out_data  = {6'd0, bad_q, last_q};
        if (out_ready) state_d = piece_q == '0 ? Ended : Byte;
      end
      Byte: begin
        out_valid = word_valid;
        if (word_valid && out_ready) begin
          lane_d     = lane_q + LaneWidth'(1);
          left_d     = left_q - 15'd1;
          piece_d    = piece_q - 15'd1;
          word_ready = lane_q == '1 || left_q == 15'd1;
          if (piece_q == 15'd1) state_d = Ended;
        end
      end
      default: begin
        if (last_q) inside_d = 1'b0;
        state_d = Idle;
      end
    endcase
  end

  always_ff @(posedge clk) begin
    dropping_q <= dropping_d;
    bytes_q    <= bytes_d;
    state_q    <= state_d;
    left_q     <= left_d;
    piece_q    <= piece_d;
    inside_q   <= inside_d;
    last_q     <= last_d;
    bad_q      <= bad_d;
    lane_q     <= lane_d;
    if (rst || clear) begin
      dropping_q <= 1'b0;
      bytes_q    <= '0;
    end
    if (rst) begin
      state_q  <= Idle;
      inside_q <= 1'b0;
    end
  end

  nd_fifo_commit #(.T(logic [DataWidth-1:0]), .Depth(Beats)) u_beats (
    .clk, .rst(rst || clear), .in_valid(take), .in_ready(room), .in_data(s_axis_tdata),
    .commit(keep), .discard(drop), .out_valid(word_valid), .out_ready(word_ready),
    .out_data(word), .count(unused_held)
  );

  nd_fifo_reg #(.T(frame_t), .Depth(Frames)) u_frames (
    .clk, .rst(rst || clear), .in_valid(keep), .in_ready(frame_room), .in_data(frame_in),
    .out_valid(frame_valid), .out_ready(frame_ready), .out_data(frame), .count(frames)
  );
endmodule
