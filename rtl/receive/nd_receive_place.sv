// Hands the work of decided frames to the DMA writer, in the order of the decisions.
//
// A job is pushed in the clock of its grant, when `job_ready` was high. Its chunks come from the chunk
// list: translated chunks enter it while a decision is prepared, `chunk_keep` (at the grant) or
// `chunk_discard` decides over them. Of each job: its chunks, end of payload, receive completion, then
// answer, read done or failure. `taken` posts that came back are counted down; `idle` means that none
// is under way. `jobs_begun` and `jobs_done` count jobs pushed, and those handed over completely.
module nd_receive_place
  import nd_pkg::*;
  import nd_receive_pkg::*;
#(
  // jobs waiting
  parameter int unsigned Jobs = 8,
  // chunks waiting, more than a frame can have
  parameter int unsigned Chunks = 32
) (
  input  logic     clk,
  input  logic     rst,

  input  logic     chunk_valid,
  output logic     chunk_ready,
  input  chunk_t   chunk,
  input  logic     chunk_keep,
  input  logic     chunk_discard,

  input  logic     job_valid,
  output logic     job_ready,
  input  job_t     job,

  output logic     scatter_valid,
  input  logic     scatter_ready,
  output scatter_t scatter,

  input  logic     taken,
  output logic     idle,
  output logic [7:0] jobs_begun,
  output logic [7:0] jobs_done
);
  localparam int unsigned JobWidth   = $clog2(Jobs) + 1;
  localparam int unsigned ChunkWidth = $clog2(Chunks) + 1;

  logic   head_valid, head_ready;
  job_t   head;
  logic   list_valid, list_ready;
  chunk_t list_chunk;
  logic                  unused;
  logic [JobWidth-1:0]   unused_jobs;
  logic [ChunkWidth-1:0] unused_chunks;

  assign unused = &{1'b0, head.qp};

  nd_fifo #(.T(job_t), .Depth(Jobs)) u_jobs (
    .clk, .rst, .in_valid(job_valid), .in_ready(job_ready), .in_data(job),
    .out_valid(head_valid), .out_ready(head_ready), .out_data(head), .count(unused_jobs)
  );
  nd_fifo_commit #(.T(chunk_t), .Depth(Chunks)) u_chunks (
    .clk, .rst, .in_valid(chunk_valid), .in_ready(chunk_ready), .in_data(chunk),
    .commit(chunk_keep), .discard(chunk_discard),
    .out_valid(list_valid), .out_ready(list_ready), .out_data(list_chunk), .count(unused_chunks)
  );

  // Steps of the job at the head that are done.
  typedef struct packed {
    logic [5:0] chunks;
    logic       next;
    logic       receive;
  } steps_t;
  typedef enum logic [1:0] {
    StepChunk,
    StepNext,
    StepReceive,
    StepLast
  } step_e;
  steps_t     done_q, done_d;
  step_e      step;
  logic       go, last;
  logic [7:0] flying_q, flying_d;
  logic [7:0] begun_q, ended_q;

  assign idle       = flying_q == '0;
  assign jobs_begun = begun_q;
  assign jobs_done  = ended_q;

  // The step that is offered ...
  always_comb begin
    step          = StepLast;
    last          = 1'b0;
    scatter       = '0;
    scatter_valid = head_valid && (done_q.chunks == head.chunks || list_valid);
    scatter.chunk           = list_chunk;
    scatter.post.completion = head.completion;
    scatter.post.response   = head.response;
    if (done_q.chunks != head.chunks) begin
      step       = StepChunk;
      scatter.op = ScatterChunk;
    end else if (head.next && !done_q.next) begin
      step       = StepNext;
      scatter.op = ScatterNext;
      last       = !head.receive && !head.other;
    end else if (head.receive && !done_q.receive) begin
      step              = StepReceive;
      scatter.op        = ScatterPost;
      scatter.post.kind = PostReceive;
      last              = !head.other;
    end else begin
      scatter.op        = ScatterPost;
      scatter.post.kind = head.other_kind;
      last              = 1'b1;
    end
  end

  // ... and what follows when it is taken. Apart, so that no tool sees the offer depend on its taking.
  assign go         = scatter_valid && scatter_ready;
  assign list_ready = head_valid && scatter_ready && step == StepChunk;
  assign head_ready = go && last;

  always_comb begin
    done_d = done_q;
    unique case (step)
      StepChunk:   if (go) done_d.chunks = done_q.chunks + 6'd1;
      StepNext:    done_d.next = go;
      StepReceive: done_d.receive = go;
      default:     ;
    endcase
    if (head_ready) done_d = '0;
  end

  always_comb begin
    flying_d = flying_q;
    if (job_valid) flying_d += 8'(job.receive) + 8'(job.other);
    if (taken) flying_d -= 8'd1;
  end

  always_ff @(posedge clk) begin
    done_q   <= done_d;
    flying_q <= flying_d;
    begun_q  <= begun_q + 8'(job_valid);
    ended_q  <= ended_q + 8'(head_ready);
    if (rst) begin
      done_q   <= '0;
      flying_q <= '0;
      begun_q  <= '0;
      ended_q  <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_room: assert (!job_valid || job_ready);
      a_work: assert (!job_valid || job.next || job.receive || job.other);
      a_list: assert (!job_valid || job.chunks == '0 || job.next);
    end
  end
`endif
endmodule
