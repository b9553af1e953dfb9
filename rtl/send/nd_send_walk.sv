// Walks over the elements of a request: `need` bytes from (`element`, `offset`) on.
//
// Each piece is checked, and unless `check_only` translated into chunks, which are pushed as they
// come. Elements that end at or before the offset are skipped, which takes their length off it.
// `start` is obeyed in any clock in which nothing is under way; `done` is high from the end of the
// walk until the next start, with the verdict, the place where the next byte comes from, and the
// elements of a read. After `abort` the walk ends as soon as no answer is outstanding.
module nd_send_walk
  import nd_pkg::*;
  import nd_abi_pkg::*;
(
  input  logic              clk,
  input  logic              rst,

  input  logic              start,
  input  logic              abort,
  input  logic              check_only,
  input  use_e              use_kind,
  input  logic [31:0]       need,
  input  logic [3:0]        element,
  input  logic [31:0]       offset,
  input  logic [7:0]        num_sge,
  input  logic [15:0]       pd,
  input  qp_t               qp,
  input  sq_wqe_t           wqe,

  // further units of the entry, one clock later
  output logic [1:0]        more_unit,
  input  logic [511:0]      more,

  output logic              tr_req_valid,
  input  logic              tr_req_ready,
  output translate_req_t    tr_req,
  input  logic              tr_rsp_valid,
  output logic              tr_rsp_ready,
  input  translate_rsp_t    tr_rsp,

  output logic              chunk_valid,
  input  logic              chunk_ready,
  output chunk_t            chunk,

  output logic              done,
  output status_e           status,
  output fault_e            fault,
  output logic [7:0]        chunks,
  output logic [3:0]        next_element,
  output logic [31:0]       next_offset,
  output logic [3:0][127:0] sges        // of a read, as far as it needs them
);
  typedef enum logic [2:0] {
    Done,
    Pick,     // takes the element out of its unit
    Address,  // another unit is read
    Data,
    Step,     // the next piece
    Request,
    Answer
  } state_e;

  state_e         state_q, state_d;
  logic [3:0]     element_q, element_d;
  logic [31:0]    offset_q, offset_d;
  logic [31:0]    need_q, need_d;
  logic [31:0]    piece_q, piece_d;
  logic           whole_q, whole_d;  // the piece ends its element
  sge_t           sge_q, sge_d;
  logic [1:0]     unit_q, unit_d;    // unit in `more_q`; 0: none
  logic [3:0][127:0] more_q, more_d;
  translate_req_t req_q, req_d;
  status_e        status_q, status_d;
  fault_e         fault_q, fault_d;
  logic [7:0]     chunks_q, chunks_d;
  logic [3:0]     slot;      // unit of the entry, and element in it
  logic [31:0]    left;
  logic           beyond;    // the offset is behind the element

  assign done         = state_q == Done;
  assign status       = status_q;
  assign fault        = fault_q;
  assign chunks       = chunks_q;
  assign next_element = element_q;
  assign next_offset  = offset_q;
  assign sges         = {more_q[1], more_q[0], wqe.sge1, wqe.sge0};
  assign slot         = element_q + 4'd2;
  assign more_unit    = slot[3:2];
  assign {beyond, left} = {1'b0, sge_q.length} - {1'b0, offset_q};
  assign tr_req_valid = state_q == Request;
  assign tr_req       = req_q;
  assign chunk        = tr_rsp.chunk;
  assign chunk_valid  = state_q == Answer && tr_rsp_valid && !check_only
                        && tr_rsp.fault == FaultNone;
  assign tr_rsp_ready = state_q == Answer && (chunk_ready || !chunk_valid);

  always_comb begin
    state_d   = state_q;
    element_d = element_q;
    offset_d  = offset_q;
    need_d    = need_q;
    piece_d   = piece_q;
    whole_d   = whole_q;
    sge_d     = sge_q;
    unit_d    = unit_q;
    more_d    = more_q;
    req_d     = req_q;
    status_d  = status_q;
    fault_d   = fault_q;
    chunks_d  = chunks_q;
    unique case (state_q)
      Done: begin
        if (start) begin
          element_d = element;
          offset_d  = offset;
          need_d    = need;
          unit_d    = '0;
          status_d  = StatusSuccess;
          fault_d   = FaultNone;
          chunks_d  = '0;
          sge_d     = sge_t'(element[0] ? wqe.sge1 : wqe.sge0);
          if (need != '0) state_d = 8'(element) < num_sge && element < 4'd2 ? Step : Pick;
        end
      end
      Pick: begin
        sge_d   = sge_t'(more_q[slot[1:0]]);
        state_d = Step;
        if (element_q < 4'd2) sge_d = sge_t'(element_q[0] ? wqe.sge1 : wqe.sge0);
        else if (unit_q != slot[3:2]) state_d = Address;
        if (8'(element_q) >= num_sge) begin
          status_d = StatusLocalQpOperation;
          fault_d  = FaultWqeLength;
          state_d  = Done;
        end
        if (abort) state_d = Done;
      end
      Address: state_d = Data;
      Data: begin
        more_d  = more;
        unit_d  = slot[3:2];
        state_d = Pick;
      end
      Step: begin
        whole_d = left <= need_q;
        piece_d = whole_d ? left : need_q;
        req_d   = '{
          token: sge_q.token, va: sge_q.address + addr_t'(offset_q), len: piece_d, kind: use_kind,
          pd: pd, qp: qp, check_only: check_only
        };
        state_d = Request;
        if (beyond || left == '0) begin
          element_d = element_q + 4'd1;
          offset_d  = -left;
          state_d   = Pick;
        end
        if (abort) state_d = Done;
      end
      Request: if (tr_req_ready) state_d = Answer;
      default: begin  // Answer
        if (tr_rsp_valid && tr_rsp_ready) begin
          chunks_d = chunks_q + 8'(chunk_valid);
          if (tr_rsp.last) begin
            need_d    = need_q - piece_q;
            element_d = whole_q ? element_q + 4'd1 : element_q;
            offset_d  = whole_q ? '0 : offset_q + piece_q;
            state_d   = need_q == piece_q ? Done : Pick;
            if (tr_rsp.fault != FaultNone) begin
              status_d = StatusLocalProtection;
              fault_d  = tr_rsp.fault;
              state_d  = Done;
            end
          end
        end
      end
    endcase
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    element_q <= element_d;
    offset_q  <= offset_d;
    need_q    <= need_d;
    piece_q   <= piece_d;
    whole_q   <= whole_d;
    sge_q     <= sge_d;
    unit_q    <= unit_d;
    more_q    <= more_d;
    req_q     <= req_d;
    status_q  <= status_d;
    fault_q   <= fault_d;
    chunks_q  <= chunks_d;
    if (rst) state_q <= Done;
  end

  logic unused;
  assign unused = &{1'b0, wqe};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_hold:  assert (!$past(tr_req_valid && !tr_req_ready && !rst)
                       || (tr_req_valid && $stable(tr_req)));
      a_idle:  assert (!start || done);
      a_asked: assert (!tr_rsp_valid || state_q == Answer);
    end
  end
`endif
endmodule
