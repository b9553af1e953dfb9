// Judges received frames: the first failing check, in the order of the contract, is the drop cause.
//
// A frame that the MAC found bad counts as a wrong ICRC, and is never handed on whole. Takes what nd_wire_rx_parse says of a word;
// the verdict of a frame comes four clocks after its last word, one per frame.
module nd_wire_rx_verdict
  import nd_abi_pkg::*, nd_pkg::*, nd_wire_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic        valid,
  input  logic        first,
  input  logic        last,
  input  logic        bad,
  input  logic [63:0] data,
  input  logic        inside_ip,
  input  logic [16:0] frame_len,
  input  logic        ipv6,
  input  logic        to_frames,  // its DestQP is queue pair 1
  input  rx_flags_t   flags,
  input  logic [2:0]  end_lane,
  input  logic [16:0] sum_low,
  input  logic [16:0] sum_high,
  input  logic [1:0]  sum_ip,
  input  logic [1:0]  sum_udp,
  input  logic [15:0] udp_len,
  input  logic        udp_checked,
  input  logic [17:0] len,

  output logic        out_valid,
  output rx_verdict_t out
);
  // Clock after clock: 1 sums complete, 2 folded once, 3 folded twice and ICRC known, 4 verdict.
  logic [19:0] ip_sum_q, ip_sum_d;
  logic [31:0] udp_sum_q, udp_sum_d;
  logic [17:0] ip_part, udp_part;  // of the word
  logic [16:0] ip_fold_q;
  logic [17:0] udp_fold_q;
  logic [16:0] udp_fold;
  logic        ip_wrong_q, udp_wrong_q;
  logic        icrc_good;

  logic [3:1]      valid_q;
  rx_flags_t [3:1] flags_q;
  logic [3:1]      bad_q, ipv6_q, checked_q, to_frames_q;
  logic [3:2]      long_q;
  logic [3:1][15:0] frame_len_q;
  logic [2:0]      zeros_q;
  logic [3:2]      ib_short_q, oversize_q;
  len_t [3:2]      len_q;
  logic            over;
  rx_verdict_t     out_q, out_d;
  logic            out_valid_q;

  nd_wire_icrc_check u_icrc (
    .clk, .valid(valid && inside_ip), .first(first), .data(data), .zeros(zeros_q),
    .good(icrc_good)
  );

  always_comb begin
    ip_part   = {1'b0, sum_ip[0] ? sum_low : 17'd0} + {1'b0, sum_ip[1] ? sum_high : 17'd0};
    udp_part  = {1'b0, sum_udp[0] ? sum_low : 17'd0} + {1'b0, sum_udp[1] ? sum_high : 17'd0};
    ip_sum_d  = (first ? '0 : ip_sum_q) + 20'(ip_part);
    udp_sum_d = (first ? '0 : udp_sum_q) + 32'(udp_part);
    // One more carry can only come with a sum that is far from all ones.
    udp_fold = {1'b0, udp_fold_q[15:0]} + 17'(udp_fold_q[17:16]);
    over     = len[17:0] > 18'(MaxPayload);
  end

  always_ff @(posedge clk) begin
    if (valid) begin
      ip_sum_q  <= ip_sum_d;
      udp_sum_q <= udp_sum_d;
    end
    ip_fold_q   <= {1'b0, ip_sum_q[15:0]} + 17'(ip_sum_q[19:16]);
    udp_fold_q  <= {2'b00, udp_sum_q[15:0]} + {2'b00, udp_sum_q[31:16]} + {2'b00, udp_len} + 18'd17;
    ip_wrong_q  <= ip_fold_q != 17'h0FFFF;
    udp_wrong_q <= udp_fold != 17'h0FFFF;

    valid_q     <= {valid_q[2:1], valid && last};
    flags_q     <= {flags_q[2:1], flags};
    bad_q       <= {bad_q[2:1], bad};
    ipv6_q      <= {ipv6_q[2:1], ipv6};
    checked_q   <= {checked_q[2:1], udp_checked};
    to_frames_q <= {to_frames_q[2:1], to_frames};
    long_q      <= {long_q[2], frame_len_q[1] > 16'(MaxFrame)};
    frame_len_q <= {frame_len_q[2:1], frame_len[16] ? 16'hFFFF : frame_len[15:0]};
    zeros_q     <= 3'd0 - end_lane;
    ib_short_q  <= {ib_short_q[2], len[17]};
    oversize_q  <= {oversize_q[2], over && !len[17]};
    len_q       <= {len_q[2], over ? len_t'(MaxPayload) : len[12:0]};
    out_valid_q <= valid_q[3];
    out_q       <= out_d;
    if (rst) begin
      valid_q     <= '0;
      out_valid_q <= 1'b0;
    end
  end

  always_comb begin
    out_d = '{whole: 1'b0, drop: DropNone, len: len_q[3], oversize: oversize_q[3],
              frame_len: frame_len_q[3]};
    if (flags_q[3].not_ip) out_d.drop = DropNotRoce;
    else if (flags_q[3].short_header) out_d.drop = DropFrameShort;
    else if (flags_q[3].ip_version) out_d.drop = DropIpVersion;
    else if (!ipv6_q[3] && ip_wrong_q) out_d.drop = DropIpChecksum;
    else if (flags_q[3].fragment) out_d.drop = DropIpFragment;
    else if (flags_q[3].not_udp) out_d.drop = DropNotRoce;
    else if (flags_q[3].short_frame) out_d.drop = DropFrameShort;
    else if (flags_q[3].port) out_d.drop = DropNotRoce;
    else if (flags_q[3].udp_length) out_d.drop = DropUdpLength;
    else if (checked_q[3] && udp_wrong_q) out_d.drop = DropUdpChecksum;
    else if (flags_q[3].opcode) out_d.drop = DropOpcode;
    else if (ib_short_q[3]) out_d.drop = DropIbLength;
    else if (flags_q[3].tver) out_d.drop = DropTver;
    else if (!icrc_good || bad_q[3]) out_d.drop = DropIcrc;
    out_d.whole = out_d.drop == DropNone ? to_frames_q[3] : out_d.drop == DropNotRoce && !bad_q[3];
    if (out_d.whole) begin
      out_d.len      = long_q[3] ? len_t'(MaxFrame) : frame_len_q[3][12:0];
      out_d.oversize = long_q[3];
    end else if (out_d.drop != DropNone) begin
      out_d.len      = '0;
      out_d.oversize = 1'b0;
    end
  end

  assign out_valid = out_valid_q;
  assign out       = out_q;
endmodule
