// The engine: RDMA NIC with Network Direct semantics over RoCEv2.
//
// Joins the six rooms; what it does is `docs/src/semantics.md`, how the rooms meet is
// `docs/src/rtl-rooms.md`. One clock, one synchronous active-high reset. Flat ports, so that benches,
// netlists and proofs share one list. Data buses are `DataWidth` bits, the host address is 64 bits.
//
// `commit` reports each action in the clock in which it takes effect, in the order of effect, at most
// one a clock (`docs/src/commit.md`). It may be left open.
module nd_engine
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // completion queues, a power of two
  parameter int unsigned NumCq = 64,
  // memory tokens, a power of two
  parameter int unsigned NumToken = 256,
  // entries of the page table, a power of two
  parameter int unsigned NumPage = 4096,
  // reads outstanding per queue pair, either way, a power of two
  parameter int unsigned MaxRead = 4,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  // bits of a beat of memory and network
  parameter int unsigned DataWidth = 64,
  localparam int unsigned KeepWidth = DataWidth / 8
) (
  input  logic                 clk,
  input  logic                 rst,

  // registers: AXI4-Lite slave
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

  // host memory: AXI4 master
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  output logic [1:0]           m_axi_arid,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  output logic [2:0]           m_axi_arsize,
  output logic [1:0]           m_axi_arburst,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready,
  input  logic [1:0]           m_axi_rid,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic [1:0]           m_axi_rresp,
  input  logic                 m_axi_rlast,
  output logic                 m_axi_awvalid,
  input  logic                 m_axi_awready,
  output logic [1:0]           m_axi_awid,
  output logic [63:0]          m_axi_awaddr,
  output logic [7:0]           m_axi_awlen,
  output logic [2:0]           m_axi_awsize,
  output logic [1:0]           m_axi_awburst,
  output logic                 m_axi_wvalid,
  input  logic                 m_axi_wready,
  output logic [DataWidth-1:0] m_axi_wdata,
  output logic [KeepWidth-1:0] m_axi_wstrb,
  output logic                 m_axi_wlast,
  input  logic                 m_axi_bvalid,
  output logic                 m_axi_bready,
  input  logic [1:0]           m_axi_bid,
  input  logic [1:0]           m_axi_bresp,

  // network: AXI4-Stream, Ethernet frames without FCS; tuser: the MAC found the frame bad
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [DataWidth-1:0] s_axis_tdata,
  input  logic [KeepWidth-1:0] s_axis_tkeep,
  input  logic                 s_axis_tlast,
  input  logic                 s_axis_tuser,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [DataWidth-1:0] m_axis_tdata,
  output logic [KeepWidth-1:0] m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic                 m_axis_tuser,

  // interrupt: the event queue is not empty
  output logic                 irq,

  // observation: one action, of type commit_t
  output logic                 commit_valid,
  output logic [111:0]         commit
);
  // The rooms are joined here when they exist; until then the engine is silent.
  logic unused;
  assign unused = &{1'b0, clk, rst, s_axil_awvalid, s_axil_awaddr, s_axil_awprot, s_axil_wvalid, s_axil_wdata,
    s_axil_wstrb, s_axil_bready, s_axil_arvalid, s_axil_araddr, s_axil_arprot, s_axil_rready, m_axi_arready,
    m_axi_rvalid, m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast, m_axi_awready, m_axi_wready, m_axi_bvalid,
    m_axi_bid, m_axi_bresp, s_axis_tvalid, s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser, m_axis_tready};
  assign {s_axil_awready, s_axil_wready, s_axil_bvalid, s_axil_bresp, s_axil_arready, s_axil_rvalid} = '0;
  assign {s_axil_rdata, s_axil_rresp, s_axis_tready, irq, commit_valid, commit} = '0;
  assign {m_axi_arvalid, m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst, m_axi_rready} = '0;
  assign {m_axi_awvalid, m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst} = '0;
  assign {m_axi_wvalid, m_axi_wdata, m_axi_wstrb, m_axi_wlast, m_axi_bready} = '0;
  assign {m_axis_tvalid, m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser} = '0;
endmodule
