// Completions and error events of retired requests, on their way to `complete`.
//
// A failed read part of which may have come (`wait_placed`) completes only when its queue pair is
// `settled`: all that its responses brought is placed. Those behind it wait too; no payload waits for
// them.
module nd_send_finish
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic                  clk,
  input  logic                  rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic      [NumQp-1:0] settled,

  output logic                  room,
  input  logic                  in_valid,
  input  logic                  wait_placed,
  input  completion_t           in,
  output logic                  event_room,
  input  logic                  event_valid,
  input  qp_error_t             event_in,

  output logic                  completion_valid,
  input  logic                  completion_ready,
  output completion_t           completion,
  output logic                  qp_event_valid,
  input  logic                  qp_event_ready,
  output qp_t                   qp_event_qp,
  output status_e               qp_event_status
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  typedef struct packed {
    logic        wait_placed;
    completion_t completion;
  } entry_t;

  entry_t     head;
  qp_error_t  event_out;
  logic       head_valid, go;
  logic [2:0] unused_count, unused_event_count;

  nd_fifo #(.T(entry_t), .Depth(4)) u_completions (
    .clk, .rst, .in_valid, .in_ready(room), .in_data({wait_placed, in}),
    .out_valid(head_valid), .out_ready(completion_ready && go), .out_data(head),
    .count(unused_count)
  );
  nd_fifo #(.T(qp_error_t), .Depth(4)) u_events (
    .clk, .rst, .in_valid(event_valid), .in_ready(event_room), .in_data(event_in),
    .out_valid(qp_event_valid), .out_ready(qp_event_ready), .out_data(event_out),
    .count(unused_event_count)
  );

  // A queue pair that left QpErr was cleared, which waits for all payload.
  assign go = !head.wait_placed || settled[row_t'(head.completion.qp)]
              || qp_states[row_t'(head.completion.qp)] != QpErr;

  assign completion_valid = head_valid && go;
  assign completion       = head.completion;
  assign qp_event_qp      = event_out.qp;
  assign qp_event_status  = event_out.status;

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_room: assert (!(in_valid && !room) && !(event_valid && !event_room));
      a_hold: assert (!$past(completion_valid && !completion_ready && !rst)
                      || (completion_valid && $stable(completion)));
    end
  end
`endif
endmodule
