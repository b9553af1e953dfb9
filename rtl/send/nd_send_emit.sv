// Sends one packet of a queue pair per job, or executes a local request: checks, the walk over its
// bytes or its way through `context`, and the grant.
//
// At the grant of CommitSqEmit its descriptor leaves on `tx`, its chunks become readable, and the
// queue pair's tables are written (`packet`). At that of CommitSqLocal `context` makes the change, and
// the tables are written too; a local request that was executed before only moves the tables on, which
// is no action. What is wrong with the request becomes CommitSqFail,
// which stops the queue pair. A job that has to wait is parked, one that a moved epoch, a stop, a
// go-back or a clearing has overtaken is dropped: both begin again with `select`. One that a response
// may have passed waits until that is known.
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
  localparam int unsigned SentBits  = $clog2(Outstanding),
  localparam int unsigned AheadBits = $clog2(Prefetch)
) (
  input  logic                clk,
  input  logic                rst,

  input  logic [7:0]          epoch,
  input  logic [NumQp-1:0]    behind,
  input  logic                halt_valid,     // sending stops, or goes back
  input  qp_t                 halt_qp,
  input  logic                accept_valid,   // `una` moved
  input  qp_t                 accept_qp,
  input  logic                move_valid,     // sending goes on elsewhere
  input  logic                end_valid,      // its place is known
  input  qp_t                 move_qp,        // of either
  input  logic                clear_valid,
  input  qp_t                 clear_qp,
  output logic                commit_req,
  output commit_t             commit_record,
  input  logic                commit_gnt,

  input  logic                job_valid,
  output logic                job_ready,
  input  job_t                job,
  input  logic [Outstanding-1:0] job_locals,  // its requests that are local, by slot
  output logic                emit_busy,
  output logic                emit_done,      // that of `emit_qp` is done
  output qp_t                 emit_qp,
  output logic [AheadBits-1:0] emit_slot,     // of its entry
  output logic                park_valid,     // `emit_qp` must wait
  output logic                advance_valid,  // a request of `emit_qp` is completely sent
  output logic                fail_valid,     // SqFail of `emit_qp`
  output logic                packet_valid,   // SqEmit of `emit_qp`
  output logic                packet_level,   // the packet after it was never sent
  output logic                executed_valid, // SqLocal of `emit_qp`
  output logic                done_valid,     // a request of `emit_qp` is done at once ...
  output logic                done_drains,    // ... when what was decided before is done, too
  output logic                skip_valid,     // a local request of `emit_qp` is passed over

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

  // a local request on its way through `context`
  output logic                local_start,
  output logic                local_stop,
  input  logic                local_busy,
  input  logic                local_done,
  input  logic                local_failed,
  input  fault_e              local_fault,
  output logic                local_drop,     // it failed
  output local_req_t          local_req,
  output addr_t               list_addr,      // of its page list

  // what the tables are written with: at `packet_valid`, `executed_valid` and `skip_valid`; at
  // `fail_valid`
  output packet_t             packet,
  output logic [Outstanding-1:0] packet_locals,
  output failure_t            failure
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  typedef enum logic [2:0] {
    Idle,
    Check,  // the plan is being made; the look-up of its bytes begins
    Plan,   // the plan is there: does it hold?
    Walk,   // bytes are looked up; then the grant
    Local   // the local request is checked; then the grant. Or it is passed over
  } state_e;

  state_e      state_q, state_d;
  job_t        job_q, job_d;
  logic        stale_q, stale_d, stale;
  logic        pause_q, pause_d;      // a response may have passed the packet
  psn_t        next_q, next_d;        // PSN after the packet
  logic        level_q, level_d;      // it was never sent
  logic        failing_q, failing_d;  // the plan has a fault
  logic [Outstanding-1:0] locals_q;
  plan_t       plan;
  logic        take, start, abort, emit, fail, ok;
  logic        walk_done, walk_chunk_valid, push_valid, push_ready, drop, inline_push;
  chunk_t      walk_chunk, push_chunk;
  status_e     walk_status, status;
  fault_e      walk_fault, fault;
  logic [7:0]  walk_chunks, chunks_q, chunks_d;
  logic [3:0]  next_element;
  logic [31:0] next_offset, need;
  logic [3:0][127:0] sges;

  assign emit_busy = state_q != Idle;
  assign emit_qp   = job_q.qp;
  assign emit_slot = AheadBits'(job_q.progress.index);
  assign job_ready = state_q == Idle;
  assign take      = job_valid && job_ready;
  assign stale     = stale_q || epoch != job_q.epoch || (clear_valid && clear_qp == job_q.qp);
  assign abort     = stale || (state_q == Plan && (plan.blocked || plan.fault != FaultNone));

  nd_send_check #(.MaxRead(MaxRead), .Outstanding(Outstanding)) u_check (
    .clk, .take, .job, .taken(job_q), .need, .plan
  );

  nd_send_walk u_walk (
    .clk, .rst, .start, .abort, .check_only(plan.is_read),
    .use_kind(plan.is_read ? UseLocalWrite : UseLocalRead), .need,
    .element(job_q.progress.element), .offset(job_q.progress.offset), .num_sge(job_q.wqe.num_sge),
    .pd(job_q.cfg.pd), .qp(job_q.qp), .wqe(job_q.wqe), .more_unit, .more,
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
    stale_d     = stale || (halt_valid && halt_qp == job_q.qp)
                  || (move_valid && move_qp == job_q.qp);
    pause_d     = (pause_q && !(end_valid && move_qp == job_q.qp))
                  || (accept_valid && accept_qp == job_q.qp && behind[row_t'(job_q.qp)]);
    next_d      = next_q;
    level_d     = level_q;
    start       = 1'b0;
    inline_push = 1'b0;
    park_valid  = 1'b0;
    skip_valid  = 1'b0;
    local_start = 1'b0;
    drop        = 1'b0;
    unique case (state_q)
      Idle: begin
        job_d    = job;
        stale_d  = halt_valid && halt_qp == job.qp;
        pause_d  = accept_valid && accept_qp == job.qp && behind[row_t'(job.qp)];
        chunks_d = '0;
        if (take) state_d = Check;
      end
      Check: begin
        start   = !stale;
        state_d = stale ? Idle : Plan;
      end
      // A packet that was sent before waits for nothing, so that none that has to wait is parked
      // after it was passed.
      Plan: begin
        failing_d = plan.fault != FaultNone;
        next_d    = (plan.is_read ? plan.last_psn : plan.psn)
                    + 24'(!(plan.is_local || plan.is_frame));
        level_d   = !plan.behind || next_d == job_q.top.psn;
        if (stale) begin
          state_d = Idle;
        end else if (plan.blocked) begin
          park_valid = 1'b1;
          state_d    = Idle;
        end else if (failing_d) begin
          state_d = Walk;
        end else if (plan.is_local) begin
          local_start = !plan.skip;
          state_d     = Local;
        end else if (!plan.has_inline || push_ready) begin
          inline_push = plan.has_inline;
          chunks_d    = 8'(plan.has_inline);
          state_d     = Walk;
        end
      end
      Walk: begin
        if (commit_gnt || (stale && walk_done)) state_d = Idle;
        drop = walk_done && (fail || stale);
      end
      default: begin  // Local
        skip_valid = plan.skip && !stale && !pause_q;
        if (commit_gnt || !local_busy) state_d = Idle;
      end
    endcase
  end

  assign ok         = !failing_q && walk_fault == FaultNone && !local_failed;
  assign commit_req = !stale && !pause_q && ((state_q == Walk && walk_done && (tx_ready || !ok))
                                             || (state_q == Local && local_done));
  assign emit       = commit_gnt && ok && !plan.is_local;
  assign fail       = commit_gnt && !ok;

  always_comb begin
    status = walk_status;
    fault  = walk_fault;
    if (failing_q) begin
      status = StatusLocalQpOperation;
      fault  = plan.fault;
    end else if (plan.is_local) begin
      status = job_q.wqe.opcode == WqeBind ? StatusBind : StatusLocalQpOperation;
      fault  = local_fault;
    end
  end

  always_comb begin
    commit_record = commit_rec(CommitSqEmit, 24'(job_q.qp), job_q.progress.index, plan.psn, '0,
                               '0);
    if (!ok) begin
      commit_record = commit_rec(CommitSqFail, 24'(job_q.qp), job_q.progress.index, '0, 32'(fault),
                                 8'(status));
    end else if (plan.is_local) begin
      commit_record = commit_rec(CommitSqLocal, 24'(job_q.qp), job_q.progress.index, '0,
                                 job_q.wqe.object_token, '0);
    end
  end

  // ---- local requests ------------------------------------------------------------------------

  assign local_stop = state_q == Local && stale;
  assign local_drop = state_q == Local && fail;
  assign list_addr  = job_q.wqe.sge0[63:0];

  always_comb begin
    unique case (job_q.wqe.opcode)
      WqeBind:         local_req.op = LocalBind;
      WqeFastRegister: local_req.op = LocalFastRegister;
      default:         local_req.op = LocalInvalidate;
    endcase
    local_req.qp           = job_q.qp;
    local_req.index        = job_q.progress.index;
    local_req.pd           = job_q.cfg.pd;
    local_req.object_token = job_q.wqe.object_token;
    local_req.region_token = job_q.wqe.remote_token;
    local_req.va           = job_q.wqe.remote_address;
    local_req.len          = job_q.wqe.length;
    local_req.local_write  = job_q.wqe.local_write;
    local_req.remote_read  = job_q.wqe.remote_read;
    local_req.remote_write = job_q.wqe.remote_write;
    local_req.new_key      = job_q.wqe.new_key;
    local_req.page_count   = job_q.wqe.page_count;
    local_req.page_offset  = job_q.wqe.page_offset;
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
    va: plan.va, token: job_q.wqe.remote_token, dma_len: plan.dma_len,
    aeth: '0, ieth: job_q.wqe.object_token
  };

  // ---- state ---------------------------------------------------------------------------------

  assign executed_valid = commit_gnt && ok && plan.is_local;
  assign done_valid     = commit_gnt && ok && (plan.is_local || plan.is_frame);
  assign done_drains    = plan.is_frame || job_q.wqe.opcode == WqeInvalidate;
  assign emit_done     = commit_gnt || skip_valid;
  assign packet_valid  = emit;
  assign packet_level  = level_q;
  assign advance_valid = (commit_gnt && ok && plan.last) || skip_valid;
  assign fail_valid    = fail;
  assign failure       = '{
    index: job_q.progress.index, opcode: job_q.wqe.opcode, status: status, fault: fault
  };

  always_comb begin
    packet_locals = locals_q;
    packet_locals[SentBits'(job_q.progress.index)] = plan.is_local;
  end

  always_comb begin
    packet.progress       = job_q.progress;
    packet.progress.psn   = next_q;
    packet.progress.again = 1'b0;
    if (plan.last) begin
      packet.progress.index   = job_q.progress.index + 16'd1;
      packet.progress.started = 1'b0;
      packet.progress.element = '0;
      packet.progress.offset  = '0;
      packet.progress.sent    = '0;
      packet.progress.packet  = '0;
      packet.progress.reads   = job_q.progress.reads + 8'(plan.is_read);
    end else begin
      packet.progress.started = 1'b1;
      packet.progress.element = next_element;
      packet.progress.offset  = next_offset;
      packet.progress.sent    = job_q.progress.sent + 32'(plan.len);
      packet.progress.packet  = job_q.progress.packet + 6'd1;
    end
    packet.top = job_q.top;
    if (!plan.behind && !plan.is_local && !plan.is_frame) begin
      packet.top.live = 1'b1;
      packet.top.psn  = next_q;
    end
    if (plan.fresh) begin
      packet.top.index = job_q.progress.index + 16'd1;
      packet.top.reads = job_q.progress.reads + 8'(plan.is_read);
      packet.top.wide  = plan.wide;
    end
    packet.request = job_q.progress.index;
    packet.fresh   = plan.fresh;
    packet.sent    = '{
      first: plan.psn, last: plan.last_psn, mtu: job_q.cfg.mtu, opcode: job_q.wqe.opcode,
      silent: job_q.wqe.silent, is_read: plan.is_read, reads: job_q.progress.reads
    };
    packet.is_read = plan.is_read;
    packet.number  = job_q.progress.reads;
    packet.read    = '{
      wqe_index: job_q.progress.index, psn: plan.psn, len: job_q.wqe.length,
      invalidate: job_q.wqe.local_invalidate && job_q.wqe.num_sge != '0, sge: sges
    };
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    if (take) begin
      job_q    <= job_d;
      locals_q <= job_locals;
    end
    stale_q   <= stale_d;
    failing_q <= failing_d;
    chunks_q  <= chunks_d;
    pause_q   <= pause_d;
    next_q    <= next_d;
    level_q   <= level_d;
    if (rst) state_q <= Idle;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_gnt:  assert (!commit_gnt || commit_req);
      a_room: assert (!tx_valid || tx_ready);
      a_len:  assert (!emit || plan.is_read || job_q.wqe.inline_data || walk_chunks != '0
                      || plan.len == '0);
      a_fresh: assert (!emit || !plan.fresh || !(plan.behind || job_q.progress.started));
      a_wait:  assert (!park_valid || !plan.behind);
      a_top:   assert (!emit || !plan.behind || packet.progress.psn == job_q.top.psn
                       || psn_older(packet.progress.psn, job_q.top.psn));
    end
  end
`endif
endmodule
