// Byte packer: joins the low bytes of partial beats into dense ones.
//
// An input beat carries 1..DataWidth/8 bytes (`in_bytes`) from the lowest lane up; `in_last` ends a
// sequence. Output beats are full but the last one of a sequence. Lanes above `out_bytes` are zero.
// One beat a clock; a sequence whose last beat spills over takes one clock more.
module nd_pack #(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned BytesWidth = $clog2(Lanes) + 1
) (
  input  logic                  clk,
  input  logic                  rst,

  input  logic                  in_valid,
  output logic                  in_ready,
  input  logic [DataWidth-1:0]  in_data,
  input  logic [BytesWidth-1:0] in_bytes,
  input  logic                  in_last,

  output logic                  out_valid,
  input  logic                  out_ready,
  output logic [DataWidth-1:0]  out_data,
  output logic [BytesWidth-1:0] out_bytes,
  output logic                  out_last
);
  if (DataWidth < 16 || (DataWidth & (DataWidth - 1)) != 0) begin : g_check
    $error("%m: DataWidth must be a power of two, at least 16");
  end

  typedef logic [BytesWidth-1:0] bytes_t;
  typedef logic [BytesWidth-2:0] lane_t;
  typedef struct packed {
    logic                 last;
    bytes_t               bytes;
    logic [DataWidth-1:0] data;
  } beat_t;

  // Stage 1: bytes rotated to their lanes, lanes that carry nothing cleared.
  logic                 valid1_q, valid1_d, ready1;
  logic [DataWidth-1:0] low_q, low_d;    // bytes that fill the word in progress
  logic [DataWidth-1:0] high_q, high_d;  // bytes of the word after it
  bytes_t               total_q, total_d;  // bytes of the word in progress with this beat
  logic                 last1_q, last1_d;
  lane_t                offset_q, offset_d;  // bytes of the word in progress before the next beat

  // Stage 2: the word in progress.
  logic [DataWidth-1:0] held_q, held_d;
  logic                 spill_q, spill_d;  // held bytes are the last ones of their sequence
  bytes_t               spill_bytes_q, spill_bytes_d;
  logic                 out2_valid, out2_ready;
  beat_t                out2, out_beat;

  logic [DataWidth-1:0]   kept;
  logic [2*DataWidth-1:0] shifted;

  assign in_ready = ready1 || !valid1_q;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      kept[8*i +: 8] = bytes_t'(i) < in_bytes ? in_data[8*i +: 8] : 8'd0;
    end
    shifted  = {{DataWidth{1'b0}}, kept} << {offset_q, 3'b000};
    valid1_d = valid1_q;
    low_d    = low_q;
    high_d   = high_q;
    total_d  = total_q;
    last1_d  = last1_q;
    offset_d = offset_q;
    if (in_ready) begin
      valid1_d = in_valid;
      {high_d, low_d} = shifted;
      total_d = {1'b0, offset_q} + in_bytes;
      last1_d = in_last;
      if (in_valid) offset_d = in_last ? '0 : lane_t'(total_d);
    end
  end

  always_comb begin
    held_d        = held_q;
    spill_d       = spill_q;
    spill_bytes_d = spill_bytes_q;
    ready1        = 1'b0;
    out2_valid    = 1'b0;
    out2          = '{last: 1'b0, bytes: bytes_t'(Lanes), data: held_q | low_q};
    if (spill_q) begin
      out2_valid = 1'b1;
      out2       = '{last: 1'b1, bytes: spill_bytes_q, data: held_q};
      if (out2_ready) begin
        spill_d = 1'b0;
        held_d  = '0;
      end
    end else if (valid1_q) begin
      if (total_q < bytes_t'(Lanes) && !last1_q) begin
        ready1 = 1'b1;
        held_d = held_q | low_q;
      end else begin
        out2_valid = 1'b1;
        ready1     = out2_ready;
        if (total_q <= bytes_t'(Lanes)) begin
          out2.last  = last1_q;
          out2.bytes = total_q;
        end
        if (out2_ready) begin
          held_d        = high_q;
          spill_d       = last1_q && total_q > bytes_t'(Lanes);
          spill_bytes_d = total_q - bytes_t'(Lanes);
        end
      end
    end
  end

  always_ff @(posedge clk) begin
    valid1_q      <= valid1_d;
    low_q         <= low_d;
    high_q        <= high_d;
    total_q       <= total_d;
    last1_q       <= last1_d;
    offset_q      <= offset_d;
    held_q        <= held_d;
    spill_q       <= spill_d;
    spill_bytes_q <= spill_bytes_d;
    if (rst) begin
      valid1_q <= 1'b0;
      offset_q <= '0;
      held_q   <= '0;
      spill_q  <= 1'b0;
    end
  end

  nd_skid #(.T(beat_t)) u_out (
    .clk, .rst, .in_valid(out2_valid), .in_ready(out2_ready), .in_data(out2),
    .out_valid, .out_ready, .out_data(out_beat)
  );

  assign out_data  = out_beat.data;
  assign out_bytes = out_beat.bytes;
  assign out_last  = out_beat.last;
endmodule
