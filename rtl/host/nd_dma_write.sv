// DMA writer: AXI4 write master of the engine.
//
// ID 0: scatter, 1: completion entries and events. Clients take turns on AW; data follow in the order of
// the bursts, one beat a clock. Answers are always taken. `write_error` stays set after an error answer,
// which counts as an answer all the same.
module nd_dma_write
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // bursts of scatter that may be unanswered, 8 to 128
  parameter int unsigned ScatterOutstanding = 64,
  // bursts of completion that may be unanswered, a power of two
  parameter int unsigned CompleteOutstanding = 64,
  localparam int unsigned Lanes = DataWidth / 8
) (
  input  logic                 clk,
  input  logic                 rst,

  input  addr_t                eq_base,
  input  logic [4:0]           eq_log,
  input  idx_t                 eq_ci,
  output logic                 irq,

  input  logic                 scatter_valid,
  output logic                 scatter_ready,
  input  scatter_t             scatter,
  input  logic                 rx_data_valid,
  output logic                 rx_data_ready,
  input  logic [DataWidth-1:0] rx_data,
  input  logic                 rx_data_last,
  output logic                 post_valid,
  input  logic                 post_ready,
  output post_t                post,
  output logic [9:0]           placed_begun,
  output logic [9:0]           placed_done,

  input  logic                 cpl_valid,
  output logic                 cpl_ready,
  input  cpl_write_t           cpl,

  output logic                 write_error,

  output logic [1:0]           m_axi_awid,
  output logic [63:0]          m_axi_awaddr,
  output logic [7:0]           m_axi_awlen,
  output logic                 m_axi_awvalid,
  input  logic                 m_axi_awready,
  output logic [DataWidth-1:0] m_axi_wdata,
  output logic [Lanes-1:0]     m_axi_wstrb,
  output logic                 m_axi_wlast,
  output logic                 m_axi_wvalid,
  input  logic                 m_axi_wready,
  input  logic [1:0]           m_axi_bid,
  input  logic [1:0]           m_axi_bresp,
  input  logic                 m_axi_bvalid,
  output logic                 m_axi_bready
);
  typedef struct packed {
    logic       id;
    addr_t      addr;
    logic [7:0] len;
  } aw_t;
  typedef struct packed {
    logic                 last;
    logic [Lanes-1:0]     strb;
    logic [DataWidth-1:0] data;
  } w_t;

  logic  [1:0]      req, gnt, take;
  logic             gnt_idx;
  addr_t [1:0]      burst_addr;
  logic  [1:0][7:0] burst_len;
  logic             aw_ready, turn_room, turn, turn_valid;
  aw_t              aw_in, aw;
  w_t    [1:0]      w_client;
  logic  [1:0]      w_client_valid, w_client_ready;
  logic             w_in_valid, w_in_ready;
  w_t               w_in, w;
  logic  [4:0]      turn_count;
  logic             unused;

  // Answers, registered at the boundary.
  logic [1:0] answered_q, answered_d;
  logic       bad_q, error_q;

  nd_dma_scatter #(.DataWidth(DataWidth), .Outstanding(ScatterOutstanding)) u_scatter (
    .clk, .rst, .scatter_valid, .scatter_ready, .scatter,
    .rx_data_valid, .rx_data_ready, .rx_data, .rx_data_last,
    .post_valid, .post_ready, .post,
    .burst_valid(req[0]), .burst_ready(take[0]),
    .burst_addr(burst_addr[0]), .burst_len(burst_len[0]),
    .w_valid(w_client_valid[0]), .w_ready(w_client_ready[0]), .w_data(w_client[0].data),
    .w_strb(w_client[0].strb), .w_last(w_client[0].last), .answered(answered_q[0]),
    .placed_begun, .placed_done
  );

  nd_dma_complete #(.DataWidth(DataWidth), .Outstanding(CompleteOutstanding)) u_complete (
    .clk, .rst, .eq_base, .eq_log, .eq_ci, .irq, .cpl_valid, .cpl_ready, .cpl,
    .burst_valid(req[1]), .burst_ready(take[1]),
    .burst_addr(burst_addr[1]), .burst_len(burst_len[1]),
    .w_valid(w_client_valid[1]), .w_ready(w_client_ready[1]), .w_data(w_client[1].data),
    .w_strb(w_client[1].strb), .w_last(w_client[1].last), .answered(answered_q[1])
  );

  // ---- AW, and whose turn it is on W ---------------------------------------------------------

  assign take  = aw_ready && turn_room ? gnt : '0;
  assign aw_in = '{id: gnt_idx, addr: burst_addr[gnt_idx], len: burst_len[gnt_idx]};

  nd_rr_arb #(.N(2)) u_arb (
    .clk, .rst, .req, .advance(aw_ready && turn_room), .gnt, .gnt_idx
  );

  nd_skid #(.T(aw_t)) u_aw (
    .clk, .rst, .in_valid(|take), .in_ready(aw_ready), .in_data(aw_in),
    .out_valid(m_axi_awvalid), .out_ready(m_axi_awready), .out_data(aw)
  );

  nd_fifo #(.T(logic), .Depth(16)) u_turns (
    .clk, .rst, .in_valid(|take), .in_ready(turn_room), .in_data(gnt_idx),
    .out_valid(turn_valid), .out_ready(w_in_valid && w_in_ready && w_in.last), .out_data(turn),
    .count(turn_count)
  );

  assign m_axi_awid   = {1'b0, aw.id};
  assign m_axi_awaddr = aw.addr;
  assign m_axi_awlen  = aw.len;

  // ---- W -------------------------------------------------------------------------------------

  assign w_in           = w_client[turn];
  assign w_in_valid     = turn_valid && w_client_valid[turn];
  assign w_client_ready = {turn_valid && turn && w_in_ready, turn_valid && !turn && w_in_ready};

  nd_skid #(.T(w_t)) u_w (
    .clk, .rst, .in_valid(w_in_valid), .in_ready(w_in_ready), .in_data(w_in),
    .out_valid(m_axi_wvalid), .out_ready(m_axi_wready), .out_data(w)
  );

  assign m_axi_wdata = w.data;
  assign m_axi_wstrb = w.strb;
  assign m_axi_wlast = w.last;

  // ---- B -------------------------------------------------------------------------------------

  assign m_axi_bready = 1'b1;
  assign write_error  = error_q;
  assign unused       = ^turn_count;

  always_comb begin
    for (int unsigned i = 0; i < 2; i++) answered_d[i] = m_axi_bvalid && m_axi_bid == 2'(i);
  end

  always_ff @(posedge clk) begin
    answered_q <= answered_d;
    bad_q      <= m_axi_bresp != 2'b00;
    error_q    <= error_q || (bad_q && answered_q != '0);
    if (rst) begin
      answered_q <= '0;
      error_q    <= 1'b0;
    end
  end
endmodule
