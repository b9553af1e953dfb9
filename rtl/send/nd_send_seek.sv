// Finds where sending goes on: the request and byte of `una`, after a go-back or when responses
// passed the next packet.
//
// A queue pair is `held` from the clock after a go-back (`back`) until its next packet is `una`; after an
// accepted response (`accept`) only if packets are being sent again (`behind`), until it is known that
// `una` did not pass the next packet, or that is moved there. Nothing of a held queue pair is granted.
// `move` writes the place; with `move_drop` what was fetched ahead is forgotten; `end_valid` ends the
// hold. From a go-back to its move are four clocks, and one for each request before that of `una`.
//
// The search runs over the requests sent and not retired; local ones have no PSN and are passed
// over. Those that retire meanwhile are acknowledged,
// and none is added while the queue pair is held, so that what it reads stays as it is.
module nd_send_seek
  import nd_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  localparam int unsigned SentBits = $clog2(Outstanding)
) (
  input  logic                clk,
  input  logic                rst,

  input  logic                clear_valid,
  input  qp_t                 clear_qp,

  // granted clocks; at most one of them
  input  logic                back_valid,
  input  qp_t                 back_qp,
  input  logic                accept_valid,
  input  qp_t                 accept_qp,
  input  logic                packet_valid,
  input  logic                packet_level,  // the next one was never sent
  input  qp_t                 packet_qp,

  output logic [NumQp-1:0]    held,
  output logic [NumQp-1:0]    behind,        // the next packet was sent before

  // look-ups, answered one clock later
  output qp_t                 look_qp,
  input  logic                live,          // `una` holds; else nothing was acknowledged
  input  psn_t                una,
  input  psn_t                next,
  input  idx_t                index,         // request of `next`
  input  logic                unchecked,     // its entry is still to be checked
  input  top_t                top,
  input  retired_t            retired,
  output logic [SentBits-1:0] sent_slot,
  input  sent_t               sent,

  output logic                move_valid,
  input  logic                move_ready,
  output logic                move_drop,
  output progress_t           move,
  output logic                end_valid      // the hold of `look_qp` ends
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  // One-hot row of a queue pair.
  function automatic logic [NumQp-1:0] row_of(logic valid, qp_t qp);
    logic [NumQp-1:0] row;
    for (int unsigned i = 0; i < NumQp; i++) row[i] = valid && qp == qp_t'(i);
    return row;
  endfunction

  typedef enum logic [2:0] {
    Idle,
    Look,  // its state is looked up
    Load,
    Scan,  // one request a clock
    Move,  // writes the place
    Leave
  } state_e;

  state_e           state_q, state_d;
  row_t             row_q, row_d, turn_row;
  logic             turn_valid, mine, is_back_q, is_back_d, live_q, unchecked_q, more;
  logic [NumQp-1:0] need_q, need_d;      // looked at in turn
  logic [NumQp-1:0] back_q, back_d;      // ... because of a go-back
  logic [NumQp-1:0] behind_q, behind_d;
  logic [NumQp-1:0] back_row, accept_row, clear_row, take_row, own_row;
  psn_t             una_q, to_una_q, to_next_q, count_q, count_d, start_q, start_d;
  idx_t             index_q, index_d, old_q;
  top_t             top_q;
  logic             jump, found, none;
  logic [2:0]       mtu_q, mtu_d;
  logic [7:0]       reads_q, reads_d;
  logic [31:0]      bytes;

  assign clear_row  = row_of(clear_valid, clear_qp);
  assign back_row   = row_of(back_valid, back_qp);
  assign accept_row = row_of(accept_valid, accept_qp);
  assign take_row   = row_of(state_q == Look, qp_t'(row_q));
  assign own_row    = row_of(state_q inside {Load, Scan, Move, Leave}, qp_t'(row_q));
  assign held       = need_q | own_row;
  assign behind     = behind_q;
  assign mine       = clear_valid && qp_t'(row_q) == clear_qp;

  always_comb begin
    need_d   = ((need_q & ~take_row) | back_row | (accept_row & (behind_q | held))) & ~clear_row;
    back_d   = ((back_q & ~take_row) | back_row) & ~clear_row;
    behind_d = behind_q;
    if (packet_valid && packet_level) behind_d = behind_d & ~row_of(1'b1, packet_qp);
    if (move_valid) begin
      behind_d = behind_d & ~own_row;
      if (start_q != top_q.psn) behind_d = behind_d | own_row;
    end
    behind_d = behind_d & ~clear_row;
  end

  nd_rr_turn #(.N(NumQp)) u_turn (
    .clk, .rst, .req(need_q & ~own_row), .take(state_q == Idle), .valid(turn_valid), .row(turn_row)
  );

  assign look_qp   = qp_t'(row_q);
  assign sent_slot = state_q == Load ? SentBits'(retired.index) : SentBits'(index_q + 16'd1);
  // una is behind next, counted down from top, which is before neither
  assign jump      = is_back_q || to_una_q < to_next_q;
  assign none      = index_q == top_q.index;
  assign found     = none
                     || (!is_local(sent.opcode) && (!live_q || !psn_older(sent.last, una_q)));
  // Something happened since: looked at once more.
  assign more      = need_q[row_q];

  always_comb begin
    state_d   = state_q;
    row_d     = row_q;
    is_back_d = is_back_q;
    index_d   = index_q;
    count_d   = count_q;
    start_d   = start_q;
    mtu_d     = mtu_q;
    reads_d   = reads_q;
    unique case (state_q)
      Idle: begin
        if (back_valid || accept_valid) begin
          row_d   = back_valid ? row_t'(back_qp) : row_t'(accept_qp);
          state_d = Look;
        end else if (turn_valid) begin
          row_d   = turn_row;
          state_d = Look;
        end
      end
      Look: begin
        is_back_d = back_q[row_q];
        state_d   = need_q[row_q] ? Load : Idle;
      end
      Load: begin
        index_d = retired.index;
        state_d = Scan;
      end
      Scan: begin
        count_d = none || !live_q ? '0 : una_q - sent.first;
        start_d = live_q ? una_q : sent.first;
        mtu_d   = sent.mtu;
        reads_d = none ? top_q.reads : sent.reads;
        if (!jump) state_d = Leave;
        else if (found) state_d = Move;
        else index_d = index_q + 16'd1;
      end
      Move: if (move_ready) state_d = Leave;
      default: state_d = more ? Look : Idle;  // Leave
    endcase
    if (mine) state_d = Idle;
  end

  assign move_valid = state_q == Move && move_ready && !mine;
  assign end_valid  = state_q == Leave && !more;
  assign move_drop  = is_back_q || index_q != old_q;

  always_comb begin
    bytes = '0;
    for (int unsigned i = 1; i < 6; i++) if (mtu_q == 3'(i)) bytes |= 32'(count_q) << (7 + i);
    move         = '0;
    move.psn     = start_q;
    move.index   = index_q;
    move.started = count_q != '0;
    move.again   = move_drop || unchecked_q;
    move.offset  = bytes;
    move.sent    = bytes;
    move.packet  = count_q[5:0];
    move.reads   = reads_q;
  end

  always_ff @(posedge clk) begin
    state_q   <= state_d;
    row_q     <= row_d;
    is_back_q <= is_back_d;
    need_q    <= need_d;
    back_q    <= back_d;
    behind_q  <= behind_d;
    index_q   <= index_d;
    count_q   <= count_d;
    start_q   <= start_d;
    mtu_q     <= mtu_d;
    reads_q   <= reads_d;
    if (state_q == Load) begin
      live_q    <= live;
      una_q     <= una;
      old_q     <= index;
      unchecked_q <= unchecked;
      top_q     <= top;
      to_una_q  <= top.psn - una;
      to_next_q <= top.psn - next;
    end
    if (rst) begin
      state_q  <= Idle;
      need_q   <= '0;
      back_q   <= '0;
      behind_q <= '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, back_qp, accept_qp, clear_qp, packet_qp, retired, top_q, sent};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_one:    assert ($onehot0({back_valid, accept_valid, packet_valid}));
      a_held:   assert (!packet_valid || !held[row_t'(packet_qp)]);
      a_window: assert (!(state_q == Move) || psn_t'(top_q.psn - start_q) <= 24'h800000);
      a_order:  assert (!(move_valid && !is_back_q) || psn_t'(top_q.psn - start_q) < to_next_q);
    end
  end
`endif
endmodule
