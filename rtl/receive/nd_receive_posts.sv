// Hands on what followed the payload through the DMA writer and came back, and acknowledges.
//
// A receive goes to `complete`, a finished read to `send`, an answer is put out at once (`respond_*`,
// always taken), the mark of a queue pair in QpErr too (`settled_valid`). A failure becomes an
// acknowledge, behind those that were granted before it. `ack_room`: an acknowledge may be granted.
// `idle`: nothing is on its way to `send`. What tells of an invalidation waits for gathers
// (nd_receive_gathered).
module nd_receive_posts
  import nd_pkg::*;
  import nd_abi_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic        post_valid,
  output logic        post_ready,
  input  post_t       post,

  output logic        idle,

  input  logic [7:0]  gathers_begun,
  input  logic [7:0]  gathers_done,

  output logic        ack_room,
  input  logic        ack_in_valid,
  input  ack_t        ack_in,

  output logic        respond_valid,
  output logic        settled_valid,

  output logic        ack_valid,
  input  logic        ack_ready,
  output ack_t        ack,
  output logic        read_done_valid,
  input  logic        read_done_ready,
  output qp_t         read_done_qp,
  output logic        completion_valid,
  input  logic        completion_ready,
  output completion_t completion
);
  typedef struct packed {
    qp_t  qp;
    logic invalidated;
  } read_done_t;

  logic       completion_room, read_done_room, taken, failure, failure_q, unused;
  logic       told_valid, told_ready, done_valid, done_ready, is_mark;
  read_done_t done_in, done;
  ack_t       failure_ack_q;
  logic [2:0] unused_acks, unused_completions, unused_reads;

  assign unused        = &{1'b0, post};
  // Finished reads come before the mark: they retire, and are not flushed.
  assign is_mark       = post.kind == PostFatal && post.completion.receive;
  assign post_ready    = completion_room && read_done_room && !failure_q &&
                         !(is_mark && done_valid);
  assign taken         = post_valid && post_ready;
  assign respond_valid = taken && post.kind == PostRespond;
  assign settled_valid = taken && is_mark;
  assign idle          = !failure_q && !ack_valid && !done_valid;
  assign failure       = taken && post.kind == PostFatal && !post.completion.receive;

  always_ff @(posedge clk) begin
    if (!failure_q) begin
      failure_q     <= failure;
      failure_ack_q <= '{qp: post.completion.qp, psn: post.completion.token[23:0], fail: 1'b1,
                         status: post.completion.status, error_code: post.completion.error_code};
    end else if (ack_room && !ack_in_valid) begin
      failure_q <= 1'b0;
    end
    if (rst) failure_q <= 1'b0;
  end

  nd_fifo #(.T(ack_t), .Depth(4)) u_acks (
    .clk, .rst, .in_valid(ack_in_valid || failure_q), .in_ready(ack_room),
    .in_data(ack_in_valid ? ack_in : failure_ack_q),
    .out_valid(ack_valid), .out_ready(ack_ready), .out_data(ack), .count(unused_acks)
  );
  nd_fifo #(.T(completion_t), .Depth(4)) u_completions (
    .clk, .rst, .in_valid(taken && post.kind == PostReceive), .in_ready(completion_room),
    .in_data(post.completion),
    .out_valid(told_valid), .out_ready(told_ready), .out_data(completion),
    .count(unused_completions)
  );
  nd_receive_gathered u_told (
    .clk, .rst, .gathers_begun, .gathers_done, .in_valid(told_valid), .in_ready(told_ready),
    .in_tells(completion.invalidated), .out_valid(completion_valid), .out_ready(completion_ready)
  );

  assign done_in      = '{qp: post.completion.qp, invalidated: post.completion.invalidated};
  assign read_done_qp = done.qp;
  nd_fifo #(.T(read_done_t), .Depth(4)) u_reads (
    .clk, .rst, .in_valid(taken && post.kind == PostReadDone), .in_ready(read_done_room),
    .in_data(done_in),
    .out_valid(done_valid), .out_ready(done_ready), .out_data(done),
    .count(unused_reads)
  );
  nd_receive_gathered u_done (
    .clk, .rst, .gathers_begun, .gathers_done, .in_valid(done_valid), .in_ready(done_ready),
    .in_tells(done.invalidated), .out_valid(read_done_valid), .out_ready(read_done_ready)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) a_ack: assert (!ack_in_valid || ack_room);
`endif
endmodule
