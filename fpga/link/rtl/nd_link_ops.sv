// The operations of a request, one after the other, up to the first that fails.
//
// Each is read with its arguments, checked as far as that needs no knowledge of what it works on, and
// given to its unit (`unit_start`, one-hot by `unit_e`), which takes its bytes from the request, gives
// its bytes to the reply, and ends with `unit_done`.
module nd_link_ops
  import nd_link_pkg::*;
#(
  // bytes of a packet's buffer
  parameter int unsigned PacketBytes = 2048,
  localparam int unsigned LengthWidth = $clog2(PacketBytes) + 1
) (
  input  logic                   clk,
  input  logic                   rst,

  input  logic                   start,
  input  logic                   opens,   // no operation is allowed
  input  logic [LengthWidth-1:0] length,  // bytes of all operations
  output logic                   done,
  output logic [15:0]            count,   // done without a fault
  output code_e                  code,

  input  logic                   req_valid,
  output logic                   req_ready,
  input  logic [7:0]             req_data,
  input  logic                   out_valid,  // as the units give it
  input  logic                   out_ready,

  output op_t                    op,
  output logic                   unit_start,
  output logic                   unit_active,  // the unit has both streams
  input  logic                   unit_ready,
  input  logic                   unit_done,
  input  code_e                  unit_code
);
  typedef enum logic [2:0] {
    Idle,
    Op,
    Arguments,
    Sizes,   // what it needs of the request and of the reply
    Check,
    Begin,
    Active,
    Ended
  } state_e;
  typedef logic [LengthWidth-1:0] length_t;
  typedef logic [20:0] need_t;

  localparam length_t Longest = length_t'(PacketBytes - Overhead - TrailerBytes);

  state_e        state_q, state_d;
  op_t           op_q, op_d;
  logic [2:0]    at_q, at_d;
  length_t       left_q, left_d;  // of the request
  length_t       used_q, used_d;  // of the reply
  need_t         takes_q, takes_d, gives_q, gives_d, n, room_q;
  logic [15:0]   count_q, count_d;
  code_e         code_q, code_d;
  logic [2:0]    arguments;
  logic          known, empty, taken;
  logic [6:0][7:0] bytes;

  // Bytes of arguments, n included.
  always_comb begin
    known = 1'b1;
    case (op_q.op)
      ReadRegisters, WriteRegisters: arguments = 3'd4;
      ReadMemory, WriteMemory:       arguments = 3'd6;
      FillMemory:                    arguments = 3'd7;
      SendFrame, ReadLink, WriteLink, Wait: arguments = 3'd3;
      TakeFrame, TakeCommits:        arguments = 3'd2;
      default: begin
        arguments = 3'd2;
        known     = 1'b0;
      end
    endcase
  end

  always_comb begin
    n       = need_t'(op_q.n);
    takes_d = '0;
    gives_d = '0;
    empty   = op_q.n == '0;
    case (op_q.op)
      ReadRegisters, ReadLink:   gives_d = n << 2;
      WriteRegisters, WriteLink: takes_d = n << 2;
      ReadMemory:                gives_d = n;
      WriteMemory, SendFrame:    takes_d = n;
      TakeFrame: begin
        gives_d = n + need_t'(3);
        empty   = 1'b0;
      end
      TakeCommits: begin
        gives_d = (n << 4) + (n << 1) + need_t'(2);
        empty   = 1'b0;
      end
      Wait: begin
        gives_d = need_t'(1);
        empty   = 1'b0;
      end
      default: ;
    endcase
  end

  assign bytes       = op_q[8 +: 56];
  assign unit_start  = state_q == Begin;
  assign unit_active = state_q == Active;
  assign done        = state_q == Ended;
  assign count       = count_q;
  assign code        = code_q;
  assign op          = op_q;
  assign taken       = req_valid && req_ready;

  always_comb begin
    state_d   = state_q;
    op_d      = op_q;
    at_d      = at_q;
    left_d    = left_q - length_t'(taken);
    used_d    = used_q + length_t'(out_valid && out_ready);
    count_d   = count_q;
    code_d    = code_q;
    req_ready = 1'b0;
    case (state_q)
      Idle: begin
        left_d  = length;
        used_d  = length_t'(HeaderBytes);
        count_d = '0;
        code_d  = Done;
        if (start) state_d = Op;
      end
      Op: begin
        at_d = '0;
        if (left_q == '0) begin
          state_d = Ended;
        end else if (opens) begin
          code_d  = Malformed;
          state_d = Ended;
        end else begin
          req_ready = 1'b1;
          op_d.op   = op_e'(req_data);
          if (req_valid) state_d = Arguments;
        end
      end
      Arguments: begin
        if (!known || (left_q == '0 && at_q != arguments)) begin
          code_d  = Malformed;
          state_d = Ended;
        end else if (at_q == arguments) begin
          state_d = Sizes;
        end else begin
          req_ready = 1'b1;
          for (int unsigned i = 0; i < 7; i++) begin
            op_d[8 + 8*i +: 8] = at_q == 3'(i) ? req_data : bytes[i];
          end
          if (req_valid) at_d = at_q + 3'd1;
        end
      end
      Sizes: state_d = Check;
      Check: begin
        state_d = Ended;
        if (takes_q > need_t'(left_q)) code_d = Malformed;
        else if (empty) code_d = Argument;
        else if (gives_q > room_q) code_d = ReplyFull;
        else state_d = Begin;
      end
      Begin: state_d = Active;
      Active: begin
        req_ready = unit_ready;
        if (unit_done) begin
          state_d = Op;
          code_d  = unit_code;
          if (unit_code != Done) state_d = Ended;
          else count_d = count_q + 16'd1;
        end
      end
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    state_q <= state_d;
    op_q    <= op_d;
    at_q    <= at_d;
    left_q  <= left_d;
    used_q  <= used_d;
    takes_q <= takes_d;
    gives_q <= gives_d;
    room_q  <= need_t'(Longest) - need_t'(used_q);
    count_q <= count_d;
    code_q  <= code_d;
    if (rst) state_q <= Idle;
  end
endmodule
