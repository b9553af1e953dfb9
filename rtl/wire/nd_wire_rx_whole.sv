// Keeps received frames whole, from their first octet on, until it is known whether they are wanted so.
//
// Beats come as they are taken; a frame's verdict comes in the order of the frames, when its last beat
// is in or later, but no more than `Ahead` beats later. With `keep` the frame comes out, dense and with
// zeros behind its end; else it vanishes. Of a frame of more than `MaxFrame` bytes the beginning is
// stored, and `keep` is low. Without `calm` only the words that are on their way may come.
module nd_wire_rx_whole
  import nd_pkg::*, nd_wire_pkg::*;
#(
  // words of the buffer, a power of two, more than a frame and what is on its way
  parameter int unsigned Words = 512
) (
  input  logic        clk,
  input  logic        rst,

  input  logic        in_valid,
  input  logic [63:0] in_data,
  input  logic [3:0]  in_bytes,  // 8, on the last 0..8
  input  logic        in_last,
  input  logic        verdict_valid,
  input  logic        keep,
  output logic        calm,

  output logic        out_valid,
  input  logic        out_ready,
  output logic [63:0] out_data,
  output logic        out_last
);
  // Beats until a verdict, and of these on their way when the input stops.
  localparam int unsigned Ahead  = 16;
  localparam int unsigned Margin = Ahead + 8;
  // A frame may end with a beat that has no byte.
  localparam int unsigned Most = MaxFrame / 8 + 1;
  localparam int unsigned CountWidth = $clog2(Words) + 1;
  if (Words < Most + 2 * Margin || (Words & (Words - 1)) != 0) begin : g_check
    $error("%m: Words must be a power of two, more than a frame and what is on its way");
  end

  typedef struct packed {
    logic        last;
    logic [3:0]  bytes;
    logic [63:0] data;
  } beat_t;

  typedef struct packed {
    logic        last;
    logic [63:0] data;
  } word_t;

  beat_t head;
  word_t word, word_out;
  logic  head_valid, beat_room, judged_valid, verdict_room, judged_keep, step, ends, write, room;
  logic  calm_q;
  logic [8:0] count_q, count_d;  // words of the frame so far
  logic [CountWidth-1:0] words;
  logic [$clog2(Ahead):0] unused_beats, unused_verdicts;

  nd_fifo_reg #(.T(beat_t), .Depth(Ahead)) u_beats (
    .clk, .rst, .in_valid, .in_ready(beat_room),
    .in_data('{last: in_last, bytes: in_bytes, data: in_data}),
    .out_valid(head_valid), .out_ready(step), .out_data(head), .count(unused_beats)
  );
  nd_fifo_reg #(.T(logic), .Depth(Ahead)) u_verdicts (
    .clk, .rst, .in_valid(verdict_valid), .in_ready(verdict_room), .in_data(keep),
    .out_valid(judged_valid), .out_ready(ends), .out_data(judged_keep), .count(unused_verdicts)
  );

  always_comb begin
    step    = head_valid && (!head.last || judged_valid);
    ends    = step && head.last;
    write   = step && count_q != 9'(Most);
    count_d = count_q;
    if (write) count_d = count_q + 9'd1;
    if (ends) count_d = '0;
    word = '{last: head.last, data: head.data & lanes_below(head.bytes)};
  end

  nd_fifo_commit #(.T(word_t), .Depth(Words)) u_buffer (
    .clk, .rst, .in_valid(write), .in_ready(room), .in_data(word),
    .commit(ends), .discard(ends && !judged_keep),
    .out_valid, .out_ready, .out_data(word_out), .count(words)
  );

  assign out_data = word_out.data;
  assign out_last = word_out.last;
  assign calm     = calm_q;

  always_ff @(posedge clk) begin
    count_q <= count_d;
    calm_q  <= words <= CountWidth'(Words - Margin);
    if (rst) begin
      count_q <= '0;
      calm_q  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_beats:    assert (!in_valid || beat_room);
      a_verdicts: assert (!verdict_valid || verdict_room);
      a_room:     assert (!write || room);
    end
  end
`endif
endmodule
