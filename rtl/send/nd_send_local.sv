// Takes a local request through `context`: asks for its checks, has its page list fetched, and holds
// the verdict (`done`) until the grant (`apply`: executed, `drop`: failed).
//
// `stop` gives the request up, in any clock, and holds until `busy` has gone.
module nd_send_local
  import nd_pkg::*;
  import nd_abi_pkg::*;
(
  input  logic   clk,
  input  logic   rst,

  input  logic   start,
  input  logic   stop,
  output logic   busy,
  output logic   done,
  output logic   failed,
  output fault_e fault,      // of what failed
  input  logic   apply,
  input  logic   drop,

  output logic   local_valid,
  input  logic   local_ready,
  input  logic   local_pages,
  input  logic   local_done,
  input  fault_e local_fault,
  output logic   local_drop,

  output logic   list_start,
  output logic   list_stop,
  input  logic   list_idle
);
  typedef enum logic [2:0] {
    Idle,
    Ask,
    Wait,   // it is being checked
    List,   // its page list comes
    Done,
    Leave   // it is given up
  } state_e;

  state_e state_q, state_d;
  fault_e fault_q, fault_d;
  logic   failed_q, failed_d;

  assign busy        = state_q != Idle;
  assign done        = state_q == Done;
  assign failed      = failed_q;
  assign fault       = fault_q;
  assign local_valid = state_q == Ask;
  assign local_drop  = state_q == Leave;
  assign list_start  = state_q == Wait && local_pages && list_idle && !stop;
  assign list_stop   = state_q == List && (local_done || stop);

  always_comb begin
    state_d  = state_q;
    fault_d  = fault_q;
    failed_d = failed_q;
    unique case (state_q)
      Idle: begin
        failed_d = 1'b0;
        if (start) state_d = Ask;
      end
      Ask: if (local_ready) state_d = Wait;
      Wait, List: begin
        fault_d = local_fault;
        if (stop) begin
          state_d = Leave;
        end else if (local_done) begin
          failed_d = local_fault != FaultNone;
          state_d  = Done;
        end else if (list_start) begin
          state_d = List;
        end
      end
      Done: begin
        if (apply) state_d = Idle;
        else if (drop || stop) state_d = Leave;
        if (state_d != Done) failed_d = 1'b0;
      end
      default: state_d = Idle;  // Leave
    endcase
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    fault_q  <= fault_d;
    failed_q <= failed_d;
    if (rst) begin
      state_q  <= Idle;
      failed_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_start: assert (!start || !busy);
      a_end:   assert (!(apply || drop) || (done && !stop && apply != failed_q));
    end
  end
`endif
endmodule
