// One step of a completion queue ("Completion queues" of the semantics): state and work in, next state,
// commit record and what is written out. Combinational.
module nd_complete_step
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_complete_pkg::*;
(
  input  what_e       what,
  input  logic [15:0] cq,
  input  logic        known,       // the queue is in the table
  input  ring_t       ring,
  input  queue_t      queue,
  input  logic        due,         // its event is put off
  input  completion_t completion,  // DoEntry
  input  doorbell_t   doorbell,    // DoDoorbell
  input  qp_t         event_qp,    // DoEvent
  input  status_e     event_status,
  input  logic [15:0] event_srq,   // DoLimit
  output logic        queue_we,
  output queue_t      queue_next,
  output logic        due_next,
  output commit_t     rec,
  output logic        out_valid,
  output cpl_write_t  out
);
  logic  exists, full, notable, fire, slow, reached, unused;
  idx_t  size, slot, ahead, level;
  held_e held;
  cqe_t  entry;

  assign unused = &{1'b0, doorbell.number, completion.cq, completion.none_left, ahead};

  always_comb begin
    exists  = known && ring.valid;
    size    = 16'd1 << ring.log_size[3:0];
    slot    = queue.producer & (size - 16'd1);
    full    = queue.producer - queue.consumer == size;
    notable = completion.status != StatusSuccess || (completion.receive && completion.solicited);

    entry             = '0;
    entry.wqe_index   = completion.wqe_index;
    entry.opcode      = completion.opcode;
    entry.status      = completion.status;
    entry.qpn         = {8'd0, completion.qp};
    entry.receive     = completion.receive;
    entry.solicited   = completion.solicited;
    entry.invalidated = completion.invalidated;
    entry.byte_len    = completion.byte_len;
    entry.token       = completion.token;
    entry.error_code  = completion.error_code;
    entry.phase       = (queue.producer & size) == '0;

    queue_we   = 1'b0;
    queue_next = queue;
    due_next   = due;
    rec        = '0;
    fire       = 1'b0;
    held       = queue.held;
    ahead      = queue.notable - doorbell.index;
    out        = '0;
    out.addr   = ring.base + {43'd0, slot, 5'd0};
    out.entry  = entry;
    out.kind   = EventCompletion;
    out.number = {8'd0, cq};
    unique case (what)
      DoEntry: begin
        rec = commit_rec(CommitComplete, {8'd0, cq}, known ? queue.producer : '0, '0,
                         {7'd0, completion.receive, 8'd0, completion.qp}, 8'd0);
        queue_we = exists;
        if (!exists || queue.dead) begin
          rec.cause = 8'd1;
        end else if (full) begin
          rec.cause       = 8'd1;
          queue_next.dead = 1'b1;
          due_next        = 1'b0;
          out.has_event   = 1'b1;
          out.kind        = EventCqError;
        end else begin
          out.has_entry       = 1'b1;
          queue_next.producer = queue.producer + 16'd1;
          if (notable) queue_next.notable = queue.producer + 16'd1;
          fire = held == HeldAny || (held == HeldSolicited && notable);
        end
      end
      DoDoorbell: begin
        rec = commit_rec(CommitCqDoorbell, {8'd0, cq}, doorbell.index, '0, '0, 8'd0);
        queue_we            = exists;
        queue_next.consumer = doorbell.index;
        if (doorbell.is_arm) begin
          rec.kind  = CommitArm;
          rec.cause = {6'd0, doorbell.arm};
          if (held_of(doorbell.arm) > held) held = held_of(doorbell.arm);
          queue_next.held = held;
          if (exists && queue.dead) begin
            out.has_event = 1'b1;
            out.kind      = EventCqError;
          end else if (exists) begin
            fire = (held == HeldAny && queue.producer != doorbell.index) ||
                   (held == HeldSolicited && ahead != '0 && !ahead[15]);
          end
        end
      end
      DoLimit: begin
        rec = commit_rec(CommitSrqEvent, {8'd0, event_srq}, '0, '0, '0, 8'd0);
        out.has_event = 1'b1;
        out.kind      = EventSrqLimit;
        out.number    = {8'd0, event_srq};
      end
      DoDue: begin
        rec      = commit_rec(CommitCqEvent, {8'd0, cq}, '0, '0, '0, 8'd0);
        queue_we = 1'b1;
        fire     = 1'b1;
      end
      default: begin
        rec = commit_rec(CommitQpEvent, {8'd0, event_qp}, '0, '0, '0, event_status);
        out.has_event = 1'b1;
        out.kind      = event_status == StatusFlushed ? EventLastWqe : EventQpError;
        out.code      = event_status;
        out.number    = {8'd0, event_qp};
      end
    endcase
    // Moderation puts it off until so many entries are there, or its time has ended.
    level   = queue_next.producer - queue_next.consumer;
    reached = ring.moderation.count != '1 && level >= ring.moderation.count;
    slow    = moderated(ring.moderation) && what inside {DoEntry, DoDoorbell};
    if (slow && exists && !out.has_event && (what == DoEntry || doorbell.is_arm)) begin
      if (fire) due_next = 1'b1;
      fire = due_next && reached;
    end
    if (fire) begin
      out.has_event   = 1'b1;
      queue_next.held = HeldNone;
      due_next        = 1'b0;
    end
    out_valid = out.has_entry || out.has_event;
  end
endmodule
