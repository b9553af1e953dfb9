// Events of completion queues that are due: put off until their time ends.
//
// One queue after the other is looked at, one a clock; one whose event is due and whose time has ended is
// put out (`out_*`) until it is taken or no more due. Time is counted in ticks of `unit` clocks, and begins
// somewhere in a tick, so that an event is put off up to a tick less than its interval. `begin_valid`: it
// begins for `begin_cq`. `limit_we` writes how long events of a queue are put off.
module nd_complete_due
  import nd_complete_pkg::*;
#(
  // completion queues, a power of two
  parameter int unsigned NumCq = 64
) (
  input  logic             clk,
  input  logic             rst,

  input  logic [15:0]      unit,         // clocks of a microsecond
  input  logic [NumCq-1:0] due,
  input  logic             begin_valid,
  input  logic [15:0]      begin_cq,
  input  logic             limit_we,
  input  logic [15:0]      limit_cq,
  input  moderation_t      limit,

  output logic             out_valid,
  output logic [15:0]      out_cq
);
  typedef logic [$clog2(NumCq)-1:0] row_t;
  // A queue is looked at much more often than half of the time that this holds passes after the
  // longest interval.
  typedef logic [17:0] ticks_t;

  typedef enum logic [1:0] {
    Scan,
    Wait,    // its times come
    Decide,
    Ask
  } state_e;

  state_e      state_q, state_d;
  row_t        row_q, row_d;
  logic [15:0] clocks_q, clocks_d;
  ticks_t      now_q, now_d, since, passed_q;
  moderation_t limit_out, limit_q;
  logic        over;

  assign out_valid = state_q == Ask && due[row_q];
  assign out_cq    = 16'(row_q);

  always_comb begin
    clocks_d = clocks_q + 16'd1;
    now_d    = now_q;
    if (clocks_d >= unit) begin
      clocks_d = '0;
      now_d    = now_q + ticks_t'(1);
    end
  end

  nd_ram #(.T(ticks_t), .Depth(NumCq)) u_since (
    .clk, .we(begin_valid), .waddr(row_t'(begin_cq)), .wdata(now_q), .raddr(row_q), .rdata(since)
  );
  nd_ram #(.T(moderation_t), .Depth(NumCq)) u_limit (
    .clk, .we(limit_we), .waddr(row_t'(limit_cq)), .wdata(limit), .raddr(row_q), .rdata(limit_out)
  );

  // One that is no longer moderated has no time left.
  assign over = !moderated(limit_q)
                || (limit_q.interval != '1 && passed_q >= ticks_t'(limit_q.interval));

  always_comb begin
    state_d = state_q;
    row_d   = row_q;
    unique case (state_q)
      Scan: begin
        if (due[row_q]) state_d = Wait;
        else row_d = row_q + row_t'(1);
      end
      // What was read in the first clock may be of before the event became due.
      Wait:    state_d = Decide;
      Decide: begin
        state_d = Scan;
        if (over) state_d = Ask;
        else row_d = row_q + row_t'(1);
      end
      default: begin  // Ask
        if (!due[row_q] || begin_valid || limit_we) state_d = Scan;
      end
    endcase
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    row_q    <= row_d;
    clocks_q <= clocks_d;
    now_q    <= now_d;
    limit_q  <= limit_out;
    passed_q <= now_q - since;
    if (rst) begin
      state_q  <= Scan;
      row_q    <= '0;
      clocks_q <= '0;
      now_q    <= '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, begin_cq, limit_cq};
endmodule
