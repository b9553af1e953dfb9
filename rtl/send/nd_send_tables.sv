// Where each send queue stands, how far it came, and what it sent: memories with one writer a clock.
//
// Written by a granted packet, local request or failure, or a local request that is passed over
// (`emit`), by `move` (sending goes on elsewhere), which never comes with one of them, and by clearing,
// which takes a clock without either. Look-ups are answered one clock later.
module nd_send_tables
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // reads outstanding per queue pair, a power of two
  parameter int unsigned MaxRead = 4,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  localparam int unsigned SlotBits = MaxRead > 1 ? $clog2(MaxRead) : 1,
  localparam int unsigned SentBits = $clog2(Outstanding)
) (
  input  logic                clk,
  input  logic                rst,

  input  logic                clear_valid,
  input  qp_t                 clear_qp,
  output logic                clear_done,

  input  logic                emit_busy,
  input  qp_t                 emit_qp,
  input  logic                packet_valid,  // of `emit_qp`; or a local request
  input  packet_t             packet,
  input  logic [Outstanding-1:0] packet_locals,
  input  logic                fail_valid,    // of `emit_qp`
  input  failure_t            fail,

  input  logic                move_valid,
  input  qp_t                 move_qp,
  input  progress_t           move,

  input  qp_t                 select_qp,
  output progress_t           select_progress,
  output top_t                select_top,
  output logic [Outstanding-1:0] select_locals,  // slots of local requests, of those that began

  input  qp_t                 seek_qp,
  output psn_t                seek_next,     // of the next packet
  output idx_t                seek_index,
  output logic                seek_unchecked,  // its request's entry is still to be checked
  output top_t                seek_top,
  input  logic [SentBits-1:0] seek_slot,
  output sent_t               seek_sent,

  input  qp_t                 retire_qp,
  output idx_t                retire_begun,  // first request of which nothing was sent
  output failure_t            retire_fail,
  input  logic [SentBits-1:0] retire_slot,
  output sent_t               retire_sent,

  input  qp_t                 timer_qp,
  output logic                timer_live,
  output psn_t                timer_top,

  input  qp_t                 receive_qp,
  output logic                receive_live,
  output psn_t                receive_top,
  input  qp_t                 read_qp,
  input  logic [SlotBits-1:0] read_slot,
  output read_t               read,
  output logic                read_again,    // it was sent more than once
  output logic [7:0]          reads_started
);
  if (MaxRead < 2 || MaxRead > 128 || (MaxRead & (MaxRead - 1)) != 0) begin : g_check_read
    $error("%m: MaxRead must be a power of two, 2 to 128");
  end
  if (Outstanding < 2 || Outstanding > 64 || (Outstanding & (Outstanding - 1)) != 0)
  begin : g_check_outstanding
    $error("%m: Outstanding must be a power of two, 2 to 64");
  end

  typedef logic [$clog2(NumQp)-1:0] row_t;

  progress_t progress_wdata;
  top_t      top_wdata;
  row_t      top_row, progress_row, emit_row;
  logic      clear, cleared_q, cleared_d, top_we, progress_we, sent_we, read_we, unchecked;

  assign clear      = clear_valid && !cleared_q && !packet_valid && !move_valid
                      && !(emit_busy && emit_qp == clear_qp);
  assign cleared_d  = clear_valid && (cleared_q || clear);
  assign clear_done = cleared_q;

  always_comb begin
    emit_row    = row_t'(emit_qp);
    top_we      = packet_valid || clear;
    top_row     = clear ? row_t'(clear_qp) : emit_row;
    top_wdata   = clear ? '0 : packet.top;
    progress_we = top_we || move_valid;
    progress_row   = top_row;
    progress_wdata = clear ? '0 : packet.progress;
    if (move_valid) begin
      progress_row   = row_t'(move_qp);
      progress_wdata = move;
    end
    unchecked = progress_wdata.again || !progress_wdata.started;
    sent_we = packet_valid && packet.fresh;
    read_we = packet_valid && packet.is_read;
  end

  nd_ram #(.T(progress_t), .Depth(NumQp)) u_progress (
    .clk, .we(progress_we), .waddr(progress_row), .wdata(progress_wdata),
    .raddr(row_t'(select_qp)), .rdata(select_progress)
  );
  nd_ram #(.T(logic [40:0]), .Depth(NumQp)) u_next (
    .clk, .we(progress_we), .waddr(progress_row),
    .wdata({progress_wdata.psn, progress_wdata.index, unchecked}),
    .raddr(row_t'(seek_qp)), .rdata({seek_next, seek_index, seek_unchecked})
  );

  nd_ram #(.T(top_t), .Depth(NumQp)) u_top (
    .clk, .we(top_we), .waddr(top_row), .wdata(top_wdata), .raddr(row_t'(select_qp)),
    .rdata(select_top)
  );
  nd_ram #(.T(top_t), .Depth(NumQp)) u_seek_top (
    .clk, .we(top_we), .waddr(top_row), .wdata(top_wdata), .raddr(row_t'(seek_qp)),
    .rdata(seek_top)
  );
  nd_ram #(.T(idx_t), .Depth(NumQp)) u_begun (
    .clk, .we(top_we), .waddr(top_row), .wdata(top_wdata.index), .raddr(row_t'(retire_qp)),
    .rdata(retire_begun)
  );
  nd_ram #(.T(logic [24:0]), .Depth(NumQp)) u_timer_top (
    .clk, .we(top_we), .waddr(top_row), .wdata({top_wdata.live, top_wdata.psn}),
    .raddr(row_t'(timer_qp)), .rdata({timer_live, timer_top})
  );
  nd_ram #(.T(logic [24:0]), .Depth(NumQp)) u_receive_top (
    .clk, .we(top_we), .waddr(top_row), .wdata({top_wdata.live, top_wdata.psn}),
    .raddr(row_t'(receive_qp)), .rdata({receive_live, receive_top})
  );
  nd_ram #(.T(logic [7:0]), .Depth(NumQp)) u_reads_started (
    .clk, .we(top_we), .waddr(top_row), .wdata(top_wdata.reads), .raddr(row_t'(read_qp)),
    .rdata(reads_started)
  );

  nd_ram #(.T(sent_t), .Depth(NumQp * Outstanding)) u_sent (
    .clk, .we(sent_we), .waddr({emit_row, SentBits'(packet.request)}), .wdata(packet.sent),
    .raddr({row_t'(retire_qp), retire_slot}), .rdata(retire_sent)
  );
  nd_ram #(.T(sent_t), .Depth(NumQp * Outstanding)) u_seek_sent (
    .clk, .we(sent_we), .waddr({emit_row, SentBits'(packet.request)}), .wdata(packet.sent),
    .raddr({row_t'(seek_qp), seek_slot}), .rdata(seek_sent)
  );
  nd_ram #(.T(logic [Outstanding-1:0]), .Depth(NumQp)) u_locals (
    .clk, .we(sent_we), .waddr(emit_row), .wdata(packet_locals), .raddr(row_t'(select_qp)),
    .rdata(select_locals)
  );
  nd_ram #(.T(failure_t), .Depth(NumQp)) u_fail (
    .clk, .we(fail_valid), .waddr(emit_row), .wdata(fail), .raddr(row_t'(retire_qp)),
    .rdata(retire_fail)
  );

  nd_ram #(.T(read_t), .Depth(NumQp * MaxRead)) u_reads (
    .clk, .we(read_we && packet.fresh), .waddr({emit_row, SlotBits'(packet.number)}),
    .wdata(packet.read), .raddr({row_t'(read_qp), read_slot}), .rdata(read)
  );
  nd_ram #(.T(logic), .Depth(NumQp * MaxRead)) u_again (
    .clk, .we(read_we), .waddr({emit_row, SlotBits'(packet.number)}), .wdata(!packet.fresh),
    .raddr({row_t'(read_qp), read_slot}), .rdata(read_again)
  );

  always_ff @(posedge clk) begin
    cleared_q <= cleared_d;
    if (rst) cleared_q <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, packet, clear_qp, emit_qp, move_qp, select_qp, seek_qp, retire_qp,
                    timer_qp, receive_qp, read_qp};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_one:   assert (!packet_valid || !(fail_valid || move_valid));
      a_clear: assert (!clear_valid || !packet_valid || emit_qp != clear_qp);
      a_move:  assert (!clear_valid || !move_valid || move_qp != clear_qp);
    end
  end
`endif
endmodule
