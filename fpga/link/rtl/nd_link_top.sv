// Host link on a UART: see `nd_link`.
module nd_link_top #(
  // bits of a beat of memory and network
  parameter int unsigned DataWidth = 64,
  // bits of a register's address, at most 16
  parameter int unsigned RegAddrWidth = 12,
  // bytes of host memory, and the address that the core has for its first one
  parameter int unsigned MemBytes = 65536,
  parameter logic [63:0] MemBase = '0,
  // bytes of a packet's buffer, a power of two
  parameter int unsigned PacketBytes = 2048,
  // beats of the frame buffers, powers of two above 64
  parameter int unsigned InjectBeats = 1024,
  parameter int unsigned CaptureBeats = 1024,
  // records of the commit log, a power of two above 64
  parameter int unsigned LogDepth = 512,
  // log2 of the clocks after which an access of the core or of its memory is given up
  parameter int unsigned TimeoutBits = 16,
  // clock, told to the host
  parameter int unsigned ClockHz = 62_500_000,
  // which bitstream it is, told to the host
  parameter logic [31:0] Build = '0,
  // bits a second on the line
  parameter int unsigned Baud = 3_000_000,
  localparam int unsigned KeepWidth = DataWidth / 8,
  localparam int unsigned MemAddrWidth = $clog2(MemBytes)
) (
  input  logic                    clk,
  input  logic                    rst,

  // UART, idle high
  input  logic                    rxd,
  output logic                    txd,

  // registers of the core: AXI4-Lite master
  output logic                    m_axil_awvalid,
  input  logic                    m_axil_awready,
  output logic [RegAddrWidth-1:0] m_axil_awaddr,
  output logic [2:0]              m_axil_awprot,
  output logic                    m_axil_wvalid,
  input  logic                    m_axil_wready,
  output logic [31:0]             m_axil_wdata,
  output logic [3:0]              m_axil_wstrb,
  input  logic                    m_axil_bvalid,
  output logic                    m_axil_bready,
  input  logic [1:0]              m_axil_bresp,
  output logic                    m_axil_arvalid,
  input  logic                    m_axil_arready,
  output logic [RegAddrWidth-1:0] m_axil_araddr,
  output logic [2:0]              m_axil_arprot,
  input  logic                    m_axil_rvalid,
  output logic                    m_axil_rready,
  input  logic [31:0]             m_axil_rdata,
  input  logic [1:0]              m_axil_rresp,

  // host memory, one request at a time: a write is done when it is taken, a read is answered later
  output logic                    mem_valid,
  input  logic                    mem_ready,
  output logic                    mem_write,
  output logic [MemAddrWidth-1:0] mem_addr,   // in bytes, a multiple of a word
  output logic [DataWidth-1:0]    mem_wdata,
  output logic [KeepWidth-1:0]    mem_wstrb,
  input  logic                    mem_rvalid,
  input  logic [DataWidth-1:0]    mem_rdata,

  // network: from the MAC, to the MAC, to the core, from the core
  input  logic                    s_axis_mac_tvalid,
  output logic                    s_axis_mac_tready,
  input  logic [DataWidth-1:0]    s_axis_mac_tdata,
  input  logic [KeepWidth-1:0]    s_axis_mac_tkeep,
  input  logic                    s_axis_mac_tlast,
  input  logic                    s_axis_mac_tuser,
  output logic                    m_axis_mac_tvalid,
  input  logic                    m_axis_mac_tready,
  output logic [DataWidth-1:0]    m_axis_mac_tdata,
  output logic [KeepWidth-1:0]    m_axis_mac_tkeep,
  output logic                    m_axis_mac_tlast,
  output logic                    m_axis_mac_tuser,
  output logic                    m_axis_core_tvalid,
  input  logic                    m_axis_core_tready,
  output logic [DataWidth-1:0]    m_axis_core_tdata,
  output logic [KeepWidth-1:0]    m_axis_core_tkeep,
  output logic                    m_axis_core_tlast,
  output logic                    m_axis_core_tuser,
  input  logic                    s_axis_core_tvalid,
  output logic                    s_axis_core_tready,
  input  logic [DataWidth-1:0]    s_axis_core_tdata,
  input  logic [KeepWidth-1:0]    s_axis_core_tkeep,
  input  logic                    s_axis_core_tlast,
  input  logic                    s_axis_core_tuser,

  // the core itself
  output logic                    core_rst,
  input  logic                    irq,
  input  logic                    commit_valid,
  input  logic [111:0]            commit
);

  // A bit in 1/256 of a clock, rounded.
  localparam int unsigned Step = int'((64'(ClockHz) * 256 + 64'(Baud) / 2) / 64'(Baud));

  logic       rx_valid, rx_error, tx_valid, tx_ready;
  logic [7:0] rx_data, tx_data;

  nd_link_uart_rx #(.Step(Step)) u_rx (
    .clk, .rst, .rxd, .out_valid(rx_valid), .out_data(rx_data), .out_error(rx_error)
  );
  nd_link_uart_tx #(.Step(Step)) u_tx (
    .clk, .rst, .in_valid(tx_valid), .in_ready(tx_ready), .in_data(tx_data), .txd
  );

  nd_link #(
    .DataWidth(DataWidth), .RegAddrWidth(RegAddrWidth), .MemBytes(MemBytes), .MemBase(MemBase),
    .PacketBytes(PacketBytes), .InjectBeats(InjectBeats), .CaptureBeats(CaptureBeats),
    .LogDepth(LogDepth), .TimeoutBits(TimeoutBits), .ClockHz(ClockHz), .Build(Build)
  ) u_link (
    .s_axis_tvalid(rx_valid), .s_axis_tdata(rx_data), .s_axis_terror(rx_error),
    .m_axis_tvalid(tx_valid), .m_axis_tready(tx_ready), .m_axis_tdata(tx_data), .*
  );
endmodule
