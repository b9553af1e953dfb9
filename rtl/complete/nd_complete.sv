// Room `complete`: writes completion entries, takes doorbells and arms of completion queues, fires events.
//
// Sources are served in turn, each in its order: completions and queue-pair events of `send` [0] and
// `receive` [1], doorbells, and limit events. Among the completions of `receive` comes that a queue
// pair has no receive of its shared queue left: an event. One at a time goes through the lookup of its completion queue's state
// and the step; then it asks for the grant. `cq_wr` clears a queue; nothing is decided from then until
// the table write was granted (`context_done`).
module nd_complete
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_complete_pkg::*;
#(
  // completion queues, a power of two
  parameter int unsigned NumCq = 64
) (
  input  logic              clk,
  input  logic              rst,

  // send, receive
  input  logic [1:0]        completion_valid,
  output logic [1:0]        completion_ready,
  input  completion_t [1:0] completion,
  input  logic [1:0]        qp_event_valid,
  output logic [1:0]        qp_event_ready,
  input  qp_t [1:0]         qp_event_qp,
  input  status_e [1:0]     qp_event_status,
  input  logic              srq_event_valid,
  output logic              srq_event_ready,
  input  logic [15:0]       srq_event,

  // host
  input  logic              cq_db_valid,
  output logic              cq_db_ready,
  input  doorbell_t         cq_db,
  output logic              cpl_valid,
  input  logic              cpl_ready,
  output cpl_write_t        cpl,

  // context
  input  logic              cq_wr_valid,
  output logic              cq_wr_ready,
  input  logic [15:0]       cq_wr_index,
  input  cq_context_t       cq_wr,
  input  logic              context_done,
  output logic              commit_req,
  output commit_t           commit_record,
  input  logic              commit_gnt
);
  if (NumCq < 2 || NumCq > 16384 || (NumCq & (NumCq - 1)) != 0) begin : g_check
    $error("%m: NumCq must be a power of two, 2 to 16384");
  end
  localparam int unsigned CqBits = $clog2(NumCq);
  typedef logic [CqBits-1:0] cq_bits_t;

  typedef enum logic [2:0] {
    Idle,
    Look,
    Load,    // the queue's state comes
    Step,
    Ready,
    Held     // a queue was cleared, its table write is not granted yet
  } state_e;

  state_e      state_q, state_d;
  logic [5:0]  req, gnt, source_q, source_d;  // {limit, doorbell, events, completions}
  logic [2:0]  unused_idx;
  logic [15:0] cq_q, cq_d;
  ring_t       ring, ring_q, ring_d, ring_wdata;
  queue_t      queue, queue_q, queue_d, queue_wdata, queue_next, queue_next_q;
  logic        queue_we, queue_we_q, ring_we, table_we;
  commit_t     rec, rec_q;
  logic        out_valid, out_valid_q, out_room;
  cpl_write_t  out, out_q;
  what_e       what;
  qp_t         event_qp;
  status_e     event_status;
  completion_t picked, source_completion;
  logic        unused;
  logic [2:0]  unused_count;

  assign unused = &{1'b0, cq_wr, picked, cq_wr_index, unused_idx};

  assign req = {srq_event_valid, cq_db_valid, qp_event_valid, completion_valid};
  nd_rr_arb #(.N(6)) u_turn (
    .clk, .rst, .req, .advance(state_q == Idle && state_d != Held), .gnt, .gnt_idx(unused_idx)
  );

  assign picked            = completion[gnt[1]];
  assign source_completion = completion[source_q[1]];
  assign commit_req        = state_q == Ready && out_room;
  assign commit_record     = rec_q;
  assign cq_wr_ready       = state_q == Held;
  assign ring_we           = state_q == Idle && cq_wr_valid;
  assign table_we          = ring_we || (commit_gnt && queue_we_q);
  assign {srq_event_ready, cq_db_ready, qp_event_ready, completion_ready} =
      commit_gnt ? source_q : '0;

  always_comb begin
    what         = DoEntry;
    event_qp     = qp_event_qp[source_q[3]];
    event_status = qp_event_status[source_q[3]];
    if (source_q[5]) what = DoLimit;
    else if (source_q[4]) what = DoDoorbell;
    else if (|source_q[3:2]) what = DoEvent;
    else if (source_completion.none_left) begin
      what         = DoEvent;
      event_qp     = source_completion.qp;
      event_status = StatusFlushed;
    end
  end

  always_comb begin
    ring_wdata.valid    = cq_wr.valid;
    ring_wdata.log_size = cq_wr.log_size;
    ring_wdata.base     = cq_wr.base;
    queue_wdata         = ring_we ? '0 : queue_next_q;
  end

  nd_ram #(.T(ring_t), .Depth(NumCq)) u_ring (
    .clk, .we(ring_we), .waddr(cq_bits_t'(cq_wr_index)), .wdata(ring_wdata),
    .raddr(cq_bits_t'(cq_q)), .rdata(ring)
  );
  nd_ram #(.T(queue_t), .Depth(NumCq)) u_queue (
    .clk, .we(table_we), .waddr(cq_bits_t'(ring_we ? cq_wr_index : cq_q)), .wdata(queue_wdata),
    .raddr(cq_bits_t'(cq_q)), .rdata(queue)
  );
  nd_complete_step u_step (
    .what, .cq(cq_q), .known(32'(cq_q) < NumCq), .ring(ring_q), .queue(queue_q),
    .completion(source_completion), .doorbell(cq_db),
    .event_qp, .event_status, .event_srq(srq_event),
    .queue_we, .queue_next, .rec, .out_valid, .out
  );
  nd_fifo #(.T(cpl_write_t), .Depth(4)) u_out (
    .clk, .rst, .in_valid(commit_gnt && out_valid_q), .in_ready(out_room), .in_data(out_q),
    .out_valid(cpl_valid), .out_ready(cpl_ready), .out_data(cpl), .count(unused_count)
  );

  always_comb begin
    state_d  = state_q;
    source_d = source_q;
    cq_d     = cq_q;
    ring_d   = ring_q;
    queue_d  = queue_q;
    unique case (state_q)
      Idle: begin
        source_d = gnt;
        cq_d     = gnt[4] ? cq_db.number : picked.cq;
        if (cq_wr_valid) state_d = Held;
        else if (gnt[5] || |gnt[3:2]) state_d = Step;
        else if (|gnt) state_d = Look;
      end
      Look: state_d = Load;
      Load: begin
        ring_d  = ring;
        queue_d = queue;
        state_d = Step;
      end
      Step: state_d = Ready;
      Ready: if (commit_gnt) state_d = Idle;
      Held: if (context_done) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    source_q <= source_d;
    cq_q     <= cq_d;
    ring_q   <= ring_d;
    queue_q  <= queue_d;
    if (state_q == Step) begin
      queue_we_q   <= queue_we;
      queue_next_q <= queue_next;
      rec_q        <= rec;
      out_valid_q  <= out_valid;
      out_q        <= out;
    end
    if (rst) state_q <= Idle;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_grant:  assert (!commit_gnt || commit_req);
      a_source: assert (state_q inside {Idle, Held} || (source_q & req) == source_q);
      a_cq_wr:  assert (!cq_wr_valid || 32'(cq_wr_index) < NumCq);
    end
  end
`endif
endmodule
