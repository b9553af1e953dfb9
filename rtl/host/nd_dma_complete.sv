// Completion entries and events to host memory, and the interrupt.
//
// Each is one burst, an entry before the event of the same record, all in order. Events get the next
// place of the event ring and its phase here. `irq` is high while events that were answered
// (`answered`: one clock per answer of this client, in order) are not all taken by software. The event
// registers stay as they are while traffic runs, but for the consumer index.
module nd_dma_complete
  import nd_pkg::*, nd_abi_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // bursts that may be unanswered, a power of two
  parameter int unsigned Outstanding = 64,
  localparam int unsigned Lanes = DataWidth / 8
) (
  input  logic                 clk,
  input  logic                 rst,

  input  addr_t                eq_base,
  input  logic [4:0]           eq_log,
  input  idx_t                 eq_ci,
  output logic                 irq,

  input  logic                 cpl_valid,
  output logic                 cpl_ready,
  input  cpl_write_t           cpl,

  output logic                 burst_valid,
  input  logic                 burst_ready,
  output addr_t                burst_addr,
  output logic [7:0]           burst_len,

  output logic                 w_valid,
  input  logic                 w_ready,
  output logic [DataWidth-1:0] w_data,
  output logic [Lanes-1:0]     w_strb,
  output logic                 w_last,

  input  logic                 answered
);
  if (Outstanding < 2) begin : g_check
    $error("%m: Outstanding must be at least 2");
  end

  localparam int unsigned LaneBits   = $clog2(Lanes);
  localparam int unsigned EntryBeats = DataWidth < 256 ? 256 / DataWidth : 1;
  localparam int unsigned EventBeats = DataWidth < 128 ? 128 / DataWidth : 1;
  localparam int unsigned KeptWidth  = DataWidth < 256 ? DataWidth : 256;

  typedef struct packed {
    logic                 last;
    logic                 is_event;
    logic [1:0]           place;  // address in units of 16 bytes
    logic [KeptWidth-1:0] data;
  } beat_t;

  // ---- what is next: a beat of the entry, or of the event ------------------------------------

  logic         entry_done_q, entry_done_d;  // the entry of the record at the port is on its way
  logic [1:0]   beat_q, beat_d;              // beats of the present part so far
  logic         is_entry, is_event, first, start, push, beat_room, open_room;
  eqe_t         event_entry;
  logic [255:0] part;
  beat_t        beat_in, beat;

  idx_t  index_q, index_d;        // next event
  idx_t  slot, lap;
  addr_t event_addr_q;            // its place in the ring,
  logic  phase_q;                 // its phase,
  logic  fresh_q;                 // and whether they follow `index_q` already
  idx_t  answered_q, answered_d;  // events that were answered
  logic  irq_q;

  // The burst that waits for its turn on AW.
  logic       burst_valid_q, burst_valid_d;
  addr_t      burst_addr_q, burst_addr_d, part_addr;
  logic [7:0] burst_len_q, burst_len_d;

  // A part's first beat goes with its burst.
  assign is_entry    = cpl.has_entry && !entry_done_q;
  assign is_event    = !is_entry && cpl.has_event;
  assign first       = beat_q == 2'd0;
  assign start       = cpl_valid && first && beat_room && open_room && !burst_valid_q
                       && (is_entry || (is_event && fresh_q));
  assign push        = first ? start : beat_room;
  assign cpl_ready   = is_entry || is_event ? push && beat_in.last && !(is_entry && cpl.has_event)
                                            : 1'b1;
  assign burst_valid = burst_valid_q;
  assign burst_addr  = burst_addr_q;
  assign burst_len   = burst_len_q;
  assign lap         = index_q >> eq_log;
  assign slot        = index_q & ~(16'hFFFF << eq_log);

  always_comb begin
    event_entry        = '0;
    event_entry.phase  = phase_q;
    event_entry.number = cpl.number;
    event_entry.code   = cpl.code;
    event_entry.kind   = cpl.kind;
    part               = is_entry ? cpl.entry : {2{event_entry}};
    part_addr          = is_entry ? cpl.addr : event_addr_q;
    beat_in.last       = beat_q == (is_entry ? 2'(EntryBeats - 1) : 2'(EventBeats - 1));
    beat_in.is_event   = is_event;
    beat_in.place      = part_addr[5:4];
    beat_in.data       = KeptWidth'(part >> (10'(beat_q) << $clog2(KeptWidth)));

    burst_valid_d = burst_valid_q && !burst_ready;
    burst_addr_d  = burst_addr_q;
    burst_len_d   = burst_len_q;
    if (!burst_valid_q) begin
      burst_valid_d = start;
      burst_addr_d  = {part_addr[63:LaneBits], LaneBits'(0)};
      burst_len_d   = is_entry ? 8'(EntryBeats - 1) : 8'(EventBeats - 1);
    end
  end

  always_comb begin
    entry_done_d = entry_done_q;
    beat_d       = beat_q;
    index_d      = index_q;
    if (push) begin
      beat_d = beat_in.last ? '0 : beat_q + 2'd1;
      if (beat_in.last) entry_done_d = is_entry && cpl.has_event;
    end
    if (start && is_event) index_d = index_q + 16'd1;
  end

  always_ff @(posedge clk) begin
    entry_done_q  <= entry_done_d;
    burst_valid_q <= burst_valid_d;
    burst_addr_q  <= burst_addr_d;
    burst_len_q   <= burst_len_d;
    beat_q        <= beat_d;
    index_q       <= index_d;
    answered_q    <= answered_d;
    event_addr_q  <= eq_base + {44'd0, slot, 4'd0};
    fresh_q       <= !(is_event && (start || !first));
    irq_q         <= answered_q != eq_ci;
    if (first) phase_q <= !lap[0];
    if (rst) begin
      entry_done_q  <= 1'b0;
      burst_valid_q <= 1'b0;
      beat_q        <= '0;
      index_q       <= '0;
      answered_q    <= '0;
      fresh_q       <= 1'b0;
      irq_q         <= 1'b0;
    end
  end

  // ---- data ----------------------------------------------------------------------------------

  logic [2:0] beat_count;
  logic       unused;

  nd_fifo #(.T(beat_t), .Depth(4)) u_beats (
    .clk, .rst, .in_valid(push), .in_ready(beat_room), .in_data(beat_in),
    .out_valid(w_valid), .out_ready(w_ready), .out_data(beat), .count(beat_count)
  );

  assign w_last = beat.last;

  if (DataWidth <= 128) begin : g_narrow
    assign w_data = beat.data;
    assign w_strb = '1;
  end else begin : g_wide
    // Parts of 16 bytes: an entry covers two of them, an event one.
    localparam int unsigned Parts = DataWidth / 128;
    localparam logic [1:0]  Mask  = 2'(Parts - 1);
    always_comb begin
      for (int unsigned i = 0; i < Parts; i++) begin
        w_data[128*i +: 128] = beat.data[128*(i%2) +: 128];
        w_strb[16*i +: 16]   = {16{((2'(i) ^ beat.place) & Mask & {1'b1, beat.is_event}) == '0}};
      end
    end
  end

  // ---- answers -------------------------------------------------------------------------------

  logic                         open_event, open_valid;
  logic [$clog2(Outstanding):0] open_count;

  nd_fifo #(.T(logic), .Depth(Outstanding)) u_open (
    .clk, .rst, .in_valid(start), .in_ready(open_room), .in_data(is_event),
    .out_valid(open_valid), .out_ready(answered), .out_data(open_event), .count(open_count)
  );

  assign answered_d = answered_q + 16'(answered && open_event);
  assign irq        = irq_q;
  assign unused     = ^{
    part_addr[LaneBits-1:0], beat_count, open_count, open_valid, beat.place, beat.is_event,
    lap[15:1]
  };
endmodule
