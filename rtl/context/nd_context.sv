// Room `context`: tables of queue pairs, tokens and pages; their writes, lookups and translation.
//
// A table write is taken, prepared and committed (CommitContext) as one action:
//   queue pair in QpInit   `qp_clear_valid` stays up until the commit. A room raises its
//                          `qp_clear_ready` when it has cleared the queue pair's run-time state,
//                          and from then on does nothing for that queue pair until `context_done`
//   completion queue       (also another ring or moderation) handshake `cq_wr`, then the commit;
//                          `complete` holds still until `context_done`
//   shared receive queue   the same with `srq_wr` and `receive`
//   pages                  written one a clock before the commit
// At the grant the entry takes effect: what is looked up in the next clock sees it, and `epoch` has
// moved there. A token takes effect a few clocks later, and moves the epoch once more then (nd_tokens).
// `context_done` is the granted clock. Writes outside a table do nothing but commit.
//
// `set_error` (send, receive), `invalidate` (receive) and `local_apply` (send) come in granted
// clocks, so never two at once. An invalidation whose key does not match, or of a region with
// windows, does nothing. The last two move the epoch when granted, and when tokens change.
module nd_context
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_context_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // completion queues, a power of two
  parameter int unsigned NumCq = 64,
  // shared receive queues, a power of two
  parameter int unsigned NumSrq = 16,
  // memory tokens, a power of two
  parameter int unsigned NumToken = 256,
  // entries of the page table, a power of two
  parameter int unsigned NumPage = 4096
) (
  input  logic                  clk,
  input  logic                  rst,

  // table writes
  input  logic                  ctx_wr_valid,
  output logic                  ctx_wr_ready,
  input  ctx_write_t            ctx_wr,
  output logic                  ctx_busy,
  output logic                  context_done,
  output logic                  commit_req,
  output commit_t               commit_record,
  input  logic                  commit_gnt,

  // effects of other rooms' granted actions: send, receive
  input  logic            [1:0] set_error_valid,
  input  qp_t             [1:0] set_error,
  input  logic                  invalidate_valid,
  input  logic [31:0]           invalidate,

  // local requests: checked, and made ready (nd_local)
  input  logic                  local_valid,
  output logic                  local_ready,
  input  local_req_t            local_req,
  output logic                  local_pages,
  input  logic                  local_page_valid,
  output logic                  local_page_ready,
  input  logic [51:0]           local_page,
  input  logic                  local_page_error,
  output logic                  local_done,
  output fault_e                local_fault,
  input  logic                  local_apply,
  input  logic                  local_drop,

  // clearing: send, receive; complete; receive
  output logic                  qp_clear_valid,
  input  logic            [1:0] qp_clear_ready,
  output qp_t                   qp_clear,
  output logic                  cq_wr_valid,
  input  logic                  cq_wr_ready,
  output table_e                cq_wr_table,
  output logic [15:0]           cq_wr_index,
  output cq_context_t           cq_wr,
  output logic                  srq_wr_valid,
  input  logic                  srq_wr_ready,
  output logic [15:0]           srq_wr_index,
  output srq_context_t          srq_wr,

  // lookups, answered one clock later
  output logic [7:0]            epoch,
  output qp_state_e [NumQp-1:0] qp_states,
  output logic      [NumQp-1:0] qp_shared,
  input  qp_t                   qp_query,
  output qp_state_e             qp_query_state,
  input  qp_t             [3:0] send_cfg_addr,
  output qp_send_t        [3:0] send_cfg,
  input  qp_t             [2:0] recv_cfg_addr,
  output qp_recv_t        [2:0] recv_cfg,
  input  qp_t                   addr_cfg_addr,
  output qp_addr_t              addr_cfg,
  input  qp_t             [2:0] cq_cfg_addr,
  output qp_cq_t          [2:0] cq_cfg,

  // translation: send, receive.rx, receive.respond
  input  logic            [2:0] tr_req_valid,
  output logic            [2:0] tr_req_ready,
  input  translate_req_t  [2:0] tr_req,
  output logic            [2:0] tr_rsp_valid,
  input  logic            [2:0] tr_rsp_ready,
  output translate_rsp_t  [2:0] tr_rsp
);
  if (NumCq < 2 || (NumCq & (NumCq - 1)) != 0) begin : g_check
    $error("%m: NumCq must be a power of two, at least 2");
  end

  localparam int unsigned QpBits    = $clog2(NumQp);
  localparam int unsigned TokenBits = $clog2(NumToken);
  localparam int unsigned PageBits  = $clog2(NumPage);
  localparam int unsigned PlaceBits = 12 + PageBits;

  typedef enum logic [2:0] {
    Idle,     // waits for a write
    Prepare,  // sorts it
    Clear,    // waits until the rooms have cleared the queue pair
    Queue,    // waits until `complete` or `receive` has written its queue
    Pages,    // writes pages
    Commit,   // asks for the grant
    Settle    // the token changes
  } state_e;

  state_e      state_q, state_d;
  ctx_write_t  wr_q, wr_d;
  logic [2:0]  page_q, page_d;      // pages written
  logic        inside_q, inside_d;  // the index lies in the table
  logic        cleared_q, cleared_d;  // both rooms have cleared the queue pair
  logic [7:0]  epoch_q, epoch_d;
  qp_state_e   query_q, query_d;
  logic        effect, qp_we, token_we, page_we;
  logic        token_busy, token_changed, moves;
  logic        error_valid;
  qp_t         error_qp;
  qp_context_t qp_entry;
  logic [23:0] page_index;
  logic [63:0] page_word;

  assign ctx_busy       = state_q != Idle;
  assign ctx_wr_ready   = state_q == Idle;
  assign qp_entry       = qp_context_t'(wr_q.data[$bits(qp_context_t)-1:0]);
  assign page_word      = wr_q.data[64*page_q +: 64];
  assign page_index     = wr_q.index + 24'(page_q);
  assign qp_clear_valid = state_q == Clear || (state_q == Commit && cleared_q);
  assign qp_clear       = qp_t'(wr_q.index);
  assign cq_wr_valid    = state_q == Queue && wr_q.table_id != TableSrq;
  assign cq_wr_table    = wr_q.table_id;
  assign cq_wr_index    = wr_q.index[15:0];
  assign cq_wr          = cq_context_t'(wr_q.data[$bits(cq_context_t)-1:0]);
  assign srq_wr_valid   = state_q == Queue && wr_q.table_id == TableSrq;
  assign srq_wr_index   = wr_q.index[15:0];
  assign srq_wr         = srq_context_t'(wr_q.data[$bits(srq_context_t)-1:0]);
  assign commit_req     = state_q == Commit && !token_busy;
  assign context_done   = commit_gnt;
  assign epoch          = epoch_q;
  assign qp_query_state = query_q;

  always_comb begin
    commit_record       = '0;
    commit_record.kind  = CommitContext;
    commit_record.qpn   = wr_q.index;
    commit_record.index = wr_q.table_id == TablePage ? 16'(wr_q.count) : 16'd1;
    commit_record.cause = 8'(wr_q.table_id);
  end

  always_comb begin
    state_d   = state_q;
    wr_d      = wr_q;
    page_d    = page_q;
    inside_d  = inside_q;
    cleared_d = cleared_q;
    page_we   = 1'b0;
    unique case (state_q)
      Idle: begin
        wr_d      = ctx_wr;
        page_d    = '0;
        cleared_d = 1'b0;
        if (ctx_wr_valid) state_d = Prepare;
      end
      Prepare: begin
        state_d  = Commit;
        inside_d = 1'b0;
        unique case (wr_q.table_id)
          TableQp: begin
            inside_d = wr_q.index < 24'(NumQp);
            if (inside_d && qp_entry.state == QpInit) state_d = Clear;
          end
          TableCq, TableCqRing, TableCqModeration: begin
            inside_d = wr_q.index < 24'(NumCq);
            if (inside_d) state_d = Queue;
          end
          TableSrq: begin
            inside_d = wr_q.index < 24'(NumSrq);
            if (inside_d) state_d = Queue;
          end
          TableToken: inside_d = wr_q.index < 24'(NumToken);
          TablePage:  if (wr_q.count != '0) state_d = Pages;
          default: ;
        endcase
      end
      Clear: begin
        cleared_d = &qp_clear_ready;
        if (cleared_d) state_d = Commit;
      end
      Queue: if (wr_q.table_id == TableSrq ? srq_wr_ready : cq_wr_ready) state_d = Commit;
      Pages: begin
        page_we = page_index < 24'(NumPage);
        page_d  = page_q + 3'd1;
        if (page_q == 3'd7 || 4'(page_q) + 4'd1 >= wr_q.count) state_d = Commit;
      end
      Commit:  if (commit_gnt) state_d = token_we ? Settle : Idle;
      default: if (!token_busy) state_d = Idle;  // Settle
    endcase
  end

  always_comb begin
    effect      = commit_gnt && inside_q;
    qp_we       = effect && wr_q.table_id == TableQp;
    token_we    = effect && wr_q.table_id == TableToken;
    error_valid = |set_error_valid;
    error_qp    = set_error_valid[0] ? set_error[0] : set_error[1];
    moves       = commit_gnt || error_valid || invalidate_valid || local_apply || token_changed;
    epoch_d     = epoch_q + 8'(moves);
    query_d     = qp_query < qp_t'(NumQp) ? qp_states[QpBits'(qp_query)] : QpReset;
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    wr_q      <= wr_d;
    page_q    <= page_d;
    inside_q  <= inside_d;
    cleared_q <= cleared_d;
    epoch_q   <= epoch_d;
    query_q   <= query_d;
    if (rst) begin
      state_q   <= Idle;
      cleared_q <= 1'b0;
      epoch_q   <= '0;
    end
  end

  nd_tables #(.NumQp(NumQp)) u_tables (
    .clk, .rst, .qp_we, .qp_index(qp_t'(wr_q.index)), .qp_entry, .error_valid, .error_qp,
    .qp_states, .qp_shared, .send_cfg_addr, .send_cfg, .recv_cfg_addr, .recv_cfg,
    .addr_cfg_addr, .addr_cfg, .cq_cfg_addr, .cq_cfg
  );

  token_context_t token_entry;
  logic [TokenBits-1:0] use_index, local_index;
  token_t               use_token, local_token;
  logic [PlaceBits-1:0] use_distance, local_distance, change_distance;
  logic                 use_valid, use_bound, token_valid, token_bound, list_we;
  logic [PageBits-1:0]  first_page, list_index;
  logic [15:0]          max_pages;
  change_t              change;

  assign token_entry = token_context_t'(wr_q.data[$bits(token_context_t)-1:0]);

  nd_tokens #(.NumToken(NumToken), .NumPage(NumPage)) u_tokens (
    .clk, .rst, .write_valid(token_we), .write_index(TokenBits'(wr_q.index)),
    .write_entry(token_entry), .invalidate_valid, .invalidate_token(invalidate),
    .apply_valid(local_apply), .apply(change), .apply_distance(change_distance),
    .busy(token_busy), .changed(token_changed),
    .use_index, .use_token, .use_distance, .use_valid, .use_bound,
    .local_index, .local_token, .local_distance, .local_valid(token_valid),
    .local_bound(token_bound), .local_first_page(first_page), .local_max_pages(max_pages)
  );

  nd_local #(.NumToken(NumToken), .NumPage(NumPage)) u_local (
    .clk, .rst, .req_valid(local_valid), .req_ready(local_ready), .req(local_req),
    .pages(local_pages), .page_valid(local_page_valid), .page_ready(local_page_ready),
    .page_error(local_page_error), .done(local_done), .fault(local_fault),
    .apply(local_apply), .drop(local_drop), .moved(moves), .written(commit_gnt),
    .token_index(local_index), .token(local_token), .token_distance(local_distance),
    .token_valid, .token_bound, .token_first_page(first_page), .token_max_pages(max_pages),
    .token_busy, .change, .change_distance,
    .page_busy(page_we), .page_we(list_we), .page_index(list_index)
  );

  nd_translate #(.NumToken(NumToken), .NumPage(NumPage)) u_translate (
    .clk, .rst, .lookup(use_index), .token(use_token), .distance(use_distance),
    .valid(use_valid), .bound(use_bound),
    .page_we(page_we || list_we), .page_index(page_we ? PageBits'(page_index) : list_index),
    .page_entry(page_we ? page_word[63:12] : local_page),
    .tr_req_valid, .tr_req_ready, .tr_req, .tr_rsp_valid, .tr_rsp_ready, .tr_rsp
  );

  logic unused;
  assign unused = &{1'b0, page_word[11:0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_single: assert ($onehot0({set_error_valid, invalidate_valid, local_apply, commit_gnt}));
      a_gnt:    assert (!commit_gnt || commit_req);
      a_ready:  assert (!(qp_clear_valid && cleared_q) || &qp_clear_ready);
      a_hold:   assert (!$past(tr_rsp_valid[0] && !tr_rsp_ready[0] && !rst)
                        || (tr_rsp_valid[0] && $stable(tr_rsp[0])));
    end
  end
`endif
endmodule
