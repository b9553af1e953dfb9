// Reads the headers of a received datagram.
//
// Follows the words of nd_wire_rx_align with two clocks of delay. `fields`, `flags` (but `opcode` and
// the lengths, which it takes from the fields) and `len` are right in the clock of the last word that
// comes out, `len` one clock later. `data` is zero behind the datagram, and has ones in the fields
// that the ICRC does not cover; `sums` are the ones' complement sums of the word without that.
module nd_wire_rx_parse
  import nd_pkg::*, nd_wire_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic        in_valid,
  input  ip_word_t    in_word,
  input  frame_kind_e in_kind,
  input  logic [47:0] in_mac,
  input  logic [16:0] in_len,

  output logic        valid,
  output logic        first,
  output logic        last,
  output logic        bad,
  output logic [63:0] data,
  output logic [13:0] index,       // of the word
  output logic        inside_ip,   // the word has bytes of the datagram
  output logic [16:0] frame_len,   // with the last word
  output rx_fields_t  fields,
  output rx_flags_t   flags,
  output logic [2:0]  end_lane,    // length of the datagram modulo 8
  output logic [16:0] sum_low,     // of the word's halves
  output logic [16:0] sum_high,
  output logic [1:0]  sum_ip,      // which halves belong to the IPv4 header: high, low
  output logic [1:0]  sum_udp,     // ... and to UDP and its pseudo header
  output logic [15:0] udp_len,
  output logic        udp_checked, // the UDP checksum is not zero
  output logic [17:0] len,         // payload, signed
  output logic [3:0]  start,       // word with which the first eight payload bytes are complete
  output logic        shifted      // the payload starts in an upper half
);
  localparam logic [13:0] IndexMax = 14'h3FFE;

  // ---- stage 1: index, end of the datagram -----------------------------------------------------
  logic        b_valid_q, b_ipv6_q, b_inside_q;
  ip_word_t    b_word_q, b_word_d;
  logic [13:0] b_index_q, b_index_d;
  logic [16:0] b_end_q, b_end_d;    // length of the datagram
  logic [16:0] left_q, left_d;      // bytes of it behind this word
  logic [1:0]  past_q, past_d;      // words of the frame before this one, up to 3
  frame_kind_e b_kind_q;
  logic [47:0] b_mac_q;
  logic [16:0] b_frame_len_q;
  logic        ipv6;
  logic [16:0] rest;                // bytes of it from this word on

  assign ipv6 = in_kind == KindIpv6;

  always_comb begin
    b_index_d = in_word.first ? '0 : b_index_q == IndexMax ? IndexMax : b_index_q + 14'd1;
    b_end_d   = b_end_q;
    rest      = left_q;
    if (in_word.first) begin
      b_end_d = ipv6 ? {1'b0, swap16(in_word.data[47:32])} + 17'd40
                     : {1'b0, swap16(in_word.data[31:16])};
      rest = b_end_d;
    end
    left_d = |rest[16:3] ? rest - 17'd8 : '0;
    b_word_d = in_word;
    // The first words are taken whole, so that the checksum of the header is right also if the length
    // is shorter than it: such a datagram is refused anyway.
    past_d = in_word.first ? 2'd1 : past_q == 2'd3 ? 2'd3 : past_q + 2'd1;
    if (!in_word.first && past_q == 2'd3 && !(|left_q[16:3])) begin
      b_word_d.data = in_word.data & lanes_below({1'b0, left_q[2:0]});
    end
  end

  always_ff @(posedge clk) begin
    b_valid_q <= in_valid;
    if (in_valid) begin
      b_word_q      <= b_word_d;
      b_index_q     <= b_index_d;
      b_end_q       <= b_end_d;
      left_q        <= left_d;
      past_q        <= past_d;
      b_ipv6_q      <= ipv6;
      b_inside_q    <= in_word.first || left_q != '0;
      b_kind_q      <= in_kind;
      b_mac_q       <= in_mac;
      b_frame_len_q <= in_len;
    end
    if (rst) b_valid_q <= 1'b0;
  end

  // ---- stage 2: fields -------------------------------------------------------------------------
  logic        c_valid_q;
  logic        c_first_q, c_last_q, c_bad_q;
  logic [63:0] c_data_q, c_data_d;
  logic [13:0] c_index_q;
  logic        c_inside_q;
  logic [16:0] c_frame_len_q, c_there_q, c_there_d, c_end_q;
  logic [31:0] before_q;             // upper half of the word before
  frame_kind_e c_kind_q;
  logic [7:0]  version_q;
  logic        fragment_q, not_udp_q;
  logic [15:0] port_q, udp_len_q, udp_sum_q;
  logic [3:0]  tver_q;
  rx_fields_t  fields_q;
  logic [16:0] low_q, high_q;
  logic [1:0]  sum_ip_q, sum_ip_d, sum_udp_q, sum_udp_d;
  logic [63:0] transport;            // the word that starts at a multiple of 8 behind the IP header
  logic [3:0]  step;                 // index of that word, from 1
  logic        solicited;            // the BTH's first bytes
  logic [1:0]  pad;
  logic [3:0]  tver;
  logic [7:0]  opcode;
  logic        unused_migration;

  always_comb begin
    // The fields not covered by the ICRC.
    c_data_d = b_word_q.data;
    case ({b_ipv6_q, b_index_q})
      {1'b0, 14'd0}: c_data_d[15:8] = '1;
      {1'b0, 14'd1}: begin
        c_data_d[7:0] = '1;
        c_data_d[31:16] = '1;
      end
      {1'b0, 14'd3}: c_data_d[31:16] = '1;
      {1'b0, 14'd4}: c_data_d[7:0] = '1;
      {1'b1, 14'd0}: begin
        c_data_d[3:0] = '1;
        c_data_d[31:8] = '1;
        c_data_d[63:56] = '1;
      end
      {1'b1, 14'd5}: c_data_d[63:48] = '1;
      {1'b1, 14'd6}: c_data_d[39:32] = '1;
      default: ;
    endcase

    // IPv4: header in words 0 to 2 (lower half); addresses from byte 12 on. IPv6: from byte 8 on.
    sum_ip_d  = {b_index_q <= 14'd1, b_index_q <= 14'd2};
    sum_udp_d = b_ipv6_q ? {2{b_index_q != '0}} : {b_index_q != '0, b_index_q >= 14'd2};

    transport = b_ipv6_q ? b_word_q.data : {b_word_q.data[31:0], before_q};
    step      = |b_index_q[13:4] ? 4'd0 : b_index_q[3:0] - (b_ipv6_q ? 4'd4 : 4'd2);
    {solicited, unused_migration, pad, tver, opcode} = b_ipv6_q ? b_word_q.data[15:0]
                                                         : b_word_q.data[47:32];
    c_there_d = {b_index_q, 3'b000} + 17'(b_word_q.bytes);
  end

  always_ff @(posedge clk) begin
    c_valid_q <= b_valid_q;
    if (b_valid_q) begin
      c_first_q     <= b_word_q.first;
      c_last_q      <= b_word_q.last;
      c_bad_q       <= b_word_q.bad;
      c_data_q      <= c_data_d;
      c_index_q     <= b_index_q;
      c_inside_q    <= b_inside_q;
      c_frame_len_q <= b_frame_len_q;
      c_there_q     <= c_there_d;
      c_end_q       <= b_end_q;
      c_kind_q      <= b_kind_q;
      before_q      <= b_word_q.data[63:32];
      sum_ip_q      <= sum_ip_d;
      sum_udp_q     <= sum_udp_d;
      low_q  <= {1'b0, swap16(b_word_q.data[15:0])} + {1'b0, swap16(b_word_q.data[31:16])};
      high_q <= {1'b0, swap16(b_word_q.data[47:32])} + {1'b0, swap16(b_word_q.data[63:48])};

      fields_q.dst_mac <= b_mac_q;
      fields_q.ipv6    <= b_ipv6_q;
      case ({b_ipv6_q, b_index_q})
        {1'b0, 14'd0}: begin
          version_q  <= b_word_q.data[7:0];
          fragment_q <= |b_word_q.data[53:48] || |b_word_q.data[63:56];
          fields_q.ecn <= b_word_q.data[9:8];
        end
        {1'b0, 14'd1}: begin
          not_udp_q       <= b_word_q.data[15:8] != 8'd17;
          fields_q.src_ip <= {b_word_q.data[63:32], 16'hFFFF, 80'd0};
        end
        {1'b0, 14'd2}: fields_q.dst_ip <= {b_word_q.data[31:0], 16'hFFFF, 80'd0};
        {1'b1, 14'd0}: begin
          version_q  <= b_word_q.data[7:0];
          fragment_q <= 1'b0;
          not_udp_q  <= b_word_q.data[55:48] != 8'd17;
          fields_q.ecn <= b_word_q.data[13:12];
        end
        {1'b1, 14'd1}: fields_q.src_ip[63:0] <= b_word_q.data;
        {1'b1, 14'd2}: fields_q.src_ip[127:64] <= b_word_q.data;
        {1'b1, 14'd3}: fields_q.dst_ip[63:0] <= b_word_q.data;
        {1'b1, 14'd4}: fields_q.dst_ip[127:64] <= b_word_q.data;
        default: ;
      endcase
      // The first bytes of the BTH at once: the place of the payload hangs on them.
      if (b_index_q == (b_ipv6_q ? 14'd6 : 14'd3)) begin
        fields_q.opcode    <= opcode;
        fields_q.solicited <= solicited;
        fields_q.pad       <= pad;
        tver_q             <= tver;
      end
      case (step)
        4'd1: begin
          port_q    <= swap16(transport[31:16]);
          udp_len_q <= swap16(transport[47:32]);
          udp_sum_q <= transport[63:48];
        end
        4'd2: begin
          fields_q.pkey     <= swap16(transport[31:16]);
          fields_q.dest_qpn <= swap24(transport[63:40]);
        end
        4'd3: begin
          fields_q.ack_req   <= transport[7];
          fields_q.psn       <= swap24(transport[31:8]);
          fields_q.ext[31:0] <= transport[63:32];
        end
        4'd4: fields_q.ext[95:32] <= transport;
        4'd5: fields_q.ext[159:96] <= transport;
        default: ;
      endcase
    end
    if (rst) c_valid_q <= 1'b0;
  end

  // ---- lengths, of whatever the fields say in the clock before -----------------------------------
  logic [16:0] taken_q, taken_d;  // bytes of the datagram that are not payload
  logic [17:0] len_q;
  logic [3:0]  start_q, start_d;
  logic        shifted_q;
  logic [4:0]  ext_bytes;
  logic [6:0]  fixed;             // all but the pad

  always_comb begin
    ext_bytes = {ext_words(fields_q.opcode), 2'b00};
    fixed     = (fields_q.ipv6 ? 7'd64 : 7'd44) + {2'b00, ext_bytes};
    taken_d   = {10'd0, fixed} + 17'(fields_q.pad);
    start_d   = fixed[6:3];
  end

  always_ff @(posedge clk) begin
    taken_q   <= taken_d;
    len_q     <= {1'b0, c_end_q} - {1'b0, taken_q};
    start_q   <= start_d;
    shifted_q <= ext_bytes[2] ^ fields_q.ipv6;
  end

  assign valid       = c_valid_q;
  assign first       = c_first_q;
  assign last        = c_last_q;
  assign bad         = c_bad_q;
  assign data        = c_data_q;
  assign index       = c_index_q;
  assign inside_ip   = c_inside_q;
  assign frame_len   = c_frame_len_q;
  assign fields      = fields_q;
  assign end_lane    = c_end_q[2:0];
  assign sum_low     = low_q;
  assign sum_high    = high_q;
  assign sum_ip      = sum_ip_q;
  assign sum_udp     = sum_udp_q;
  assign udp_len     = udp_len_q;
  assign udp_checked = udp_sum_q != '0;
  assign len         = len_q;
  assign start       = start_q;
  assign shifted     = shifted_q;

  logic [16:0] ip_header;
  always_comb begin
    ip_header = fields_q.ipv6 ? 17'd40 : 17'd20;
    flags.not_ip       = c_kind_q == KindOther;
    flags.short_header = c_kind_q == KindShort || c_there_q < ip_header;
    flags.ip_version   = fields_q.ipv6 ? version_q[7:4] != 4'd6 : version_q != 8'h45;
    flags.fragment     = fragment_q;
    flags.not_udp      = not_udp_q;
    flags.short_frame  = c_end_q > c_there_q || c_end_q < ip_header + 17'd8;
    flags.port         = port_q != 16'd4791;
    flags.udp_length   = {1'b0, udp_len_q} != c_end_q - ip_header || udp_len_q < 16'd24;
    flags.opcode       = !opcode_known(fields_q.opcode);
    flags.tver         = tver_q != '0;
  end
endmodule
