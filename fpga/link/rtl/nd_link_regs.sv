// The link's own registers: what the board is, its control bits, its clock, and what was counted.
module nd_link_regs
  import nd_link_pkg::*;
#(
  // constants, as the registers show them
  parameter logic [31:0] VersionWord = '0,
  parameter int unsigned ClockHz = 62_500_000,
  parameter int unsigned MemBytes = 65536,
  parameter logic [63:0] MemBase = '0,
  parameter logic [31:0] FifoWord = '0,
  parameter logic [31:0] LogWord = '0,
  parameter logic [31:0] Build = '0
) (
  input  logic        clk,
  input  logic        rst,

  input  logic        req,
  input  logic        is_write,
  input  logic [5:0]  index,
  input  logic [3:0]  wdata,
  output logic        ack,
  output logic [31:0] rdata,

  input  events_t     events,
  output logic        lost,       // since the core's last reset: a commit record,
  output logic        dropped,    // a captured frame
  output logic        core_rst,
  output logic        link_only,
  output logic        log_enable,
  output logic        copy,
  output logic [30:0] now
);
  logic [3:0]              control_q;
  logic [63:0]             now_q;
  logic [31:0]             high_q;  // of the clock, when its low part was read
  logic [Events-1:0][31:0] count_q;
  events_t                 event_q;
  logic                    ack_q, lost_q, dropped_q;
  logic [Events-1:0]       added;
  logic [31:0]             rdata_q, rdata_d, counter_q;
  logic [3:0]              which;

  assign {copy, log_enable, link_only, core_rst} = control_q;
  assign now      = now_q[30:0];
  assign ack      = ack_q;
  assign rdata    = rdata_q;
  assign lost     = lost_q;
  assign dropped  = dropped_q;
  assign added    = event_q;
  assign which    = index[3:0];

  always_comb begin
    case (index)
      RegMagic:     rdata_d = Magic;
      RegVersion:   rdata_d = VersionWord;
      RegClock:     rdata_d = ClockHz;
      RegMemBytes:  rdata_d = MemBytes;
      RegMemBaseLo: rdata_d = MemBase[31:0];
      RegMemBaseHi: rdata_d = MemBase[63:32];
      RegFifos:     rdata_d = FifoWord;
      RegLog:       rdata_d = LogWord;
      RegBuild:     rdata_d = Build;
      RegControl:   rdata_d = 32'(control_q);
      RegNowLo:     rdata_d = now_q[31:0];
      RegNowHi:     rdata_d = high_q;
      default:      rdata_d = index[5:4] == RegCounters[5:4] ? counter_q : '0;
    endcase
  end

  always_ff @(posedge clk) begin
    now_q     <= now_q + 64'd1;
    event_q   <= events;
    ack_q     <= req;
    counter_q <= which < 4'(Events) ? count_q[which] : '0;
    rdata_q   <= rdata_d;
    if (req && index == RegNowLo) high_q <= now_q[63:32];
    if (req && is_write && index == RegControl) control_q <= wdata;
    for (int unsigned i = 0; i < Events; i++) count_q[i] <= count_q[i] + 32'(added[i]);
    lost_q    <= (lost_q || event_q.commit_lost) && !core_rst;
    dropped_q <= (dropped_q || event_q.capture_dropped) && !core_rst;
    if (rst) begin
      now_q     <= '0;
      control_q <= '0;
      count_q   <= '0;
      lost_q    <= 1'b0;
      dropped_q <= 1'b0;
      ack_q     <= 1'b0;
    end
  end
endmodule
