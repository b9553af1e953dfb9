// Host link without its UART: a byte stream becomes accesses of a core, and answers.
//
// What it does is `docs/src/host-link.md`. The core is whatever has registers, host memory, a network
// port and a commit log, such as `nd_engine`: its registers, the second port of its host memory, its network
// port behind the MAC, its reset. The link's own reset is that of the board, not `core_rst`.
module nd_link
  import nd_link_pkg::*;
#(
  // bits of a beat of memory and network
  parameter int unsigned DataWidth = 64,
  // bits of a register's address, at most 16
  parameter int unsigned RegAddrWidth = 12,
  // bytes of host memory, and the address that the core has for its first one
  parameter int unsigned MemBytes = 65536,
  parameter logic [63:0] MemBase = '0,
  // bytes of a packet's buffer, a power of two
  parameter int unsigned PacketBytes = 2048,
  // beats of the frame buffers, powers of two above 64
  parameter int unsigned InjectBeats = 1024,
  parameter int unsigned CaptureBeats = 1024,
  // records of the commit log, a power of two above 64
  parameter int unsigned LogDepth = 512,
  // log2 of the clocks after which an access of the core or of its memory is given up
  parameter int unsigned TimeoutBits = 16,
  // clock, told to the host
  parameter int unsigned ClockHz = 62_500_000,
  // which bitstream it is, told to the host
  parameter logic [31:0] Build = '0,
  localparam int unsigned KeepWidth = DataWidth / 8,
  localparam int unsigned MemAddrWidth = $clog2(MemBytes)
) (
  input  logic                    clk,
  input  logic                    rst,

  // bytes from the host and to the host; the link is always ready. s_axis_terror: no byte, but a
  // line error
  input  logic                    s_axis_tvalid,
  input  logic [7:0]              s_axis_tdata,
  input  logic                    s_axis_terror,
  output logic                    m_axis_tvalid,
  input  logic                    m_axis_tready,
  output logic [7:0]              m_axis_tdata,

  // registers of the core: AXI4-Lite master
  output logic                    m_axil_awvalid,
  input  logic                    m_axil_awready,
  output logic [RegAddrWidth-1:0] m_axil_awaddr,
  output logic [2:0]              m_axil_awprot,
  output logic                    m_axil_wvalid,
  input  logic                    m_axil_wready,
  output logic [31:0]             m_axil_wdata,
  output logic [3:0]              m_axil_wstrb,
  input  logic                    m_axil_bvalid,
  output logic                    m_axil_bready,
  input  logic [1:0]              m_axil_bresp,
  output logic                    m_axil_arvalid,
  input  logic                    m_axil_arready,
  output logic [RegAddrWidth-1:0] m_axil_araddr,
  output logic [2:0]              m_axil_arprot,
  input  logic                    m_axil_rvalid,
  output logic                    m_axil_rready,
  input  logic [31:0]             m_axil_rdata,
  input  logic [1:0]              m_axil_rresp,

  // host memory, one request at a time: a write is done when it is taken, a read is answered later
  output logic                    mem_valid,
  input  logic                    mem_ready,
  output logic                    mem_write,
  output logic [MemAddrWidth-1:0] mem_addr,   // in bytes, a multiple of a word
  output logic [DataWidth-1:0]    mem_wdata,
  output logic [KeepWidth-1:0]    mem_wstrb,
  input  logic                    mem_rvalid,
  input  logic [DataWidth-1:0]    mem_rdata,

  // network: from the MAC, to the MAC, to the core, from the core
  input  logic                    s_axis_mac_tvalid,
  output logic                    s_axis_mac_tready,
  input  logic [DataWidth-1:0]    s_axis_mac_tdata,
  input  logic [KeepWidth-1:0]    s_axis_mac_tkeep,
  input  logic                    s_axis_mac_tlast,
  input  logic                    s_axis_mac_tuser,
  output logic                    m_axis_mac_tvalid,
  input  logic                    m_axis_mac_tready,
  output logic [DataWidth-1:0]    m_axis_mac_tdata,
  output logic [KeepWidth-1:0]    m_axis_mac_tkeep,
  output logic                    m_axis_mac_tlast,
  output logic                    m_axis_mac_tuser,
  output logic                    m_axis_core_tvalid,
  input  logic                    m_axis_core_tready,
  output logic [DataWidth-1:0]    m_axis_core_tdata,
  output logic [KeepWidth-1:0]    m_axis_core_tkeep,
  output logic                    m_axis_core_tlast,
  output logic                    m_axis_core_tuser,
  input  logic                    s_axis_core_tvalid,
  output logic                    s_axis_core_tready,
  input  logic [DataWidth-1:0]    s_axis_core_tdata,
  input  logic [KeepWidth-1:0]    s_axis_core_tkeep,
  input  logic                    s_axis_core_tlast,
  input  logic                    s_axis_core_tuser,

  // the core itself
  output logic                    core_rst,
  input  logic                    irq,
  input  logic                    commit_valid,
  input  logic [111:0]            commit
);

  if (DataWidth < 32 || (DataWidth & (DataWidth - 1)) != 0) begin : g_check_width
    $error("%m: DataWidth must be a power of two, at least 32");
  end
  if (PacketBytes < 256 || PacketBytes > 4096 || (PacketBytes & (PacketBytes - 1)) != 0)
  begin : g_check_packet
    $error("%m: PacketBytes must be a power of two from 256 to 4096");
  end
  if (RegAddrWidth > 16) begin : g_check_registers
    $error("%m: RegAddrWidth must be at most 16");
  end
  if (LogDepth > 32768 || InjectBeats > 32768 || CaptureBeats * KeepWidth > 32768)
  begin : g_check_buffers
    $error("%m: a buffer is larger than the protocol can tell");
  end

  localparam int unsigned LengthWidth = $clog2(PacketBytes) + 1;
  localparam int unsigned BeatWidth = DataWidth + KeepWidth + 2;
  localparam logic [31:0] VersionWord =
      {16'(PacketBytes - Overhead), 8'(KeepWidth), Version};

  events_t events;
  logic    clear, link_only, log_enable, copy, lossless;
  logic    irq_q;
  logic [7:0]  status, status_q;
  logic [30:0] now;

  // ---- request
  logic       byte_valid, end_valid, end_good;
  logic [7:0] byte_data;
  logic       pending, req_valid, req_ready, release_req, broken, malformed, line_q;
  logic [7:0] req_data;
  logic [LengthWidth-1:0] length;

  nd_link_unstuff u_unstuff (
    .clk, .rst, .in_valid(s_axis_tvalid), .in_data(s_axis_tdata), .in_error(s_axis_terror),
    .out_valid(byte_valid), .out_data(byte_data), .end_valid, .end_good
  );

  nd_link_request #(.PacketBytes(PacketBytes)) u_request (
    .clk, .rst, .in_valid(byte_valid), .in_data(byte_data), .end_valid, .end_good, .pending,
    .length, .out_valid(req_valid), .out_ready(req_ready), .out_data(req_data),
    .release_i(release_req), .broken, .malformed, .busy(events.busy)
  );

  // ---- control
  logic        opens, ops_start, ops_done, ops_active;
  logic [LengthWidth-1:0] ops_length;
  logic [15:0] ops_count;
  code_e       ops_code;
  logic        head_ready, head_valid, ops_req_ready;
  logic [7:0]  head_data;
  logic        reply_start, reply_refusal, reply_close, reply_send, reply_idle;
  logic        reply_valid, reply_ready;
  logic [7:0]  reply_data;

  nd_link_control #(.LengthWidth(LengthWidth)) u_control (
    .clk, .rst, .pending, .length, .req_valid, .req_ready(head_ready), .req_data,
    .release_o(release_req), .unreadable(broken || malformed), .opens, .ops_start, .ops_length,
    .ops_done, .ops_count, .ops_code, .ops_active, .start(reply_start), .refusal(reply_refusal),
    .out_valid(head_valid), .out_ready(reply_ready), .out_data(head_data), .close(reply_close),
    .send(reply_send), .idle(reply_idle), .status(status_q), .good(events.good),
    .repeated(events.repeated), .refused(events.refused)
  );

  // ---- operations
  op_t   op;
  logic  unit_start, unit_active, unit_ready, unit_valid, unit_done;
  logic [7:0] unit_data;
  code_e unit_code;

  nd_link_ops #(.PacketBytes(PacketBytes)) u_ops (
    .clk, .rst, .start(ops_start), .opens, .length(ops_length), .done(ops_done),
    .count(ops_count), .code(ops_code), .req_valid, .req_ready(ops_req_ready), .req_data,
    .out_valid(unit_valid), .out_ready(reply_ready), .op, .unit_start, .unit_active, .unit_ready,
    .unit_done, .unit_code
  );

  assign req_ready   = ops_active ? ops_req_ready : head_ready;
  assign reply_valid = ops_active ? unit_valid : head_valid;
  assign reply_data  = ops_active ? unit_data : head_data;

  // One unit works at a time; the others give nothing.
  logic       words_start, words_done, words_in, words_valid;
  logic       memory_start, memory_done, memory_in, memory_valid;
  logic       inject_start, inject_done, inject_in;
  logic       capture_start, capture_done, capture_valid;
  logic       log_start, log_done, log_valid;
  logic       wait_start, wait_done, wait_valid;
  logic [7:0] words_data, memory_data, capture_data, log_data, wait_data;
  code_e      words_code, memory_code, inject_code;
  logic       in_valid;

  always_comb begin
    words_start   = 1'b0;
    memory_start  = 1'b0;
    inject_start  = 1'b0;
    capture_start = 1'b0;
    log_start     = 1'b0;
    wait_start    = 1'b0;
    case (op.op)
      ReadMemory, WriteMemory, FillMemory: memory_start = unit_start;
      SendFrame:                           inject_start = unit_start;
      TakeFrame:                           capture_start = unit_start;
      TakeCommits:                         log_start = unit_start;
      Wait:                                wait_start = unit_start;
      default:                             words_start = unit_start;
    endcase
    unit_valid = words_valid || memory_valid || capture_valid || log_valid || wait_valid;
    unit_data  = wait_data;
    if (words_valid) unit_data = words_data;
    if (memory_valid) unit_data = memory_data;
    if (capture_valid) unit_data = capture_data;
    if (log_valid) unit_data = log_data;
    unit_done = words_done || memory_done || inject_done || capture_done || log_done || wait_done;
    unit_code = Done;
    if (words_done) unit_code = words_code;
    if (memory_done) unit_code = memory_code;
    if (inject_done) unit_code = inject_code;
  end

  assign unit_ready = words_in || memory_in || inject_in;
  assign in_valid   = req_valid && unit_active;

  // ---- registers
  logic        word_req, word_link, word_write, word_ack, axil_ack, regs_ack, axil_stuck;
  logic [15:0] word_addr;  // checked against the registers' range before
  logic        unused;
  logic [31:0] word_wdata, word_rdata, axil_rdata, regs_rdata;
  code_e       word_code, axil_code;

  nd_link_words #(.RegAddrWidth(RegAddrWidth)) u_words (
    .clk, .rst, .start(words_start), .op, .done(words_done), .code(words_code), .in_valid,
    .in_ready(words_in), .in_data(req_data), .out_valid(words_valid), .out_ready(reply_ready),
    .out_data(words_data), .req(word_req), .link(word_link), .is_write(word_write),
    .addr(word_addr), .wdata(word_wdata), .ack(word_ack), .ack_code(word_code), .rdata(word_rdata)
  );

  assign unused     = ^word_addr;
  assign word_ack   = word_link ? regs_ack : axil_ack;
  assign word_code  = word_link ? Done : axil_code;
  assign word_rdata = word_link ? regs_rdata : axil_rdata;

  nd_link_axil #(.AddrWidth(RegAddrWidth), .TimeoutBits(TimeoutBits)) u_axil (
    .clk, .rst(clear), .req(word_req && !word_link), .is_write(word_write),
    .addr(word_addr[RegAddrWidth-1:0]), .wdata(word_wdata), .ack(axil_ack), .code(axil_code),
    .rdata(axil_rdata), .stuck(axil_stuck), .m_axil_awvalid, .m_axil_awready, .m_axil_awaddr,
    .m_axil_awprot, .m_axil_wvalid, .m_axil_wready, .m_axil_wdata, .m_axil_wstrb, .m_axil_bvalid,
    .m_axil_bready, .m_axil_bresp, .m_axil_arvalid, .m_axil_arready, .m_axil_araddr,
    .m_axil_arprot, .m_axil_rvalid, .m_axil_rready, .m_axil_rdata, .m_axil_rresp
  );

  logic lost, dropped, reset_bit;

  nd_link_regs #(
    .VersionWord(VersionWord), .ClockHz(ClockHz), .MemBytes(MemBytes), .MemBase(MemBase),
    .FifoWord({16'(CaptureBeats), 16'(InjectBeats)}),
    .LogWord({8'd0, 8'(TimeoutBits), 16'(LogDepth)}), .Build(Build)
  ) u_regs (
    .clk, .rst, .req(word_req && word_link), .is_write(word_write), .index(word_addr[7:2]),
    .wdata(word_wdata[3:0]), .ack(regs_ack), .rdata(regs_rdata), .events, .lost, .dropped,
    .core_rst(reset_bit), .link_only, .log_enable, .copy, .now
  );

  // ---- host memory
  logic memory_stuck;

  nd_link_memory #(
    .DataWidth(DataWidth), .MemBytes(MemBytes), .TimeoutBits(TimeoutBits)
  ) u_memory (
    .clk, .rst, .clear, .stuck(memory_stuck), .start(memory_start), .op, .done(memory_done),
    .code(memory_code), .in_valid, .in_ready(memory_in), .in_data(req_data),
    .out_valid(memory_valid), .out_ready(reply_ready), .out_data(memory_data), .mem_valid,
    .mem_ready, .mem_write, .mem_addr, .mem_wdata, .mem_wstrb, .mem_rvalid, .mem_rdata
  );

  // ---- network
  logic inject_idle, inject_valid, inject_ready, inject_last, inject_user;
  logic [DataWidth-1:0] inject_data;
  logic [KeepWidth-1:0] inject_keep;
  logic net_capture_valid, net_capture_ready, frame_waiting;
  logic core_rx_valid, core_rx_ready, core_tx_valid, core_tx_ready;
  logic [BeatWidth-1:0] core_rx, core_tx;

  nd_link_inject #(.DataWidth(DataWidth), .Beats(InjectBeats)) u_inject (
    .clk, .rst, .clear, .discard(opens), .start(inject_start), .n(op.n), .last(op.arg[0]),
    .bad(op.arg[1]), .done(inject_done), .code(inject_code), .in_valid, .in_ready(inject_in),
    .in_data(req_data), .idle(inject_idle), .m_axis_tvalid(inject_valid),
    .m_axis_tready(inject_ready), .m_axis_tdata(inject_data), .m_axis_tkeep(inject_keep),
    .m_axis_tlast(inject_last), .m_axis_tuser(inject_user)
  );

  nd_link_capture #(.DataWidth(DataWidth), .Beats(CaptureBeats)) u_capture (
    .clk, .rst, .clear, .lossless, .start(capture_start), .n(op.n), .done(capture_done),
    .out_valid(capture_valid), .out_ready(reply_ready), .out_data(capture_data),
    .waiting(frame_waiting), .captured(events.captured), .dropped(events.capture_dropped),
    .s_axis_tvalid(net_capture_valid), .s_axis_tready(net_capture_ready),
    .s_axis_tdata(core_tx[DataWidth-1:0]), .s_axis_tkeep(core_tx[DataWidth +: KeepWidth]),
    .s_axis_tlast(core_tx[BeatWidth-2]), .s_axis_tuser(core_tx[BeatWidth-1])
  );

  nd_link_net #(.DataWidth(DataWidth)) u_net (
    .clk, .rst, .clear, .link_only, .copy, .lossless, .injected(events.injected),
    .mac_dropped(events.mac_dropped),
    .mac_rx_valid(s_axis_mac_tvalid), .mac_rx_ready(s_axis_mac_tready),
    .mac_rx({s_axis_mac_tuser, s_axis_mac_tlast, s_axis_mac_tkeep, s_axis_mac_tdata}),
    .mac_tx_valid(m_axis_mac_tvalid), .mac_tx_ready(m_axis_mac_tready),
    .mac_tx({m_axis_mac_tuser, m_axis_mac_tlast, m_axis_mac_tkeep, m_axis_mac_tdata}),
    .inject_valid, .inject_ready,
    .inject({inject_user, inject_last, inject_keep, inject_data}),
    .capture_valid(net_capture_valid), .capture_ready(net_capture_ready),
    .core_rx_valid, .core_rx_ready, .core_rx, .core_tx_valid, .core_tx_ready, .core_tx
  );

  // Registers at the core's side, so that the routes have a clock for themselves.
  nd_skid #(.T(logic [BeatWidth-1:0])) u_core_rx (
    .clk, .rst(rst || clear), .in_valid(core_rx_valid), .in_ready(core_rx_ready),
    .in_data(core_rx), .out_valid(m_axis_core_tvalid), .out_ready(m_axis_core_tready),
    .out_data({m_axis_core_tuser, m_axis_core_tlast, m_axis_core_tkeep, m_axis_core_tdata})
  );
  nd_skid #(.T(logic [BeatWidth-1:0])) u_core_tx (
    .clk, .rst(rst || clear), .in_valid(s_axis_core_tvalid), .in_ready(s_axis_core_tready),
    .in_data({s_axis_core_tuser, s_axis_core_tlast, s_axis_core_tkeep, s_axis_core_tdata}),
    .out_valid(core_tx_valid), .out_ready(core_tx_ready), .out_data(core_tx)
  );

  // ---- commit log, and what lets time pass
  logic log_waiting;

  nd_link_log #(.Depth(LogDepth)) u_log (
    .clk, .rst, .clear, .enable(log_enable), .now, .commit_valid, .commit, .kept(events.commit),
    .lost(events.commit_lost), .waiting(log_waiting), .start(log_start), .n(op.n),
    .done(log_done), .out_valid(log_valid), .out_ready(reply_ready), .out_data(log_data)
  );

  nd_link_wait u_wait (
    .clk, .rst, .start(wait_start), .n(op.n), .mask(op.arg[7:0]), .done(wait_done),
    .out_valid(wait_valid), .out_ready(reply_ready), .out_data(wait_data), .status(status_q)
  );

  assign status = {clear, axil_stuck || memory_stuck, inject_idle, dropped, lost, log_waiting,
                   frame_waiting, irq_q};
  assign events.line      = line_q;
  assign events.broken    = broken;
  assign events.malformed = malformed;

  always_ff @(posedge clk) begin
    irq_q    <= irq;
    status_q <= status;
    clear    <= rst || reset_bit;
    line_q   <= s_axis_tvalid && s_axis_terror && !rst;
  end

  assign core_rst = clear;

  // ---- reply
  nd_link_reply #(.PacketBytes(PacketBytes)) u_reply (
    .clk, .rst, .start(reply_start), .refusal(reply_refusal), .in_valid(reply_valid),
    .in_ready(reply_ready), .in_data(reply_data), .close(reply_close), .send(reply_send),
    .idle(reply_idle), .m_axis_tvalid, .m_axis_tready, .m_axis_tdata
  );
endmodule
