// Memory tokens: what uses and local requests look up, and the changes, one at a time.
//
// A change is a table write, an invalidation (if index and key match, and it is no region with
// windows) or what a local request does. It is known from the granted clock of its action on; the
// token changes three clocks later, and the number of windows of a region that gets or loses one three
// clocks after that. `changed` is high in these clocks, so that what was looked up in between has the
// epoch against it. `busy` is high from the clock after the grant until all is done: a table write,
// which no epoch holds back, waits for it. `write_*` and `apply*` hold from the granted clock until
// then. A local request's object and region lie in the table.
//
// The token word holds the region's end, and the distance of its bytes to their places in the page
// table, instead of length, offset and first page. Look-ups are answered one clock later.
module nd_tokens
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

  // changes, in granted clocks
  input  logic                 write_valid,
  input  logic [TokenBits-1:0] write_index,
  input  token_context_t       write_entry,
  input  logic                 invalidate_valid,
  input  logic [31:0]          invalidate_token,
  input  logic                 apply_valid,
  input  change_t              apply,
  input  logic [PlaceBits-1:0] apply_distance,
  output logic                 busy,
  output logic                 changed,

  // a use; `bound`: a region with windows
  input  logic [TokenBits-1:0] use_index,
  output token_t               use_token,
  output logic [PlaceBits-1:0] use_distance,
  output logic                 use_valid,
  output logic                 use_bound,

  // a local request
  input  logic [TokenBits-1:0] local_index,
  output token_t               local_token,
  output logic [PlaceBits-1:0] local_distance,
  output logic                 local_valid,
  output logic                 local_bound,
  output logic [PageBits-1:0]  local_first_page,
  output logic [15:0]          local_max_pages
);
  if (NumToken < 2 || (NumToken & (NumToken - 1)) != 0) begin : g_check_token
    $error("%m: NumToken must be a power of two, at least 2");
  end

  typedef logic [TokenBits-1:0] index_t;
  typedef logic [PlaceBits-1:0] place_t;

  // What a change has to know of the token that it meets.
  typedef struct packed {
    logic [7:0] key;
    logic       is_window;
    logic       has_region;  // the window's region lies in the table
    index_t     region;
  } link_t;

  typedef struct packed {
    logic [PageBits-1:0] first;
    logic [15:0]         max;
  } pages_t;

  typedef enum logic [2:0] {
    Idle,
    Look,   // the token that changes is looked up
    Load,
    Write,  // it changes
    Count,  // the windows of a region are looked up
    Add,
    Adjust  // one more, or one less
  } state_e;

  typedef enum logic [1:0] {
    Table,
    Invalidate,
    Apply
  } what_e;

  function automatic logic in_table(logic [23:0] index);
    return index < 24'(NumToken);
  endfunction

  state_e state_q, state_d;
  what_e  what_q, what_d;
  index_t index_q, index_d, region_q, region_d, count_index;
  logic   inside_q, inside_d;      // the token invalidated lies in the table
  logic [7:0] key_q, key_d;
  link_t  link, link_q, link_wdata;
  logic   valid, valid_q;          // the token that changes was valid
  logic   bound, bound_q;          // it is a region with windows
  token_t written_q, entry;
  place_t written_distance_q, entry_distance;
  logic   hit, entry_we, valid_we, valid_bit, attach, detach, count_we, pages_we;
  logic [15:0] count, count_q, count_wdata;
  pages_t pages;
  logic   unused;

  assign busy    = state_q != Idle;
  assign changed = state_q inside {Write, Adjust};

  // ---- the change ----------------------------------------------------------------------------

  assign hit       = what_q != Invalidate || (inside_q && link_q.key == key_q && !bound_q);
  assign valid_we  = state_q == Write && hit;
  assign valid_bit = what_q == Table ? write_entry.valid : what_q == Apply && apply.valid;
  assign entry_we  = state_q == Write && (what_q == Table || (what_q == Apply && apply.valid));
  assign pages_we  = state_q == Write && what_q == Table;
  assign attach    = what_q == Apply && apply.attach;
  assign detach    = hit && valid_q && link_q.is_window && link_q.has_region;

  always_comb begin
    state_d  = state_q;
    what_d   = what_q;
    index_d  = index_q;
    inside_d = inside_q;
    key_d    = key_q;
    region_d = region_q;
    unique case (state_q)
      Idle: begin
        inside_d = in_table(invalidate_token[31:8]);
        key_d    = invalidate_token[7:0];
        if (write_valid) begin
          what_d  = Table;
          index_d = write_index;
        end else if (invalidate_valid) begin
          what_d  = Invalidate;
          index_d = index_t'(invalidate_token[31:8]);
        end else begin
          what_d  = Apply;
          index_d = index_t'(apply.index);
        end
        if (write_valid || invalidate_valid || apply_valid) state_d = Look;
      end
      Look:  state_d = Load;
      Load:  state_d = Write;
      Write: begin
        region_d = attach ? index_t'(apply.region) : link_q.region;
        state_d  = attach || detach ? Count : Idle;
      end
      Count:   state_d = Add;
      Add:     state_d = Adjust;
      default: state_d = Idle;  // Adjust
    endcase
  end

  always_comb begin
    entry                 = apply.entry;
    entry_distance        = apply_distance;
    link_wdata.key        = apply.entry.key;
    link_wdata.is_window  = apply.entry.kind == TokenWindow;
    link_wdata.has_region = apply.attach;
    link_wdata.region     = index_t'(apply.region);
    if (what_q == Table) begin
      entry                 = written_q;
      entry_distance        = written_distance_q;
      link_wdata.key        = written_q.key;
      link_wdata.is_window  = written_q.kind == TokenWindow;
      link_wdata.has_region = in_table(write_entry.parent);
      link_wdata.region     = index_t'(write_entry.parent);
    end
  end

  // Windows of a region; those of a new entry are none.
  assign count_we    = pages_we || state_q == Adjust;
  assign count_index = pages_we ? index_q : region_q;

  always_comb begin
    count_wdata = '0;
    if (!pages_we) begin
      if (attach) count_wdata = count_q + 16'd1;
      else if (count_q != '0) count_wdata = count_q - 16'd1;
    end
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    what_q   <= what_d;
    index_q  <= index_d;
    inside_q <= inside_d;
    key_q    <= key_d;
    region_q <= region_d;
    count_q  <= count;
    if (state_q == Load) begin
      link_q  <= link;
      valid_q <= valid;
      bound_q <= bound;
    end
    written_q <= '{
      region_end: {1'b0, write_entry.base_address} + {1'b0, write_entry.length},
      base: write_entry.base_address, key: write_entry.key, pd: write_entry.pd,
      kind: token_kind_e'(write_entry.kind), remote_write: write_entry.remote_write,
      remote_read: write_entry.remote_read, local_write: write_entry.local_write,
      window_qp: write_entry.window_qp
    };
    written_distance_q <= place_t'({write_entry.first_page, write_entry.page_offset})
                          - place_t'(write_entry.base_address);
    if (rst) state_q <= Idle;
  end

  // ---- memories ------------------------------------------------------------------------------

  nd_ram #(.T(token_t), .Depth(NumToken)) u_use_token (
    .clk, .we(entry_we), .waddr(index_q), .wdata(entry), .raddr(use_index), .rdata(use_token)
  );
  nd_ram #(.T(place_t), .Depth(NumToken)) u_use_distance (
    .clk, .we(entry_we), .waddr(index_q), .wdata(entry_distance), .raddr(use_index),
    .rdata(use_distance)
  );
  nd_ram #(.T(logic), .Depth(NumToken)) u_use_valid (
    .clk, .we(valid_we), .waddr(index_q), .wdata(valid_bit), .raddr(use_index), .rdata(use_valid)
  );
  nd_ram #(.T(logic), .Depth(NumToken)) u_use_bound (
    .clk, .we(count_we), .waddr(count_index), .wdata(count_wdata != '0), .raddr(use_index),
    .rdata(use_bound)
  );

  nd_ram #(.T(token_t), .Depth(NumToken)) u_local_token (
    .clk, .we(entry_we), .waddr(index_q), .wdata(entry), .raddr(local_index), .rdata(local_token)
  );
  nd_ram #(.T(place_t), .Depth(NumToken)) u_local_distance (
    .clk, .we(entry_we), .waddr(index_q), .wdata(entry_distance), .raddr(local_index),
    .rdata(local_distance)
  );
  nd_ram #(.T(logic), .Depth(NumToken)) u_local_valid (
    .clk, .we(valid_we), .waddr(index_q), .wdata(valid_bit), .raddr(local_index),
    .rdata(local_valid)
  );
  nd_ram #(.T(logic), .Depth(NumToken)) u_local_bound (
    .clk, .we(count_we), .waddr(count_index), .wdata(count_wdata != '0), .raddr(local_index),
    .rdata(local_bound)
  );
  // Pages that are reserved for a region to be registered.
  nd_ram #(.T(pages_t), .Depth(NumToken)) u_local_pages (
    .clk, .we(pages_we), .waddr(index_q),
    .wdata('{first: write_entry.first_page[PageBits-1:0], max: write_entry.max_pages}),
    .raddr(local_index), .rdata(pages)
  );
  assign local_first_page = pages.first;
  assign local_max_pages  = pages.max;

  nd_ram #(.T(link_t), .Depth(NumToken)) u_link (
    .clk, .we(entry_we), .waddr(index_q), .wdata(link_wdata), .raddr(index_q), .rdata(link)
  );
  nd_ram #(.T(logic), .Depth(NumToken)) u_valid (
    .clk, .we(valid_we), .waddr(index_q), .wdata(valid_bit), .raddr(index_q), .rdata(valid)
  );
  nd_ram #(.T(logic), .Depth(NumToken)) u_bound (
    .clk, .we(count_we), .waddr(count_index), .wdata(count_wdata != '0), .raddr(index_q),
    .rdata(bound)
  );
  nd_ram #(.T(logic [15:0]), .Depth(NumToken)) u_count (
    .clk, .we(count_we), .waddr(count_index), .wdata(count_wdata), .raddr(region_q), .rdata(count)
  );

  assign unused = &{1'b0, write_entry, apply};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_alone: assert ($onehot0({busy, write_valid, invalidate_valid, apply_valid}));
      a_apply: assert (!apply_valid || in_table(apply.index));
    end
  end
`endif
endmodule
