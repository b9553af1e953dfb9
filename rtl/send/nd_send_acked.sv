// What responses told in the order of payload: acknowledgements, and reads whose bytes are placed.
//
// The newest acknowledgement of a queue pair replaces the one before; placed reads are counted. Both
// are taken and forgotten for the queue pair that is being cleared. `event_valid` tells of each.
// Look-ups are answered one clock later.
module nd_send_acked
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_send_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic       clk,
  input  logic       rst,

  input  logic       clear_valid,
  input  qp_t        clear_qp,
  output logic       clear_done,

  input  logic       ack_valid,
  output logic       ack_ready,
  input  ack_t       ack,
  input  logic       read_done_valid,
  output logic       read_done_ready,
  input  qp_t        read_done_qp,

  output logic [1:0] event_valid,
  output qp_t  [1:0] event_qp,

  input  qp_t        look_qp,
  output acked_t     acked,
  output logic [7:0] placed    // reads
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  acked_t     acked_wdata;
  logic [7:0] count, placed_wdata;
  logic       clear, cleared_q, cleared_d, acked_we, placed_we;
  row_t       acked_row, placed_row, count_row;
  logic [1:0] count_q, count_d;  // 0: waits, 1: look-up, 2: write

  assign clear      = clear_valid && !cleared_q;
  assign cleared_d  = clear_valid;
  assign clear_done = cleared_q;

  assign ack_ready   = !clear;
  assign acked_we    = clear || (ack_valid && !(clear_valid && clear_qp == ack.qp));
  assign acked_row   = clear ? row_t'(clear_qp) : row_t'(ack.qp);
  assign acked_wdata = clear ? '0 : '{
    live: 1'b1, una: ack.psn, failed: ack.fail, status: ack.status, error_code: ack.error_code
  };

  assign read_done_ready = count_q == 2'd2 && !clear;
  assign count_row       = row_t'(read_done_qp);
  assign placed_we       = clear || (event_valid[1] && !(clear_valid && clear_qp == read_done_qp));
  assign placed_row      = clear ? row_t'(clear_qp) : count_row;
  assign placed_wdata    = clear ? '0 : count + 8'd1;

  assign event_valid = {read_done_valid && read_done_ready, ack_valid && ack_ready};
  assign event_qp    = {read_done_qp, ack.qp};

  always_comb begin
    count_d = count_q;
    unique case (count_q)
      2'd0: if (read_done_valid) count_d = 2'd1;
      2'd1: count_d = 2'd2;
      default: count_d = clear ? 2'd1 : 2'd0;
    endcase
  end

  nd_ram #(.T(acked_t), .Depth(NumQp)) u_acked (
    .clk, .we(acked_we), .waddr(acked_row), .wdata(acked_wdata), .raddr(row_t'(look_qp)),
    .rdata(acked)
  );
  nd_ram #(.T(logic [7:0]), .Depth(NumQp)) u_count (
    .clk, .we(placed_we), .waddr(placed_row), .wdata(placed_wdata), .raddr(count_row), .rdata(count)
  );
  nd_ram #(.T(logic [7:0]), .Depth(NumQp)) u_placed (
    .clk, .we(placed_we), .waddr(placed_row), .wdata(placed_wdata), .raddr(row_t'(look_qp)),
    .rdata(placed)
  );

  always_ff @(posedge clk) begin
    count_q   <= count_d;
    cleared_q <= cleared_d;
    if (rst) begin
      count_q   <= '0;
      cleared_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, ack.qp, read_done_qp, clear_qp, look_qp};
endmodule
