// The queue of answers of all queue pairs, in the order in which they came back behind the payload.
//
// Places are reserved when a request is judged (`reserve`, never with `full`), filled by `post`, which
// is always taken, and given back by `pop`. `head` stays until `pop`; if it and the one behind it are
// ACKs of one queue pair, that is `behind`, and `pop_both` takes both.
//
// After `clear` what is queued of that queue pair is `dead`: `clear_busy` lasts until each of it is
// marked, and `dead` is right two clocks later. Meanwhile nothing of that queue pair may be posted.
module nd_receive_answers
  import nd_pkg::*;
  import nd_receive_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64,
  // answers, a power of two
  parameter int unsigned Places = 256
) (
  input  logic      clk,
  input  logic      rst,

  input  logic      reserve,
  output logic      full,
  input  logic      post_valid,
  input  response_t post,

  output logic      head_valid,
  output response_t head,
  output logic      dead,        // two clocks later than `head`
  output logic      behind_valid,
  output response_t behind,
  input  logic      pop,
  input  logic      pop_both,    // with `pop`

  input  logic      clear,
  input  qp_t       clear_qp,
  output logic      clear_busy
);
  localparam int unsigned QpBits   = $clog2(NumQp);
  localparam int unsigned PtrWidth = $clog2(Places);
  typedef logic [QpBits-1:0] qp_bits_t;
  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [PtrWidth:0] place_t;

  typedef enum logic [1:0] {
    Idle,
    Read,  // whose answer is it?
    Mark
  } state_e;

  state_e    state_q, state_d;
  place_t    used_q, used_d;
  place_t    wr_q, wr_d;      // next answer that is posted
  place_t    rd_q, rd_d;      // the one at the head
  place_t    scan_q, scan_d;  // looked at while clearing ...
  place_t    end_q, end_d;    // ... up to here
  response_t head_q, head_d;
  logic      head_valid_q, head_valid_d;
  logic      in_ready, next_valid, next_ready, found, unused;
  logic      head_ack, next_ack;
  response_t next;
  qp_bits_t  owner;
  place_t    unused_count;

  assign unused       = &{1'b0, clear_qp, post.qp};
  assign full         = used_q[PtrWidth];
  assign head_valid   = head_valid_q;
  assign head         = head_q;
  assign behind       = next;
  assign head_ack     = !head_q.is_read && head_q.syndrome == AethAck;
  assign next_ack     = !next.is_read && next.syndrome == AethAck;
  assign behind_valid = next_valid && head_ack && next_ack && next.qp == head_q.qp;
  assign next_ready   = !head_valid_q || pop;
  assign clear_busy   = state_q != Idle;

  nd_fifo #(.T(response_t), .Depth(Places)) u_queue (
    .clk, .rst, .in_valid(post_valid), .in_ready, .in_data(post),
    .out_valid(next_valid), .out_ready(next_ready), .out_data(next), .count(unused_count)
  );
  nd_ram #(.T(qp_bits_t), .Depth(Places)) u_owners (
    .clk, .we(post_valid), .waddr(ptr_t'(wr_q)), .wdata(post.qp[QpBits-1:0]),
    .raddr(ptr_t'(scan_q)), .rdata(owner)
  );
  nd_ram #(.T(logic), .Depth(Places)) u_dead (
    .clk, .we(post_valid || found), .waddr(ptr_t'(post_valid ? wr_q : scan_q)), .wdata(!post_valid),
    .raddr(ptr_t'(rd_q)), .rdata(dead)
  );

  always_comb begin
    head_valid_d = head_valid_q;
    head_d       = head_q;
    if (next_ready) begin
      head_valid_d = next_valid && !pop_both;
      head_d       = next;
    end
    wr_d   = wr_q + place_t'(post_valid);
    rd_d   = rd_q + place_t'(pop) + place_t'(pop_both);
    used_d = used_q + place_t'(reserve) - place_t'(pop) - place_t'(pop_both);
  end

  // Marks give way to answers that are posted.
  always_comb begin
    state_d = state_q;
    scan_d  = scan_q;
    end_d   = end_q;
    found   = 1'b0;
    unique case (state_q)
      Idle: begin
        scan_d = rd_q;
        end_d  = wr_q;
        if (clear) state_d = Read;
      end
      Read: state_d = scan_q == end_q ? Idle : Mark;
      Mark: begin
        found = !post_valid && owner == clear_qp[QpBits-1:0];
        if (!post_valid) begin
          scan_d  = scan_q + 1'b1;
          state_d = Read;
        end
      end
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk) begin
    state_q      <= state_d;
    used_q       <= used_d;
    wr_q         <= wr_d;
    rd_q         <= rd_d;
    scan_q       <= scan_d;
    end_q        <= end_d;
    head_q       <= head_d;
    head_valid_q <= head_valid_d;
    if (rst) begin
      state_q      <= Idle;
      used_q       <= '0;
      wr_q         <= '0;
      rd_q         <= '0;
      head_valid_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_reserve: assert (!reserve || !full);
      a_post:    assert (!post_valid || in_ready);
      a_pop:     assert (!pop || head_valid_q);
      a_both:    assert (!pop_both || (pop && behind_valid));
      a_clear:   assert (!clear_busy || !post_valid || post.qp != clear_qp);
      a_used:    assert (used_q >= place_t'(wr_q - rd_q));
    end
  end
`endif
endmodule
