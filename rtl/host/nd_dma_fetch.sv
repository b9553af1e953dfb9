// Fetch of queue entries: one client of the DMA reader.
//
// A request becomes one burst; it is taken into a register, one every other clock. Its beats are joined into 64-byte units, each handed out in one clock,
// the one after its last beat. `error` is set from the unit of a bus error to the end of the request.
module nd_dma_fetch
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // requests under way, a power of two
  parameter int unsigned Outstanding = 8
) (
  input  logic                 clk,
  input  logic                 rst,

  input  logic                 req_valid,
  output logic                 req_ready,
  input  fetch_req_t           req,
  output logic                 rsp_valid,
  output fetch_rsp_t           rsp,

  output logic                 burst_valid,
  input  logic                 burst_ready,
  output addr_t                burst_addr,
  output logic [7:0]           burst_len,

  input  logic                 beat_valid,
  input  logic                 beat_error,
  input  logic [DataWidth-1:0] beat_data
);
  if (Outstanding < 2) begin : g_check
    $error("%m: Outstanding must be at least 2");
  end

  localparam int unsigned UnitBeats = 512 / DataWidth;

  typedef struct packed {
    logic [8:0] tag;
    logic [1:0] last_unit;
  } meta_t;

  meta_t meta_in, meta;
  logic  meta_ready, meta_valid, meta_pop;
  logic  unused;

  logic       req_valid_q, req_valid_d;
  fetch_req_t req_q, req_d;
  logic [3:0] beat_q, beat_d;    // beats of the unit so far
  logic [1:0] unit_q, unit_d;
  logic       error_q, error_d;  // an earlier beat of the request failed
  logic       rsp_valid_q, rsp_valid_d;
  fetch_rsp_t rsp_q, rsp_d;

  assign req_ready   = !req_valid_q;
  assign burst_valid = req_valid_q && meta_ready;
  assign burst_addr  = req_q.addr;
  assign burst_len   = 8'(8'(req_q.unit_count) << $clog2(UnitBeats)) - 8'd1;
  assign meta_in     = '{tag: req_q.tag, last_unit: 2'(req_q.unit_count - 3'd1)};
  assign rsp_valid   = rsp_valid_q;
  assign rsp         = rsp_q;

  logic [$clog2(Outstanding):0] meta_count;
  assign unused = ^meta_count ^ meta_valid;

  nd_fifo #(.T(meta_t), .Depth(Outstanding)) u_meta (
    .clk, .rst,
    .in_valid(burst_valid && burst_ready), .in_ready(meta_ready), .in_data(meta_in),
    .out_valid(meta_valid), .out_ready(meta_pop), .out_data(meta), .count(meta_count)
  );

  always_comb begin
    req_valid_d = req_valid_q && !(burst_valid && burst_ready);
    req_d       = req_q;
    if (!req_valid_q) begin
      req_valid_d = req_valid;
      req_d       = req;
    end
  end

  always_comb begin
    beat_d      = beat_q;
    unit_d      = unit_q;
    error_d     = error_q;
    rsp_valid_d = 1'b0;
    rsp_d       = rsp_q;
    meta_pop    = 1'b0;
    if (beat_valid) begin
      rsp_d.data = 512'({beat_data, rsp_q.data} >> DataWidth);
      error_d    = error_q || beat_error;
      beat_d     = beat_q + 4'd1;
      if (beat_q == 4'(UnitBeats - 1)) begin
        beat_d      = '0;
        unit_d      = unit_q + 2'd1;
        rsp_valid_d = 1'b1;
        rsp_d.tag   = meta.tag;
        rsp_d.unit  = unit_q;
        rsp_d.last  = unit_q == meta.last_unit;
        rsp_d.error = error_d;
        if (rsp_d.last) begin
          meta_pop = 1'b1;
          unit_d   = '0;
          error_d  = 1'b0;
        end
      end
    end
  end

  always_ff @(posedge clk) begin
    req_valid_q <= req_valid_d;
    req_q       <= req_d;
    beat_q      <= beat_d;
    unit_q      <= unit_d;
    error_q     <= error_d;
    rsp_valid_q <= rsp_valid_d;
    rsp_q       <= rsp_d;
    if (rst) begin
      req_valid_q <= 1'b0;
      beat_q      <= '0;
      unit_q      <= '0;
      error_q     <= 1'b0;
      rsp_valid_q <= 1'b0;
    end
  end
endmodule
