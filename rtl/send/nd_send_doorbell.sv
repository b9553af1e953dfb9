// Takes doorbells of send queues, and keeps their producer indices.
//
// Each doorbell is committed (CommitSqDoorbell). For a queue pair outside the table or in QpReset
// it has no effect; else `posted` tells of it in the granted clock, and the index can be read in
// the next one. Doorbells of the queue pair that is being cleared wait.
module nd_send_doorbell
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic                  clk,
  input  logic                  rst,

  input  logic                  sq_db_valid,
  output logic                  sq_db_ready,
  input  doorbell_t             sq_db,
  input  qp_state_e [NumQp-1:0] qp_states,
  output logic                  commit_req,
  output commit_t               commit_record,
  input  logic                  commit_gnt,

  input  logic                  clear_valid,
  input  qp_t                   clear_qp,
  output logic                  clear_done,

  output logic                  posted_valid,
  output qp_t                   posted_qp,

  // producer indices, one clock later: fetch, retire
  input  qp_t  [1:0]            producer_addr,
  output idx_t [1:0]            producer
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  doorbell_t db;
  logic      db_valid, we, clear, cleared_q, cleared_d, known;
  row_t      row;
  idx_t      word;

  nd_skid #(.T(doorbell_t)) u_skid (
    .clk, .rst, .in_valid(sq_db_valid), .in_ready(sq_db_ready), .in_data(sq_db),
    .out_valid(db_valid), .out_ready(commit_gnt), .out_data(db)
  );

  assign commit_req    = db_valid && !(clear_valid && db.number == clear_qp);
  assign commit_record = commit_rec(CommitSqDoorbell, 24'(db.number), db.index, '0, '0, '0);
  assign known         = db.number < 16'(NumQp) && qp_states[row_t'(db.number)] != QpReset;
  assign posted_valid  = commit_gnt && known;
  assign posted_qp     = db.number;

  assign clear      = clear_valid && !cleared_q && !commit_gnt;
  assign cleared_d  = clear_valid && (cleared_q || clear);
  assign clear_done = cleared_q;

  assign we   = posted_valid || clear;
  assign row  = clear ? row_t'(clear_qp) : row_t'(db.number);
  assign word = clear ? '0 : db.index;

  for (genvar i = 0; i < 2; i++) begin : g_copy
    nd_ram #(.T(idx_t), .Depth(NumQp)) u_producer (
      .clk, .we, .waddr(row), .wdata(word), .raddr(row_t'(producer_addr[i])), .rdata(producer[i])
    );
  end

  always_ff @(posedge clk) begin
    cleared_q <= cleared_d;
    if (rst) cleared_q <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, db.is_arm, db.arm, clear_qp, producer_addr};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_gnt: assert (!commit_gnt || commit_req);
    end
  end
`endif
endmodule
