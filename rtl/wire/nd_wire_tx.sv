// Transmit half of room `wire`: descriptors and payload in, frames out.
//
// Takes descriptors ahead: their chunk lists go on to the gather in the order of the descriptors while
// earlier frames are sent. A descriptor with payload has at least one chunk and gets exactly `len` bytes
// on tx_data, dense from lane 0, `tx_data_last` with the last one; one without has no chunk and no beat.
// Payload is stored before its frame starts, so a frame pauses only when the network does.
//
// A payload whose last beat comes with `tx_data_error` is not what memory holds: its frame leaves with
// a wrong ICRC, so that the peer drops it. A CNP (opcode 0x81) has no payload; of its descriptor only
// `qp` counts. A whole frame (TxFrame) is its payload, whatever the bus answered.
//
// `tx_address` comes with its descriptor.
module nd_wire_tx
  import nd_pkg::*, nd_wire_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // bytes of the payload buffer, a power of two
  parameter int unsigned BufferBytes = 16384,
  // descriptors taken ahead, a power of two
  parameter int unsigned Ahead = 16
) (
  input  logic                     clk,
  input  logic                     rst,

  input  port_t                    own,

  input  logic                     tx_valid,
  output logic                     tx_ready,
  input  tx_desc_t                 tx_desc,
  input  qp_addr_t                 tx_address,

  input  logic                     send_chunk_valid,
  output logic                     send_chunk_ready,
  input  chunk_t                   send_chunk,
  input  logic                     resp_chunk_valid,
  output logic                     resp_chunk_ready,
  input  chunk_t                   resp_chunk,
  output logic                     chunk_valid,
  input  logic                     chunk_ready,
  output chunk_t                   chunk,
  output logic                     chunk_last,

  input  logic                     tx_data_valid,
  output logic                     tx_data_ready,
  input  logic [DataWidth-1:0]     tx_data,
  input  logic [$clog2(DataWidth/8):0] tx_data_bytes,
  input  logic                     tx_data_last,
  input  logic                     tx_data_error,  // with `tx_data_last`

  output logic [DataWidth-1:0]     m_axis_tdata,
  output logic [DataWidth/8-1:0]   m_axis_tkeep,
  output logic                     m_axis_tvalid,
  input  logic                     m_axis_tready,
  output logic                     m_axis_tlast,

  output logic                     tx_event,
  output logic [15:0]              tx_octets
);
  if (DataWidth != 64) begin : g_check_width
    $error("%m: DataWidth must be 64");
  end
  if (BufferBytes < 4096 || (BufferBytes & (BufferBytes - 1)) != 0) begin : g_check_buffer
    $error("%m: BufferBytes must be a power of two, at least 4096");
  end

  // ---- descriptors -------------------------------------------------------------------------------
  typedef struct packed {
    tx_desc_t desc;
    qp_addr_t address;
  } ahead_t;

  ahead_t   ahead;
  tx_job_t  job;
  logic     desc_room, order_room, desc_valid, desc_ready, job_valid, job_ready;
  logic [$clog2(Ahead):0] unused_ahead;

  assign tx_ready = desc_room && order_room;

  nd_fifo_commit #(.T(ahead_t), .Depth(Ahead)) u_ahead (
    .clk, .rst, .in_valid(tx_valid && order_room), .in_ready(desc_room),
    .in_data('{desc: tx_desc, address: tx_address}), .commit(1'b1), .discard(1'b0),
    .out_valid(desc_valid), .out_ready(desc_ready), .out_data(ahead), .count(unused_ahead)
  );

  nd_wire_tx_chunks #(.Depth(Ahead)) u_chunks (
    .clk, .rst,
    .order_valid(tx_valid && desc_room && tx_desc.chunks != '0), .order_ready(order_room),
    .order_respond(tx_desc.respond), .order_chunks(tx_desc.chunks),
    .send_valid(send_chunk_valid), .send_ready(send_chunk_ready), .send_chunk,
    .resp_valid(resp_chunk_valid), .resp_ready(resp_chunk_ready), .resp_chunk,
    .chunk_valid, .chunk_ready, .chunk, .chunk_last
  );

  nd_wire_tx_prepare u_prepare (
    .clk, .rst, .own_ipv4(own.ipv4), .desc_valid, .desc_ready, .desc(ahead.desc),
    .address(ahead.address), .job_valid, .job_ready, .job
  );

  // ---- payload -----------------------------------------------------------------------------------
  localparam int unsigned Words = BufferBytes / 8;
  typedef struct packed {
    logic        error;
    logic [63:0] data;
  } payload_t;

  logic     data_valid, data_ready;
  payload_t payload, data;
  logic [$clog2(Words):0] unused_words;

  assign payload = '{
    error: tx_data_last && tx_data_error, data: tx_data & lanes_below(tx_data_bytes)
  };

  nd_fifo_commit #(.T(payload_t), .Depth(Words)) u_buffer (
    .clk, .rst, .in_valid(tx_data_valid), .in_ready(tx_data_ready), .in_data(payload),
    .commit(tx_data_valid && tx_data_ready && tx_data_last), .discard(1'b0),
    .out_valid(data_valid), .out_ready(data_ready), .out_data(data), .count(unused_words)
  );

  // ---- frames ------------------------------------------------------------------------------------
  // The queue at the end stops new slots half full: what is in it covers the way of the next ones.
  localparam int unsigned Queue = 32;

  typedef struct packed {
    logic        last;
    logic [2:0]  bytes;  // with `last`; 0: all eight
    logic [63:0] data;
  } beat_t;

  logic        slot_valid, beat_valid, go_q, queue_room;
  tx_slot_t    slot;
  logic [63:0] crc_data;
  beat_t       beat, out;
  logic [$clog2(Queue):0] queued;

  nd_wire_tx_build u_build (
    .clk, .rst, .own, .go(go_q), .job_valid, .job_ready, .job,
    .data_valid, .data_ready, .data(data.data), .data_error(data.error),
    .slot_valid, .slot, .crc_data
  );

  nd_wire_tx_finish u_finish (
    .clk, .rst, .own_mac_end(own.mac[47:16]), .slot_valid, .slot, .crc_data,
    .beat_valid, .beat_data(beat.data), .beat_last(beat.last), .beat_bytes(beat.bytes)
  );

  nd_fifo_reg #(.T(beat_t), .Depth(Queue)) u_queue (
    .clk, .rst, .in_valid(beat_valid), .in_ready(queue_room), .in_data(beat),
    .out_valid(m_axis_tvalid), .out_ready(m_axis_tready), .out_data(out), .count(queued)
  );

  assign m_axis_tdata = out.data;
  assign m_axis_tlast = out.last;

  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      m_axis_tkeep[i] = !out.last || out.bytes == '0 || 3'(i) < out.bytes;
    end
  end

  // ---- counters ----------------------------------------------------------------------------------
  logic [12:0] beats_q;  // of the frame that leaves, but the last
  logic        event_q;
  logic [15:0] octets_q;

  always_ff @(posedge clk) begin
    go_q     <= queued <= 6'(Queue / 2);
    event_q  <= m_axis_tvalid && m_axis_tready && m_axis_tlast;
    octets_q <= {beats_q + 13'(out.bytes == '0), out.bytes};
    if (m_axis_tvalid && m_axis_tready) beats_q <= m_axis_tlast ? '0 : beats_q + 13'd1;
    if (rst) begin
      go_q    <= 1'b0;
      event_q <= 1'b0;
      beats_q <= '0;
    end
  end

  assign tx_event  = event_q;
  assign tx_octets = octets_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_chunks: assert (!tx_valid || (tx_desc.len == '0) == (tx_desc.chunks == '0));
      a_cnp:    assert (!tx_valid || tx_desc.opcode != OpcodeCnp || tx_desc.len == '0);
      a_queue:  assert (!beat_valid || queue_room);
    end
  end
`endif
endmodule
