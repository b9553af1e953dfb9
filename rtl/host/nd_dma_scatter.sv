// Scatter: places the payload of received frames, and tells when it is placed.
//
// Operations are taken in order. A chunk becomes one or two bursts whose data follow in the order of the
// bursts, as soon as the payload is there. A post leaves when all bursts of the chunks before it have been
// answered (`answered`: one clock per answer, in order), in order among the posts.
module nd_dma_scatter
  import nd_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // operations whose data are still to come, a power of two
  parameter int unsigned Jobs = 16,
  // posts that wait for answers, a power of two
  parameter int unsigned Posts = 16,
  // bursts that may be unanswered, 8 to 128
  parameter int unsigned Outstanding = 64,
  localparam int unsigned Lanes = DataWidth / 8
) (
  input  logic                 clk,
  input  logic                 rst,

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

  output logic                 burst_valid,
  input  logic                 burst_ready,
  output addr_t                burst_addr,
  output logic [7:0]           burst_len,

  output logic                 w_valid,
  input  logic                 w_ready,
  output logic [DataWidth-1:0] w_data,
  output logic [Lanes-1:0]     w_strb,
  output logic                 w_last,

  input  logic                 answered,
  output logic [9:0]           placed_begun,  // bursts of all chunks taken
  output logic [9:0]           placed_done    // of those, answered
);
  if (Outstanding < 8 || Outstanding > 128) begin : g_check
    $error("%m: Outstanding must be 8 to 128");
  end

  localparam int unsigned LaneBits = $clog2(Lanes);
  typedef logic [LaneBits-1:0] lane_t;

  // Bursts counted modulo 1024. All counts that are compared lie less than 512 apart: chunks wait when
  // about `Outstanding` bursts are unanswered, or when the oldest post is more than `Oldest` bursts old.
  localparam int unsigned Oldest = 256;
  typedef logic [9:0] count_t;
  count_t planned_q, planned_d;  // bursts of all chunks taken
  count_t done_q, done_d;        // of those, answered

  typedef struct packed {
    logic  next;
    lane_t offset;
    len_t  len;
  } job_t;

  // A post carries one of its parts, which share their place here.
  localparam int unsigned BodyWidth = $bits(response_t) > $bits(completion_t) ? $bits(response_t)
                                                                              : $bits(completion_t);
  typedef struct packed {
    count_t               after;  // leaves when so many bursts are answered
    post_kind_e           kind;
    logic [BodyWidth-1:0] body;
  } waiting_t;

  logic     calm_q, calm_d;
  logic     is_chunk, is_next, is_post, chunk_allowed;
  logic     cut_ready, job_room, post_room;
  count_t   unanswered, age, missing;
  logic [8:0] last_beat;  // of a chunk, counted from 0
  job_t     job_in, job;
  logic     job_valid, job_ready;
  waiting_t waiting_in, waiting;
  logic     waiting_valid, placed;

  logic [7:0]             next_len;
  logic                   issue;
  logic [$clog2(Jobs):0]  job_count;
  logic [$clog2(Posts):0] post_count;
  logic                   unused;
  assign unused = ^{job_count, post_count, last_beat[7:0], next_len, issue};

  // ---- operations ----------------------------------------------------------------------------

  assign is_chunk = scatter_valid && scatter.op == ScatterChunk;
  assign is_next  = scatter_valid && scatter.op == ScatterNext;
  assign is_post  = scatter_valid && scatter.op == ScatterPost;

  assign placed_begun  = planned_q;
  assign placed_done   = done_q;
  assign unanswered    = planned_q - done_q;
  assign age           = planned_q - waiting.after;
  assign chunk_allowed = cut_ready && job_room && calm_q;

  // One clock late: the chunk before and this one add at most four.
  assign calm_d = unanswered < count_t'(Outstanding - 3)
                  && !(waiting_valid && age > count_t'(Oldest));

  // Two bursts if the chunk has more than 256 beats: only with the narrowest bus.
  assign last_beat = 9'((scatter.chunk.len + len_t'(lane_t'(scatter.chunk.addr)) - 13'd1)
                        >> LaneBits);

  always_comb begin
    scatter_ready = 1'b0;
    planned_d     = planned_q;
    done_d        = done_q + count_t'(answered);
    case (scatter.op)
      ScatterChunk: scatter_ready = chunk_allowed;
      ScatterNext:  scatter_ready = job_room;
      ScatterPost:  scatter_ready = post_room;
      default:      scatter_ready = 1'b1;
    endcase
    if (is_chunk && chunk_allowed) begin
      planned_d = planned_q + (last_beat[8] ? count_t'(2) : count_t'(1));
    end
  end

  always_ff @(posedge clk) begin
    planned_q <= planned_d;
    done_q    <= done_d;
    calm_q    <= calm_d;
    if (rst) begin
      planned_q <= '0;
      done_q    <= '0;
      calm_q    <= 1'b0;
    end
  end

  nd_dma_burst #(.DataWidth(DataWidth)) u_burst (
    .clk, .rst, .chunk_valid(is_chunk && chunk_allowed), .chunk_ready(cut_ready),
    .chunk(scatter.chunk), .next_len, .allow(1'b1), .issue,
    .burst_valid, .burst_ready, .burst_addr, .burst_len
  );

  // ---- data ----------------------------------------------------------------------------------

  logic                part_valid, part_ready, part_last, part_next, burst_end;
  logic [LaneBits-1:0] part_offset;
  logic [LaneBits:0]   part_bytes;
  logic [7:0]          beat_q, beat_d;  // beats of the burst so far

  // The end of a frame passes as a part of one byte.
  assign job_in = '{
    next:   scatter.op == ScatterNext,
    offset: scatter.op == ScatterNext ? '0 : lane_t'(scatter.chunk.addr),
    len:    scatter.op == ScatterNext ? 13'd1 : scatter.chunk.len
  };

  nd_fifo #(.T(job_t), .Depth(Jobs)) u_jobs (
    .clk, .rst, .in_valid((is_chunk && chunk_allowed) || is_next), .in_ready(job_room),
    .in_data(job_in),
    .out_valid(job_valid), .out_ready(job_ready), .out_data(job), .count(job_count)
  );

  nd_dma_slice #(.DataWidth(DataWidth), .T(logic)) u_slice (
    .clk, .rst, .in_valid(job_valid), .in_ready(job_ready),
    .in_offset(job.offset), .in_len(job.len), .in_tag(job.next),
    .out_valid(part_valid), .out_ready(part_ready), .out_offset(part_offset),
    .out_bytes(part_bytes), .out_last(part_last), .out_tag(part_next)
  );

  assign burst_end = part_last || beat_q == 8'hFF;

  always_comb begin
    beat_d = beat_q;
    if (part_valid && part_ready && !part_next) beat_d = burst_end ? '0 : beat_q + 8'd1;
  end

  always_ff @(posedge clk) begin
    beat_q <= beat_d;
    if (rst) beat_q <= '0;
  end

  nd_dma_align #(.DataWidth(DataWidth)) u_align (
    .clk, .rst, .part_valid, .part_ready, .part_next, .part_offset, .part_bytes,
    .part_last(burst_end), .rx_data_valid, .rx_data_ready, .rx_data, .rx_data_last,
    .out_valid(w_valid), .out_ready(w_ready), .out_data(w_data), .out_strb(w_strb),
    .out_last(w_last)
  );

  // ---- posts ---------------------------------------------------------------------------------

  always_comb begin
    waiting_in.after = planned_q;
    waiting_in.kind  = scatter.post.kind;
    case (scatter.post.kind)
      PostRespond: waiting_in.body = BodyWidth'(scatter.post.response);
      default:     waiting_in.body = BodyWidth'(scatter.post.completion);
    endcase
  end

  nd_fifo #(.T(waiting_t), .Depth(Posts)) u_posts (
    .clk, .rst, .in_valid(is_post), .in_ready(post_room), .in_data(waiting_in),
    .out_valid(waiting_valid), .out_ready(post_ready && placed), .out_data(waiting),
    .count(post_count)
  );

  assign missing    = waiting.after - done_q;
  assign placed     = missing == '0 || missing[9];
  assign post_valid = waiting_valid && placed;

  // Parts that the kind does not name are not meant to be read.
  assign post.kind       = waiting.kind;
  assign post.completion = completion_t'(waiting.body[$bits(completion_t)-1:0]);
  assign post.response   = response_t'(waiting.body[$bits(response_t)-1:0]);
endmodule
