// Forwards the chunk lists of both sources to the gather, frame after frame.
//
// An order names the source and the number (at least 1) of a frame's chunks. `chunk_last` marks the
// last one of each frame.
module nd_wire_tx_chunks
  import nd_pkg::*;
#(
  // frames waiting, a power of two
  parameter int unsigned Depth = 16
) (
  input  logic       clk,
  input  logic       rst,

  input  logic       order_valid,
  output logic       order_ready,
  input  logic       order_respond,
  input  logic [7:0] order_chunks,

  input  logic       send_valid,
  output logic       send_ready,
  input  chunk_t     send_chunk,

  input  logic       resp_valid,
  output logic       resp_ready,
  input  chunk_t     resp_chunk,

  output logic       chunk_valid,
  input  logic       chunk_ready,
  output chunk_t     chunk,
  output logic       chunk_last
);
  typedef struct packed {
    logic       respond;
    logic [7:0] chunks;
  } order_t;

  typedef struct packed {
    logic   last;
    chunk_t chunk;
  } item_t;

  order_t order;
  logic   have, done, valid, ready, last;
  logic [7:0] sent_q, sent_d;  // chunks of the order that went out
  item_t  item, out;
  logic [$clog2(Depth):0] unused_count;

  nd_fifo_reg #(.T(order_t), .Depth(Depth)) u_orders (
    .clk, .rst, .in_valid(order_valid), .in_ready(order_ready),
    .in_data({order_respond, order_chunks}), .out_valid(have), .out_ready(done), .out_data(order),
    .count(unused_count)
  );

  always_comb begin
    valid      = have && (order.respond ? resp_valid : send_valid);
    last       = sent_q + 8'd1 == order.chunks;
    item       = '{last: last, chunk: order.respond ? resp_chunk : send_chunk};
    send_ready = have && !order.respond && ready;
    resp_ready = have && order.respond && ready;
    done       = valid && ready && last;
    sent_d     = sent_q;
    if (valid && ready) sent_d = last ? '0 : sent_q + 8'd1;
  end

  always_ff @(posedge clk) begin
    sent_q <= sent_d;
    if (rst) sent_q <= '0;
  end

  nd_skid #(.T(item_t)) u_out (
    .clk, .rst, .in_valid(valid), .in_ready(ready), .in_data(item),
    .out_valid(chunk_valid), .out_ready(chunk_ready), .out_data(out)
  );

  assign chunk      = out.chunk;
  assign chunk_last = out.last;
endmodule
