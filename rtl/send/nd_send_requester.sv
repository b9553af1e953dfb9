// What responses said of the requests of each queue pair (requester_t).
//
// Written by `receive` in the granted clock of an RxResponse, by the timer in that of its actions,
// and by clearing; at most one of them a clock. Writes for the queue pair that is being cleared are
// forgotten. Look-ups are answered one clock later.
module nd_send_requester
  import nd_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic       clk,
  input  logic       rst,

  input  logic       clear_valid,
  input  qp_t        clear_qp,
  output logic       clear_done,

  input  logic       rx_we,
  input  qp_t        rx_qp,
  input  requester_t rx_wdata,
  input  logic       timer_we,
  input  qp_t        timer_qp,
  input  requester_t timer_wdata,

  input  qp_t        receive_addr,
  output requester_t receive,
  input  qp_t        timer_addr,
  output requester_t timer,
  input  qp_t        seek_addr,
  output logic       seek_live,
  output psn_t       seek_una
);
  typedef logic [$clog2(NumQp)-1:0] row_t;

  requester_t wdata;
  qp_t        qp;
  row_t       row;
  logic       we, write, clear, cleared_q, cleared_d;

  assign write      = rx_we || timer_we;
  assign clear      = clear_valid && !cleared_q && !write;
  assign cleared_d  = clear_valid && (cleared_q || clear);
  assign clear_done = cleared_q;

  always_comb begin
    qp    = rx_we ? rx_qp : timer_qp;
    wdata = rx_we ? rx_wdata : timer_wdata;
    we    = write && !(clear_valid && clear_qp == qp);
    row   = row_t'(qp);
    if (clear) begin
      we    = 1'b1;
      row   = row_t'(clear_qp);
      wdata = '0;
    end
  end

  nd_ram #(.T(requester_t), .Depth(NumQp)) u_receive (
    .clk, .we, .waddr(row), .wdata, .raddr(row_t'(receive_addr)), .rdata(receive)
  );
  nd_ram #(.T(requester_t), .Depth(NumQp)) u_timer (
    .clk, .we, .waddr(row), .wdata, .raddr(row_t'(timer_addr)), .rdata(timer)
  );
  nd_ram #(.T(logic [24:0]), .Depth(NumQp)) u_seek (
    .clk, .we, .waddr(row), .wdata({wdata.live, wdata.una}), .raddr(row_t'(seek_addr)),
    .rdata({seek_live, seek_una})
  );

  always_ff @(posedge clk) begin
    cleared_q <= cleared_d;
    if (rst) cleared_q <= 1'b0;
  end

  logic unused;
  assign unused = &{1'b0, qp, clear_qp, receive_addr, timer_addr, seek_addr};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_one: assert (!(rx_we && timer_we));
    end
  end
`endif
endmodule
