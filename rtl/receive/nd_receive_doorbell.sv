// Takes receive doorbells, one action each, and keeps the producer index of each queue pair.
//
// A doorbell of a queue pair outside the table, in QpReset, or with a shared receive queue is
// reported but has no effect. `pause` withholds the request for everyone, `hold` for the queue pair
// `hold_qp`. `done` is high in the clock in which a doorbell took effect.
module nd_receive_doorbell
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64,
  // readers of the producer index
  parameter int unsigned Reads = 3
) (
  input  logic      clk,
  input  logic      rst,

  input  logic      db_valid,
  output logic      db_ready,
  input  doorbell_t db,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [NumQp-1:0]      qp_shared,
  input  logic      pause,
  input  logic      hold,
  input  qp_t       hold_qp,
  input  logic      clear,
  input  qp_t       clear_qp,

  output logic      commit_req,
  output commit_t   commit_record,
  input  logic      commit_gnt,
  output logic      done,
  output qp_t       done_qp,

  input  qp_t       rqp[Reads],
  output idx_t      producer[Reads]
);
  localparam int unsigned QpBits = $clog2(NumQp);

  logic      valid_q, valid_d;
  doorbell_t db_q, db_d;
  logic      exists, unused;

  assign unused   = &{1'b0, db_q.is_arm, db_q.arm};
  assign db_ready = !valid_q;
  assign exists   = 32'(db_q.number) < NumQp && qp_states[db_q.number[QpBits-1:0]] != QpReset &&
                    !qp_shared[db_q.number[QpBits-1:0]];

  assign commit_req = valid_q && !pause && !(hold && hold_qp == db_q.number);
  assign commit_record =
      commit_rec(CommitRqDoorbell, {8'd0, db_q.number}, db_q.index, '0, '0, 8'd0);
  assign done       = commit_gnt && exists;
  assign done_qp    = db_q.number;

  always_comb begin
    valid_d = valid_q;
    db_d    = db_q;
    if (commit_gnt) valid_d = 1'b0;
    if (db_valid && db_ready) begin
      valid_d = 1'b1;
      db_d    = db;
    end
  end

  always_ff @(posedge clk) begin
    valid_q <= valid_d;
    db_q    <= db_d;
    if (rst) valid_q <= 1'b0;
  end

  nd_receive_table #(.T(idx_t), .NumQp(NumQp), .Reads(Reads)) u_producer (
    .clk, .clear, .clear_qp, .we(done), .wqp(db_q.number), .wdata(db_q.index), .rqp,
    .rdata(producer)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) a_grant: assert (!commit_gnt || commit_req);
`endif
endmodule
