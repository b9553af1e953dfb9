// Registers of the engine: AXI4-Lite slave, doorbells, table window, counters.
//
// The register block is generated from rtl/abi/nd_regs.rdl; one access at a time is made. A write to a
// doorbell or to CTX_COMMAND is answered when its queue, or the tables, took it; until then no other
// access is. Doorbells leave in the order of their writes on each of the four ports. Staged table data
// hold while `ctx_wr_valid` waits.
module nd_host_regs
  import nd_abi_pkg::*, nd_pkg::*, nd_host_pkg::*;
#(
  // queue pairs
  parameter int unsigned NumQp = 64,
  // completion queues
  parameter int unsigned NumCq = 64,
  // shared receive queues
  parameter int unsigned NumSrq = 16,
  // tokens
  parameter int unsigned NumToken = 256,
  // page-table entries
  parameter int unsigned NumPage = 4096,
  // reads outstanding per queue pair, either way
  parameter int unsigned MaxRead = 4,
  // doorbells that each of the four queues holds, a power of two
  parameter int unsigned Doorbells = 4
) (
  input  logic        clk,
  input  logic        rst,

  input  logic        s_axil_awvalid,
  output logic        s_axil_awready,
  input  logic [11:0] s_axil_awaddr,
  input  logic [2:0]  s_axil_awprot,
  input  logic        s_axil_wvalid,
  output logic        s_axil_wready,
  input  logic [31:0] s_axil_wdata,
  input  logic [3:0]  s_axil_wstrb,
  output logic        s_axil_bvalid,
  input  logic        s_axil_bready,
  output logic [1:0]  s_axil_bresp,
  input  logic        s_axil_arvalid,
  output logic        s_axil_arready,
  input  logic [11:0] s_axil_araddr,
  input  logic [2:0]  s_axil_arprot,
  output logic        s_axil_rvalid,
  input  logic        s_axil_rready,
  output logic [31:0] s_axil_rdata,
  output logic [1:0]  s_axil_rresp,

  output port_t       port,
  output timing_t     timing,
  output logic [15:0] moderation_unit,
  input  logic [15:0] cq_switch,
  output addr_t       eq_base,
  output logic [4:0]  eq_log,
  output idx_t        eq_ci,
  input  logic        irq,

  output logic        sq_db_valid,
  input  logic        sq_db_ready,
  output doorbell_t   sq_db,
  output logic        rq_db_valid,
  input  logic        rq_db_ready,
  output doorbell_t   rq_db,
  output logic        cq_db_valid,
  input  logic        cq_db_ready,
  output doorbell_t   cq_db,
  output logic        srq_db_valid,
  input  logic        srq_db_ready,
  output doorbell_t   srq_db,

  output logic        ctx_wr_valid,
  input  logic        ctx_wr_ready,
  output ctx_write_t  ctx_wr,
  input  logic        ctx_busy,
  output qp_t         qp_query,
  input  qp_state_e   qp_query_state,

  input  logic        commit_valid,
  input  commit_t     commit,
  input  logic        rx_event,
  input  logic [4:0]  rx_cause,
  input  logic [15:0] rx_octets,
  input  logic        tx_event,
  input  logic [15:0] tx_octets
);
  if (NumQp < 2 || NumQp > 65536 || NumCq < 2 || NumCq > 16384) begin : g_check_queues
    $error("%m: NumQp must be 2 to 65536, NumCq 2 to 16384");
  end
  if (NumSrq < 2 || NumSrq > 65536) begin : g_check_shared
    $error("%m: NumSrq must be 2 to 65536");
  end
  if (NumToken < 2 || NumToken > 2**24 || NumPage < 8 || NumPage > 2**24) begin : g_check_tables
    $error("%m: NumToken must be 2 to 2^24, NumPage 8 to 2^24");
  end
  if (MaxRead < 1 || MaxRead > 255) begin : g_check_reads
    $error("%m: MaxRead must be 1 to 255");
  end

  nd_regs_pkg::nd_regs__in_t  regs_in;
  nd_regs_pkg::nd_regs__out_t regs;

  // ---- the block -----------------------------------------------------------------------------

  // The window is 4 KiB, the block 1 KiB: what lies above is a place without a register.
  localparam logic [9:0] Nowhere = 10'h3FC;
  logic [9:0] awaddr, araddr;
  logic       req, req_is_wr, stall_rd, stall_wr, rd_ack, wr_ack, rd_err, wr_err;
  logic [9:0] addr;
  logic [31:0] wr_data, wr_biten, rd_data;
  assign awaddr = s_axil_awaddr[11:10] == 2'b00 ? s_axil_awaddr[9:0] : Nowhere;
  assign araddr = s_axil_araddr[11:10] == 2'b00 ? s_axil_araddr[9:0] : Nowhere;

  nd_host_axil u_axil (
    .clk, .rst,
    .s_axil_awready, .s_axil_awvalid, .s_axil_awaddr(awaddr),
    .s_axil_wready, .s_axil_wvalid, .s_axil_wdata, .s_axil_wstrb,
    .s_axil_bready, .s_axil_bvalid, .s_axil_bresp,
    .s_axil_arready, .s_axil_arvalid, .s_axil_araddr(araddr),
    .s_axil_rready, .s_axil_rvalid, .s_axil_rdata, .s_axil_rresp,
    .req, .req_is_wr, .addr, .wr_data, .wr_biten, .wr_ack, .rd_ack, .rd_data
  );

  nd_regs u_regs (
    .clk, .rst,
    .s_cpuif_req(req), .s_cpuif_req_is_wr(req_is_wr), .s_cpuif_addr(addr),
    .s_cpuif_wr_data(wr_data), .s_cpuif_wr_biten(wr_biten),
    .s_cpuif_req_stall_wr(stall_wr), .s_cpuif_req_stall_rd(stall_rd),
    .s_cpuif_rd_ack(rd_ack), .s_cpuif_rd_err(rd_err), .s_cpuif_rd_data(rd_data),
    .s_cpuif_wr_ack(wr_ack), .s_cpuif_wr_err(wr_err),
    .hwif_in(regs_in), .hwif_out(regs)
  );

  assign port.mac  = {regs.MAC_HI.address.value, regs.MAC_LO.address.value};
  assign port.ipv4 = regs.IPV4.address.value;
  assign port.ipv6 = {
    regs.IPV6_3.address.value, regs.IPV6_2.address.value,
    regs.IPV6_1.address.value, regs.IPV6_0.address.value
  };

  // Static while traffic runs. No time at all counts as one clock.
  timing_t timing_q, timing_d;
  assign timing = timing_q;
  assign moderation_unit = regs.MODERATION_UNIT.clocks.value;

  always_comb begin
    timing_d.time_unit    = regs.TIME_UNIT.clocks.value;
    timing_d.rnr_unit     = regs.RNR_UNIT.clocks.value;
    timing_d.cnp_interval = regs.CNP_INTERVAL.clocks.value;
    if (timing_d.time_unit == '0) timing_d.time_unit = 16'd1;
    if (timing_d.rnr_unit == '0) timing_d.rnr_unit = 16'd1;
    if (timing_d.cnp_interval == '0) timing_d.cnp_interval = 24'd1;
  end

  always_ff @(posedge clk) timing_q <= timing_d;

  assign eq_base = {regs.EQ_BASE_HI.address.value, regs.EQ_BASE_LO.address.value};
  assign eq_log  = regs.EQ_LOG.log_size.value;
  assign eq_ci   = regs.EQ_CI.index.value;

  // ---- writes that a queue takes -------------------------------------------------------------

  // One access at a time waits here.
  typedef struct packed {
    logic sq;
    logic rq;
    logic cq;
    logic srq;
    logic ctx;
    logic stage_read;
    logic stage_write;
    logic drop_read;
    logic drop_write;
    logic action_read;
  } waiting_t;
  waiting_t   waiting_q, waiting_d, done;
  doorbell_t  doorbell_q, doorbell_d;
  table_e     table_q, table_d;
  logic [3:0] pages_q, pages_d;
  logic [4:0] drop_q, drop_d;
  counted_e   action_q, action_d;

  logic sq_room, rq_room, cq_room, srq_room, drop_done, action_done;
  logic action;
  assign done = '{
    sq: waiting_q.sq && sq_room,
    rq: waiting_q.rq && rq_room,
    cq: waiting_q.cq && cq_room,
    srq: waiting_q.srq && srq_room,
    ctx: waiting_q.ctx && ctx_wr_ready,
    stage_read: waiting_q.stage_read,
    stage_write: waiting_q.stage_write,
    drop_read: waiting_q.drop_read && drop_done,
    drop_write: waiting_q.drop_write,
    action_read: waiting_q.action_read && action_done
  };

  always_comb begin
    waiting_d  = waiting_q & ~done;
    doorbell_d = doorbell_q;
    table_d    = table_q;
    pages_d    = pages_q;
    drop_d     = drop_q;
    action_d   = action_q;
    if (regs.DB_SQ.req) begin
      waiting_d.sq = 1'b1;
      doorbell_d   = '{
        is_arm: 1'b0, arm: ArmErrors,
        number: regs.DB_SQ.wr_data.queue_number, index: regs.DB_SQ.wr_data.index
      };
    end
    if (regs.DB_RQ.req) begin
      waiting_d.rq = 1'b1;
      doorbell_d   = '{
        is_arm: 1'b0, arm: ArmErrors,
        number: regs.DB_RQ.wr_data.queue_number, index: regs.DB_RQ.wr_data.index
      };
    end
    if (regs.DB_CQ.req) begin
      waiting_d.cq = 1'b1;
      doorbell_d   = '{
        is_arm: 1'b0, arm: ArmErrors,
        number: regs.DB_CQ.wr_data.queue_number, index: regs.DB_CQ.wr_data.index
      };
    end
    if (regs.DB_ARM.req) begin
      waiting_d.cq = 1'b1;
      doorbell_d   = '{
        is_arm: 1'b1, arm: arm_e'(regs.DB_ARM.wr_data.arm),
        number: {2'b00, regs.DB_ARM.wr_data.queue_number}, index: regs.DB_ARM.wr_data.index
      };
    end
    if (regs.DB_SRQ.req) begin
      waiting_d.srq = 1'b1;
      doorbell_d    = '{
        is_arm: 1'b0, arm: ArmErrors,
        number: regs.DB_SRQ.wr_data.queue_number, index: regs.DB_SRQ.wr_data.index
      };
    end
    if (regs.DB_SRQ_LIMIT.req) begin
      waiting_d.srq = 1'b1;
      doorbell_d    = '{
        is_arm: 1'b1, arm: ArmErrors,
        number: regs.DB_SRQ_LIMIT.wr_data.queue_number, index: regs.DB_SRQ_LIMIT.wr_data.limit
      };
    end
    if (regs.CTX_COMMAND.req) begin
      waiting_d.ctx = 1'b1;
      table_d       = table_e'(regs.CTX_COMMAND.wr_data.table_id);
      pages_d       = regs.CTX_COMMAND.wr_data.pages;
    end
    if (regs.CTX_DATA.req) begin
      waiting_d.stage_read  = !regs.CTX_DATA.req_is_wr;
      waiting_d.stage_write = regs.CTX_DATA.req_is_wr;
    end
    if (regs.DROP.req) begin
      waiting_d.drop_read  = !regs.DROP.req_is_wr;
      waiting_d.drop_write = regs.DROP.req_is_wr;
      drop_d               = regs.DROP.addr[6:2];
    end
    action = 1'b1;
    if (regs.GO_BACKS.req) action_d = CountGoBacks;
    else if (regs.TIMEOUTS.req) action_d = CountTimeouts;
    else if (regs.RNR_WAITS.req) action_d = CountRnrWaits;
    else if (regs.DUPLICATES.req) action_d = CountDuplicates;
    else if (regs.NAKS_OUT.req) action_d = CountNaksOut;
    else if (regs.CNP_IN.req) action_d = CountCnpIn;
    else if (regs.CNP_OUT.req) action_d = CountCnpOut;
    else action = 1'b0;
    if (action) waiting_d.action_read = 1'b1;
  end

  always_ff @(posedge clk) begin
    waiting_q  <= waiting_d;
    doorbell_q <= doorbell_d;
    table_q    <= table_d;
    pages_q    <= pages_d;
    drop_q     <= drop_d;
    action_q   <= action_d;
    if (rst) waiting_q <= '0;
  end

  logic [$clog2(Doorbells):0] sq_count, rq_count, cq_count, srq_count;

  nd_fifo #(.T(doorbell_t), .Depth(Doorbells)) u_sq_db (
    .clk, .rst, .in_valid(waiting_q.sq), .in_ready(sq_room), .in_data(doorbell_q),
    .out_valid(sq_db_valid), .out_ready(sq_db_ready), .out_data(sq_db), .count(sq_count)
  );
  nd_fifo #(.T(doorbell_t), .Depth(Doorbells)) u_rq_db (
    .clk, .rst, .in_valid(waiting_q.rq), .in_ready(rq_room), .in_data(doorbell_q),
    .out_valid(rq_db_valid), .out_ready(rq_db_ready), .out_data(rq_db), .count(rq_count)
  );
  nd_fifo #(.T(doorbell_t), .Depth(Doorbells)) u_cq_db (
    .clk, .rst, .in_valid(waiting_q.cq), .in_ready(cq_room), .in_data(doorbell_q),
    .out_valid(cq_db_valid), .out_ready(cq_db_ready), .out_data(cq_db), .count(cq_count)
  );
  nd_fifo #(.T(doorbell_t), .Depth(Doorbells)) u_srq_db (
    .clk, .rst, .in_valid(waiting_q.srq), .in_ready(srq_room), .in_data(doorbell_q),
    .out_valid(srq_db_valid), .out_ready(srq_db_ready), .out_data(srq_db), .count(srq_count)
  );

  // ---- table window --------------------------------------------------------------------------

  // The staged entry, all words at hand; a copy for software to read lies in a memory, in which
  // words not written since reset do not count.
  logic [511:0] staged_q;
  logic [15:0]  staged_used_q, staged_used_d;
  logic         stage_valid_q;
  logic [31:0]  stage_word;
  logic         stage;
  logic [3:0]   stage_index;

  assign stage       = regs.CTX_DATA.req && regs.CTX_DATA.req_is_wr;
  assign stage_index = regs.CTX_DATA.addr[5:2];

  nd_ram #(.T(logic [31:0]), .Depth(16)) u_staged (
    .clk, .we(stage), .waddr(stage_index), .wdata(regs.CTX_DATA.wr_data),
    .raddr(stage_index), .rdata(stage_word)
  );

  always_comb begin
    staged_used_d = staged_used_q;
    if (stage) staged_used_d[stage_index] = 1'b1;
  end

  for (genvar i = 0; i < 16; i++) begin : g_staged
    always_ff @(posedge clk) begin
      if (stage && stage_index == 4'(i)) staged_q[32*i +: 32] <= regs.CTX_DATA.wr_data;
      if (rst) staged_q[32*i +: 32] <= '0;
    end
  end

  always_ff @(posedge clk) begin
    staged_used_q <= staged_used_d;
    stage_valid_q <= staged_used_q[stage_index];
    if (rst) staged_used_q <= '0;
  end

  assign ctx_wr_valid = waiting_q.ctx;
  assign ctx_wr = '{
    table_id: table_q, count: pages_q, index: regs.CTX_INDEX.index.value, data: staged_q
  };
  assign qp_query = regs.CTX_INDEX.index.value[QpWidth-1:0];

  // ---- counters ------------------------------------------------------------------------------

  logic        rx_counted, tx_counted;
  logic [63:0] rx_total, tx_total;
  logic [31:0] drop_count, action_count;

  nd_host_counters u_counters (
    .clk, .rst, .commit_valid, .commit, .rx_event, .rx_cause, .rx_octets, .tx_event, .tx_octets,
    .rx_counted, .tx_counted, .rx_total, .tx_total,
    .drop_read(waiting_q.drop_read), .drop_index(drop_q), .drop_done, .drop_count,
    .action_read(waiting_q.action_read), .action_index(action_q), .action_done, .action_count
  );

  // ---- what the block reads ------------------------------------------------------------------

  always_comb begin
    regs_in.CAPS0.log_qp.next     = 5'($clog2(NumQp));
    regs_in.CAPS0.log_cq.next     = 5'($clog2(NumCq));
    regs_in.CAPS0.log_token.next  = 5'($clog2(NumToken));
    regs_in.CAPS0.log_page.next   = 5'($clog2(NumPage));
    regs_in.CAPS1.max_ord.next    = 8'(MaxRead);
    regs_in.CAPS1.max_ird.next    = 8'(MaxRead);
    regs_in.CAPS1.log_srq.next    = 5'($clog2(NumSrq));
    regs_in.INTERRUPT.pending.next = irq;
    regs_in.CTX_COMMAND.wr_ack    = done.ctx;
    regs_in.CTX_STATUS.busy.next  = ctx_busy || waiting_q.ctx;
    regs_in.QP_STATE.qp_state.next = QpReset;
    if (regs.CTX_INDEX.index.value < 24'(NumQp)) begin
      regs_in.QP_STATE.qp_state.next = qp_query_state;
    end
    regs_in.CQ_SWITCH.index.next  = cq_switch;
    regs_in.DB_SQ.wr_ack          = done.sq;
    regs_in.DB_RQ.wr_ack          = done.rq;
    regs_in.DB_CQ.wr_ack          = done.cq && !doorbell_q.is_arm;
    regs_in.DB_ARM.wr_ack         = done.cq && doorbell_q.is_arm;
    regs_in.DB_SRQ.wr_ack         = done.srq && !doorbell_q.is_arm;
    regs_in.DB_SRQ_LIMIT.wr_ack   = done.srq && doorbell_q.is_arm;
    regs_in.CTX_DATA.rd_ack       = done.stage_read;
    regs_in.CTX_DATA.rd_data      = stage_valid_q ? stage_word : '0;
    regs_in.CTX_DATA.wr_ack       = done.stage_write;
    regs_in.DROP.rd_ack           = done.drop_read;
    regs_in.DROP.rd_data          = drop_count;
    regs_in.DROP.wr_ack           = done.drop_write;
    regs_in.GO_BACKS.rd_ack       = done.action_read && action_q == CountGoBacks;
    regs_in.TIMEOUTS.rd_ack       = done.action_read && action_q == CountTimeouts;
    regs_in.RNR_WAITS.rd_ack      = done.action_read && action_q == CountRnrWaits;
    regs_in.DUPLICATES.rd_ack     = done.action_read && action_q == CountDuplicates;
    regs_in.NAKS_OUT.rd_ack       = done.action_read && action_q == CountNaksOut;
    regs_in.CNP_IN.rd_ack         = done.action_read && action_q == CountCnpIn;
    regs_in.CNP_OUT.rd_ack        = done.action_read && action_q == CountCnpOut;
    regs_in.GO_BACKS.rd_data      = action_count;
    regs_in.TIMEOUTS.rd_data      = action_count;
    regs_in.RNR_WAITS.rd_data     = action_count;
    regs_in.DUPLICATES.rd_data    = action_count;
    regs_in.NAKS_OUT.rd_data      = action_count;
    regs_in.CNP_IN.rd_data        = action_count;
    regs_in.CNP_OUT.rd_data       = action_count;
    regs_in.RX_FRAMES.frames.incr = rx_counted;
    regs_in.TX_FRAMES.frames.incr = tx_counted;
    regs_in.RX_OCTETS_LO.octets.next = rx_total[31:0];
    regs_in.RX_OCTETS_HI.octets.next = rx_total[63:32];
    regs_in.TX_OCTETS_LO.octets.next = tx_total[31:0];
    regs_in.TX_OCTETS_HI.octets.next = tx_total[63:32];
  end

  // Strobes of external registers are whole writes.
  logic unused;
  assign unused = ^{
    s_axil_awprot, s_axil_arprot, rd_err, wr_err, stall_rd, stall_wr, sq_count, rq_count, cq_count,
    srq_count, regs.DB_SRQ.req_is_wr, regs.DB_SRQ.wr_biten, regs.DB_SRQ_LIMIT.req_is_wr,
    regs.DB_SRQ_LIMIT.wr_biten,
    regs.DB_SQ.req_is_wr, regs.DB_SQ.wr_biten, regs.DB_RQ.req_is_wr, regs.DB_RQ.wr_biten,
    regs.DB_CQ.req_is_wr, regs.DB_CQ.wr_biten, regs.DB_ARM.req_is_wr,
    regs.DB_ARM.wr_biten, regs.CTX_COMMAND.req_is_wr, regs.CTX_COMMAND.wr_biten,
    regs.CTX_COMMAND.wr_data._reserved_31_8, regs.DROP.addr[1:0], regs.DROP.wr_data,
    regs.DROP.wr_biten,
    regs.CTX_DATA.addr[1:0], regs.CTX_DATA.wr_biten
  };

`ifndef SYNTHESIS
  // One access at a time: the block never asks to wait.
  always_ff @(posedge clk) begin
    if (!rst) a_stall: assert (!req || !(stall_rd || stall_wr));
  end
`endif
endmodule
