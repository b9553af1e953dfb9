// Sends one packet of a queue pair per job: checks, the walk over its bytes, and the grant.
//
// At the grant of CommitSqEmit its descriptor leaves on `tx`, its chunks become readable, the queue
// pair's progress moves, and a starting read enters the table of open reads. What is wrong with the
// request becomes CommitSqFail, which stops the queue pair. A job that has to wait is parked, one
// that a moved epoch, RxFatal or a clearing has overtaken is dropped: both begin again with
// `select`.
module nd_send_emit
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // reads outstanding per queue pair, a power of two
  parameter int unsigned MaxRead = 4,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  // entries fetched ahead per queue pair, a power of two
  parameter int unsigned Prefetch = 4,
  localparam int unsigned AheadBits = $clog2(Prefetch),
  localparam int unsigned SlotBits = MaxRead > 1 ? $clog2(MaxRead) : 1,
  localparam int unsigned SentBits = $clog2(Outstanding)
) (
  input  logic                clk,
  input  logic                rst,

  input  logic [7:0]          epoch,
  input  logic                stop_valid,     // RxFatal
  input  qp_t                 stop_qp,
  input  logic                clear_valid,
  input  qp_t                 clear_qp,
  output logic                clear_done,
  output logic                commit_req,
  output commit_t             commit_record,
  input  logic                commit_gnt,

  input  logic                job_valid,
  output logic                job_ready,
  input  job_t                job,
  output logic                emit_busy,
  output logic                emit_done,      // packet or failure of `emit_qp` granted
  output qp_t                 emit_qp,
  output logic [AheadBits-1:0] emit_slot,     // of its entry
  output logic                park_valid,     // `emit_qp` must wait
  output logic                advance_valid,  // a request of `emit_qp` is completely sent
  output logic                fail_valid,     // SqFail of `emit_qp`
  output logic                packet_valid,   // SqEmit of `emit_qp`

  output logic [1:0]          more_unit,
  input  logic [511:0]        more,

  output logic                tr_req_valid,
  input  logic                tr_req_ready,
  output translate_req_t      tr_req,
  input  logic                tr_rsp_valid,
  output logic                tr_rsp_ready,
  input  translate_rsp_t      tr_rsp,

  output logic                tx_valid,
  input  logic                tx_ready,
  output tx_desc_t            tx,
  output logic                chunk_valid,
  input  logic                chunk_ready,
  output chunk_t              chunk,

  // own state, answered one clock later
  input  qp_t                 progress_addr,
  output progress_t           progress,
  input  qp_t                 begun_addr,     // first request that has no `sent` entry
  output idx_t                begun,
  input  qp_t                 sent_qp,
  input  logic [SentBits-1:0] sent_slot,
  output sent_t               sent,
  input  qp_t                 next_psn_addr,
  output logic                next_psn_live,  // else it is the context's sq_psn
  output psn_t                next_psn,
  input  qp_t                 read_qp,
  input  logic [SlotBits-1:0] read_slot,
  output read_t               read,
  output logic [7:0]          reads_started
);
  if (MaxRead < 2 || MaxRead > 128 || (MaxRead & (MaxRead - 1)) != 0) begin : g_check_read
    $error("%m: MaxRead must be a power of two, 2 to 128");
  end
  if (Outstanding < 2 || Outstanding > 64 || (Outstanding & (Outstanding - 1)) != 0)
  begin : g_check_outstanding
    $error("%m: Outstanding must be a power of two, 2 to 64");
  end

  localparam int unsigned QpBits = $clog2(NumQp);
  typedef logic [QpBits-1:0] row_t;

  typedef enum logic [2:0] {
    Idle,
    Check,  // the plan is being made
    Start,  // the plan is there
    Walk    // bytes are looked up; then the grant
  } state_e;

  state_e      state_q, state_d;
  job_t        job_q, job_d;
  logic        stale_q, stale_d, stale;
  logic        failing_q, failing_d;  // the plan has a fault
  plan_t       plan;
  logic        take, start, abort, emit, fail, ok;
  logic        clear, cleared_q, cleared_d;
  logic        walk_done, walk_chunk_valid, push_valid, push_ready, drop, inline_push;
  chunk_t      walk_chunk, push_chunk;
  status_e     walk_status, status;
  fault_e      walk_fault, fault;
  logic [7:0]  walk_chunks, chunks_q, chunks_d;
  logic [3:0]  next_element;
  logic [31:0] next_offset;
  logic [3:0][127:0] sges;

  assign emit_busy = state_q != Idle;
  assign emit_qp   = job_q.qp;
  assign emit_slot = AheadBits'(job_q.progress.index);
  assign job_ready = state_q == Idle;
  assign take      = job_valid && job_ready;
  assign stale     = stale_q || epoch != job_q.epoch || (clear_valid && clear_qp == job_q.qp);
  assign abort     = stale;

  nd_send_check #(.MaxRead(MaxRead), .Outstanding(Outstanding)) u_check (
    .clk, .take, .job, .taken(job_q), .plan
  );

  nd_send_walk u_walk (
    .clk, .rst, .start, .abort, .check_only(plan.is_read),
    .use_kind(plan.is_read ? UseLocalWrite : UseLocalRead), .need(plan.need),
    .element(job_q.progress.element), .offset(job_q.progress.offset), .num_sge(job_q.wqe.num_sge),
    .pd(job_q.cfg.pd), .wqe(job_q.wqe), .more_unit, .more,
    .tr_req_valid, .tr_req_ready, .tr_req, .tr_rsp_valid, .tr_rsp_ready, .tr_rsp,
    .chunk_valid(walk_chunk_valid), .chunk_ready(push_ready), .chunk(walk_chunk),
    .done(walk_done), .status(walk_status), .fault(walk_fault), .chunks(walk_chunks),
    .next_element, .next_offset, .sges
  );

  always_comb begin
    state_d     = state_q;
    job_d       = job_q;
    failing_d   = failing_q;
    chunks_d    = chunks_q;
    stale_d     = stale || (stop_valid && stop_qp == job_q.qp);
    start       = 1'b0;
    inline_push = 1'b0;
    park_valid  = 1'b0;
    drop        = 1'b0;
    unique case (state_q)
      Idle: begin
        job_d    = job;
        stale_d  = stop_valid && stop_qp == job.qp;
        chunks_d = '0;
        if (take) state_d = Check;
      end
      Check: state_d = stale ? Idle : Start;
      Start: begin
        failing_d = plan.fault != FaultNone;
        if (stale) begin
          state_d = Idle;
        end else if (plan.blocked) begin
          park_valid = 1'b1;
          state_d    = Idle;
        end else if (failing_d) begin
          state_d = Walk;
        end else if (!plan.has_inline || push_ready) begin
          inline_push = plan.has_inline;
          chunks_d    = 8'(plan.has_inline);
          start       = 1'b1;
          state_d     = Walk;
        end
      end
      default: begin  // Walk
        if (commit_gnt || (stale && walk_done)) state_d = Idle;
        drop = walk_done && (fail || stale);
      end
    endcase
  end

  assign ok         = !failing_q && walk_fault == FaultNone;
  assign status     = failing_q ? StatusLocalQpOperation : walk_status;
  assign fault      = failing_q ? plan.fault : walk_fault;
  assign commit_req = state_q == Walk && walk_done && !stale && (tx_ready || !ok);
  assign emit       = commit_gnt && ok;
  assign fail       = commit_gnt && !ok;

  always_comb begin
    if (ok) begin
      commit_record = commit_rec(CommitSqEmit, 24'(job_q.qp), job_q.progress.index, plan.psn,
                                 '0, '0);
    end else begin
      commit_record = commit_rec(CommitSqFail, 24'(job_q.qp), job_q.progress.index, '0, 32'(fault),
                                 8'(status));
    end
  end

  // ---- chunks: readable at the grant ---------------------------------------------------------

  logic [6:0] unused_count;
  assign push_valid = inline_push || walk_chunk_valid;
  assign push_chunk = inline_push ? plan.chunk : walk_chunk;

  nd_fifo_commit #(.T(chunk_t), .Depth(64)) u_chunks (
    .clk, .rst, .in_valid(push_valid), .in_ready(push_ready), .in_data(push_chunk),
    .commit(emit), .discard(drop), .out_valid(chunk_valid), .out_ready(chunk_ready),
    .out_data(chunk), .count(unused_count)
  );

  assign tx_valid = emit;
  assign tx = '{
    qp: job_q.qp, respond: 1'b0, chunks: chunks_q + walk_chunks, opcode: plan.opcode,
    solicited: plan.solicited, ack_req: plan.ack_req, psn: plan.psn, len: plan.len,
    va: job_q.wqe.remote_address, token: job_q.wqe.remote_token, dma_len: job_q.wqe.length,
    aeth: '0, ieth: job_q.wqe.invalidate_token
  };

  // ---- state ---------------------------------------------------------------------------------

  progress_t progress_next, progress_wdata;
  sent_t     sent_wdata;
  read_t     read_wdata;
  idx_t      begun_wdata;
  row_t      row;
  logic      state_we, begun_we;

  assign emit_done     = commit_gnt;
  assign packet_valid  = emit;
  assign advance_valid = emit && plan.last;
  assign fail_valid    = fail;

  always_comb begin
    progress_next         = job_q.progress;
    progress_next.live    = 1'b1;
    progress_next.psn     = (plan.is_read ? plan.last_psn : plan.psn) + 24'd1;
    progress_next.started = !plan.last;
    if (!job_q.progress.started) progress_next.wide = plan.wide;
    if (plan.last) begin
      progress_next.index   = job_q.progress.index + 16'd1;
      progress_next.element = '0;
      progress_next.offset  = '0;
      progress_next.sent    = '0;
      progress_next.packet  = '0;
      progress_next.reads   = job_q.progress.reads + 8'(plan.is_read);
    end else begin
      progress_next.element = next_element;
      progress_next.offset  = next_offset;
      progress_next.sent    = job_q.progress.sent + 32'(plan.len);
      progress_next.packet  = job_q.progress.packet + 6'd1;
    end
    sent_wdata = '{
      last: plan.last_psn, opcode: job_q.wqe.opcode, silent: job_q.wqe.silent,
      is_read: plan.is_read, read: job_q.progress.reads,
      failed: !ok, unsent: !ok && !job_q.progress.started,
      status: status, fault: fault
    };
    read_wdata = '{
      wqe_index: job_q.progress.index, psn: plan.psn, len: job_q.wqe.length,
      invalidate: job_q.wqe.local_invalidate && job_q.wqe.num_sge != '0, sge: sges
    };
  end

  // Each memory has this one writer; clearing takes a clock without a grant.
  assign clear          = clear_valid && !cleared_q && !commit_gnt
                          && !(emit_busy && emit_qp == clear_qp);
  assign cleared_d      = clear_valid && (cleared_q || clear);
  assign clear_done     = cleared_q;
  assign state_we       = emit || clear;
  assign begun_we       = commit_gnt || clear;
  assign row            = clear ? row_t'(clear_qp) : row_t'(job_q.qp);
  assign progress_wdata = clear ? '0 : progress_next;
  assign begun_wdata    = clear ? '0 : job_q.progress.index + 16'd1;

  nd_ram #(.T(progress_t), .Depth(NumQp)) u_progress (
    .clk, .we(state_we), .waddr(row), .wdata(progress_wdata), .raddr(row_t'(progress_addr)),
    .rdata(progress)
  );
  nd_ram #(.T(logic [24:0]), .Depth(NumQp)) u_next_psn (
    .clk, .we(state_we), .waddr(row), .wdata({progress_wdata.live, progress_wdata.psn}),
    .raddr(row_t'(next_psn_addr)), .rdata({next_psn_live, next_psn})
  );
  nd_ram #(.T(logic [7:0]), .Depth(NumQp)) u_reads_started (
    .clk, .we(state_we), .waddr(row), .wdata(progress_wdata.reads), .raddr(row_t'(read_qp)),
    .rdata(reads_started)
  );
  nd_ram #(.T(idx_t), .Depth(NumQp)) u_begun (
    .clk, .we(begun_we), .waddr(row), .wdata(begun_wdata), .raddr(row_t'(begun_addr)), .rdata(begun)
  );
  nd_ram #(.T(sent_t), .Depth(NumQp * Outstanding)) u_sent (
    .clk, .we(commit_gnt), .waddr({row_t'(job_q.qp), SentBits'(job_q.progress.index)}),
    .wdata(sent_wdata), .raddr({row_t'(sent_qp), sent_slot}), .rdata(sent)
  );
  nd_ram #(.T(read_t), .Depth(NumQp * MaxRead)) u_reads (
    .clk, .we(emit && plan.is_read),
    .waddr({row_t'(job_q.qp), SlotBits'(job_q.progress.reads)}), .wdata(read_wdata),
    .raddr({row_t'(read_qp), read_slot}), .rdata(read)
  );

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    if (take) job_q <= job_d;
    stale_q   <= stale_d;
    failing_q <= failing_d;
    chunks_q  <= chunks_d;
    cleared_q <= cleared_d;
    if (rst) begin
      state_q   <= Idle;
      cleared_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, clear_qp, progress_addr, begun_addr, sent_qp, next_psn_addr, read_qp};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_gnt:  assert (!commit_gnt || commit_req);
      a_room: assert (!tx_valid || tx_ready);
      a_len:  assert (!emit || plan.is_read || job_q.wqe.inline_data || walk_chunks != '0
                      || plan.len == '0);
    end
  end
`endif
endmodule
