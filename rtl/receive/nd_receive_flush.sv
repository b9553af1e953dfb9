// Flushes the receive queues of queue pairs in QpErr, one action for each receive.
//
// Looks at one queue pair after the other. The completion goes the way of all receive completions
// (as a job without payload), so it stays behind those under way. `commit_gnt` means: push `job`,
// consumer index + 1.
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
  input  logic    pause,
  input  logic    hold,
  input  qp_t     hold_qp,
  input  logic    touched,
  input  qp_t     touched_qp,

  output qp_t     qp,          // lookups, data one clock later
  input  idx_t    producer,
  input  idx_t    consumer,

  input  logic    room,        // for the job
  output logic    commit_req,
  output commit_t commit_record,
  input  logic    commit_gnt,
  output job_t    job,
  output idx_t    job_consumer
);
  localparam int unsigned QpBits = $clog2(NumQp);
  typedef logic [QpBits-1:0] qp_bits_t;

  typedef enum logic [1:0] {
    Scan,
    Wait,
    Decide,
    Ready
  } state_e;

  state_e   state_q, state_d;
  qp_bits_t qp_q, qp_d;
  idx_t     producer_q, producer_d, consumer_q, consumer_d;
  logic     dirty_q, dirty_d, failed;

  assign qp           = qp_t'(qp_q);
  assign failed       = qp_states[qp_q] == QpErr;
  assign job_consumer = consumer_q;
  assign commit_req   = state_q == Ready && failed && !dirty_q && room && !pause &&
                        !(hold && hold_qp == qp);
  assign commit_record   = commit_rec(CommitFlush, {8'd0, qp}, consumer_q, '0, '0, 8'd1);

  always_comb begin
    job                      = '0;
    job.receive              = 1'b1;
    job.qp                   = qp;
    job.completion.qp        = qp;
    job.completion.receive   = 1'b1;
    job.completion.wqe_index = consumer_q;
    job.completion.opcode    = OpcodeReceive;
    job.completion.status    = StatusFlushed;
  end

  always_comb begin
    state_d    = state_q;
    qp_d       = qp_q;
    producer_d = producer_q;
    consumer_d = consumer_q;
    dirty_d    = dirty_q || (touched && touched_qp == qp);
    unique case (state_q)
      Scan: begin
        dirty_d = touched && touched_qp == qp;
        if (failed) state_d = Wait;
        else qp_d = qp_q + 1'b1;
      end
      Wait: begin
        producer_d = producer;
        consumer_d = consumer;
        state_d    = Decide;
      end
      Decide: begin
        if (producer_q != consumer_q) begin
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
    dirty_q    <= dirty_d;
    if (rst) begin
      state_q <= Scan;
      qp_q    <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) a_grant: assert (!commit_gnt || commit_req);
`endif
endmodule
