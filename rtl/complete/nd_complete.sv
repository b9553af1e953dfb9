// Room `complete`: writes completion entries, takes doorbells and arms of completion queues, fires events.
//
// Sources are served in turn, each in its order: completions and queue-pair events of `send` [0] and
// `receive` [1], doorbells, limit events, and events that were put off. Among the completions of
// `receive` comes that a queue pair has no receive of its shared queue left: an event. One at a time
// goes through the lookup of its completion queue's state and the step; then it asks for the grant.
// `cq_wr` clears a queue, or gives it another ring (after all doorbells that have come) or another
// moderation; nothing is decided from then until the table write was granted (`context_done`).
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
  input  logic [15:0]       moderation_unit,  // clocks of a microsecond
  output logic [15:0]       cq_switch,        // producer index when the last ring was left

  // context
  input  logic              cq_wr_valid,
  output logic              cq_wr_ready,
  input  table_e            cq_wr_table,
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
    Change,  // another ring or moderation, if the queue is valid
    Held     // a queue was written, its table write is not granted yet
  } state_e;

  state_e      state_q, state_d;
  logic [6:0]  req, gnt, source_q, source_d;  // {due, limit, doorbell, events, completions}
  logic [2:0]  unused_idx;
  logic [15:0] cq_q, cq_d;
  ring_t       ring, ring_q, ring_d, ring_wdata;
  queue_t      queue, queue_q, queue_d, queue_wdata, queue_next, queue_next_q;
  logic        queue_we, queue_we_q, clear, write, ring_we, table_we, may_write;
  logic        new_ring, new_limit, change_q, change_d;
  commit_t     rec, rec_q;
  logic        out_valid, out_valid_q, out_room;
  cpl_write_t  out, out_q;
  what_e       what;
  qp_t         event_qp;
  status_e     event_status;
  completion_t picked, source_completion;
  logic        unused;
  logic [2:0]  unused_count;
  logic [NumCq-1:0] due_q, due_d;  // its event is put off
  logic        due, due_next, due_next_q, due_valid, due_begins;
  logic [15:0] due_cq, switch_q, switch_d;
  cq_bits_t    row;

  assign unused = &{1'b0, cq_wr, picked, cq_wr_index, unused_idx};

  // Doorbells that were written before a new ring speak of the old one.
  assign may_write = cq_wr_valid && (cq_wr_table != TableCqRing || !cq_db_valid);

  assign req = {due_valid, srq_event_valid, cq_db_valid, qp_event_valid, completion_valid};
  nd_rr_arb #(.N(7)) u_turn (
    .clk, .rst, .req, .advance(state_q == Idle && !may_write), .gnt, .gnt_idx(unused_idx)
  );

  assign picked            = completion[gnt[1]];
  assign source_completion = completion[source_q[1]];
  assign commit_req        = state_q == Ready && out_room;
  assign commit_record     = rec_q;
  assign cq_wr_ready       = state_q == Held;
  assign row               = cq_bits_t'(write ? cq_wr_index : cq_q);
  assign clear             = state_q == Idle && may_write && cq_wr_table == TableCq;
  assign new_ring          = state_q == Change && ring_q.valid && cq_wr_table == TableCqRing;
  assign new_limit         = state_q == Change && ring_q.valid && cq_wr_table == TableCqModeration;
  assign write             = clear || new_ring || new_limit;
  assign ring_we           = write;
  assign table_we          = clear || new_ring || (commit_gnt && queue_we_q);
  assign cq_switch         = switch_q;
  assign {srq_event_ready, cq_db_ready, qp_event_ready, completion_ready} =
      commit_gnt ? source_q[5:0] : '0;

  always_comb begin
    what         = DoEntry;
    event_qp     = qp_event_qp[source_q[3]];
    event_status = qp_event_status[source_q[3]];
    if (source_q[6]) what = DoDue;
    else if (source_q[5]) what = DoLimit;
    else if (source_q[4]) what = DoDoorbell;
    else if (|source_q[3:2]) what = DoEvent;
    else if (source_completion.none_left) begin
      what         = DoEvent;
      event_qp     = source_completion.qp;
      event_status = StatusFlushed;
    end
  end

  always_comb begin
    ring_wdata.valid               = cq_wr.valid;
    ring_wdata.log_size            = cq_wr.log_size;
    ring_wdata.base                = cq_wr.base;
    ring_wdata.moderation.count    = cq_wr.moderation_count;
    ring_wdata.moderation.interval = cq_wr.moderation_interval;
    queue_wdata                    = clear ? '0 : queue_next_q;
    if (new_ring) begin
      ring_wdata.valid      = 1'b1;
      ring_wdata.moderation = ring_q.moderation;
      queue_wdata           = queue_q;
      queue_wdata.producer  = '0;
      queue_wdata.consumer  = '0;
      queue_wdata.notable   = '0;
    end
    if (new_limit) begin
      ring_wdata            = ring_q;
      ring_wdata.moderation = '{
        count: cq_wr.moderation_count, interval: cq_wr.moderation_interval
      };
    end
  end

  // What was put off: its time begins when it becomes due, and anew with a new setting.
  assign due        = due_q[cq_bits_t'(cq_q)];
  assign due_begins = (new_limit && due) || (commit_gnt && queue_we_q && due_next_q && !due);

  always_comb begin
    due_d = due_q;
    if (clear) due_d[row] = 1'b0;
    if (commit_gnt && queue_we_q) due_d[row] = due_next_q;
    switch_d = new_ring ? queue_q.producer : switch_q;
  end

  nd_ram #(.T(ring_t), .Depth(NumCq)) u_ring (
    .clk, .we(ring_we), .waddr(row), .wdata(ring_wdata),
    .raddr(cq_bits_t'(cq_q)), .rdata(ring)
  );
  nd_ram #(.T(queue_t), .Depth(NumCq)) u_queue (
    .clk, .we(table_we), .waddr(row), .wdata(queue_wdata),
    .raddr(cq_bits_t'(cq_q)), .rdata(queue)
  );
  nd_complete_step u_step (
    .what, .cq(cq_q), .known(32'(cq_q) < NumCq), .ring(ring_q), .queue(queue_q), .due,
    .completion(source_completion), .doorbell(cq_db),
    .event_qp, .event_status, .event_srq(srq_event),
    .queue_we, .queue_next, .due_next, .rec, .out_valid, .out
  );
  nd_complete_due #(.NumCq(NumCq)) u_due (
    .clk, .rst, .unit(moderation_unit), .due(due_q), .begin_valid(due_begins), .begin_cq(cq_q),
    .limit_we(write), .limit_cq(cq_wr_index), .limit(ring_wdata.moderation),
    .out_valid(due_valid), .out_cq(due_cq)
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
    change_d = change_q;
    unique case (state_q)
      Idle: begin
        source_d = gnt;
        change_d = may_write;
        cq_d     = gnt[6] ? due_cq : gnt[4] ? cq_db.number : picked.cq;
        if (gnt[5] || |gnt[3:2]) state_d = Step;
        else if (|gnt) state_d = Look;
        if (may_write) begin
          source_d = '0;
          cq_d     = cq_wr_index;
          state_d  = clear ? Held : Look;
        end
      end
      Look: state_d = Load;
      Load: begin
        ring_d  = ring;
        queue_d = queue;
        state_d = change_q ? Change : Step;
      end
      Step: state_d = Ready;
      Change: state_d = Held;
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
    change_q <= change_d;
    due_q    <= due_d;
    switch_q <= switch_d;
    if (state_q == Step) begin
      queue_we_q   <= queue_we;
      queue_next_q <= queue_next;
      due_next_q   <= due_next;
      rec_q        <= rec;
      out_valid_q  <= out_valid;
      out_q        <= out;
    end
    if (rst) begin
      state_q  <= Idle;
      due_q    <= '0;
      switch_q <= '0;
    end
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
