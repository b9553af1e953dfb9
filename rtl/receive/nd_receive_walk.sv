// Token checks of one frame, in order: whole remote range, pieces of the payload, invalidation.
//
// `start` takes `job`, which is held until `done`. Pieces: `bytes` bytes from byte `offset` of element
// `element` on, elements without bytes left are skipped; each piece is translated and its chunks are put
// out. `done` stays until the next `start`, with the check that failed and why, the place after the last
// piece, and the number of chunks. `stop` abandons; `busy` until no answer is outstanding.
module nd_receive_walk
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
(
  input  logic             clk,
  input  logic             rst,
  input  logic             start,
  input  logic             stop,
  output logic             busy,
  output logic             done,

  input  logic             whole,
  input  translate_req_t   whole_req,
  input  logic             pieces,
  input  use_e             piece_use,
  input  sge_t [3:0]       sge,
  input  logic [2:0]       element,
  input  logic [31:0]      offset,
  input  len_t             bytes,
  input  logic             invalidate,
  input  logic [31:0]      invalidate_token,
  input  logic [15:0]      pd,
  input  qp_t              qp,

  output walk_e            failed,
  output fault_e           why,
  output logic [2:0]       end_element,
  output logic [31:0]      end_offset,
  output logic [5:0]       chunks,

  output logic             tr_req_valid,
  input  logic             tr_req_ready,
  output translate_req_t   tr_req,
  input  logic             tr_rsp_valid,
  output logic             tr_rsp_ready,
  input  translate_rsp_t   tr_rsp,

  output logic             chunk_valid,
  input  logic             chunk_ready,
  output chunk_t           chunk
);
  typedef enum logic [2:0] {
    Idle,
    Whole,       // request next: the whole range
    Select,      // look at the element
    Piece,       // request next: the piece
    Invalidate,  // request next: the token to invalidate
    Request,     // request on its way
    Answer,      // answers on their way
    Done
  } state_e;

  state_e         state_q, state_d;
  walk_e          check_q, check_d;    // which check is under way
  walk_e          failed_q, failed_d;
  fault_e         why_q, why_d;
  logic           stop_q, stop_d;
  logic [2:0]     element_q, element_d;
  logic [31:0]    offset_q, offset_d;
  logic [31:0]    rest_q, rest_d;      // of the element
  sge_t           sge_q, sge_d;        // the element
  len_t           left_q, left_d;      // of the payload
  logic [5:0]     chunks_q, chunks_d;
  translate_req_t req_q, req_d;
  len_t           piece;
  logic           fault;

  assign done         = state_q == Done;
  assign busy         = !(state_q inside {Idle, Done});
  assign failed       = failed_q;
  assign why          = why_q;
  assign end_element  = element_q;
  assign end_offset   = offset_q;
  assign chunks       = chunks_q;
  assign tr_req_valid = state_q == Request;
  assign tr_req       = req_q;
  assign tr_rsp_ready = state_q == Answer && (chunk_ready || !chunk_valid);
  assign fault        = tr_rsp.fault != FaultNone;
  assign chunk        = tr_rsp.chunk;
  assign chunk_valid  = state_q == Answer && tr_rsp_valid && !fault && check_q == WalkPiece &&
                        !stop_q;
  assign piece        = rest_q < 32'(left_q) ? len_t'(rest_q) : left_q;

  always_comb begin
    state_d   = state_q;
    check_d   = check_q;
    failed_d  = failed_q;
    why_d     = why_q;
    stop_d    = stop_q || stop;
    element_d = element_q;
    offset_d  = offset_q;
    rest_d    = rest_q;
    sge_d     = sge_q;
    left_d    = left_q;
    chunks_d  = chunks_q;
    req_d     = req_q;
    unique case (state_q)
      Idle, Done: begin
        stop_d = 1'b0;
        if (start) begin
          failed_d  = WalkPassed;
          why_d     = FaultNone;
          element_d = element;
          offset_d  = offset;
          left_d    = pieces ? bytes : '0;
          chunks_d  = '0;
          state_d   = whole ? Whole : Select;
        end else if (stop) begin
          state_d = Idle;
        end
      end
      Whole: begin
        check_d = WalkWhole;
        req_d   = whole_req;
        state_d = Request;
      end
      Select: begin
        sge_d  = sge[element_q[1:0]];
        rest_d = sge_d.length - offset_q;
        if (left_q == '0) state_d = invalidate ? Invalidate : Done;
        else state_d = Piece;
        if (left_q != '0 && element_q[2]) begin
          failed_d = WalkPiece;
          state_d  = Done;
        end
      end
      Piece: begin
        if (rest_q == '0) begin
          element_d = element_q + 3'd1;
          offset_d  = '0;
          state_d   = Select;
        end else begin
          check_d = WalkPiece;
          req_d   = '{token: sge_q.token, va: sge_q.address + 64'(offset_q), len: 32'(piece),
                      kind: piece_use, pd: pd, qp: qp, check_only: 1'b0};
          offset_d = offset_q + 32'(piece);
          left_d   = left_q - piece;
          state_d  = Request;
        end
      end
      Invalidate: begin
        check_d = WalkInvalidate;
        req_d   = '{token: invalidate_token, va: '0, len: 32'd1, kind: UseInvalidate, pd: pd,
                    qp: qp, check_only: 1'b1};
        state_d = Request;
      end
      Request: if (tr_req_ready) state_d = Answer;
      Answer: begin
        if (tr_rsp_valid && tr_rsp_ready) begin
          if (chunk_valid) chunks_d = chunks_q + 6'd1;
          if (fault) failed_d = check_q;
          why_d = tr_rsp.fault;
          if (tr_rsp.last) begin
            if (fault || check_q == WalkInvalidate || (left_q == '0 && !invalidate)) state_d = Done;
            else state_d = Select;
          end
        end
      end
      default: state_d = Idle;
    endcase
    if (stop_d && state_q inside {Whole, Select, Piece, Invalidate}) state_d = Idle;
    if (stop_q && state_q == Answer && state_d != Answer) state_d = Idle;
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    check_q   <= check_d;
    failed_q  <= failed_d;
    why_q     <= why_d;
    stop_q    <= stop_d;
    element_q <= element_d;
    offset_q  <= offset_d;
    rest_q    <= rest_d;
    sge_q     <= sge_d;
    left_q    <= left_d;
    chunks_q  <= chunks_d;
    req_q     <= req_d;
    if (rst) begin
      state_q <= Idle;
      stop_q  <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_start:  assert (!start || !busy);
      a_answer: assert (!tr_rsp_valid || state_q == Answer);
    end
  end
`endif
endmodule
