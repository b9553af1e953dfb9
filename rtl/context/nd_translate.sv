// Checks of a use of memory, and its translation into chunks of host memory. Holds the page table.
//
// Three clients, round robin, at most one request taken every other clock; the answers of a client
// come in the order of its requests, the first one five clocks after the request was taken. An
// answer is one or two chunks (4096 bytes touch two pages at most), or a single one for a fault, a
// mere check and UseInvalidate. The order of the checks is that of `docs/src/semantics.md`.
//
//   clock   0          1            2               3            4          5
//           taken,     token word,  compares,       page word,   into the   answer
//           token      va + len     page address    fault        queue
//
// Pages are aligned: the low 12 bits of a page address are ignored. A page index past the table
// wraps. A range that ends at 2^64 wraps and is refused. `page_we` takes effect for lookups of the
// next clock.
module nd_translate
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
  // of the number of a byte in all pages of the table
  localparam int unsigned PlaceBits = 12 + PageBits
) (
  input  logic                 clk,
  input  logic                 rst,

  // tokens, one clock later
  output logic [TokenBits-1:0] lookup,
  input  token_t               token,
  input  logic [PlaceBits-1:0] distance,
  input  logic                 valid,
  input  logic                 bound,

  input  logic                 page_we,
  input  logic [PageBits-1:0]  page_index,
  input  logic [51:0]          page_entry,   // address / 4096

  input  logic           [2:0] tr_req_valid,
  output logic           [2:0] tr_req_ready,
  input  translate_req_t [2:0] tr_req,
  output logic           [2:0] tr_rsp_valid,
  input  logic           [2:0] tr_rsp_ready,
  output translate_rsp_t [2:0] tr_rsp
);
  if (NumPage < 2 || (NumPage & (NumPage - 1)) != 0) begin : g_check_page
    $error("%m: NumPage must be a power of two, at least 2");
  end

  typedef logic [PlaceBits-1:0] place_t;
  typedef logic [TokenBits-1:0] index_t;

  function automatic logic in_table(logic [23:0] index);
    return index < 24'(NumToken);
  endfunction

  logic [51:0] page;
  logic [PageBits-1:0] page_lookup;

  nd_ram #(.T(logic [51:0]), .Depth(NumPage)) u_page (
    .clk, .we(page_we), .waddr(page_index), .wdata(page_entry), .raddr(page_lookup), .rdata(page)
  );

  // ---- clock 0: choice of a client -----------------------------------------------------------

  typedef logic [2:0] count_t;
  logic [2:0]       can, gnt;
  logic [1:0]       unused_gnt_idx;
  count_t [2:0]     held;       // answers in the client's queue
  logic [2:0][1:0]  pending_q, pending_d;  // requests on their way
  translate_req_t   req;
  logic             odd_q;      // a request was taken in the last clock

  assign req          = (gnt[0] ? tr_req[0] : '0) | (gnt[1] ? tr_req[1] : '0)
                        | (gnt[2] ? tr_req[2] : '0);
  assign tr_req_ready = gnt;
  assign lookup       = index_t'(req.token[31:8]);

  // A client's queue takes two answers of each request on its way.
  always_comb begin
    for (int unsigned i = 0; i < 3; i++) begin
      can[i] = tr_req_valid[i] && !odd_q && held[i] + {pending_q[i], 1'b0} <= count_t'(2);
    end
  end

  nd_rr_arb #(.N(3)) u_arb (
    .clk, .rst, .req(can), .advance(1'b1), .gnt, .gnt_idx(unused_gnt_idx)
  );

  // ---- clocks 1 to 4 -------------------------------------------------------------------------

  translate_req_t req1_q, req2_q;
  logic [2:0]     client1_q, client2_q, client3_q, client4_q;  // one-hot
  token_t         token2_q;
  place_t         distance2_q;
  logic           valid2_q, bound2_q;
  logic           foreign2, foreign3_q, foreign3_d;  // a window of another queue pair
  logic [64:0]    end2_q;
  place_t         place2, place3_q, place3_d;
  fault_e         fault2, fault3_q, fault3_d;
  logic           bounds2, bounds3_q, bounds3_d;
  logic           single3_q, single3_d;
  logic           privileged3_q, privileged3_d;
  addr_t          va3_q, va3_d;
  len_t           len3_q, len3_d;
  logic           second3_q, second3_d;  // second chunk of the request before
  logic           first2;
  logic           cross3;
  len_t           room3;                 // bytes up to the end of the page
  logic [11:0]    offset3;
  logic [2:0]     client3_d;
  translate_rsp_t rsp4_q, rsp4_d;
  logic           last4;
  addr_t          addr4_q, addr4_d;
  logic           page4_q, page4_d;

  // Checks in their order; bounds, and the queue pair of a window, come from the compares. That one
  // is between kind and right, and right is the only other fault of a window that passed the domain.
  always_comb begin
    fault2  = FaultNone;
    bounds2 = 1'b0;
    if (!in_table(req2_q.token[31:8]) || !valid2_q) fault2 = FaultTokenIndex;
    else if (token2_q.key != req2_q.token[7:0]) fault2 = FaultTokenKey;
    else if (token2_q.pd != req2_q.pd) fault2 = FaultDomain;
    else begin
      unique case (req2_q.kind)
        UseLocalRead: if (token2_q.kind == TokenWindow) fault2 = FaultKind;
        UseLocalWrite: begin
          if (token2_q.kind == TokenWindow) fault2 = FaultKind;
          else if (!token2_q.local_write) fault2 = FaultRight;
        end
        UseRemoteRead: begin
          if (token2_q.kind == TokenPrivileged) fault2 = FaultKind;
          else if (!token2_q.remote_read) fault2 = FaultRight;
        end
        UseRemoteWrite: begin
          if (token2_q.kind == TokenPrivileged) fault2 = FaultKind;
          else if (!token2_q.remote_write) fault2 = FaultRight;
        end
        default: begin
          if (!(token2_q.kind inside {TokenFast, TokenWindow})) fault2 = FaultKind;
          else if (token2_q.kind == TokenFast) begin
            if (!token2_q.remote_read && !token2_q.remote_write) fault2 = FaultRight;
            else if (bound2_q) fault2 = FaultState;
          end
        end
      endcase
    end
    if (req2_q.kind != UseInvalidate) begin
      bounds2 = end2_q[64] || (token2_q.kind != TokenPrivileged
                               && (req2_q.va < token2_q.base || end2_q > token2_q.region_end));
    end
    foreign2 = token2_q.kind == TokenWindow && token2_q.window_qp != req2_q.qp
               && !(req2_q.kind inside {UseLocalRead, UseLocalWrite});
    place2   = place_t'(req2_q.va) + distance2_q;
  end

  // The second chunk follows the first one clock later through the same stages.
  assign first2      = |client2_q;
  assign page_lookup = first2 ? place2[PlaceBits-1:12] : place3_d[PlaceBits-1:12];
  assign offset3     = privileged3_q ? va3_q[11:0] : place3_q[11:0];
  assign room3       = 13'h1000 - {1'b0, offset3};
  assign cross3      = len3_q > room3;

  always_comb begin
    client3_d     = client2_q;
    fault3_d      = fault2;
    foreign3_d    = foreign2;
    bounds3_d     = bounds2;
    single3_d     = req2_q.check_only || req2_q.kind == UseInvalidate;
    privileged3_d = token2_q.kind == TokenPrivileged;
    place3_d      = place2;
    va3_d         = req2_q.va;
    len3_d        = len_t'(req2_q.len);
    second3_d     = 1'b0;
    last4         = single3_q || fault3_q != FaultNone || foreign3_q || bounds3_q || !cross3;
    if (!first2) begin
      client3_d     = last4 ? '0 : client3_q;
      fault3_d      = fault3_q;
      foreign3_d    = foreign3_q;
      bounds3_d     = bounds3_q;
      single3_d     = single3_q;
      privileged3_d = privileged3_q;
      place3_d      = {place3_q[PlaceBits-1:12] + 1'b1, 12'd0};
      va3_d         = {va3_q[63:12] + 1'b1, 12'd0};
      len3_d        = len3_q - room3;
      second3_d     = 1'b1;
    end
  end

  always_comb begin
    rsp4_d           = '0;
    rsp4_d.last      = last4;
    rsp4_d.fault     = fault3_q;
    if (fault3_q inside {FaultNone, FaultRight} && foreign3_q) rsp4_d.fault = FaultQueuePair;
    else if (fault3_q == FaultNone && bounds3_q) rsp4_d.fault = FaultBounds;
    rsp4_d.chunk.len = cross3 ? room3 : len3_q;
    addr4_d          = privileged3_q ? va3_q : {page, offset3};
    page4_d          = rsp4_d.fault == FaultNone && !single3_q;
    if (!page4_d) rsp4_d.chunk.len = '0;
  end

  always_ff @(posedge clk) begin
    odd_q         <= |gnt;
    client1_q     <= gnt;
    req1_q        <= req;
    client2_q     <= client1_q;
    req2_q        <= req1_q;
    token2_q      <= token;
    distance2_q   <= distance;
    valid2_q      <= valid;
    bound2_q      <= bound;
    end2_q        <= {1'b0, req1_q.va} + 65'(req1_q.len);
    client3_q     <= client3_d;
    fault3_q      <= fault3_d;
    foreign3_q    <= foreign3_d;
    bounds3_q     <= bounds3_d;
    single3_q     <= single3_d;
    privileged3_q <= privileged3_d;
    place3_q      <= place3_d;
    va3_q         <= va3_d;
    len3_q        <= len3_d;
    second3_q     <= second3_d;
    client4_q     <= client3_q;
    rsp4_q        <= rsp4_d;
    addr4_q       <= addr4_d;
    page4_q       <= page4_d;
    if (rst) begin
      odd_q     <= 1'b0;
      client1_q <= '0;
      client2_q <= '0;
      client3_q <= '0;
      client4_q <= '0;
    end
  end

  // ---- clock 4: into the clients' queues -----------------------------------------------------

  translate_rsp_t rsp4;

  always_comb begin
    rsp4 = rsp4_q;
    if (page4_q) rsp4.chunk.addr = addr4_q;
    for (int unsigned i = 0; i < 3; i++) begin
      pending_d[i] = pending_q[i] + 2'(gnt[i]) - 2'(client4_q[i] && rsp4.last);
    end
  end

  always_ff @(posedge clk) begin
    pending_q <= pending_d;
    if (rst) pending_q <= '0;
  end

  logic [2:0] push_ready;

  for (genvar i = 0; i < 3; i++) begin : g_client
    nd_fifo #(.T(translate_rsp_t), .Depth(4)) u_rsp (
      .clk, .rst, .in_valid(client4_q[i]), .in_ready(push_ready[i]), .in_data(rsp4),
      .out_valid(tr_rsp_valid[i]), .out_ready(tr_rsp_ready[i]), .out_data(tr_rsp[i]),
      .count(held[i])
    );
  end

  logic unused;
  assign unused = &{1'b0, second3_q, push_ready, req1_q, req2_q};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_room:  assert ((client4_q & ~push_ready) == '0);
      a_place: assert (!(first2 && |client3_q && !last4));
      for (int unsigned i = 0; i < 3; i++) begin
        a_len: assert (!(client2_q[i]) || req2_q.kind == UseInvalidate || req2_q.len != 0);
        a_max: assert (!(client2_q[i]) || req2_q.kind == UseInvalidate || req2_q.check_only
                       || req2_q.len <= 32'd4096);
      end
    end
  end
`endif
endmodule
