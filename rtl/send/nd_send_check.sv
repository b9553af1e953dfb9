// From a job to the packet that it leads to: checks of a request's first packet, what it has to
// wait for, segmentation, opcode and PSNs. Two clocks: `job` is looked at when it is taken
// (`take`), and as `taken` in the next clock, in which `need` is there; `plan` is there in the one
// after that. What has to wait waits before its entry is judged; a request of which something was
// sent waits for nothing. A read that is sent again asks for the rest from the first byte that is
// missing. A local request that was executed is passed over, whatever its entry reads now. Queue pair 1
// sends whole frames, which take no PSN.
module nd_send_check
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // reads outstanding per queue pair, a power of two
  parameter int unsigned MaxRead = 4,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16
) (
  input  logic  clk,
  input  logic  take,
  input  job_t  job,
  input  job_t  taken,
  // bytes to walk over: payload, or the sink of a read from here on
  output logic [31:0] need,
  output plan_t plan
);
  // What the first clock leaves to the second one.
  typedef struct packed {
    logic        bad_index;
    logic        bad_opcode;
    logic        bad_length;
    logic        is_frame;
    logic        is_read;
    logic        is_local;
    logic        is_invalidate;
    logic        skip;
    logic [31:0] remaining;
    logic [31:0] before_end;  // remaining - 1, or 0
    psn_t        psn;
    logic        fresh;
    logic        behind;
    logic        fence;       // reads outstanding in front of a fence
    logic        no_read;     // no read may start
    logic        no_request;  // no request may start
    logic        alone;       // nothing outstanding
    addr_t       place;       // of inline data in the ring
  } stage_t;

  stage_t s_q, s_d;
  plan_t  plan_q, plan_d;

  logic [7:0]  sges, reads;
  logic [31:0] capacity;
  idx_t        requests;
  logic        length_fault;

  assign plan = plan_q;

  always_comb begin
    need = s_q.is_read ? s_q.remaining : 32'(plan_d.len);
    if (taken.wqe.inline_data || s_q.is_local) need = '0;
  end


  always_comb begin
    unique case (job.cfg.sq_stride)
      2'd0:    begin capacity = 32'd32;  sges = 8'd2;  end
      2'd1:    begin capacity = 32'd96;  sges = 8'd6;  end
      default: begin capacity = 32'd224; sges = 8'd14; end
    endcase
    requests = job.progress.index - job.retired.index;
    reads    = job.progress.reads - job.retired.reads;
    s_d.is_frame   = job.qp == FrameQp;
    s_d.is_read    = job.wqe.opcode == WqeRead && !job.executed && !s_d.is_frame;
    s_d.is_local   = (is_local(job.wqe.opcode) && !s_d.is_frame) || job.executed;
    s_d.is_invalidate = job.wqe.opcode == WqeInvalidate;
    s_d.skip       = job.executed;
    s_d.bad_index  = job.wqe.index != job.progress.index;
    s_d.bad_opcode = !(is_local(job.wqe.opcode)
                       || job.wqe.opcode inside {WqeSend, WqeSendInvalidate, WqeRead, WqeWrite});
    if (s_d.is_frame) s_d.bad_opcode = job.wqe.opcode != WqeFrame;
    length_fault   = job.wqe.num_sge > sges;
    if (s_d.is_read && (job.wqe.num_sge > 8'd4 || job.wqe.inline_data)) length_fault = 1'b1;
    if (job.wqe.inline_data && job.wqe.length > capacity) length_fault = 1'b1;
    if (s_d.is_frame && !(job.wqe.length inside {[LeastFrame:MostFrame]})) length_fault = 1'b1;
    if (s_d.is_local) length_fault = 1'b0;
    s_d.bad_length = length_fault || job.wqe.length > 32'h8000_0000;
    s_d.remaining  = job.wqe.length - job.progress.sent;
    s_d.before_end = s_d.remaining == '0 ? '0 : s_d.remaining - 32'd1;
    s_d.psn        = job.top.live ? job.progress.psn : job.cfg.sq_psn;
    if (s_d.is_frame) s_d.psn = '0;
    s_d.fresh      = job.progress.index == job.top.index;
    s_d.behind     = job.top.live && job.progress.psn != job.top.psn;
    s_d.fence      = job.wqe.read_fence && reads != '0;
    s_d.no_read    = reads >= job.cfg.max_ord || reads >= 8'(MaxRead);
    s_d.no_request = requests >= 16'(Outstanding);
    s_d.alone      = requests == '0;
    s_d.place      = addr_t'(entry_place(job.progress.index, job.cfg.sq_log, job.cfg.sq_stride));
  end

  logic [23:0] after;  // packets after this one
  logic        first;

  always_comb begin
    first = !taken.progress.started;
    // 1: 256 ... 5: 4096 bytes
    after = 24'(s_q.before_end >> (4'd7 + 4'(taken.cfg.mtu)));
    if (s_q.is_frame) after = '0;
    plan_d            = '0;
    plan_d.fresh      = s_q.fresh;
    plan_d.behind     = s_q.behind;
    plan_d.is_frame   = s_q.is_frame;
    plan_d.is_local   = s_q.is_local;
    plan_d.skip       = s_q.skip;
    plan_d.is_read    = s_q.is_read;
    plan_d.last       = after == '0 || s_q.is_read || s_q.is_local;
    plan_d.wide       = after[23:WideLog] != '0 && !s_q.is_local;
    plan_d.psn        = s_q.psn;
    plan_d.last_psn   = s_q.psn + after;
    plan_d.len        = after == '0 ? len_t'(s_q.remaining) : mtu_bytes(taken.cfg.mtu);
    if (s_q.is_read || s_q.is_local) plan_d.len = '0;
    plan_d.has_inline = taken.wqe.inline_data && s_q.remaining != '0 && !s_q.is_local;
    plan_d.chunk.addr = taken.cfg.sq_base + (s_q.place | addr_t'(32));
    plan_d.chunk.len  = plan_d.len;
    plan_d.opcode     = packet_opcode(taken.wqe.opcode, first, plan_d.last);
    plan_d.ack_req    = plan_d.last || taken.progress.packet == 6'd63;
    plan_d.solicited  = plan_d.last && taken.wqe.solicited
                        && taken.wqe.opcode inside {WqeSend, WqeSendInvalidate};
    plan_d.va         = taken.wqe.remote_address + addr_t'(taken.progress.sent);
    plan_d.dma_len    = s_q.remaining;
    if (s_q.fresh) begin
      plan_d.blocked = s_q.fence || (s_q.is_read && s_q.no_read) || s_q.no_request
                       || (!s_q.alone && (taken.top.wide || plan_d.wide || s_q.is_invalidate));
    end
    if ((first || taken.progress.again) && !s_q.skip) begin
      if (s_q.bad_index) plan_d.fault = FaultWqeIndex;
      else if (s_q.bad_opcode) plan_d.fault = FaultWqeOpcode;
      else if (s_q.bad_length) plan_d.fault = FaultWqeLength;
    end
  end

  always_ff @(posedge clk) begin
    if (take) s_q <= s_d;
    plan_q <= plan_d;
  end

  logic unused;
  assign unused = &{1'b0, job, taken};
endmodule
