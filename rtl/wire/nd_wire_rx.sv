// Receive half of room `wire`: frames in, one record per frame and the payload of the good ones out.
//
// Every frame, whatever its bytes and length, gives exactly one record, in order, after its verdict.
// Payload waits in a packet buffer: `commit` of good frames, `discard` of others. It comes out dense
// from lane 0 (bytes behind the end are zero), `data_last` with the end of a frame's payload; a frame
// with `len` 0 or `oversize` gives no beat. What is fit for queue pair 1 comes out whole instead: frames
// that are not RoCEv2, and good ones for that queue pair, whether it takes them or not. Without room for
// records or payload the input stops.
module nd_wire_rx
  import nd_abi_pkg::*, nd_pkg::*, nd_wire_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // bytes of the packet buffer, a power of two
  parameter int unsigned BufferBytes = 16384,
  // bytes of the buffer for whole frames, a power of two, at least 4096
  parameter int unsigned WholeBytes = 4096
) (
  input  logic                   clk,
  input  logic                   rst,

  input  logic [DataWidth-1:0]   s_axis_tdata,
  input  logic [DataWidth/8-1:0] s_axis_tkeep,
  input  logic                   s_axis_tvalid,
  output logic                   s_axis_tready,
  input  logic                   s_axis_tlast,
  input  logic                   s_axis_tuser,

  output logic                   rx_valid,
  input  logic                   rx_ready,
  output rx_desc_t               rx_desc,

  output logic                   rx_data_valid,
  input  logic                   rx_data_ready,
  output logic [DataWidth-1:0]   rx_data,
  output logic                   rx_data_last
);
  if (DataWidth != 64) begin : g_check_width
    $error("%m: DataWidth must be 64");
  end
  // A payload of 4096 bytes and what the pipeline holds must fit.
  if (BufferBytes < 8192 || (BufferBytes & (BufferBytes - 1)) != 0) begin : g_check_buffer
    $error("%m: BufferBytes must be a power of two, at least 8192");
  end

  localparam int unsigned Words = BufferBytes / 8;
  localparam int unsigned WordsWidth = $clog2(Words) + 1;
  // Words that may be on their way when the input stops.
  localparam int unsigned Margin = 8;
  localparam int unsigned Records = 16;

  typedef struct packed {
    logic        bad;
    logic        last;
    logic [7:0]  keep;
    logic [63:0] data;
  } beat_t;

  typedef struct packed {
    logic        whole;  // a whole frame comes here, from its own buffer
    logic        last;
    logic [63:0] data;
  } payload_t;

  // ---- input -----------------------------------------------------------------------------------
  beat_t       beat;
  logic        beat_valid, beat_ready;
  logic [3:0]  beat_bytes;
  logic        go_q, go_d;

  nd_skid #(.T(beat_t)) u_skid (
    .clk, .rst, .in_valid(s_axis_tvalid), .in_ready(s_axis_tready),
    .in_data({s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
    .out_valid(beat_valid), .out_ready(beat_ready), .out_data(beat)
  );

  always_comb begin
    beat_bytes = beat.last ? 4'd0 : 4'd8;
    for (int unsigned i = 0; i < 8; i++) if (beat.last && beat.keep[i]) beat_bytes = 4'(i + 1);
  end

  logic        a_valid;
  ip_word_t    a_word;
  frame_kind_e a_kind;
  logic [47:0] a_mac;
  logic [16:0] a_len;

  nd_wire_rx_align u_align (
    .clk, .rst, .go(go_q),
    .in_valid(beat_valid), .in_ready(beat_ready), .in_data(beat.data), .in_bytes(beat_bytes),
    .in_last(beat.last), .in_bad(beat.last && beat.bad),
    .out_valid(a_valid), .out(a_word), .kind(a_kind), .dst_mac(a_mac), .frame_len(a_len)
  );

  // ---- headers and verdict -----------------------------------------------------------------------
  logic        c_valid, inside_ip, udp_checked, shifted;
  logic        first, last, bad;
  logic [63:0] data;
  logic [13:0] index;
  logic [16:0] frame_len, sum_low, sum_high;
  rx_fields_t  fields;
  rx_flags_t   flags;
  logic [2:0]  end_lane;
  logic [1:0]  sum_ip, sum_udp;
  logic [15:0] udp_len;
  logic [17:0] len;
  logic [3:0]  start;
  logic        verdict_valid;
  rx_verdict_t verdict;

  nd_wire_rx_parse u_parse (
    .clk, .rst,
    .in_valid(a_valid), .in_word(a_word), .in_kind(a_kind), .in_mac(a_mac), .in_len(a_len),
    .valid(c_valid), .first, .last, .bad, .data, .index, .inside_ip, .frame_len, .fields, .flags,
    .end_lane, .sum_low, .sum_high, .sum_ip, .sum_udp, .udp_len, .udp_checked, .len, .start,
    .shifted
  );

  nd_wire_rx_verdict u_verdict (
    .clk, .rst,
    .valid(c_valid), .first, .last, .bad, .data, .inside_ip, .frame_len, .ipv6(fields.ipv6),
    .to_frames(fields.dest_qpn == 24'(FrameQp)), .flags,
    .end_lane, .sum_low, .sum_high, .sum_ip, .sum_udp, .udp_len, .udp_checked, .len,
    .out_valid(verdict_valid), .out(verdict)
  );

  // ---- payload -----------------------------------------------------------------------------------
  // The headers are in the fields at least two clocks before the first payload word is complete.
  logic [12:0] left_q, left_d, rest;   // payload bytes behind, and from this word on
  logic [31:0] before_q;
  logic        write_q, write_d;
  payload_t    payload_q, payload_d, payload, payload_out;
  logic [3:0]  bytes_q, bytes_d;       // of `payload_q`
  logic        payload_room, payload_valid, payload_ready;
  logic        whole_q, whole_d;       // a whole frame was found good
  logic [WordsWidth-1:0] payload_count;

  always_comb begin
    rest = first ? '0 : left_q;
    if (index == 14'(start)) begin
      rest = len[17] || len > 18'(MaxPayload) ? '0 : len[12:0];
    end
    left_d    = rest <= 13'd8 ? '0 : rest - 13'd8;
    write_d   = c_valid && rest != '0;
    payload_d = '{whole: 1'b0, last: rest <= 13'd8,
                  data: shifted ? {data[31:0], before_q} : data};
    bytes_d   = rest < 13'd8 ? {1'b0, rest[2:0]} : 4'd8;
    // In the clock after: bytes behind the end are zero. The place of a whole frame follows its verdict,
    // before the next frame can have payload; one that is judged in that clock is so short that it has
    // none to be discarded.
    payload       = payload_q;
    payload.whole = whole_q;
    payload.data &= lanes_below(bytes_q);
  end

  always_ff @(posedge clk) begin
    if (c_valid) begin
      left_q   <= left_d;
      before_q <= data[63:32];
    end
    write_q   <= write_d;
    payload_q <= payload_d;
    bytes_q   <= bytes_d;
    whole_q   <= whole_d;
    if (rst) begin
      write_q <= 1'b0;
      whole_q <= 1'b0;
    end
  end

  nd_fifo_commit #(.T(payload_t), .Depth(Words)) u_buffer (
    .clk, .rst, .in_valid(write_q || whole_q), .in_ready(payload_room), .in_data(payload),
    .commit(verdict_valid || whole_q),
    .discard(verdict_valid && !whole_q && (verdict.drop != DropNone || verdict.whole)),
    .out_valid(payload_valid), .out_ready(payload_ready), .out_data(payload_out),
    .count(payload_count)
  );

  // ---- whole frames ------------------------------------------------------------------------------
  logic        whole_valid, whole_last, whole_calm;
  logic [63:0] whole_data;

  assign whole_d = verdict_valid && verdict.whole && !verdict.oversize;

  nd_wire_rx_whole #(.Words(WholeBytes / 8)) u_whole (
    .clk, .rst, .in_valid(beat_valid && beat_ready), .in_data(beat.data), .in_bytes(beat_bytes),
    .in_last(beat.last), .verdict_valid, .keep(whole_d), .calm(whole_calm),
    .out_valid(whole_valid), .out_ready(rx_data_ready && payload_valid && payload_out.whole),
    .out_data(whole_data), .out_last(whole_last)
  );

  always_comb begin
    rx_data_valid = payload_valid && (!payload_out.whole || whole_valid);
    rx_data       = payload_out.whole ? whole_data : payload_out.data;
    rx_data_last  = payload_out.whole ? whole_last : payload_out.last;
    payload_ready = rx_data_ready && (!payload_out.whole || (whole_valid && whole_last));
  end

  // ---- records -----------------------------------------------------------------------------------
  rx_fields_t  head;
  rx_verdict_t judged;
  logic        head_valid, judged_valid, fields_room, verdict_room, pop;
  logic [$clog2(Records):0] head_count, judged_count;

  // A frame's fields are stored with its last word, its verdict four clocks later.
  nd_fifo_commit #(.T(rx_fields_t), .Depth(Records)) u_fields (
    .clk, .rst, .in_valid(c_valid && last), .in_ready(fields_room), .in_data(fields),
    .commit(1'b1), .discard(1'b0),
    .out_valid(head_valid), .out_ready(pop), .out_data(head), .count(head_count)
  );

  nd_fifo_reg #(.T(rx_verdict_t), .Depth(Records)) u_verdicts (
    .clk, .rst, .in_valid(verdict_valid), .in_ready(verdict_room), .in_data(verdict),
    .out_valid(judged_valid), .out_ready(pop), .out_data(judged), .count(judged_count)
  );

  assign rx_valid = judged_valid;
  assign pop      = judged_valid && rx_ready;

  nd_wire_rx_desc u_desc (.fields(head), .verdict(judged), .desc(rx_desc));

  always_comb begin
    go_d = payload_count <= WordsWidth'(Words - 2 * Margin) && head_count <= 5'(Records - Margin)
           && whole_calm;
  end

  always_ff @(posedge clk) begin
    go_q <= go_d;
    if (rst) go_q <= 1'b0;
  end

  logic unused_count;
  assign unused_count = ^judged_count;

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_payload_room: assert (!(write_q || whole_q) || payload_room);
      a_place:        assert (!(whole_q && write_q));
      a_fields_room:  assert (!(c_valid && last) || fields_room);
      a_verdict_room: assert (!verdict_valid || verdict_room);
      a_pair:         assert (!judged_valid || head_valid);
    end
  end
`endif
endmodule
