// Pace of each queue pair ("Congestion" of the semantics): a level that congestion notifications raise
// and time lowers, and the gap that it puts after each packet.
//
// `paced` are the queue pairs in a gap. Only queue pairs with a level or a gap are looked at, each in
// its turn; one that never saw a notification costs nothing.
module nd_send_pace
  import nd_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic             clk,
  input  logic             rst,

  input  logic [23:0]      interval,      // clocks between two raises; 16 of them lower the level
  input  logic             clear_valid,
  input  qp_t              clear_qp,

  input  logic             cnp_valid,     // RxCnp granted
  input  qp_t              cnp_qp,
  input  logic             packet_valid,  // SqEmit granted
  input  qp_t              packet_qp,
  input  len_t             packet_len,

  output logic [NumQp-1:0] paced
);
  typedef logic [$clog2(NumQp)-1:0] row_t;
  typedef logic [31:0] time_t;
  typedef logic [17:0] gap_t;

  // One-hot row of a queue pair.
  function automatic logic [NumQp-1:0] row_of(logic valid, qp_t qp);
    logic [NumQp-1:0] row;
    for (int unsigned i = 0; i < NumQp; i++) row[i] = valid && qp == qp_t'(i);
    return row;
  endfunction

  // A packet that leaves a gap.
  typedef struct packed {
    logic       valid;
    row_t       row;
    logic [2:0] level;
    logic [9:0] beats;   // of 8 bytes, with what is around the payload
    gap_t       start;
  } gap_stage_t;

  typedef enum logic [1:0] {
    Pick,  // chooses a queue pair
    Data,  // its times are looked up
    Wait,
    Decide
  } state_e;

  state_e           state_q, state_d;
  row_t             row_q, row_d, turn_row, end_row_q, stamp_row;
  logic [NumQp-1:0][2:0] level_q, level_d;
  logic [NumQp-1:0] slow_q, slow_d;        // has a level
  logic [NumQp-1:0] recent_q, recent_d;    // was raised less than an interval ago
  logic [NumQp-1:0] paced_q, paced_d;      // in a gap
  logic [NumQp-1:0] timed_q, timed_d;      // its end is known
  logic [NumQp-1:0] clear_row, raise_row, packet_row, own_row;
  time_t            now_q, stamp, age_q;
  gap_t             gap_end, left_q, end_q, end_d;
  gap_stage_t       gap_q, gap_d;
  logic             turn_valid, end_valid_q, raised_q, raised_d, stamp_we, lower, over;
  logic             look_end_q;            // the end was known when it was looked up

  assign paced      = paced_q;
  assign clear_row  = row_of(clear_valid, clear_qp);
  assign raise_row  = row_of(cnp_valid, cnp_qp) & ~recent_q;
  assign packet_row = row_of(packet_valid, packet_qp) & slow_q;
  assign own_row    = row_of(state_q == Decide, qp_t'(row_q));

  // ---- the end of a gap: (2^level - 1) x beats after the packet

  always_comb begin
    gap_d.valid = packet_valid && slow_q[row_t'(packet_qp)];
    gap_d.row   = row_t'(packet_qp);
    gap_d.level = level_q[row_t'(packet_qp)];
    gap_d.beats = 10'((14'(packet_len) + 14'd71) >> 3);
    gap_d.start = gap_t'(now_q);
    end_d       = gap_q.start + (gap_t'(gap_q.beats) << gap_q.level) - gap_t'(gap_q.beats);
  end

  nd_ram #(.T(gap_t), .Depth(NumQp)) u_end (
    .clk, .we(end_valid_q), .waddr(end_row_q), .wdata(end_q), .raddr(row_q), .rdata(gap_end)
  );

  // ---- when the level last moved

  assign stamp_we  = cnp_valid || lower;
  assign stamp_row = cnp_valid ? row_t'(cnp_qp) : row_q;

  nd_ram #(.T(time_t), .Depth(NumQp)) u_stamp (
    .clk, .we(stamp_we && !(cnp_valid && recent_q[stamp_row])), .waddr(stamp_row), .wdata(now_q),
    .raddr(row_q), .rdata(stamp)
  );

  // ---- looks in turn

  nd_rr_turn #(.N(NumQp)) u_turn (
    .clk, .rst, .req(slow_q | recent_q | timed_q), .take(state_q == Pick), .valid(turn_valid),
    .row(turn_row)
  );

  always_comb begin
    state_d  = state_q;
    row_d    = row_q;
    raised_d = raised_q || (cnp_valid && cnp_qp == qp_t'(row_q));
    lower    = 1'b0;
    over     = 1'b0;
    unique case (state_q)
      Pick: begin
        row_d    = turn_row;
        raised_d = 1'b0;
        if (turn_valid) state_d = Data;
      end
      // The address is there; the data in the next clock, their ages in the one after.
      Data: state_d = Wait;
      Wait: state_d = Decide;
      default: begin  // Decide
        // A raise that comes while its times are looked at puts it off.
        over    = !raised_q && !cnp_valid && age_q >= time_t'(interval);
        lower   = over && slow_q[row_q] && age_q >= {4'd0, interval, 4'd0};
        state_d = Pick;
      end
    endcase
  end

  always_comb begin
    recent_d = recent_q | raise_row;
    if (over) recent_d = recent_d & ~own_row;
    paced_d = paced_q | packet_row;
    timed_d = timed_q | row_of(end_valid_q, qp_t'(end_row_q));
    if (state_q == Decide && look_end_q && (left_q[17] || left_q == '0)) begin
      paced_d = paced_d & ~own_row;
      timed_d = timed_d & ~own_row;
    end
    for (int unsigned i = 0; i < NumQp; i++) begin
      level_d[i] = level_q[i];
      if (raise_row[i] && level_q[i] != 3'd7) level_d[i] = level_q[i] + 3'd1;
      if (lower && own_row[i]) level_d[i] = level_q[i] - 3'd1;
      if (clear_row[i]) level_d[i] = '0;
      slow_d[i] = level_d[i] != '0;
    end
    recent_d = recent_d & ~clear_row;
    paced_d  = paced_d & ~clear_row;
    timed_d  = timed_d & ~clear_row;
  end

  always_ff @(posedge clk) begin
    state_q     <= state_d;
    row_q       <= row_d;
    raised_q    <= raised_d;
    if (state_q == Data) look_end_q <= timed_q[row_q];
    now_q       <= now_q + 32'd1;
    age_q       <= now_q - stamp;
    left_q      <= gap_end - gap_t'(now_q);
    gap_q       <= gap_d;
    end_valid_q <= gap_q.valid;
    end_row_q   <= gap_q.row;
    end_q       <= end_d;
    level_q     <= level_d;
    slow_q      <= slow_d;
    recent_q    <= recent_d;
    paced_q     <= paced_d;
    timed_q     <= timed_d;
    if (rst) begin
      state_q     <= Pick;
      now_q       <= '0;
      gap_q.valid <= 1'b0;
      end_valid_q <= 1'b0;
      level_q     <= '0;
      slow_q      <= '0;
      recent_q    <= '0;
      paced_q     <= '0;
      timed_q     <= '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, clear_qp, cnp_qp, packet_qp};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_gap:  assert (!packet_valid || !paced_q[row_t'(packet_qp)]);
      a_slow: assert (!(lower && cnp_valid));
    end
  end
`endif
endmodule
