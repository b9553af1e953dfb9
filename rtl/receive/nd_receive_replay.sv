// The reads accepted last of each queue pair, and the search for the one that a duplicate asks for again.
//
// `remember` writes `frame` as read number `reads` of its queue pair. `start` begins a search through the
// last `count` reads before number `reads` for one of which `frame` is the whole or a tail; at `done`,
// which stays until the next `start`, `match` is its answer, and `slot` where that read is remembered.
// One read a clock is looked at:
//
//   clock   0         1       2           3              4
//           address   word    register    differences    compared
module nd_receive_replay
  import nd_pkg::*;
  import nd_receive_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64,
  // reads remembered per queue pair, a power of two
  parameter int unsigned MaxRead = 4
) (
  input  logic       clk,
  input  logic       rst,

  // held from `start` to `done`
  input  rx_desc_t   frame,
  input  logic [2:0] mtu,
  input  logic [7:0] reads,     // accepted
  input  logic [7:0] count,     // remembered, at most MaxRead

  input  logic       remember,
  input  logic       start,
  output logic       done,
  output logic       match,
  output logic [7:0] slot
);
  localparam int unsigned QpBits   = $clog2(NumQp);
  localparam int unsigned SlotBits = $clog2(MaxRead);
  typedef logic [QpBits-1:0] qp_bits_t;
  typedef logic [SlotBits-1:0] slot_t;

  // By how much the duplicate differs from the read.
  typedef struct packed {
    logic        token;   // same
    psn_t        psn;     // packets later
    addr_t       va;      // bytes later
    logic [32:0] len;     // bytes shorter
    logic        empty;   // the duplicate has no bytes
  } differ_t;

  slot_t      slot_q, slot_d, match_slot_q, match_slot_d;
  slot_t      slots_q[3];        // of word, register, differences
  logic [7:0] left_q, left_d;
  logic [2:0] stage_q, stage_d;  // word, register, differences
  logic       busy_q, busy_d, match_q, match_d, fits;
  accepted_t  word, entry_q;
  differ_t    differ_q, differ_d;
  logic [37:0] bytes;
  qp_bits_t   qp;
  logic       unused;

  assign unused = &{1'b0, frame, reads};
  assign qp     = frame.dest_qpn[QpBits-1:0];
  assign done   = !busy_q;
  assign match  = match_q;
  assign slot   = 8'(match_slot_q);

  nd_ram #(.T(accepted_t), .Depth(NumQp * MaxRead)) u_reads (
    .clk, .we(remember), .waddr({qp, reads[SlotBits-1:0]}),
    .wdata('{psn: frame.psn, va: frame.va, len: frame.dma_len, token: frame.token}),
    .raddr({qp, slot_q}), .rdata(word)
  );

  always_comb begin
    differ_d.token = frame.token == entry_q.token;
    differ_d.psn   = frame.psn - entry_q.psn;
    differ_d.va    = frame.va - entry_q.va;
    differ_d.len   = {1'b0, entry_q.len} - {1'b0, frame.dma_len};
    differ_d.empty = frame.dma_len == '0;

    // A tail: as many bytes later and shorter as its packets are later. With at least one byte left
    // its PSN lies in the read; without, only that of a read without bytes does.
    bytes = 38'(differ_q.psn) << (4'd7 + 4'(mtu));
    fits  = differ_q.token && differ_q.va == 64'(bytes) && !differ_q.len[32] &&
            38'(differ_q.len[31:0]) == bytes && (!differ_q.empty || differ_q.psn == '0);
  end

  always_comb begin
    slot_d  = slot_q;
    left_d  = left_q;
    busy_d  = busy_q && (left_q != '0 || stage_q != '0);
    match_d = match_q || (stage_q[2] && fits);
    match_slot_d = stage_q[2] && fits ? slots_q[2] : match_slot_q;
    stage_d = {stage_q[1:0], left_q != '0};
    if (left_q != '0) begin
      slot_d = slot_q - 1'b1;
      left_d = left_q - 8'd1;
    end
    if (start) begin
      slot_d  = slot_t'(reads) - 1'b1;
      left_d  = count;
      busy_d  = 1'b1;
      match_d = 1'b0;
      stage_d = '0;
    end
  end

  always_ff @(posedge clk) begin
    slot_q   <= slot_d;
    left_q   <= left_d;
    stage_q  <= stage_d;
    busy_q   <= busy_d;
    match_q  <= match_d;
    match_slot_q <= match_slot_d;
    slots_q  <= '{slot_q, slots_q[0], slots_q[1]};
    entry_q  <= word;
    differ_q <= differ_d;
    if (rst) begin
      left_q  <= '0;
      stage_q <= '0;
      busy_q  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_count: assert (!start || count <= 8'(MaxRead));
    end
  end
`endif
endmodule
