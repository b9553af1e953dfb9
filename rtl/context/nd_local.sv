// Local requests: checks one against the tables, and holds what it does until that is granted.
//
// A request is looked up, compared and judged in the order of `docs/src/semantics.md` ("Local
// requests"). A FastRegister that passes asks for its page list (`pages`): the addresses come in
// order and are written (`page_we`) from the region's first page on, which nothing can use while the
// region is free. An address that the bus answered with an error ends the list. `done` holds, with the
// verdict, until `apply` (granted; only without a fault) or `drop`, which may come in any clock after
// the request was taken.
//
// Whoever asks throws the verdict away when the epoch has moved (`moved`: it moves); no page is
// written after that. The pages that were written stay good for the same request when it comes
// again, unless a table was written (`written`) or another list came: then `pages` stays low.
module nd_local
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_context_pkg::*;
#(
  // memory tokens, a power of two
  parameter int unsigned NumToken = 256,
  // entries of the page table, a power of two
  parameter int unsigned NumPage = 4096,
  localparam int unsigned TokenBits = $clog2(NumToken),
  localparam int unsigned PageBits  = $clog2(NumPage),
  localparam int unsigned PlaceBits = 12 + PageBits
) (
  input  logic                 clk,
  input  logic                 rst,

  input  logic                 req_valid,
  output logic                 req_ready,
  input  local_req_t           req,
  output logic                 pages,       // the list is wanted
  input  logic                 page_valid,
  output logic                 page_ready,
  input  logic                 page_error,
  output logic                 done,
  output fault_e               fault,
  input  logic                 apply,
  input  logic                 drop,

  input  logic                 moved,
  input  logic                 written,

  // the token table: a look-up, answered one clock later, and the change
  output logic [TokenBits-1:0] token_index,
  input  token_t               token,
  input  logic [PlaceBits-1:0] token_distance,
  input  logic                 token_valid,
  input  logic                 token_bound,
  input  logic [PageBits-1:0]  token_first_page,
  input  logic [15:0]          token_max_pages,
  input  logic                 token_busy,
  output change_t              change,
  output logic [PlaceBits-1:0] change_distance,

  // the page table
  input  logic                 page_busy,   // software writes
  output logic                 page_we,
  output logic [PageBits-1:0]  page_index
);
  typedef logic [TokenBits-1:0] index_t;
  typedef logic [PlaceBits-1:0] place_t;

  typedef enum logic [3:0] {
    Idle,
    Object,   // its token is looked up
    Region,   // the region of a window is looked up
    Load,
    Compare,
    Judge,
    Pages,    // the list comes
    Done,
    Settle    // the change takes place
  } state_e;

  function automatic logic in_table(logic [23:0] index);
    return index < 24'(NumToken);
  endfunction

  // Results of comparisons.
  typedef struct packed {
    logic object_key;
    logic object_pd;
    logic object_qp;
    logic region_key;
    logic region_pd;
    logic outside;      // not in the region
    logic pages_short;  // more pages than reserved, or fewer than the bytes need
  } facts_t;

  state_e      state_q, state_d;
  local_req_t  req_q;
  token_t      object_q, region_q;
  logic        object_valid_q, object_bound_q, region_valid_q;
  place_t      region_distance_q, fast_distance_q;
  logic [PageBits-1:0] first_page_q;
  logic [15:0] max_pages_q;
  logic [64:0] end_q;
  logic [32:0] size_q;
  facts_t      facts_q, facts_d;
  fault_e      fault_q, fault_d, verdict;
  logic [15:0] count_q, count_d;     // pages written
  logic [PageBits-1:0] place_q;      // where the next page goes
  logic        moved_q, moved_d;
  logic        loaded_q, loaded_d;   // the pages of request `loaded_index` of `loaded_qp` are there
  qp_t         loaded_qp_q;
  idx_t        loaded_index_q;
  logic        is_fast, is_bind, known, last_page, take_page;
  logic        unused;

  assign req_ready   = state_q == Idle;
  assign done        = state_q == Done;
  assign fault       = fault_q;
  assign pages       = state_q == Pages;
  assign is_fast     = req_q.op == LocalFastRegister;
  assign is_bind     = req_q.op == LocalBind;
  assign token_index = index_t'(state_q == Region ? req_q.region_token[31:8]
                                                  : req_q.object_token[31:8]);

  // ---- checks --------------------------------------------------------------------------------

  always_comb begin
    facts_d.object_key  = object_q.key == req_q.object_token[7:0];
    facts_d.object_pd   = object_q.pd == req_q.pd;
    facts_d.object_qp   = object_q.window_qp == req_q.qp;
    facts_d.region_key  = region_q.key == req_q.region_token[7:0];
    facts_d.region_pd   = region_q.pd == req_q.pd;
    facts_d.outside     = end_q[64] || req_q.va < region_q.base || end_q > region_q.region_end;
    facts_d.pages_short = req_q.page_count > max_pages_q
                          || size_q > {5'd0, req_q.page_count, 12'd0};
  end

  // Checks in their order, from the last one to the first.
  always_comb begin
    verdict = FaultNone;
    unique case (req_q.op)
      LocalFastRegister: begin
        if (facts_q.pages_short) verdict = FaultWqeLength;
        if (object_valid_q) verdict = FaultState;
        if (object_q.kind != TokenFast) verdict = FaultKind;
        if (!facts_q.object_pd) verdict = FaultDomain;
        if (!in_table(req_q.object_token[31:8])) verdict = FaultTokenIndex;
      end
      LocalBind: begin
        if (facts_q.outside) verdict = FaultBounds;
        if (req_q.remote_write && !region_q.local_write) verdict = FaultRight;
        if (!(region_q.kind inside {TokenRegion, TokenFast})) verdict = FaultKind;
        if (!facts_q.region_pd) verdict = FaultDomain;
        if (!facts_q.region_key) verdict = FaultTokenKey;
        if (!in_table(req_q.region_token[31:8]) || !region_valid_q) verdict = FaultTokenIndex;
        if (object_valid_q) verdict = FaultState;
        if (object_q.kind != TokenWindow) verdict = FaultKind;
        if (!facts_q.object_pd) verdict = FaultDomain;
        if (!facts_q.object_key) verdict = FaultTokenKey;
        if (!in_table(req_q.object_token[31:8])) verdict = FaultTokenIndex;
        if (req_q.len == '0) verdict = FaultWqeLength;
      end
      default: begin  // LocalInvalidate
        if (object_bound_q) verdict = FaultState;
        if (object_q.kind == TokenWindow && !facts_q.object_qp) verdict = FaultQueuePair;
        if (!(object_q.kind inside {TokenFast, TokenWindow})) verdict = FaultKind;
        if (!facts_q.object_pd) verdict = FaultDomain;
        if (!facts_q.object_key) verdict = FaultTokenKey;
        if (!in_table(req_q.object_token[31:8]) || !object_valid_q) verdict = FaultTokenIndex;
      end
    endcase
  end

  // ---- steps ---------------------------------------------------------------------------------

  assign known      = loaded_q && loaded_qp_q == req_q.qp && loaded_index_q == req_q.index;
  assign page_ready = state_q == Pages && !page_busy;
  assign take_page  = page_valid && page_ready;
  assign last_page  = count_q + 16'd1 == req_q.page_count;
  assign page_we    = take_page && !page_error && !moved_q;
  assign page_index = place_q;

  always_comb begin
    state_d  = state_q;
    fault_d  = fault_q;
    count_d  = count_q;
    moved_d  = moved_q || moved;
    loaded_d = loaded_q;
    unique case (state_q)
      Idle: begin
        count_d = '0;
        moved_d = moved;
        if (req_valid) state_d = Object;
      end
      Object:  state_d = Region;
      Region:  state_d = Load;
      Load:    state_d = Compare;
      Compare: state_d = Judge;
      Judge: begin
        fault_d = verdict;
        state_d = Done;
        if (is_fast && verdict == FaultNone && req_q.page_count != '0 && !known) begin
          state_d  = Pages;
          loaded_d = 1'b0;
        end
      end
      Pages: begin
        if (take_page) begin
          count_d = count_q + 16'd1;
          if (page_error) begin
            fault_d = FaultPageList;
            state_d = Done;
          end else if (last_page) begin
            loaded_d = !moved_d;
            state_d  = Done;
          end
        end
      end
      Done: begin
        if (apply) begin
          loaded_d = 1'b0;
          state_d  = Settle;
        end
      end
      default: if (!token_busy) state_d = Idle;  // Settle
    endcase
    if (drop) state_d = Idle;
    if (written) loaded_d = 1'b0;
  end

  // ---- the change ----------------------------------------------------------------------------

  always_comb begin
    change.index           = req_q.object_token[31:8];
    change.valid           = is_fast || is_bind;
    change.attach          = is_bind;
    change.region          = req_q.region_token[31:8];
    change.entry           = object_q;
    change.entry.base         = req_q.va;
    change.entry.region_end   = end_q;
    change.entry.remote_read  = req_q.remote_read;
    change.entry.remote_write = req_q.remote_write;
    change.entry.local_write  = is_fast && req_q.local_write;
    change.entry.key          = is_fast ? req_q.object_token[7:0] : req_q.new_key;
    change.entry.window_qp    = req_q.qp;
    // bytes of a window lie where those of its region do
    change_distance = is_fast ? fast_distance_q : region_distance_q;
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    fault_q  <= fault_d;
    count_q  <= count_d;
    moved_q  <= moved_d;
    loaded_q <= loaded_d;
    facts_q  <= facts_d;
    if (state_q == Idle) req_q <= req;
    if (state_q == Object) begin
      end_q  <= {1'b0, req_q.va} + 65'(req_q.len);
      size_q <= 33'(req_q.len) + 33'(req_q.page_offset);
    end
    // answers, one clock after their addresses
    if (state_q == Region) begin
      object_q       <= token;
      object_valid_q <= token_valid;
      object_bound_q <= token_bound;
      first_page_q   <= token_first_page;
      max_pages_q    <= token_max_pages;
    end
    if (state_q == Load) begin
      region_q          <= token;
      region_valid_q    <= token_valid;
      region_distance_q <= token_distance;
    end
    if (state_q == Compare) begin
      fast_distance_q <= {first_page_q, req_q.page_offset} - place_t'(req_q.va);
      place_q         <= first_page_q;
    end
    if (take_page) place_q <= place_q + 1'b1;
    if (state_q == Pages) begin
      loaded_qp_q    <= req_q.qp;
      loaded_index_q <= req_q.index;
    end
    if (rst) begin
      state_q  <= Idle;
      loaded_q <= 1'b0;
    end
  end

  assign unused = &{1'b0, region_q, token};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_apply: assert (!apply || (done && fault_q == FaultNone && !moved_q && !drop));
      a_drop:  assert (!drop || !(state_q inside {Idle, Settle}));
    end
  end
`endif
endmodule
