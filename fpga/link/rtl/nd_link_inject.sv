// Frames from the host to the core's network input: pieces are put together, whole frames are sent.
//
// A frame that has no room is dropped as a whole and the operation fails with NoRoom. `discard` drops
// the frame of which pieces, but not the last one, have come. `idle`: nothing waits to be sent.
module nd_link_inject
  import nd_link_pkg::*;
#(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  // beats of the buffer, a power of two
  parameter int unsigned Beats = 1024,
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned LaneWidth = $clog2(Lanes)
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 clear,    // the core is in reset
  input  logic                 discard,

  input  logic                 start,
  input  logic [15:0]          n,
  input  logic                 last,     // its last piece ends the frame
  input  logic                 bad,      // ... of which the core is told that the MAC found it bad
  output logic                 done,
  output code_e                code,
  input  logic                 in_valid,
  output logic                 in_ready,
  input  logic [7:0]           in_data,

  output logic                 idle,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [DataWidth-1:0] m_axis_tdata,
  output logic [Lanes-1:0]     m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic                 m_axis_tuser
);
  typedef enum logic [1:0] {
    Idle,
    Take,
    Push,
    Ended
  } state_e;
  typedef struct packed {
    logic                 bad;
    logic                 last;
    logic [LaneWidth-1:0] top;  // the highest lane that counts
    logic [DataWidth-1:0] data;
  } beat_t;

  state_e                state_q, state_d;
  logic [15:0]           left_q, left_d;
  logic [LaneWidth-1:0]  lane_q, lane_d;
  logic [Lanes-1:0][7:0] word_q, word_d;
  code_e                 code_q, code_d;
  logic                  ends, push, room, drop;
  beat_t                 beat, out;
  logic                  gone, whole;
  logic [$clog2(Beats):0] frames_q, frames_d;  // whole ones that wait
  logic [$clog2(Beats):0] unused_held;

  assign ends     = last && left_q == '0;  // of a frame
  assign done     = state_q == Ended;
  assign code     = code_q;
  assign in_ready = state_q == Take;
  assign idle     = frames_q == '0;
  assign whole    = push && room && ends;
  assign gone     = m_axis_tvalid && m_axis_tready && m_axis_tlast;
  assign frames_d = frames_q + ($clog2(Beats) + 1)'(whole) - ($clog2(Beats) + 1)'(gone);
  assign beat     = '{bad: bad, last: ends, top: lane_q - LaneWidth'(1), data: word_q};

  always_comb begin
    state_d = state_q;
    left_d  = left_q;
    lane_d  = discard || clear ? '0 : lane_q;
    word_d  = word_q;
    code_d  = code_q;
    push    = 1'b0;
    drop    = discard || clear;
    case (state_q)
      Idle: begin
        left_d = n;
        code_d = Done;
        if (start) state_d = Take;
      end
      Take: begin
        if (in_valid) begin
          word_d[lane_q] = in_data;
          lane_d  = lane_q + LaneWidth'(1);
          left_d  = left_q - 16'd1;
          if (left_q == 16'd1) state_d = Ended;
          if (lane_q == '1 || (last && left_q == 16'd1)) state_d = Push;
        end
      end
      Push: begin
        push    = 1'b1;
        state_d = left_q == '0 ? Ended : Take;
        if (ends) lane_d = '0;
        if (!room) begin
          code_d  = NoRoom;
          drop    = 1'b1;
          lane_d  = '0;
          state_d = Ended;
        end
      end
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    state_q <= state_d;
    left_q  <= left_d;
    lane_q  <= lane_d;
    word_q  <= word_d;
    code_q  <= code_d;
    frames_q <= rst || clear ? '0 : frames_d;
    if (rst) begin
      state_q <= Idle;
      lane_q  <= '0;
    end
  end

  nd_fifo_commit #(.T(beat_t), .Depth(Beats)) u_beats (
    .clk, .rst(rst || clear), .in_valid(push), .in_ready(room), .in_data(beat),
    .commit(whole), .discard(drop), .out_valid(m_axis_tvalid), .out_ready(m_axis_tready),
    .out_data(out), .count(unused_held)
  );

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      m_axis_tkeep[i] = !out.last || LaneWidth'(i) <= out.top;
    end
  end

  assign m_axis_tdata = out.data;
  assign m_axis_tlast = out.last;
  assign m_axis_tuser = out.last && out.bad;
endmodule
