// Room `wire`: frames to records and back.
//
// Receive and transmit share nothing but the own addresses. See nd_wire_rx and nd_wire_tx for the
// contracts of the two halves.
module nd_wire
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // bytes of the receive packet buffer, a power of two
  parameter int unsigned RxBufferBytes = 16384,
  // bytes of the transmit payload buffer, a power of two
  parameter int unsigned TxBufferBytes = 16384
) (
  input  logic                   clk,
  input  logic                   rst,

  // network in: whole Ethernet frames without FCS; tuser = 1 on tlast: found bad by the MAC
  input  logic [DataWidth-1:0]   s_axis_tdata,
  input  logic [DataWidth/8-1:0] s_axis_tkeep,
  input  logic                   s_axis_tvalid,
  output logic                   s_axis_tready,
  input  logic                   s_axis_tlast,
  input  logic                   s_axis_tuser,

  // network out
  output logic [DataWidth-1:0]   m_axis_tdata,
  output logic [DataWidth/8-1:0] m_axis_tkeep,
  output logic                   m_axis_tvalid,
  input  logic                   m_axis_tready,
  output logic                   m_axis_tlast,

  // own addresses
  input  port_t                  port,

  // received frames and their payload
  output logic                   rx_valid,
  input  logic                   rx_ready,
  output rx_desc_t               rx_desc,
  output logic                   rx_data_valid,
  input  logic                   rx_data_ready,
  output logic [DataWidth-1:0]   rx_data,
  output logic                   rx_data_last,

  // frames to be sent
  input  logic                   tx_valid,
  output logic                   tx_ready,
  input  tx_desc_t               tx_desc,
  input  qp_addr_t               tx_address,     // where the frame goes

  // chunks of their payload, and the payload
  input  logic                   send_chunk_valid,
  output logic                   send_chunk_ready,
  input  chunk_t                 send_chunk,
  input  logic                   resp_chunk_valid,
  output logic                   resp_chunk_ready,
  input  chunk_t                 resp_chunk,
  output logic                   chunk_valid,
  input  logic                   chunk_ready,
  output chunk_t                 chunk,
  output logic                   chunk_last,
  input  logic                   tx_data_valid,
  output logic                   tx_data_ready,
  input  logic [DataWidth-1:0]   tx_data,
  input  logic [$clog2(DataWidth/8):0] tx_data_bytes,
  input  logic                   tx_data_last,
  input  logic                   tx_data_error,  // with `tx_data_last`: not what memory holds

  // one clock per frame that left
  output logic                   tx_event,
  output logic [15:0]            tx_octets
);
  nd_wire_rx #(.DataWidth(DataWidth), .BufferBytes(RxBufferBytes)) u_rx (
    .clk, .rst,
    .s_axis_tdata, .s_axis_tkeep, .s_axis_tvalid, .s_axis_tready, .s_axis_tlast, .s_axis_tuser,
    .rx_valid, .rx_ready, .rx_desc, .rx_data_valid, .rx_data_ready, .rx_data, .rx_data_last
  );

  nd_wire_tx #(.DataWidth(DataWidth), .BufferBytes(TxBufferBytes)) u_tx (
    .clk, .rst, .own(port), .tx_valid, .tx_ready, .tx_desc, .tx_address,
    .send_chunk_valid, .send_chunk_ready, .send_chunk,
    .resp_chunk_valid, .resp_chunk_ready, .resp_chunk,
    .chunk_valid, .chunk_ready, .chunk, .chunk_last,
    .tx_data_valid, .tx_data_ready, .tx_data, .tx_data_bytes, .tx_data_last, .tx_data_error,
    .m_axis_tdata, .m_axis_tkeep, .m_axis_tvalid, .m_axis_tready, .m_axis_tlast,
    .tx_event, .tx_octets
  );
endmodule
