// Fetches send-queue entries ahead of their sending: up to `Prefetch` for each queue pair, each
// once.
//
// A queue pair in QpRts that has an entry posted and not fetched, and a free slot, takes its turn.
// The slot of entry i is i mod `Prefetch`. `filled` tells which slots hold an entry; `emptied`
// gives one back when its request is completely sent. The first 64 bytes are read at `head_*`, the
// others at `more_*`, one clock later. An entry whose fetch the bus answers with an error reads as
// zeros (and is malformed). Entries under way when the queue pair is to be cleared are waited for.
module nd_send_fetch
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // entries fetched ahead per queue pair, a power of two; with all queue pairs at most 256
  parameter int unsigned Prefetch = 4,
  localparam int unsigned AheadBits = $clog2(Prefetch)
) (
  input  logic                  clk,
  input  logic                  rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic                  clear_valid,
  input  qp_t                   clear_qp,
  output logic                  clear_done,

  input  logic                  posted_valid,
  input  qp_t                   posted_qp,
  output qp_t                   producer_addr,
  input  idx_t                  producer,
  output qp_t                   cfg_addr,
  input  qp_send_t              cfg,

  output logic                  fetch_valid,
  input  logic                  fetch_ready,
  output fetch_req_t            fetch,
  input  logic                  fetch_rsp_valid,
  input  fetch_rsp_t            fetch_rsp,

  output logic [NumQp-1:0][Prefetch-1:0] filled,
  input  logic                  emptied_valid,
  input  qp_t                   emptied_qp,
  input  logic [AheadBits-1:0]  emptied_slot,
  input  qp_t                   head_qp,
  input  logic [AheadBits-1:0]  head_slot,
  output logic [511:0]          head,
  input  qp_t                   more_qp,
  input  logic [AheadBits-1:0]  more_slot,
  input  logic [1:0]            more_unit,   // 1 to 3
  output logic [511:0]          more
);
  if (NumQp < 2 || (NumQp & (NumQp - 1)) != 0) begin : g_check_qp
    $error("%m: NumQp must be a power of two, at least 2");
  end
  if (Prefetch < 2 || (Prefetch & (Prefetch - 1)) != 0 || NumQp * Prefetch > 256)
  begin : g_check_ahead
    $error("%m: Prefetch must be a power of two, 2 to 256 / NumQp (a fetch's tag is 8 bits)");
  end

  localparam int unsigned QpBits = $clog2(NumQp);
  typedef logic [QpBits-1:0] row_t;
  typedef logic [AheadBits-1:0] slot_t;

  typedef enum logic [2:0] {
    Pick,     // chooses a queue pair
    Address,  // its indices are looked up
    Data,
    Compute,  // is there an entry to fetch?
    Request   // the request waits to be taken
  } state_e;

  state_e                state_q, state_d;
  row_t                  row_q, row_d, gnt_row;
  logic [NumQp-1:0]      want_q, want_d;      // may have entries to fetch
  slot_t [NumQp-1:0]     slots_q, slots_d;    // slot of the next entry
  logic [NumQp-1:0][Prefetch-1:0] busy_q, busy_d;  // slot being fetched or filled
  logic [NumQp-1:0][Prefetch-1:0] filled_q, filled_d;
  logic [NumQp-1:0]      eligible, gnt;
  idx_t                  next, next_q, producer_q, next_wdata;
  qp_send_t              cfg_q;
  fetch_req_t            fetch_q, fetch_d;
  logic                  issue, next_we, mine, clear, cleared_q, cleared_d;
  slot_t                 slot, rsp_slot;
  row_t                  next_row, rsp_row;
  logic [511:0]          rsp_data;
  logic [23:0]           place;  // of the entry in its ring, bytes

  assign filled        = filled_q;
  assign producer_addr = qp_t'(row_q);
  assign cfg_addr      = qp_t'(row_q);
  assign fetch_valid   = state_q == Request;
  assign fetch         = fetch_q;
  assign slot          = slot_t'(next_q);
  assign mine          = clear_valid && qp_t'(row_q) == clear_qp;

  always_comb begin
    for (int unsigned i = 0; i < NumQp; i++) begin
      eligible[i] = want_q[i] && qp_states[i] == QpRts && !busy_q[i][slots_q[i]]
                    && !(clear_valid && clear_qp == qp_t'(i));
    end
  end

  nd_rr_arb #(.N(NumQp)) u_arb (
    .clk, .rst, .req(eligible), .advance(state_q == Pick), .gnt, .gnt_idx(gnt_row)
  );

  always_comb begin
    state_d = state_q;
    row_d   = row_q;
    fetch_d = fetch_q;
    issue   = 1'b0;
    place   = entry_place(next_q, cfg_q.sq_log, cfg_q.sq_stride);
    unique case (state_q)
      Pick: begin
        row_d = gnt_row;
        if (|gnt) state_d = Address;
      end
      Address: state_d = Data;
      Data:    state_d = Compute;
      Compute: begin
        issue         = producer_q != next_q && !mine;
        state_d       = issue ? Request : Pick;
        fetch_d.addr  = cfg_q.sq_base + addr_t'(place);
        fetch_d.units = 3'd1 << cfg_q.sq_stride;
        fetch_d.tag   = 8'({row_q, slot});
      end
      default: if (fetch_ready) state_d = Pick;
    endcase
  end

  // Which queue pairs are wanted, and the slots.
  assign {rsp_row, rsp_slot} = fetch_rsp.tag[QpBits+AheadBits-1:0];

  always_comb begin
    want_d   = want_q;
    slots_d  = slots_q;
    busy_d   = busy_q;
    filled_d = filled_q;
    if (state_q == Pick) want_d = want_d & ~gnt;
    if (issue) begin
      want_d[row_q]       = want_q[row_q] || producer_q != next_q + 16'd1;
      slots_d[row_q]      = slot + 1'b1;
      busy_d[row_q][slot] = 1'b1;
    end
    if (fetch_rsp_valid && fetch_rsp.last) filled_d[rsp_row][rsp_slot] = 1'b1;
    if (emptied_valid) begin
      busy_d[row_t'(emptied_qp)][emptied_slot]   = 1'b0;
      filled_d[row_t'(emptied_qp)][emptied_slot] = 1'b0;
    end
    if (clear) begin
      want_d[row_t'(clear_qp)]   = 1'b0;
      slots_d[row_t'(clear_qp)]  = '0;
      busy_d[row_t'(clear_qp)]   = '0;
      filled_d[row_t'(clear_qp)] = '0;
    end
    if (posted_valid) want_d[row_t'(posted_qp)] = 1'b1;
  end

  // Cleared when nothing of the queue pair is under way.
  assign clear      = clear_valid && !cleared_q && !(mine && state_q != Pick) && !issue
                      && (busy_q[row_t'(clear_qp)] & ~filled_q[row_t'(clear_qp)]) == '0;
  assign cleared_d  = clear_valid && (cleared_q || clear);
  assign clear_done = cleared_q;

  assign next_we    = issue || clear;
  assign next_row   = issue ? row_q : row_t'(clear_qp);
  assign next_wdata = issue ? next_q + 16'd1 : '0;

  nd_ram #(.T(idx_t), .Depth(NumQp)) u_next (
    .clk, .we(next_we), .waddr(next_row), .wdata(next_wdata), .raddr(row_q), .rdata(next)
  );

  always_ff @(posedge clk) begin
    state_q    <= state_d;
    row_q      <= row_d;
    fetch_q    <= fetch_d;
    want_q     <= want_d;
    slots_q    <= slots_d;
    busy_q     <= busy_d;
    filled_q   <= filled_d;
    cleared_q  <= cleared_d;
    next_q     <= next;
    producer_q <= producer;
    cfg_q      <= cfg;
    if (rst) begin
      state_q   <= Pick;
      want_q    <= '0;
      slots_q   <= '0;
      busy_q    <= '0;
      filled_q  <= '0;
      cleared_q <= 1'b0;
    end
  end

  // Entries.
  assign rsp_data = fetch_rsp.error ? '0 : fetch_rsp.data;

  nd_ram #(.T(logic [511:0]), .Depth(Prefetch * NumQp)) u_head (
    .clk, .we(fetch_rsp_valid && fetch_rsp.unit == 2'd0),
    .waddr({rsp_row, rsp_slot}), .wdata(rsp_data),
    .raddr({row_t'(head_qp), head_slot}), .rdata(head)
  );
  nd_ram #(.T(logic [511:0]), .Depth(4 * Prefetch * NumQp)) u_more (
    .clk, .we(fetch_rsp_valid && fetch_rsp.unit != 2'd0),
    .waddr({rsp_row, rsp_slot, fetch_rsp.unit}), .wdata(rsp_data),
    .raddr({row_t'(more_qp), more_slot, more_unit}), .rdata(more)
  );

  logic unused;
  assign unused = &{1'b0, cfg_q, posted_qp, emptied_qp, head_qp, more_qp, clear_qp, fetch_rsp};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_hold:    assert (!$past(fetch_valid && !fetch_ready && !rst)
                         || (fetch_valid && $stable(fetch)));
      a_slot:    assert (!issue || !busy_q[row_q][slot]);
      a_next:    assert (!issue || slots_q[row_q] == slot);
      a_asked:   assert (!fetch_rsp_valid || busy_q[rsp_row][rsp_slot]);
      a_once:    assert (!fetch_rsp_valid || !filled_q[rsp_row][rsp_slot]);
      a_emptied: assert (!emptied_valid || filled_q[row_t'(emptied_qp)][emptied_slot]);
    end
  end
`endif
endmodule
