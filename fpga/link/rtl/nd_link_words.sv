// Operations on 32-bit registers, the core's and the link's own: `n` words from one place on.
//
// `req` is high for one clock and `is_write`, `link`, `addr` (in bytes) and `wdata` hold until `ack`.
module nd_link_words
  import nd_link_pkg::*;
#(
  // bits of a register's address in the core, at most 16
  parameter int unsigned RegAddrWidth = 12
) (
  input  logic        clk,
  input  logic        rst,

  input  logic        start,
  input  op_t         op,
  output logic        done,
  output code_e       code,

  input  logic        in_valid,
  output logic        in_ready,
  input  logic [7:0]  in_data,
  output logic        out_valid,
  input  logic        out_ready,
  output logic [7:0]  out_data,

  output logic        req,
  output logic        link,
  output logic        is_write,
  output logic [15:0] addr,
  output logic [31:0] wdata,
  input  logic        ack,
  input  code_e       ack_code,
  input  logic [31:0] rdata
);
  typedef enum logic [2:0] {
    Idle,
    Check,
    Take,
    Request,
    Await,
    Give,
    Ended
  } state_e;

  state_e      state_q, state_d;
  logic [15:0] left_q, left_d, addr_q, addr_d;
  logic [31:0] word_q, word_d;
  logic [1:0]  at_q, at_d;
  code_e       code_q, code_d;
  logic [18:0] behind;  // the place behind the last word
  logic [18:0] limit;

  assign is_write  = op.op == WriteRegisters || op.op == WriteLink;
  assign link      = op.op == ReadLink || op.op == WriteLink;
  assign behind    = 19'(addr_q) + {1'b0, op.n, 2'b00};
  assign limit     = link ? 19'd256 : 19'd1 << RegAddrWidth;
  assign req       = state_q == Request;
  assign addr      = addr_q;
  assign wdata     = word_q;
  assign done      = state_q == Ended;
  assign code      = code_q;
  assign in_ready  = state_q == Take;
  assign out_valid = state_q == Give;
  assign out_data  = word_q[7:0];

  always_comb begin
    state_d = state_q;
    left_d  = left_q;
    addr_d  = addr_q;
    word_d  = word_q;
    at_d    = at_q;
    code_d  = code_q;
    case (state_q)
      Idle: begin
        left_d = op.n;
        addr_d = link ? {6'd0, op.arg[7:0], 2'b00} : op.arg[15:0];
        at_d   = '0;
        code_d = Done;
        if (start) state_d = Check;
      end
      Check: begin
        state_d = is_write ? Take : Request;
        if (addr_q[1:0] != '0) code_d = Argument;
        else if (behind > limit) code_d = Range;
        if (code_d != Done) state_d = Ended;
      end
      Take: begin
        if (in_valid) begin
          word_d = {in_data, word_q[31:8]};
          at_d   = at_q + 2'd1;
          if (at_q == '1) state_d = Request;
        end
      end
      Request: state_d = Await;
      Await: begin
        if (ack) begin
          word_d  = rdata;
          code_d  = ack_code;
          left_d  = left_q - 16'd1;
          addr_d  = addr_q + 16'd4;
          state_d = Give;
          if (ack_code != Done) state_d = Ended;
          else if (is_write) state_d = left_q == 16'd1 ? Ended : Take;
        end
      end
      Give: begin
        if (out_ready) begin
          word_d = word_q >> 8;
          at_d   = at_q + 2'd1;
          if (at_q == '1) state_d = left_q == '0 ? Ended : Request;
        end
      end
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    state_q <= state_d;
    left_q  <= left_d;
    addr_q  <= addr_d;
    word_q  <= word_d;
    at_q    <= at_d;
    code_q  <= code_d;
    if (rst) state_q <= Idle;
  end
endmodule
