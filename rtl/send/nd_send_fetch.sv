// Fetches send-queue entries ahead of their sending: up to `Prefetch` for each queue pair, each
// once, until sending goes on elsewhere.
//
// A queue pair in QpRts that has an entry posted and not fetched, and a free slot, takes its turn.
// The slot of entry i is i mod `Prefetch`. `filled` tells which queue pairs hold their oldest entry;
// `emptied` gives it up when its request is completely sent. The first 64 bytes of an entry are read
// at `head_*`, the others at `more_*`, one clock later. An entry whose fetch the bus answers with an
// error reads as zeros (and is malformed). Answers come in the order of the requests. Entries under
// way when the queue pair is to be cleared are waited for.
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

  input  logic [NumQp-1:0]      held,          // a drop may come
  input  logic                  drop_valid,
  output logic                  drop_ready,
  input  qp_t                   drop_qp,
  input  idx_t                  drop_index,

  output logic [NumQp-1:0]      filled,
  input  logic                  emptied_valid,
  input  qp_t                   emptied_qp,
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
  typedef logic [AheadBits:0] count_t;
  typedef logic [AheadBits+1:0] late_t;

  // One-hot row of a queue pair.
  function automatic logic [NumQp-1:0] row_of(logic valid, qp_t qp);
    logic [NumQp-1:0] row;
    for (int unsigned i = 0; i < NumQp; i++) row[i] = valid && qp == qp_t'(i);
    return row;
  endfunction

  typedef enum logic [2:0] {
    Pick,     // chooses a queue pair
    Address,  // its indices are looked up
    Data,
    Compute,  // is there an entry to fetch?
    Request   // the request waits to be taken
  } state_e;

  state_e                state_q, state_d;
  row_t                  row_q, row_d, turn_row;
  logic [NumQp-1:0]      want_q, want_d;      // may have entries to fetch
  count_t [NumQp-1:0]    used_q, used_d;      // slots being fetched or filled
  count_t [NumQp-1:0]    full_q, full_d;      // slots filled
  late_t [NumQp-1:0]     late_q, late_d;      // answers to come for entries that were forgotten
  logic [NumQp-1:0]      eligible;
  idx_t                  next, next_q, producer_q, next_wdata;
  qp_send_t              cfg_q;
  fetch_req_t            fetch_q, fetch_d;
  logic                  issue, next_we, mine, turn_valid, is_late;
  logic                  gone_q, gone_d;      // the queue pair is being cleared, or went elsewhere
  logic                  crowded_q;           // too many late answers
  logic                  clear, clear_seen_q, cleared_q, cleared_d;
  slot_t                 slot, rsp_slot;
  row_t                  next_row, rsp_row;
  logic [511:0]          rsp_data;
  logic [23:0]           place;  // of the entry in its ring, bytes

  assign producer_addr = qp_t'(row_q);
  assign cfg_addr      = qp_t'(row_q);
  assign fetch_valid   = state_q == Request;
  assign fetch         = fetch_q;
  assign slot          = slot_t'(next_q);
  assign mine          = clear_valid && qp_t'(row_q) == clear_qp;

  logic [NumQp-1:0] clear_row, issue_row, rsp_done_row, emptied_row, drop_row;

  assign clear_row    = row_of(clear_valid, clear_qp);
  assign issue_row    = row_of(issue, qp_t'(row_q));
  assign rsp_done_row = row_of(fetch_rsp_valid && fetch_rsp.last, qp_t'(rsp_row));
  assign emptied_row  = row_of(emptied_valid, emptied_qp);
  assign drop_row     = row_of(drop_valid, drop_qp);
  assign issue        = state_q == Compute && producer_q != next_q && !gone_q && !mine
                        && !crowded_q;
  assign drop_ready   = !issue;

  always_comb begin
    for (int unsigned i = 0; i < NumQp; i++) begin
      filled[i]   = full_q[i] != '0;
      eligible[i] = want_q[i] && qp_states[i] == QpRts && used_q[i] != count_t'(Prefetch)
                    && late_q[i] <= late_t'(Prefetch) && !held[i] && !clear_row[i];
    end
  end

  nd_rr_turn #(.N(NumQp)) u_turn (
    .clk, .rst, .req(eligible), .take(state_q == Pick), .valid(turn_valid), .row(turn_row)
  );

  always_comb begin
    state_d = state_q;
    row_d   = row_q;
    fetch_d = fetch_q;
    gone_d  = gone_q || mine || (drop_valid && drop_qp == qp_t'(row_q));
    place   = entry_place(next_q, cfg_q.sq_log, cfg_q.sq_stride);
    unique case (state_q)
      Pick: begin
        row_d  = turn_row;
        gone_d = 1'b0;
        if (turn_valid) state_d = Address;
        if (drop_valid) begin
          row_d   = row_t'(drop_qp);
          state_d = Address;
        end
      end
      Address: state_d = Data;
      Data:    state_d = Compute;
      Compute: begin
        state_d       = issue ? Request : Pick;
        fetch_d.addr  = cfg_q.sq_base + addr_t'(place);
        fetch_d.unit_count = 3'd1 << cfg_q.sq_stride;
        fetch_d.tag   = 9'({row_q, slot});
      end
      default: if (fetch_ready) state_d = Pick;
    endcase
  end

  // Which queue pairs are wanted, and the slots.
  assign {rsp_row, rsp_slot} = fetch_rsp.tag[QpBits+AheadBits-1:0];

  always_comb begin
    want_d = want_q;
    want_d = want_d & ~row_of(state_q == Address, qp_t'(row_q));
    if (producer_q != next_q + 16'd1) want_d = want_d | issue_row;
    want_d = want_d | row_of(state_q == Compute && crowded_q, qp_t'(row_q));
    want_d = (want_d | row_of(posted_valid, posted_qp) | drop_row) & ~clear_row;
    for (int unsigned i = 0; i < NumQp; i++) begin
      is_late   = late_q[i] != '0;
      used_d[i] = used_q[i] + count_t'(issue_row[i]) - count_t'(emptied_row[i]);
      full_d[i] = full_q[i] + count_t'(rsp_done_row[i] && !is_late) - count_t'(emptied_row[i]);
      late_d[i] = late_q[i] - late_t'(rsp_done_row[i] && is_late);
      if (drop_row[i]) begin
        used_d[i] = '0;
        full_d[i] = '0;
        late_d[i] = late_q[i] + late_t'(used_q[i] - full_q[i]) - late_t'(rsp_done_row[i]);
      end
      if (clear && clear_row[i]) begin
        used_d[i] = '0;
        full_d[i] = '0;
      end
    end
  end

  // Cleared when nothing of the queue pair is under way.
  assign clear      = clear_valid && clear_seen_q && !cleared_q && !issue
                      && !(mine && state_q != Pick)
                      && used_q[row_t'(clear_qp)] == full_q[row_t'(clear_qp)] && !drop_valid;
  assign cleared_d  = clear_valid && (cleared_q || clear);
  assign clear_done = cleared_q;

  always_comb begin
    next_we    = issue || clear || drop_valid;
    next_row   = row_q;
    next_wdata = next_q + 16'd1;
    if (drop_valid) begin
      next_row   = row_t'(drop_qp);
      next_wdata = drop_index;
    end
    if (clear) begin
      next_row   = row_t'(clear_qp);
      next_wdata = '0;
    end
  end

  nd_ram #(.T(idx_t), .Depth(NumQp)) u_next (
    .clk, .we(next_we), .waddr(next_row), .wdata(next_wdata), .raddr(row_q), .rdata(next)
  );

  always_ff @(posedge clk) begin
    state_q    <= state_d;
    row_q      <= row_d;
    fetch_q    <= fetch_d;
    want_q     <= want_d;
    used_q     <= used_d;
    full_q     <= full_d;
    late_q     <= late_d;
    cleared_q  <= cleared_d;
    gone_q     <= gone_d;
    clear_seen_q <= clear_valid;
    next_q     <= next;
    producer_q <= producer;
    cfg_q      <= cfg;
    crowded_q  <= late_q[row_q] > late_t'(Prefetch);
    if (rst) begin
      state_q   <= Pick;
      want_q    <= '0;
      used_q    <= '0;
      full_q    <= '0;
      late_q    <= '0;
      cleared_q <= 1'b0;
      clear_seen_q <= 1'b0;
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
  assign unused = &{1'b0, cfg_q, posted_qp, emptied_qp, head_qp, more_qp, clear_qp, drop_qp,
                    fetch_rsp};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_hold:    assert (!$past(fetch_valid && !fetch_ready && !rst)
                         || (fetch_valid && $stable(fetch)));
      a_slot:    assert (!issue || used_q[row_q] != count_t'(Prefetch));
      a_asked:   assert (!fetch_rsp_valid || used_q[rsp_row] != full_q[rsp_row]
                         || late_q[rsp_row] != '0);
      a_drop:    assert (!drop_valid || !(issue || emptied_valid || clear));
      a_emptied: assert (!emptied_valid || full_q[row_t'(emptied_qp)] != '0);
    end
  end
`endif
endmodule
