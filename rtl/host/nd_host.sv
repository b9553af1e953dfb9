// Host side of the engine: registers, doorbells, DMA, events, interrupt.
//
// AXI4-Lite inputs and the R and B channels are registered at the boundary. On AXI4 the engine uses
// INCR bursts of whole beats that stay in a 4 KiB page; reads: ID 0 send-queue fetch, 1 receive-queue
// fetch, 2 gather; writes: ID 0 payload, 1 completion entries and events. The other ports are those of
// docs/src/rtl-rooms.md; `tx_data_error` marks the last beat of a frame whose payload could not be
// read: that frame must not leave as a good one.
module nd_host
  import nd_abi_pkg::*, nd_pkg::*;
#(
  // bits of a beat: 64, 128, 256 or 512
  parameter int unsigned DataWidth = 64,
  // queue pairs
  parameter int unsigned NumQp = 64,
  // completion queues
  parameter int unsigned NumCq = 64,
  // shared receive queues
  parameter int unsigned NumSrq = 16,
  // tokens
  parameter int unsigned NumToken = 256,
  // page-table entries
  parameter int unsigned NumPage = 4096,
  // reads outstanding per queue pair, either way
  parameter int unsigned MaxRead = 4,
  // beats that the gather buffer holds, a power of two
  parameter int unsigned GatherBeats = 512,
  // gather chunks under way, a power of two
  parameter int unsigned GatherOutstanding = 16,
  // payload bursts that may be unanswered, 8 to 128
  parameter int unsigned ScatterOutstanding = 64,
  // completion and event bursts that may be unanswered, a power of two
  parameter int unsigned CompleteOutstanding = 64,
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned LaneBits = $clog2(Lanes)
) (
  input  logic                 clk,
  input  logic                 rst,

  // registers
  input  logic                 s_axil_awvalid,
  output logic                 s_axil_awready,
  input  logic [11:0]          s_axil_awaddr,
  input  logic [2:0]           s_axil_awprot,
  input  logic                 s_axil_wvalid,
  output logic                 s_axil_wready,
  input  logic [31:0]          s_axil_wdata,
  input  logic [3:0]           s_axil_wstrb,
  output logic                 s_axil_bvalid,
  input  logic                 s_axil_bready,
  output logic [1:0]           s_axil_bresp,
  input  logic                 s_axil_arvalid,
  output logic                 s_axil_arready,
  input  logic [11:0]          s_axil_araddr,
  input  logic [2:0]           s_axil_arprot,
  output logic                 s_axil_rvalid,
  input  logic                 s_axil_rready,
  output logic [31:0]          s_axil_rdata,
  output logic [1:0]           s_axil_rresp,

  // host memory
  output logic                 m_axi_awvalid,
  input  logic                 m_axi_awready,
  output logic [1:0]           m_axi_awid,
  output logic [63:0]          m_axi_awaddr,
  output logic [7:0]           m_axi_awlen,
  output logic [2:0]           m_axi_awsize,
  output logic [1:0]           m_axi_awburst,
  output logic                 m_axi_awlock,
  output logic [3:0]           m_axi_awcache,
  output logic [2:0]           m_axi_awprot,
  output logic [3:0]           m_axi_awqos,
  output logic                 m_axi_wvalid,
  input  logic                 m_axi_wready,
  output logic [DataWidth-1:0] m_axi_wdata,
  output logic [Lanes-1:0]     m_axi_wstrb,
  output logic                 m_axi_wlast,
  input  logic                 m_axi_bvalid,
  output logic                 m_axi_bready,
  input  logic [1:0]           m_axi_bid,
  input  logic [1:0]           m_axi_bresp,
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  output logic [1:0]           m_axi_arid,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  output logic [2:0]           m_axi_arsize,
  output logic [1:0]           m_axi_arburst,
  output logic                 m_axi_arlock,
  output logic [3:0]           m_axi_arcache,
  output logic [2:0]           m_axi_arprot,
  output logic [3:0]           m_axi_arqos,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready,
  input  logic [1:0]           m_axi_rid,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic [1:0]           m_axi_rresp,
  input  logic                 m_axi_rlast,

  output logic                 irq,

  // a bus error happened, until reset
  output logic                 gather_error,
  output logic                 write_error,

  // own addresses
  output port_t                port,

  // clocks of the timers
  output timing_t              timing,
  output logic [15:0]          moderation_unit,
  input  logic [15:0]          cq_switch,

  // doorbells
  output logic                 sq_db_valid,
  input  logic                 sq_db_ready,
  output doorbell_t            sq_db,
  output logic                 rq_db_valid,
  input  logic                 rq_db_ready,
  output doorbell_t            rq_db,
  output logic                 cq_db_valid,
  input  logic                 cq_db_ready,
  output doorbell_t            cq_db,
  output logic                 srq_db_valid,
  input  logic                 srq_db_ready,
  output doorbell_t            srq_db,

  // table window
  output logic                 ctx_wr_valid,
  input  logic                 ctx_wr_ready,
  output ctx_write_t           ctx_wr,
  input  logic                 ctx_busy,
  output qp_t                  qp_query,
  input  qp_state_e            qp_query_state,

  // queue entries
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

  // payload of what is sent
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
  output logic [7:0]           gathers_done,  // frames read

  // payload of what is received
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
  output logic [9:0]           placed_begun,  // bursts of the chunks taken
  output logic [9:0]           placed_done,   // of those, answered

  // completion entries and events
  input  logic                 cpl_valid,
  output logic                 cpl_ready,
  input  cpl_write_t           cpl,

  // counters
  input  logic                 commit_valid,
  input  commit_t              commit,
  input  logic                 rx_event,
  input  logic [4:0]           rx_cause,
  input  logic [15:0]          rx_octets,
  input  logic                 tx_event,
  input  logic [15:0]          tx_octets
);
  if (DataWidth < 64 || DataWidth > 512 || (DataWidth & (DataWidth - 1)) != 0) begin : g_check
    $error("%m: DataWidth must be 64, 128, 256 or 512");
  end

  addr_t      eq_base;
  logic [4:0] eq_log;
  idx_t       eq_ci;
  logic       unused;

  nd_host_regs #(
    .NumQp(NumQp), .NumCq(NumCq), .NumSrq(NumSrq), .NumToken(NumToken), .NumPage(NumPage),
    .MaxRead(MaxRead)
  ) u_regs (
    .clk, .rst,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot,
    .s_axil_wvalid, .s_axil_wready, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .port, .timing, .moderation_unit, .cq_switch, .eq_base, .eq_log, .eq_ci, .irq,
    .sq_db_valid, .sq_db_ready, .sq_db, .rq_db_valid, .rq_db_ready, .rq_db,
    .cq_db_valid, .cq_db_ready, .cq_db, .srq_db_valid, .srq_db_ready, .srq_db,
    .ctx_wr_valid, .ctx_wr_ready, .ctx_wr, .ctx_busy, .qp_query, .qp_query_state,
    .commit_valid, .commit, .rx_event, .rx_cause, .rx_octets, .tx_event, .tx_octets
  );

  nd_dma_read #(
    .DataWidth(DataWidth), .GatherBeats(GatherBeats), .GatherOutstanding(GatherOutstanding)
  ) u_read (
    .clk, .rst,
    .sq_fetch_valid, .sq_fetch_ready, .sq_fetch, .sq_fetch_rsp_valid, .sq_fetch_rsp,
    .rq_fetch_valid, .rq_fetch_ready, .rq_fetch, .rq_fetch_rsp_valid, .rq_fetch_rsp,
    .chunk_valid, .chunk_ready, .chunk, .chunk_last,
    .tx_data_valid, .tx_data_ready, .tx_data, .tx_data_bytes, .tx_data_last, .tx_data_error,
    .gathers_done, .gather_error,
    .m_axi_arid, .m_axi_araddr, .m_axi_arlen, .m_axi_arvalid, .m_axi_arready,
    .m_axi_rid, .m_axi_rdata, .m_axi_rresp, .m_axi_rvalid, .m_axi_rready
  );

  nd_dma_write #(
    .DataWidth(DataWidth), .ScatterOutstanding(ScatterOutstanding),
    .CompleteOutstanding(CompleteOutstanding)
  ) u_write (
    .clk, .rst, .eq_base, .eq_log, .eq_ci, .irq,
    .scatter_valid, .scatter_ready, .scatter,
    .rx_data_valid, .rx_data_ready, .rx_data, .rx_data_last,
    .post_valid, .post_ready, .post, .placed_begun, .placed_done,
    .cpl_valid, .cpl_ready, .cpl, .write_error,
    .m_axi_awid, .m_axi_awaddr, .m_axi_awlen, .m_axi_awvalid, .m_axi_awready,
    .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast, .m_axi_wvalid, .m_axi_wready,
    .m_axi_bid, .m_axi_bresp, .m_axi_bvalid, .m_axi_bready
  );

  // Whole beats, incrementing; normal memory, not cached; data, secure, unprivileged.
  assign m_axi_awsize  = 3'(LaneBits);
  assign m_axi_awburst = 2'b01;
  assign m_axi_awlock  = 1'b0;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_awprot  = 3'b000;
  assign m_axi_awqos   = 4'b0000;
  assign m_axi_arsize  = 3'(LaneBits);
  assign m_axi_arburst = 2'b01;
  assign m_axi_arlock  = 1'b0;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_arprot  = 3'b000;
  assign m_axi_arqos   = 4'b0000;

  // Beats are counted.
  assign unused = m_axi_rlast;
endmodule
