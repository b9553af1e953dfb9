// Verdict on a whole frame for queue pair 1, and what it does ("Frames" of the semantics).
//
// Inputs are held. `plan` belongs to those of two clocks ago; `effect`, for a frame that is not dropped,
// is combinational, from the checks of the elements.
module nd_receive_whole
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
(
  input  logic        clk,
  input  rx_desc_t    frame,
  input  logic        posted,    // a receive is posted ...
  input  logic        fetched,   // ... and its entry is here
  input  logic [33:0] capacity,  // sum of its elements
  output plan_t       plan,

  input  idx_t        consumer,  // the receive
  input  logic [15:0] recv_cq,
  input  fault_e      fault,     // of its elements
  input  logic [5:0]  chunks,
  output effect_t     effect
);
  plan_t   plan_q, plan_d;
  logic    beyond_q, beyond_d, unused;
  status_e status;

  assign unused = &{1'b0, frame};
  assign plan   = plan_q;

  always_comb begin
    beyond_d          = 34'(frame.len) > capacity;
    plan_d            = '0;
    plan_d.result     = RxAccept;
    plan_d.firm       = 1'b1;
    plan_d.pieces     = 1'b1;
    plan_d.drop_cause = DropNoBuffer;
    plan_d.drop       = !posted || frame.oversize || (fetched && beyond_q);
    plan_d.retry      = !plan_d.drop && !fetched;
    if (plan_d.drop) plan_d.pieces = 1'b0;
  end

  always_comb begin
    status     = fault == FaultNone ? StatusSuccess : StatusLocalProtection;
    effect     = '0;
    effect.rec = commit_rec(CommitRxFrame, 24'(FrameQp), consumer, '0, '0, 8'(status));
    effect.drop         = DropNone;
    effect.keep         = fault == FaultNone;
    effect.consumed     = 1'b1;
    effect.fatal        = fault != FaultNone;
    effect.fatal_status = status;
    effect.job_valid    = 1'b1;
    effect.job.next     = 1'b1;
    effect.job.chunks   = fault == FaultNone ? chunks : '0;
    effect.job.receive  = 1'b1;
    effect.job.qp       = FrameQp;
    effect.job.completion.qp         = FrameQp;
    effect.job.completion.cq         = recv_cq;
    effect.job.completion.receive    = 1'b1;
    effect.job.completion.wqe_index  = consumer;
    effect.job.completion.opcode     = OpcodeReceive;
    effect.job.completion.status     = status;
    effect.job.completion.error_code = 32'(fault);
    if (fault == FaultNone) begin
      effect.job.completion.solicited = 1'b1;
      effect.job.completion.byte_len  = 32'(frame.len);
    end
  end

  always_ff @(posedge clk) begin
    beyond_q <= beyond_d;
    plan_q   <= plan_d;
  end
endmodule
