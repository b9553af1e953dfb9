// Fetches the page list of a FastRegister, and shares the fetch port with the entries.
//
// From `start` on the list at `addr` is read in units of 64 bytes, a few ahead, and its addresses
// come out in order, one a clock, `page_error` with all those of a unit that the bus answered with an
// error; there is no end but `stop`. After `stop` the units under way come and go; `idle` then allows
// the next `start`. Tags with bit 8 are the list's; its units wait for entries that want to be
// fetched.
module nd_send_list
  import nd_pkg::*;
#(
  // units ahead, a power of two
  parameter int unsigned Units = 4
) (
  input  logic        clk,
  input  logic        rst,

  input  logic        start,
  input  addr_t       addr,         // aligned to 64 bytes
  input  logic [15:0] count,        // pages, not 0
  input  logic        stop,
  output logic        idle,
  output logic        page_valid,
  input  logic        page_ready,
  output logic [51:0] page,         // address / 4096
  output logic        page_error,

  input  logic        entry_valid,
  output logic        entry_ready,
  input  fetch_req_t  entry,

  output logic        fetch_valid,
  input  logic        fetch_ready,
  output fetch_req_t  fetch,
  input  logic        fetch_rsp_valid,
  input  fetch_rsp_t  fetch_rsp
);
  typedef logic [$clog2(Units):0] count_t;

  typedef struct packed {
    logic         error;
    logic [511:0] data;
  } unit_t;

  logic        running_q, running_d;
  addr_t       addr_q, addr_d;      // of the next unit
  logic [13:0] left_q, left_d;      // units to ask for
  logic        offer_q, offer_d;    // a unit is offered, and holds
  count_t      flying_q, flying_d;  // units asked for and not yet done
  logic [2:0]  word_q, word_d;
  logic        issue, take, last_word, unit_valid, pop, push, unused_ready, unused;
  count_t      unused_count;
  unit_t       unit;
  logic [63:0] word;

  assign idle = !running_q && flying_q == '0 && !offer_q;

  // ---- the port ------------------------------------------------------------------------------

  assign fetch_valid = entry_valid || offer_q;
  assign entry_ready = fetch_ready && !offer_q;
  assign issue       = offer_q && fetch_ready;

  always_comb begin
    fetch = entry;
    if (offer_q) fetch = '{addr: addr_q, unit_count: 3'd1, tag: 9'h100};
  end

  // ---- units ---------------------------------------------------------------------------------

  assign push = fetch_rsp_valid && fetch_rsp.tag[8];

  nd_fifo #(.T(unit_t), .Depth(Units)) u_units (
    .clk, .rst, .in_valid(push), .in_ready(unused_ready),
    .in_data('{error: fetch_rsp.error, data: fetch_rsp.data}),
    .out_valid(unit_valid), .out_ready(pop), .out_data(unit), .count(unused_count)
  );

  assign page_valid = running_q && unit_valid;
  assign word       = unit.data[{word_q, 6'd0} +: 64];
  assign page       = word[63:12];
  assign page_error = unit.error;
  assign take       = page_valid && page_ready;
  assign last_word  = word_q == '1;
  assign pop        = unit_valid && (!running_q || (take && last_word));

  always_comb begin
    running_d = (running_q || start) && !stop;
    addr_d    = addr_q;
    left_d    = left_q;
    word_d    = take ? word_q + 3'd1 : word_q;
    // Never taken back once offered; begun only while no entry is offered.
    offer_d   = (offer_q && !fetch_ready)
                || (running_q && !stop && !offer_q && !entry_valid && left_q != '0
                    && flying_q < count_t'(Units));
    flying_d  = flying_q + count_t'(issue) - count_t'(pop);
    if (issue) begin
      addr_d = addr_q + 64'd64;
      left_d = left_q - 14'd1;
    end
    if (start) begin
      addr_d = {addr[63:6], 6'd0};
      left_d = 14'((17'(count) + 17'd7) >> 3);
      word_d = '0;
    end
  end

  always_ff @(posedge clk) begin
    running_q <= running_d;
    addr_q    <= addr_d;
    left_q    <= left_d;
    offer_q   <= offer_d;
    flying_q  <= flying_d;
    word_q    <= word_d;
    if (rst) begin
      running_q <= 1'b0;
      offer_q   <= 1'b0;
      flying_q  <= '0;
    end
  end

  assign unused = &{1'b0, fetch_rsp, word[11:0], addr[5:0], unused_ready, unused_count};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_start: assert (!start || idle);
      a_room:  assert (!push || unused_ready);
      a_asked: assert (!push || flying_q != '0);
    end
  end
`endif
endmodule
