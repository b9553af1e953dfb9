// Test top of room `wire` with flat ports; records are vectors, laid out as in nd_pkg.
module nd_wire_top
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // bytes of the receive packet buffer, a power of two
  parameter int unsigned RxBufferBytes = 16384,
  // bytes of the transmit payload buffer, a power of two
  parameter int unsigned TxBufferBytes = 16384,
  localparam int unsigned RxDescWidth = $bits(rx_desc_t),
  localparam int unsigned TxDescWidth = $bits(tx_desc_t),
  localparam int unsigned AddrWidth = $bits(qp_addr_t),
  localparam int unsigned ChunkWidth = $bits(chunk_t),
  localparam int unsigned PortWidth = $bits(port_t)
) (
  input  logic                   clk,
  input  logic                   rst,

  input  logic [DataWidth-1:0]   s_axis_tdata,
  input  logic [DataWidth/8-1:0] s_axis_tkeep,
  input  logic                   s_axis_tvalid,
  output logic                   s_axis_tready,
  input  logic                   s_axis_tlast,
  input  logic                   s_axis_tuser,

  output logic [DataWidth-1:0]   m_axis_tdata,
  output logic [DataWidth/8-1:0] m_axis_tkeep,
  output logic                   m_axis_tvalid,
  input  logic                   m_axis_tready,
  output logic                   m_axis_tlast,

  input  logic [PortWidth-1:0]   port,

  output logic                   rx_valid,
  input  logic                   rx_ready,
  output logic [RxDescWidth-1:0] rx_desc,
  output logic                   rx_data_valid,
  input  logic                   rx_data_ready,
  output logic [DataWidth-1:0]   rx_data,
  output logic                   rx_data_last,

  input  logic                   tx_valid,
  output logic                   tx_ready,
  input  logic [TxDescWidth-1:0] tx_desc,
  input  logic [AddrWidth-1:0]   tx_address,

  input  logic                   send_chunk_valid,
  output logic                   send_chunk_ready,
  input  logic [ChunkWidth-1:0]  send_chunk,
  input  logic                   resp_chunk_valid,
  output logic                   resp_chunk_ready,
  input  logic [ChunkWidth-1:0]  resp_chunk,
  output logic                   chunk_valid,
  input  logic                   chunk_ready,
  output logic [ChunkWidth-1:0]  chunk,
  output logic                   chunk_last,
  input  logic                   tx_data_valid,
  output logic                   tx_data_ready,
  input  logic [DataWidth-1:0]   tx_data,
  input  logic [$clog2(DataWidth/8):0] tx_data_bytes,
  input  logic                   tx_data_last,
  input  logic                   tx_data_error,

  output logic                   tx_event,
  output logic [15:0]            tx_octets
);
  nd_wire #(
    .DataWidth(DataWidth), .RxBufferBytes(RxBufferBytes), .TxBufferBytes(TxBufferBytes)
  ) u_wire (.*);
endmodule
