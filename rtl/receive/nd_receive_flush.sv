// Flushes the receive queues of queue pairs in QpErr, one action for each receive.
//
// Of a queue pair with a shared receive queue: the entry that it took, then that there is none left,
// once. Looks at one queue pair after the other. The completion goes the way of all receive
// completions (as a job without payload), so it stays behind those under way. `commit_gnt` means:
// push `job`, consumer index + 1 (`own`).
//
// When it first sees a queue pair in QpErr it sends a mark the same way (`mark_*`, taken when no other
// job is pushed). `settled` is set when the mark came back (`back_*`): all payload of that queue pair
// is placed.
module nd_receive_flush
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64
) (
  input  logic    clk,
  input  logic    rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [NumQp-1:0]      qp_shared,
  input  logic    clear,
  input  qp_t     clear_qp,
  input  logic    pause,
  input  logic    hold,
  input  qp_t     hold_qp,
  input  logic    touched,
  input  qp_t     touched_qp,
  input  logic    kept,        // it took an entry of its shared queue for more packets ...
  input  logic    released,    // ... which is done
  input  qp_t     rx_qp,

  output qp_t     qp,          // lookups, data one clock later
  input  idx_t    producer,
  input  idx_t    consumer,
  input  logic [15:0] recv_cq,

  input  logic    room,        // for the job
  output logic    commit_req,
  output commit_t commit_record,
  input  logic    commit_gnt,
  output job_t    job,
  output idx_t    job_consumer,
  output logic    own,         // a receive of the queue pair's own ring

  output logic    mark_valid,
  input  logic    mark_ready,
  output job_t    mark,
  input  logic    back_valid,
  input  qp_t     back_qp,
  output logic [NumQp-1:0] settled
);
  localparam int unsigned QpBits = $clog2(NumQp);
  typedef logic [QpBits-1:0] qp_bits_t;

  typedef enum logic [2:0] {
    Scan,
    Mark,
    Wait,
    Decide,
    Ready
  } state_e;

  state_e   state_q, state_d;
  qp_bits_t qp_q, qp_d;
  idx_t     producer_q, producer_d, consumer_q, consumer_d;
  logic [15:0] cq_q, cq_d;
  logic     dirty_q, dirty_d, failed, shared, last_q, last_d;
  logic [NumQp-1:0] kept_q, kept_d;  // holds an entry of its shared queue
  logic [NumQp-1:0] told_q, told_d;  // said that none is left
  logic [NumQp-1:0] errors, marked_q, marked_d, settled_q, settled_d;

  logic unused;
  assign unused = &{1'b0, back_qp, clear_qp, rx_qp};

  assign qp           = qp_t'(qp_q);
  assign failed       = qp_states[qp_q] == QpErr;
  assign job_consumer = consumer_q;
  assign commit_req   = state_q == Ready && failed && !dirty_q && room && !pause &&
                        !(hold && hold_qp == qp);
  assign shared       = qp_shared[qp_q];
  assign own          = !shared;
  assign commit_record =
      commit_rec(CommitFlush, {8'd0, qp}, last_q ? '0 : consumer_q, '0, '0, last_q ? 8'd2 : 8'd1);

  always_comb begin
    job                      = '0;
    job.receive              = 1'b1;
    job.qp                   = qp;
    job.completion.qp        = qp;
    job.completion.cq        = cq_q;
    job.completion.receive   = 1'b1;
    job.completion.wqe_index = consumer_q;
    job.completion.opcode    = OpcodeReceive;
    job.completion.status    = StatusFlushed;
    job.completion.none_left = last_q;
  end

  assign mark_valid = state_q == Mark && failed && !pause && !(hold && hold_qp == qp);
  assign settled    = settled_q;

  always_comb begin
    mark                    = '0;
    mark.other              = 1'b1;
    mark.other_kind         = PostFatal;
    mark.qp                 = qp;
    mark.completion.qp      = qp;
    mark.completion.receive = 1'b1;
  end

  always_comb begin
    for (int unsigned i = 0; i < NumQp; i++) errors[i] = qp_states[i] == QpErr;
    marked_d  = marked_q;
    settled_d = settled_q;
    if (mark_valid && mark_ready) marked_d[qp_q] = 1'b1;
    if (back_valid) settled_d[back_qp[QpBits-1:0]] = 1'b1;
    marked_d  &= errors;
    settled_d &= errors;

    kept_d = kept_q;
    told_d = told_q;
    if (released) kept_d[rx_qp[QpBits-1:0]] = 1'b0;
    if (kept) kept_d[rx_qp[QpBits-1:0]] = 1'b1;
    if (commit_gnt) begin
      kept_d[qp_q] = 1'b0;
      if (last_q) told_d[qp_q] = 1'b1;
    end
    if (clear) begin
      kept_d[clear_qp[QpBits-1:0]] = 1'b0;
      told_d[clear_qp[QpBits-1:0]] = 1'b0;
    end
  end

  always_comb begin
    state_d    = state_q;
    qp_d       = qp_q;
    producer_d = producer_q;
    consumer_d = consumer_q;
    cq_d       = cq_q;
    last_d     = last_q;
    dirty_d    = dirty_q || (touched && touched_qp == qp);
    unique case (state_q)
      Scan: begin
        dirty_d = touched && touched_qp == qp;
        if (!failed) qp_d = qp_q + 1'b1;
        else if (!marked_q[qp_q]) state_d = Mark;
        else state_d = Wait;
      end
      Mark: if (mark_ready || !failed) state_d = Scan;
      Wait: begin
        producer_d = producer;
        consumer_d = consumer;
        cq_d       = recv_cq;
        state_d    = Decide;
      end
      Decide: begin
        last_d = shared && !kept_q[qp_q];
        if (shared ? kept_q[qp_q] || !told_q[qp_q] : producer_q != consumer_q) begin
          state_d = Ready;
        end else begin
          qp_d    = qp_q + 1'b1;
          state_d = Scan;
        end
      end
      default: begin
        if (commit_gnt || dirty_q || !failed) state_d = Scan;
        else if (hold && hold_qp == qp) begin
          qp_d    = qp_q + 1'b1;
          state_d = Scan;
        end
      end
    endcase
  end

  always_ff @(posedge clk) begin
    state_q    <= state_d;
    qp_q       <= qp_d;
    producer_q <= producer_d;
    consumer_q <= consumer_d;
    cq_q       <= cq_d;
    last_q     <= last_d;
    kept_q     <= kept_d;
    told_q     <= told_d;
    dirty_q    <= dirty_d;
    marked_q   <= marked_d;
    settled_q  <= settled_d;
    if (rst) begin
      state_q   <= Scan;
      qp_q      <= '0;
      marked_q  <= '0;
      settled_q <= '0;
      kept_q    <= '0;
      told_q    <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) a_grant: assert (!commit_gnt || commit_req);
`endif
endmodule
