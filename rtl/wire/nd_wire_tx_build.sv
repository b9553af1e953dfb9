// Builds frames out of jobs and payload, one slot a clock, without a gap inside a frame.
//
// A frame starts when its job is there and, if it has payload, the first beat of it; a payload that is
// shown must be there completely. `go` low stops the slots. `crc_data` is the slot's operand for the
// ICRC: fields that it does not cover are ones, and a word half full stands in the upper half. A frame
// with `data_error` on any beat of its payload is sent with a wrong ICRC. A whole frame has neither
// headers nor ICRC: its payload goes out as it is.
module nd_wire_tx_build
  import nd_pkg::*, nd_wire_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  port_t       own,
  input  logic        go,

  input  logic        job_valid,
  output logic        job_ready,
  input  tx_job_t     job,

  input  logic        data_valid,
  output logic        data_ready,
  input  logic [63:0] data,       // zero behind the end of a payload
  input  logic        data_error, // the payload is not what was asked for

  output logic        slot_valid,
  output tx_slot_t    slot,
  output logic [63:0] crc_data
);
  typedef enum logic [2:0] {
    Idle,
    Ethernet,
    Words,
    Rest,
    Whole
  } state_e;

  state_e      state_q, state_d;
  tx_job_t     job_q, job_d;
  logic [9:0]  index_q, index_d;   // IP word
  logic [9:0]  left_q, left_d;     // payload beats to come
  logic        open_q, open_d;     // the index has reached the payload
  logic        more_q, more_d;     // left is not zero
  logic [31:0] before_q, before_d; // upper half of the beat before
  logic        spoil_q, spoil_d;   // the payload had an error
  logic        slot_valid_q, slot_valid_d;
  tx_slot_t    slot_q, slot_d;
  logic [63:0] crc_data_q, crc_data_d;

  logic        want, step, load, at_crc;
  logic [63:0] header, body, beat;
  logic [7:0]  bth_flags, congestion;  // the latter: FECN, BECN

  // UDP destination port 4791 in network order.
  localparam logic [15:0] Port = 16'hB712;

  always_comb begin
    bth_flags  = {job_q.desc.solicited, 1'b0, job_q.pad, 4'd0};
    congestion = {1'b0, job_q.becn, 6'd0};
    case ({job_q.addr.ipv6, index_q})
      {1'b0, 10'd0}: header = {48'h0040_0000_0000, job_q.addr.traffic_class, 8'h45}
                            | {32'd0, swap16(job_q.ip_len), 16'd0};
      {1'b0, 10'd1}: header = {own.ipv4, swap16(job_q.checksum), 8'd17, job_q.addr.hop_limit};
      {1'b0, 10'd2}: header = {Port, swap16(job_q.addr.udp_sport), job_q.addr.remote_ip[127:96]};
      {1'b0, 10'd3}: header = {16'hFFFF, bth_flags, job_q.desc.opcode, 16'd0,
                               swap16(job_q.udp_len)};
      {1'b0, 10'd4}: header = {swap24(job_q.desc.psn), job_q.desc.ack_req, 7'd0,
                               swap24(job_q.addr.remote_qpn), congestion};
      {1'b0, 10'd5}: header = job_q.ext[63:0];
      {1'b0, 10'd6}: header = job_q.ext[127:64];
      {1'b1, 10'd0}: header = {job_q.addr.hop_limit, 8'd17, swap16(job_q.udp_len), 16'd0,
                               job_q.addr.traffic_class[3:0], 4'd0,
                               4'd6, job_q.addr.traffic_class[7:4]};
      {1'b1, 10'd1}: header = own.ipv6[63:0];
      {1'b1, 10'd2}: header = own.ipv6[127:64];
      {1'b1, 10'd3}: header = job_q.addr.remote_ip[63:0];
      {1'b1, 10'd4}: header = job_q.addr.remote_ip[127:64];
      {1'b1, 10'd5}: header = {16'd0, swap16(job_q.udp_len), Port, swap16(job_q.addr.udp_sport)};
      {1'b1, 10'd6}: header = {swap24(job_q.addr.remote_qpn), congestion, 16'hFFFF, bth_flags,
                               job_q.desc.opcode};
      {1'b1, 10'd7}: header = {job_q.ext[31:0], swap24(job_q.desc.psn), job_q.desc.ack_req, 7'd0};
      {1'b1, 10'd8}: header = job_q.ext[95:32];
      {1'b1, 10'd9}: header = {32'd0, job_q.ext[127:96]};
      default:       header = '0;
    endcase
  end

  always_comb begin
    want   = (state_q == Words && open_q && more_q) || state_q == Whole;
    step   = state_q != Idle && go && (!want || data_valid);
    load   = (state_q == Idle || (state_q == Rest && step)) && job_valid
           && (job.desc.len == '0 || data_valid);
    at_crc = index_q == job_q.crc_word;
    beat   = want ? data : '0;
    body   = job_q.shifted ? {beat[31:0], before_q} : beat;

    job_ready  = load;
    data_ready = want && step;

    state_d  = state_q;
    job_d    = job_q;
    index_d  = index_q;
    left_d   = left_q;
    open_d   = open_q;
    more_d   = more_q;
    before_d = before_q;
    spoil_d  = spoil_q || (want && step && data_error);
    slot_valid_d = step;
    slot_d = '{bytes: 3'd0, data: '0, default: 1'b0};

    case (state_q)
      Ethernet: begin
        slot_d.ethernet = 1'b1;
        slot_d.ipv6     = job_q.addr.ipv6;
        slot_d.data     = {own.mac[15:0], job_q.addr.remote_mac};
        if (step) state_d = Words;
      end
      Words: begin
        slot_d.first    = index_q == '0;
        slot_d.covered  = !at_crc || job_q.crc_high;
        slot_d.crc_low  = at_crc && !job_q.crc_high;
        slot_d.crc_high = at_crc && job_q.crc_high;
        slot_d.spoil    = spoil_d;
        slot_d.data     = header | body;
        if (step) begin
          index_d  = index_q + 10'd1;
          before_d = beat[63:32];
          if (index_q + 10'd1 == 10'(job_q.start)) open_d = 1'b1;
          if (want) begin
            left_d = left_q - 10'd1;
            more_d = left_q != 10'd1;
          end
          if (at_crc) state_d = Rest;
        end
      end
      Rest: begin
        // Two bytes of the last word are gone; the shortest frame has two zero bytes behind its ICRC.
        slot_d.last  = 1'b1;
        slot_d.bytes = job_q.crc_high ? 3'd6 : job_q.crc_word == 10'd5 ? 3'd4 : 3'd2;
        if (step) state_d = Idle;
      end
      Whole: begin
        slot_d.ethernet = 1'b1;
        slot_d.last     = left_q == 10'd1;
        slot_d.bytes    = job_q.desc.len[2:0];
        slot_d.data     = data;
        if (step) begin
          left_d = left_q - 10'd1;
          if (slot_d.last) state_d = Idle;
        end
      end
      default: ;
    endcase

    if (load) begin
      state_d  = job.whole ? Whole : Ethernet;
      job_d    = job;
      index_d  = '0;
      left_d   = 10'((job.desc.len + 13'd7) >> 3);
      open_d   = 1'b0;
      more_d   = job.desc.len != '0;
      before_d = '0;
      spoil_d  = 1'b0;
    end

    // The fields that the ICRC does not cover.
    crc_data_d = slot_d.data;
    case ({job_q.addr.ipv6, index_q})
      {1'b0, 10'd0}: crc_data_d[15:8] = '1;
      {1'b0, 10'd1}: begin
        crc_data_d[7:0]   = '1;
        crc_data_d[31:16] = '1;
      end
      {1'b0, 10'd3}: crc_data_d[31:16] = '1;
      {1'b0, 10'd4}: crc_data_d[7:0] = '1;
      {1'b1, 10'd0}: begin
        crc_data_d[3:0]   = '1;
        crc_data_d[31:8]  = '1;
        crc_data_d[63:56] = '1;
      end
      {1'b1, 10'd5}: crc_data_d[63:48] = '1;
      {1'b1, 10'd6}: crc_data_d[39:32] = '1;
      default: ;
    endcase
    if (at_crc) crc_data_d = {crc_data_d[31:0], 32'd0};
  end

  always_ff @(posedge clk) begin
    state_q      <= state_d;
    job_q        <= job_d;
    index_q      <= index_d;
    left_q       <= left_d;
    open_q       <= open_d;
    more_q       <= more_d;
    before_q     <= before_d;
    spoil_q      <= spoil_d;
    slot_valid_q <= slot_valid_d;
    slot_q       <= slot_d;
    crc_data_q   <= crc_data_d;
    if (rst) begin
      state_q      <= Idle;
      slot_valid_q <= 1'b0;
    end
  end

  assign slot_valid = slot_valid_q;
  assign slot       = slot_q;
  assign crc_data   = crc_data_q;
endmodule
