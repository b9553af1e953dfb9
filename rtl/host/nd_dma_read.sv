// DMA reader: AXI4 read master of the engine.
//
// ID 0: send-queue fetch, 1: receive-queue fetch, 2: gather. Clients take turns on AR. Every beat that
// was asked for has its place, so RREADY is always high and beats of different IDs may come in any order.
module nd_dma_read
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // beats that the gather buffer holds, a power of two
  parameter int unsigned GatherBeats = 512,
  // gather chunks under way, a power of two
  parameter int unsigned GatherOutstanding = 16,
  // fetches under way in each queue, a power of two
  parameter int unsigned FetchOutstanding = 8,
  localparam int unsigned LaneBits = $clog2(DataWidth / 8)
) (
  input  logic                 clk,
  input  logic                 rst,

  input  logic                 sq_fetch_valid,
  output logic                 sq_fetch_ready,
  input  fetch_req_t           sq_fetch,
  output logic                 sq_fetch_rsp_valid,
  output fetch_rsp_t           sq_fetch_rsp,

  input  logic                 rq_fetch_valid,
  output logic                 rq_fetch_ready,
  input  fetch_req_t           rq_fetch,
  output logic                 rq_fetch_rsp_valid,
  output fetch_rsp_t           rq_fetch_rsp,

  input  logic                 chunk_valid,
  output logic                 chunk_ready,
  input  chunk_t               chunk,
  input  logic                 chunk_last,

  output logic                 tx_data_valid,
  input  logic                 tx_data_ready,
  output logic [DataWidth-1:0] tx_data,
  output logic [LaneBits:0]    tx_data_bytes,
  output logic                 tx_data_last,
  output logic                 tx_data_error,
  output logic [7:0]           gathers_done,
  output logic                 gather_error,

  output logic [1:0]           m_axi_arid,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  input  logic [1:0]           m_axi_rid,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic [1:0]           m_axi_rresp,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready
);
  localparam int unsigned Clients = 3;

  typedef struct packed {
    logic [1:0] id;
    addr_t      addr;
    logic [7:0] len;
  } ar_t;

  logic  [Clients-1:0]      req, gnt, take;
  logic  [1:0]              gnt_idx;
  addr_t [Clients-1:0]      burst_addr;
  logic  [Clients-1:0][7:0] burst_len;
  ar_t                      ar_in, ar;
  logic                     ar_ready;

  // The answer's registers at the boundary.
  logic [Clients-1:0]   beat_valid_q, beat_valid_d;
  logic [DataWidth-1:0] beat_data_q;
  logic                 beat_error_q;

  nd_dma_fetch #(.DataWidth(DataWidth), .Outstanding(FetchOutstanding)) u_sq (
    .clk, .rst, .req_valid(sq_fetch_valid), .req_ready(sq_fetch_ready), .req(sq_fetch),
    .rsp_valid(sq_fetch_rsp_valid), .rsp(sq_fetch_rsp),
    .burst_valid(req[0]), .burst_ready(take[0]),
    .burst_addr(burst_addr[0]), .burst_len(burst_len[0]),
    .beat_valid(beat_valid_q[0]), .beat_error(beat_error_q), .beat_data(beat_data_q)
  );

  nd_dma_fetch #(.DataWidth(DataWidth), .Outstanding(FetchOutstanding)) u_rq (
    .clk, .rst, .req_valid(rq_fetch_valid), .req_ready(rq_fetch_ready), .req(rq_fetch),
    .rsp_valid(rq_fetch_rsp_valid), .rsp(rq_fetch_rsp),
    .burst_valid(req[1]), .burst_ready(take[1]),
    .burst_addr(burst_addr[1]), .burst_len(burst_len[1]),
    .beat_valid(beat_valid_q[1]), .beat_error(beat_error_q), .beat_data(beat_data_q)
  );

  nd_dma_gather #(
    .DataWidth(DataWidth), .Beats(GatherBeats), .Outstanding(GatherOutstanding)
  ) u_gather (
    .clk, .rst, .chunk_valid, .chunk_ready, .chunk, .chunk_last,
    .burst_valid(req[2]), .burst_ready(take[2]),
    .burst_addr(burst_addr[2]), .burst_len(burst_len[2]),
    .beat_valid(beat_valid_q[2]), .beat_error(beat_error_q), .beat_data(beat_data_q),
    .tx_data_valid, .tx_data_ready, .tx_data, .tx_data_bytes, .tx_data_last, .tx_data_error,
    .frames_done(gathers_done), .error(gather_error)
  );

  // ---- AR ------------------------------------------------------------------------------------

  assign take  = ar_ready ? gnt : '0;
  assign ar_in = '{id: gnt_idx, addr: burst_addr[gnt_idx], len: burst_len[gnt_idx]};

  nd_rr_arb #(.N(Clients)) u_arb (.clk, .rst, .req, .advance(ar_ready), .gnt, .gnt_idx);

  nd_skid #(.T(ar_t)) u_ar (
    .clk, .rst, .in_valid(|req), .in_ready(ar_ready), .in_data(ar_in),
    .out_valid(m_axi_arvalid), .out_ready(m_axi_arready), .out_data(ar)
  );

  assign m_axi_arid   = ar.id;
  assign m_axi_araddr = ar.addr;
  assign m_axi_arlen  = ar.len;

  // ---- R -------------------------------------------------------------------------------------

  assign m_axi_rready = 1'b1;

  always_comb begin
    for (int unsigned i = 0; i < Clients; i++) begin
      beat_valid_d[i] = m_axi_rvalid && m_axi_rid == 2'(i);
    end
  end

  always_ff @(posedge clk) begin
    beat_valid_q <= beat_valid_d;
    beat_data_q  <= m_axi_rdata;
    beat_error_q <= m_axi_rresp != 2'b00;
    if (rst) beat_valid_q <= '0;
  end
endmodule
