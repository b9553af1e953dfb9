// Takes Ethernet frames apart: address and type aside, the rest from the IP header on in words.
//
// An 802.1Q tag is left out. Every frame gives at least one word, the last one with `last`; its
// `kind`, `dst_mac` and (with the last word) `frame_len` stand beside the words. Words come without
// backpressure, at most one a clock; `go` stops the frames at the input instead.
//
//            lanes 0..7 of a frame                     word made of
//   word 0   dst 0..5, src 0..1
//   word 1   src 2..5, type, [IP 0..1 | tag]           untagged: 2 bytes of the word before, 6 of this
//   word 2   [IP 2..9 | type, IP 0..5]                 tagged:   6 bytes of the word before, 2 of this
module nd_wire_rx_align
  import nd_wire_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic        go,        // frames may be taken
  input  logic        in_valid,
  output logic        in_ready,
  input  logic [63:0] in_data,
  input  logic [3:0]  in_bytes,  // 8, on the last 0..8
  input  logic        in_last,
  input  logic        in_bad,

  output logic        out_valid,
  output ip_word_t    out,
  output frame_kind_e kind,
  output logic [47:0] dst_mac,
  output logic [16:0] frame_len
);
  localparam logic [13:0] CountMax = 14'h3FFE;  // the length stays below 2^17

  logic [1:0]  pos_q, pos_d;          // word of the frame, 3 from there on
  logic [13:0] count_q, count_d;      // words before this one
  logic [47:0] held_q, held_d;        // upper lanes of the word before
  logic [47:0] mac_q, mac_d;
  logic        tagged_q, tagged_d;
  frame_kind_e kind_q, kind_d;        // of the frame that is coming in
  logic        started_q, started_d;  // a word of it went out
  logic        spill_q, spill_d;      // what is left of a frame goes out by itself
  logic [3:0]  spill_bytes_q, spill_bytes_d;
  logic        spill_bad_q, spill_bad_d;

  logic        valid_q, valid_d;
  ip_word_t    out_q, out_d;
  frame_kind_e out_kind_q, out_kind_d;
  logic [47:0] out_mac_q, out_mac_d;
  logic [16:0] out_len_q, out_len_d;

  logic        take, emit;
  logic [3:0]  total;  // bytes for the word going out, more than 8 spill
  logic [15:0] ether_type;

  function automatic frame_kind_e kind_of(logic [15:0] t);
    case (t)
      16'h0800: return KindIpv4;
      16'h86DD: return KindIpv6;
      default:  return KindOther;
    endcase
  endfunction

  assign out_valid = valid_q;
  assign out       = out_q;
  assign kind      = out_kind_q;
  assign dst_mac   = out_mac_q;
  assign frame_len = out_len_q;

  // A spill goes out while the next frame's first word comes in, which gives none, unless it is
  // also its last.
  assign in_ready = go && !(spill_q && in_last);
  assign take     = in_valid && in_ready;

  always_comb begin
    pos_d         = pos_q;
    count_d       = count_q;
    held_d        = held_q;
    mac_d         = mac_q;
    tagged_d      = tagged_q;
    kind_d        = kind_q;
    started_d     = started_q;
    spill_d       = 1'b0;
    spill_bytes_d = spill_bytes_q;
    spill_bad_d   = spill_bad_q;
    valid_d       = 1'b0;
    out_d         = out_q;
    out_kind_d    = out_kind_q;
    out_mac_d     = out_mac_q;
    out_len_d     = out_len_q;
    emit          = 1'b0;
    total         = 4'd0;
    ether_type    = swap16(pos_q == 2'd1 ? in_data[47:32] : in_data[15:0]);

    if (take) begin
      held_d = in_data[63:16];
      if (pos_q != 2'd3) pos_d = pos_q + 2'd1;
      if (count_q != CountMax) count_d = count_q + 14'd1;

      case (pos_q)
        2'd0: begin
          mac_d    = in_data[47:0];
          tagged_d = 1'b0;
          kind_d   = KindShort;
        end
        2'd1: if (!in_last || in_bytes >= 4'd6) begin
          if (ether_type == 16'h8100) tagged_d = 1'b1;
          else kind_d = kind_of(ether_type);
          if (in_bytes > 4'd6) total = in_bytes - 4'd6;
        end
        2'd2: if (tagged_q) begin
          if (!in_last || in_bytes >= 4'd2) kind_d = kind_of(ether_type);
          if (in_bytes > 4'd2) total = in_bytes - 4'd2;
        end else begin
          total = in_bytes + 4'd2;
        end
        default: total = in_bytes + (tagged_q ? 4'd6 : 4'd2);
      endcase
      // The two bytes behind a first type are the tag.
      if (pos_q == 2'd1 && tagged_d) total = 4'd0;

      emit = in_last || pos_q == 2'd3 || (pos_q == 2'd2 && !tagged_q);
      if (emit) begin
        valid_d = 1'b1;
        out_d   = '{first: !started_q, last: in_last && total <= 4'd8, bad: in_bad,
                    bytes: total <= 4'd8 && in_last ? total : 4'd8, data: '0};
        // A frame that ends before its first full word has its bytes in this one.
        if (pos_q == 2'd3 && tagged_q)       out_d.data = {in_data[15:0], held_q};
        else if (pos_q[1] && !tagged_q)      out_d.data = {in_data[47:0], held_q[47:32]};
        else if (pos_q == 2'd2)              out_d.data = {16'd0, in_data[63:16]};
        else                                 out_d.data = {48'd0, in_data[63:48]};
        if (!started_q) begin
          out_kind_d = kind_d;
          out_mac_d  = mac_d;
        end
        started_d = 1'b1;
      end

      if (in_last) begin
        pos_d         = 2'd0;
        count_d       = '0;
        started_d     = 1'b0;
        out_len_d     = {count_q, 3'b000} + 17'(in_bytes);
        spill_d       = total > 4'd8;
        spill_bytes_d = total - 4'd8;
        spill_bad_d   = in_bad;
      end
    end

    if (spill_q) begin
      valid_d = 1'b1;
      out_d   = '{first: 1'b0, last: 1'b1, bad: spill_bad_q, bytes: spill_bytes_q,
                  data: tagged_q ? {16'd0, held_q} : {48'd0, held_q[47:32]}};
    end
  end

  always_ff @(posedge clk) begin
    pos_q         <= pos_d;
    count_q       <= count_d;
    held_q        <= held_d;
    mac_q         <= mac_d;
    tagged_q      <= tagged_d;
    kind_q        <= kind_d;
    started_q     <= started_d;
    spill_q       <= spill_d;
    spill_bytes_q <= spill_bytes_d;
    spill_bad_q   <= spill_bad_d;
    valid_q       <= valid_d;
    out_q         <= out_d;
    out_kind_q    <= out_kind_d;
    out_mac_q     <= out_mac_d;
    out_len_q     <= out_len_d;
    if (rst) begin
      pos_q     <= 2'd0;
      count_q   <= '0;
      started_q <= 1'b0;
      spill_q   <= 1'b0;
      valid_q   <= 1'b0;
    end
  end
endmodule
