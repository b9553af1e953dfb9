// Queue pairs whose Invalidate was executed, or whose frame was sent, until what was decided up to it is
// done: gathers are read, payload is placed.
//
// Executions (`start`) are gathered; for those of one round the counts of what began are noted when
// the round begins, and the round ends when those of what is done have come so far. Payload takes two
// steps: its jobs are handed to the DMA writer, then the bursts of these are answered. All counts wrap,
// and lie less than half their range apart. `draining` is high from the clock after `start` on.
module nd_send_drain
  import nd_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic             clk,
  input  logic             rst,

  input  logic             start,
  input  qp_t              start_qp,
  output logic [NumQp-1:0] draining,

  input  logic [7:0]       gathers_begun,
  input  logic [7:0]       gathers_done,
  input  logic [7:0]       jobs_begun,
  input  logic [7:0]       jobs_done,
  input  logic [9:0]       placed_begun,
  input  logic [9:0]       placed_done
);
  typedef enum logic [1:0] {
    Idle,
    Jobs,   // gathers and jobs of payload
    Bursts  // answers of payload
  } state_e;

  state_e           state_q, state_d;
  logic [NumQp-1:0] waiting_q, waiting_d;  // for the next round
  logic [NumQp-1:0] round_q, round_d;
  logic [NumQp-1:0] start_row;
  logic [7:0]       gathers_q, gathers_d, jobs_q, jobs_d, gathers_left, jobs_left;
  logic [9:0]       placed_q, placed_d, placed_left;

  // What is left: negative or none.
  assign gathers_left = gathers_q - gathers_done;
  assign jobs_left    = jobs_q - jobs_done;
  assign placed_left  = placed_q - placed_done;
  assign draining     = waiting_q | round_q;

  always_comb begin
    for (int unsigned i = 0; i < NumQp; i++) start_row[i] = start && start_qp == qp_t'(i);
    state_d   = state_q;
    waiting_d = waiting_q | start_row;
    round_d   = round_q;
    gathers_d = gathers_q;
    jobs_d    = jobs_q;
    placed_d  = placed_q;
    unique case (state_q)
      Idle: begin
        gathers_d = gathers_begun;
        jobs_d    = jobs_begun;
        if (waiting_q != '0) begin
          round_d   = waiting_q;
          waiting_d = start_row;
          state_d   = Jobs;
        end
      end
      Jobs: begin
        placed_d = placed_begun;
        if ((gathers_left == '0 || gathers_left[7]) && (jobs_left == '0 || jobs_left[7])) begin
          state_d = Bursts;
        end
      end
      default: begin  // Bursts
        if (placed_left == '0 || placed_left[9]) begin
          round_d = '0;
          state_d = Idle;
        end
      end
    endcase
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    waiting_q <= waiting_d;
    round_q   <= round_d;
    gathers_q <= gathers_d;
    jobs_q    <= jobs_d;
    placed_q  <= placed_d;
    if (rst) begin
      state_q   <= Idle;
      waiting_q <= '0;
      round_q   <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_gathers: assert (8'(gathers_begun - gathers_done) < 8'h80);
      a_jobs:    assert (8'(jobs_begun - jobs_done) < 8'h80);
      a_placed:  assert (10'(placed_begun - placed_done) < 10'h200);
    end
  end
`endif
endmodule
