// Congestion notification: sends a CNP to the peer of each queue pair that was marked.
//
// Looks at one queue pair after the other. `sent_q` remembers that a CNP was sent less than
// `interval` clocks ago, its time lies in a memory; after that one more may be sent. The interval goes
// on when the queue pair is cleared, the mark does not. `commit_gnt` means: push `tx`, take the mark
// away.
module nd_receive_cnp
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64
) (
  input  logic        clk,
  input  logic        rst,

  input  qp_state_e [NumQp-1:0] qp_states,
  input  logic [23:0] interval,
  input  logic        pause,
  input  logic        hold,
  input  qp_t         hold_qp,
  input  logic        clear,
  input  qp_t         clear_qp,

  input  logic        mark,       // a frame that met congestion was taken
  input  qp_t         mark_qp,

  input  logic        tx_ready,
  output tx_desc_t    tx,
  output logic        commit_req,
  output commit_t     commit_record,
  input  logic        commit_gnt
);
  localparam int unsigned QpBits = $clog2(NumQp);
  typedef logic [QpBits-1:0] qp_bits_t;
  typedef logic [31:0] time_t;  // wraps: a mark that is looked at rarely may wait once more

  typedef enum logic [2:0] {
    Scan,
    Look,
    Age,
    Decide,
    Ready
  } state_e;

  state_e   state_q, state_d;
  qp_bits_t qp_q, qp_d;
  time_t    now_q, then, age_q;
  logic [NumQp-1:0] marked_q, marked_d, sent_q, sent_d;
  logic     alive, unused;
  qp_t      qp;

  assign unused = &{1'b0, mark_qp, clear_qp};
  assign qp     = qp_t'(qp_q);
  assign alive  = qp_states[qp_q] inside {QpRtr, QpRts};

  // Also while a grant is awaited: the time of the CNP that is sent now.
  nd_ram #(.T(time_t), .Depth(NumQp)) u_times (
    .clk, .we(commit_gnt), .waddr(qp_q), .wdata(now_q), .raddr(qp_q), .rdata(then)
  );

  assign commit_req    = state_q == Ready && marked_q[qp_q] && alive && tx_ready && !pause &&
                         !(hold && hold_qp == qp);
  assign commit_record = commit_rec(CommitRespond, {8'd0, qp}, '0, '0, '0, RespondCnp);

  always_comb begin
    tx         = '0;
    tx.qp      = qp;
    tx.respond = 1'b1;
    tx.opcode  = OpCnp;
  end

  always_comb begin
    state_d = state_q;
    qp_d    = qp_q;
    sent_d  = sent_q;
    unique case (state_q)
      Scan: begin
        if (sent_q[qp_q]) state_d = Look;
        else if (marked_q[qp_q] && alive) state_d = Ready;
        else qp_d = qp_q + 1'b1;
      end
      Look: state_d = Age;
      Age: state_d = Decide;
      Decide: begin
        if (age_q >= time_t'(interval)) sent_d[qp_q] = 1'b0;
        qp_d    = qp_q + 1'b1;
        state_d = Scan;
        if (!sent_d[qp_q] && marked_q[qp_q] && alive) begin
          qp_d    = qp_q;
          state_d = Ready;
        end
      end
      default: begin
        if (commit_gnt) sent_d[qp_q] = 1'b1;
        if (commit_gnt || !marked_q[qp_q] || !alive || (hold && hold_qp == qp)) begin
          qp_d    = qp_q + 1'b1;
          state_d = Scan;
        end
      end
    endcase
  end

  always_comb begin
    marked_d = marked_q;
    if (mark) marked_d[mark_qp[QpBits-1:0]] = 1'b1;
    if (commit_gnt) marked_d[qp_q] = 1'b0;
    if (clear) marked_d[clear_qp[QpBits-1:0]] = 1'b0;
  end

  always_ff @(posedge clk) begin
    state_q  <= state_d;
    qp_q     <= qp_d;
    now_q    <= now_q + 1'b1;
    age_q    <= now_q - then;
    marked_q <= marked_d;
    sent_q   <= sent_d;
    if (rst) begin
      state_q  <= Scan;
      qp_q     <= '0;
      now_q    <= '0;
      marked_q <= '0;
      sent_q   <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_grant: assert (!commit_gnt || commit_req);
      a_one:   assert (!(mark && commit_gnt));
      a_apart: assert (!commit_gnt || !sent_q[qp_q]);
    end
  end
`endif
endmodule
