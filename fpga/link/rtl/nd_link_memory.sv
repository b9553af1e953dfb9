// Operations on host memory: `n` bytes read or written, or 8 * `n` bytes filled, at any address.
//
// The memory's port is of one request at a time: `mem_valid` holds until `mem_ready`; what a write
// carries is in memory from that clock on, a read is answered by `mem_rvalid` later. Addresses are in
// bytes from the start of the memory and multiples of a word. A memory that does not answer within
// 2**TimeoutBits clocks is `stuck`: its port is not used again until `clear`.
module nd_link_memory
  import nd_link_pkg::*;
#(
  // bits of a word
  parameter int unsigned DataWidth = 64,
  // bytes of the memory
  parameter int unsigned MemBytes = 65536,
  // log2 of the clocks after which a request is given up
  parameter int unsigned TimeoutBits = 16,
  localparam int unsigned AddrWidth = $clog2(MemBytes),
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned LaneWidth = $clog2(Lanes)
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 clear,
  output logic                 stuck,

  input  logic                 start,
  input  op_t                  op,
  output logic                 done,
  output code_e                code,

  input  logic                 in_valid,
  output logic                 in_ready,
  input  logic [7:0]           in_data,
  output logic                 out_valid,
  input  logic                 out_ready,
  output logic [7:0]           out_data,

  output logic                 mem_valid,
  input  logic                 mem_ready,
  output logic                 mem_write,
  output logic [AddrWidth-1:0] mem_addr,
  output logic [DataWidth-1:0] mem_wdata,
  output logic [Lanes-1:0]     mem_wstrb,
  input  logic                 mem_rvalid,
  input  logic [DataWidth-1:0] mem_rdata
);
  typedef enum logic [2:0] {
    Idle,
    Check,
    Gather,
    Request,
    Await,
    Scatter,
    Ended
  } state_e;

  state_e                     state_q, state_d;
  logic [18:0]                left_q, left_d;
  logic [AddrWidth-1:0]       addr_q, addr_d;
  logic [32:0]                behind_q, behind_d;
  logic [Lanes-1:0][7:0]      word_q, word_d;
  logic [Lanes-1:0]           strb_q, strb_d;
  code_e                      code_q, code_d;
  logic [TimeoutBits-1:0]     time_q;
  logic [LaneWidth-1:0]       lane;
  logic                       reads, fills, ends, moves, late, stuck_q;

  assign reads     = op.op == ReadMemory;
  assign fills     = op.op == FillMemory;
  assign lane      = addr_q[LaneWidth-1:0];
  assign ends      = left_q == 19'd1 || lane == '1;  // of a word
  assign late      = time_q == '1;
  assign stuck     = stuck_q;
  assign behind_d  = 33'(op.arg[31:0]) + 33'(left_q);
  assign mem_valid = state_q == Request;
  assign mem_write = !reads;
  assign mem_addr  = {addr_q[AddrWidth-1:LaneWidth], {LaneWidth{1'b0}}};
  assign mem_wdata = word_q;
  assign mem_wstrb = strb_q;
  assign done      = state_q == Ended;
  assign code      = code_q;
  assign in_ready  = state_q == Gather && !fills;
  assign out_valid = state_q == Scatter;
  assign out_data  = word_q[lane];

  always_comb begin
    state_d = state_q;
    left_d  = left_q;
    addr_d  = addr_q;
    word_d  = word_q;
    strb_d  = strb_q;
    code_d  = code_q;
    moves   = 1'b0;
    case (state_q)
      Idle: begin
        left_d = fills ? {op.n, 3'b000} : {3'b000, op.n};
        addr_d = op.arg[AddrWidth-1:0];
        code_d = Done;
        strb_d = '0;
        if (start) state_d = Check;
      end
      Check: begin
        // The sum is a register, of what `left_q` was in the first of the two clocks.
        if (strb_q == '0) strb_d = '1;
        else begin
          strb_d  = '0;
          state_d = reads ? Request : Gather;
          if (behind_q > 33'(MemBytes)) begin
            code_d  = Range;
            state_d = Ended;
          end else if (stuck_q) begin
            code_d  = BusTimeout;
            state_d = Ended;
          end
        end
      end
      Gather: begin
        if (in_valid || fills) begin
          word_d[lane] = fills ? op.arg[39:32] : in_data;
          strb_d[lane] = 1'b1;
          if (ends) state_d = Request;
          else moves = 1'b1;
        end
      end
      Request: begin
        if (mem_ready) begin
          strb_d  = '0;
          state_d = Await;
          if (!reads) begin
            moves   = 1'b1;
            state_d = left_q == 19'd1 ? Ended : Gather;
          end
        end
      end
      Await: begin
        if (mem_rvalid) begin
          word_d  = mem_rdata;
          state_d = Scatter;
        end
      end
      Scatter: begin
        if (out_ready) begin
          moves = 1'b1;
          if (ends) state_d = left_q == 19'd1 ? Ended : Request;
        end
      end
      default: state_d = Idle;
    endcase
    if (late) begin
      code_d  = BusTimeout;
      state_d = Ended;
    end
    if (moves) begin
      left_d = left_q - 19'd1;
      addr_d = addr_q + AddrWidth'(1);
    end
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    left_q   <= left_d;
    addr_q   <= addr_d;
    behind_q <= behind_d;
    word_q   <= word_d;
    strb_q   <= strb_d;
    code_q   <= code_d;
    time_q   <= state_q == Request || state_q == Await ? time_q + TimeoutBits'(1) : '0;
    stuck_q  <= (stuck_q || late) && !clear;
    if (rst) begin
      state_q <= Idle;
      time_q  <= '0;
      stuck_q <= 1'b0;
    end
  end
endmodule
