// A request from its header to its reply: judged, executed, answered; or answered again; or refused.
//
// `ops_start` hands the bytes behind the header to the operations, which give `ops_done` with the
// number that were done and what stopped them.
module nd_link_control
  import nd_link_pkg::*;
#(
  // bits of a packet's length
  parameter int unsigned LengthWidth = 12
) (
  input  logic                   clk,
  input  logic                   rst,

  // request buffer
  input  logic                   pending,
  input  logic [LengthWidth-1:0] length,
  input  logic                   req_valid,
  output logic                   req_ready,
  input  logic [7:0]             req_data,
  output logic                   release_o,
  input  logic                   unreadable,  // something came that is no packet

  // operations
  output logic                   opens,       // while the request is one that opens a session
  output logic                   ops_start,
  output logic [LengthWidth-1:0] ops_length,
  input  logic                   ops_done,
  input  logic [15:0]            ops_count,
  input  code_e                  ops_code,
  output logic                   ops_active,  // the operations have both streams

  // reply buffer
  output logic                   start,
  output logic                   refusal,
  output logic                   out_valid,
  input  logic                   out_ready,
  output logic [7:0]             out_data,
  output logic                   close,
  output logic                   send,
  input  logic                   idle,

  input  logic [7:0]             status,
  output logic                   good,
  output logic                   repeated,
  output logic                   refused
);
  typedef enum logic [3:0] {
    Idle,
    Header,
    Settle,  // the verdict is a register
    Judge,
    Answer,  // header of the reply
    Operate,
    Trailer,
    Close,
    Closing,
    Send
  } state_e;

  state_e     state_q, state_d;
  logic [2:0] at_q, at_d;
  logic [4:0][7:0] header_q, header_d;  // version, session, sequence number
  logic       unread_q, unread_d;      // to be told when there is nothing better to do
  logic       refusal_q, refusal_d, accept;
  logic       execute, repeats;
  code_e      verdict, code_q, code_d;
  logic [15:0] count_q, count_d;
  logic [7:0]  status_q;

  nd_link_session u_session (
    .clk, .rst, .version(header_q[0]), .session(header_q[2:1]), .sequence_i(header_q[4:3]),
    .execute, .repeated(repeats), .refusal(verdict), .accept
  );

  assign ops_length = length - LengthWidth'(HeaderBytes + CrcBytes);
  assign ops_active = state_q == Operate;
  assign refusal    = refusal_q;
  assign opens      = ops_active && header_q[4:3] == '0;

  always_comb begin
    state_d   = state_q;
    at_d      = at_q;
    header_d  = header_q;
    unread_d  = unread_q || unreadable;
    refusal_d = refusal_q;
    code_d    = code_q;
    count_d   = count_q;
    req_ready = 1'b0;
    release_o = 1'b0;
    ops_start = 1'b0;
    start     = 1'b0;
    out_valid = 1'b0;
    out_data  = at_q == '0 ? header_q[0] | ReplyBit : header_q[at_q];
    close     = 1'b0;
    send      = 1'b0;
    accept    = 1'b0;
    good      = 1'b0;
    repeated  = 1'b0;
    refused   = 1'b0;
    case (state_q)
      Idle: begin
        at_d    = '0;
        count_d = '0;
        if (idle && pending) begin
          state_d = Header;
          good    = 1'b1;
        end else if (idle && unread_q) begin
          unread_d  = unreadable;
          header_d  = {32'd0, Version};
          refusal_d = 1'b1;
          code_d    = Broken;
          state_d   = Judge;
        end
      end
      Header: begin
        req_ready = 1'b1;
        if (req_valid) begin
          header_d = {req_data, header_q[4:1]};
          at_d     = at_q + 3'd1;
          if (at_q == 3'(HeaderBytes - 1)) state_d = Settle;
        end
        refusal_d = 1'b0;
        code_d    = Done;
      end
      Settle: state_d = Judge;
      Judge: begin
        at_d    = '0;
        state_d = Answer;
        if (refusal_q) begin  // Broken
          start = 1'b1;
        end else if (repeats) begin
          repeated = 1'b1;
          state_d  = Send;
        end else if (execute) begin
          accept = 1'b1;
          start  = 1'b1;
        end else begin
          // Its start comes with the next clock, when `refusal` is there.
          refused     = 1'b1;
          refusal_d   = 1'b1;
          code_d      = verdict;
          header_d[0] = Version;
          state_d     = Judge;
        end
      end
      Answer: begin
        out_valid = 1'b1;
        if (out_ready) at_d = at_q + 3'd1;
        if (out_ready && at_q == 3'(HeaderBytes - 1)) begin
          at_d      = '0;
          state_d   = refusal_q ? Trailer : Operate;
          ops_start = !refusal_q;
        end
      end
      Operate: begin
        if (ops_done) begin
          count_d = ops_count;
          code_d  = ops_code;
          state_d = Trailer;
        end
      end
      Trailer: begin
        out_valid = 1'b1;
        case (at_q)
          3'd0:    out_data = count_q[7:0];
          3'd1:    out_data = count_q[15:8];
          3'd2:    out_data = code_q;
          default: out_data = status_q;
        endcase
        if (out_ready) at_d = at_q + 3'd1;
        if (out_ready && at_q == 3'd3) state_d = Close;
      end
      Close: begin
        // A group may just be full: the buffer takes `close` when it would take a byte.
        close = out_ready;
        if (out_ready) state_d = Closing;
      end
      Closing: if (idle) state_d = Send;
      default: begin
        send      = 1'b1;
        release_o = code_q != Broken;  // that is the answer to no request
        state_d   = Idle;
      end
    endcase
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    at_q      <= at_d;
    header_q  <= header_d;
    unread_q  <= unread_d;
    refusal_q <= refusal_d;
    code_q    <= code_d;
    count_q   <= count_d;
    status_q  <= status;
    if (rst) begin
      state_q   <= Idle;
      unread_q  <= 1'b0;
      refusal_q <= 1'b0;
    end
  end
endmodule
