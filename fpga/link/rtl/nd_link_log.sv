// Commit log: the core's actions with the clock of each, for the host.
//
// It never holds the core up: without room a record is lost, and the next one that is kept says so.
module nd_link_log
  import nd_link_pkg::*;
#(
  // records, a power of two, above 64
  parameter int unsigned Depth = 512
) (
  input  logic         clk,
  input  logic         rst,
  input  logic         clear,   // the core is in reset
  input  logic         enable,
  input  logic [30:0]  now,

  input  logic         commit_valid,
  input  logic [111:0] commit,
  output logic         kept,    // one clock for each record
  output logic         lost,
  output logic         waiting,

  input  logic         start,
  input  logic [15:0]  n,
  output logic         done,
  output logic         out_valid,
  input  logic         out_ready,
  output logic [7:0]   out_data
);
  typedef struct packed {
    logic         gap;  // records were lost before this one
    logic [30:0]  now;
    logic [111:0] commit;
  } record_t;
  typedef enum logic [2:0] {
    Idle,
    Count,
    High,
    Byte,
    Ended
  } state_e;

  logic    gap_q, gap_d, room, push, valid_q;
  record_t record;
  logic [30:0]  now_q;
  logic [111:0] commit_q;
  logic    record_valid, record_ready;
  logic [$clog2(Depth):0] held;

  state_e       state_q, state_d;
  logic [15:0]  left_q, left_d;
  logic [4:0]   at_q, at_d;
  logic [RecordBytes-1:0][7:0] bytes;

  assign push    = valid_q && room;
  assign kept    = push;
  assign lost    = valid_q && !room;
  assign gap_d   = (gap_q || lost) && !push;
  assign waiting = held != '0;
  assign done    = state_q == Ended;
  assign bytes   = record;

  always_comb begin
    state_d      = state_q;
    left_d       = left_q;
    at_d         = at_q;
    record_ready = 1'b0;
    out_valid    = 1'b0;
    out_data     = bytes[at_q];
    case (state_q)
      Idle: begin
        left_d = n < 16'(held) ? n : 16'(held);
        if (start) state_d = Count;
      end
      Count: begin
        out_valid = 1'b1;
        out_data  = left_q[7:0];
        if (out_ready) state_d = High;
      end
      High: begin
        out_valid = 1'b1;
        out_data  = left_q[15:8];
        at_d      = '0;
        if (out_ready) state_d = left_q == '0 ? Ended : Byte;
      end
      Byte: begin
        out_valid = record_valid;
        if (record_valid && out_ready) begin
          at_d = at_q + 5'd1;
          if (at_q == 5'(RecordBytes - 1)) begin
            at_d         = '0;
            record_ready = 1'b1;
            left_d       = left_q - 16'd1;
            if (left_q == 16'd1) state_d = Ended;
          end
        end
      end
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    now_q    <= now;
    commit_q <= commit;
    valid_q  <= commit_valid && enable;
    gap_q   <= gap_d;
    state_q <= state_d;
    left_q  <= left_d;
    at_q    <= at_d;
    if (rst || clear) begin
      gap_q   <= 1'b0;
      valid_q <= 1'b0;
    end
    if (rst) state_q <= Idle;
  end

  nd_fifo #(.T(record_t), .Depth(Depth)) u_records (
    .clk, .rst(rst || clear), .in_valid(push), .in_ready(room),
    .in_data('{gap: gap_q, now: now_q, commit: commit_q}),
    .out_valid(record_valid), .out_ready(record_ready), .out_data(record), .count(held)
  );
endmodule
