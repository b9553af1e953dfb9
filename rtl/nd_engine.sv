// The engine: RDMA NIC with Network Direct semantics over RoCEv2.
//
// Joins the six rooms; what it does is `docs/src/semantics.md`, how the rooms meet is
// `docs/src/rtl-rooms.md`. One clock, one synchronous active-high reset. Flat ports, so that benches,
// netlists and proofs share one list. Data buses are `DataWidth` bits, the host address is 64 bits.
//
// `commit` reports each action in the clock in which it takes effect, in the order of effect, at most
// one a clock (`docs/src/commit.md`). It may be left open.
module nd_engine
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64,
  // completion queues, a power of two
  parameter int unsigned NumCq = 64,
  // shared receive queues, a power of two, at most NumQp
  parameter int unsigned NumSrq = 16,
  // memory tokens, a power of two
  parameter int unsigned NumToken = 256,
  // entries of the page table, a power of two
  parameter int unsigned NumPage = 4096,
  // reads outstanding per queue pair, either way, a power of two
  parameter int unsigned MaxRead = 4,
  // requests sent and not retired per queue pair, a power of two
  parameter int unsigned Outstanding = 16,
  // bits of a beat of memory and network
  parameter int unsigned DataWidth = 64,
  localparam int unsigned KeepWidth = DataWidth / 8
) (
  input  logic                 clk,
  input  logic                 rst,

  // registers: AXI4-Lite slave
  input  logic                 s_axil_awvalid,
  output logic                 s_axil_awready,
  input  logic [11:0]          s_axil_awaddr,
  input  logic [2:0]           s_axil_awprot,
  input  logic                 s_axil_wvalid,
  output logic                 s_axil_wready,
  input  logic [31:0]          s_axil_wdata,
  input  logic [3:0]           s_axil_wstrb,
  output logic                 s_axil_bvalid,
  input  logic                 s_axil_bready,
  output logic [1:0]           s_axil_bresp,
  input  logic                 s_axil_arvalid,
  output logic                 s_axil_arready,
  input  logic [11:0]          s_axil_araddr,
  input  logic [2:0]           s_axil_arprot,
  output logic                 s_axil_rvalid,
  input  logic                 s_axil_rready,
  output logic [31:0]          s_axil_rdata,
  output logic [1:0]           s_axil_rresp,

  // host memory: AXI4 master
  output logic                 m_axi_arvalid,
  input  logic                 m_axi_arready,
  output logic [1:0]           m_axi_arid,
  output logic [63:0]          m_axi_araddr,
  output logic [7:0]           m_axi_arlen,
  output logic [2:0]           m_axi_arsize,
  output logic [1:0]           m_axi_arburst,
  output logic                 m_axi_arlock,
  output logic [3:0]           m_axi_arcache,
  output logic [2:0]           m_axi_arprot,
  output logic [3:0]           m_axi_arqos,
  input  logic                 m_axi_rvalid,
  output logic                 m_axi_rready,
  input  logic [1:0]           m_axi_rid,
  input  logic [DataWidth-1:0] m_axi_rdata,
  input  logic [1:0]           m_axi_rresp,
  input  logic                 m_axi_rlast,
  output logic                 m_axi_awvalid,
  input  logic                 m_axi_awready,
  output logic [1:0]           m_axi_awid,
  output logic [63:0]          m_axi_awaddr,
  output logic [7:0]           m_axi_awlen,
  output logic [2:0]           m_axi_awsize,
  output logic [1:0]           m_axi_awburst,
  output logic                 m_axi_awlock,
  output logic [3:0]           m_axi_awcache,
  output logic [2:0]           m_axi_awprot,
  output logic [3:0]           m_axi_awqos,
  output logic                 m_axi_wvalid,
  input  logic                 m_axi_wready,
  output logic [DataWidth-1:0] m_axi_wdata,
  output logic [KeepWidth-1:0] m_axi_wstrb,
  output logic                 m_axi_wlast,
  input  logic                 m_axi_bvalid,
  output logic                 m_axi_bready,
  input  logic [1:0]           m_axi_bid,
  input  logic [1:0]           m_axi_bresp,

  // network: AXI4-Stream, Ethernet frames without FCS; tuser: the MAC found the frame bad
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [DataWidth-1:0] s_axis_tdata,
  input  logic [KeepWidth-1:0] s_axis_tkeep,
  input  logic                 s_axis_tlast,
  input  logic                 s_axis_tuser,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [DataWidth-1:0] m_axis_tdata,
  output logic [KeepWidth-1:0] m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic                 m_axis_tuser,

  // interrupt: the event queue is not empty
  output logic                 irq,

  // observation: one action, of type commit_t
  output logic                 commit_valid,
  output logic [111:0]         commit
);

  localparam int unsigned SlotBits = MaxRead > 1 ? $clog2(MaxRead) : 1;
  localparam int unsigned LaneBits = $clog2(KeepWidth);

  // ---- commit: context, send (doorbell, emit, retire, timer), receive (doorbell, rx, flush,
  //      respond, cnp, shared doorbell), complete
  localparam int unsigned Commits = 12;
  logic    [Commits-1:0] commit_req, commit_gnt;
  commit_t [Commits-1:0] commit_record;
  commit_t               record;
  logic                  verdict_valid;
  qp_t                   verdict_qp;
  rx_result_e            verdict;

  nd_commit #(.N(Commits)) u_commit (
    .clk, .rst, .req(commit_req), .rec(commit_record), .gnt(commit_gnt), .commit_valid,
    .commit(record), .verdict_valid, .verdict_qp, .verdict
  );
  assign commit = record;

  // ---- context
  port_t                 own;
  logic [7:0]            epoch;
  qp_state_e [NumQp-1:0] qp_states;
  logic      [NumQp-1:0] qp_shared;
  logic                  ctx_wr_valid, ctx_wr_ready, ctx_busy, context_done;
  ctx_write_t            ctx_wr;
  logic [1:0]            set_error_valid;
  qp_t  [1:0]            set_error_qp;
  logic                  invalidate_valid;
  logic [31:0]           invalidate;
  logic                  local_valid, local_ready, local_pages, local_page_valid;
  logic                  local_page_ready, local_page_error, local_done, local_apply, local_drop;
  local_req_t            local_req;
  logic [51:0]           local_page;
  fault_e                local_fault;
  logic                  qp_clear_valid;
  logic [1:0]            qp_clear_ready;
  qp_t                   qp_clear, qp_query;
  qp_state_e             qp_query_state;
  logic                  cq_wr_valid, cq_wr_ready;
  logic [15:0]           cq_wr_index;
  table_e                cq_wr_table;
  cq_context_t           cq_wr;
  logic                  srq_wr_valid, srq_wr_ready;
  logic [15:0]           srq_wr_index;
  srq_context_t          srq_wr;
  qp_t      [3:0]        send_cfg_addr;
  qp_send_t [3:0]        send_cfg;
  qp_t      [2:0]        recv_cfg_addr;
  qp_recv_t [2:0]        recv_cfg;
  qp_t                   addr_cfg_addr;
  qp_t      [2:0]        cq_cfg_addr;  // send, receive twice
  qp_addr_t              addr_cfg;
  qp_cq_t   [2:0]        cq_cfg;
  logic           [2:0]  tr_req_valid, tr_req_ready, tr_rsp_valid, tr_rsp_ready;
  translate_req_t [2:0]  tr_req;
  translate_rsp_t [2:0]  tr_rsp;

  nd_context #(
    .NumQp(NumQp), .NumCq(NumCq), .NumSrq(NumSrq), .NumToken(NumToken), .NumPage(NumPage)
  ) u_context (
    .clk, .rst, .ctx_wr_valid, .ctx_wr_ready, .ctx_wr, .ctx_busy, .context_done,
    .commit_req(commit_req[0]), .commit_record(commit_record[0]), .commit_gnt(commit_gnt[0]),
    .set_error_valid, .set_error(set_error_qp), .invalidate_valid, .invalidate,
    .local_valid, .local_ready, .local_req, .local_pages, .local_page_valid, .local_page_ready,
    .local_page, .local_page_error, .local_done, .local_fault, .local_apply, .local_drop,
    .qp_clear_valid, .qp_clear_ready, .qp_clear, .cq_wr_valid, .cq_wr_ready, .cq_wr_table,
    .cq_wr_index, .cq_wr, .srq_wr_valid, .srq_wr_ready, .srq_wr_index, .srq_wr,
    .epoch, .qp_states, .qp_shared, .qp_query, .qp_query_state, .send_cfg_addr, .send_cfg,
    .recv_cfg_addr, .recv_cfg, .addr_cfg_addr, .addr_cfg, .cq_cfg_addr, .cq_cfg,
    .tr_req_valid, .tr_req_ready, .tr_req, .tr_rsp_valid, .tr_rsp_ready, .tr_rsp
  );

  // ---- host
  logic                 sq_db_valid, sq_db_ready, rq_db_valid, rq_db_ready;
  logic                 cq_db_valid, cq_db_ready, srq_db_valid, srq_db_ready;
  doorbell_t            sq_db, rq_db, cq_db, srq_db;
  logic                 sq_fetch_valid, sq_fetch_ready, sq_fetch_rsp_valid;
  logic                 rq_fetch_valid, rq_fetch_ready, rq_fetch_rsp_valid;
  fetch_req_t           sq_fetch, rq_fetch;
  fetch_rsp_t           sq_fetch_rsp, rq_fetch_rsp;
  logic                 chunk_valid, chunk_ready, chunk_last;
  chunk_t               chunk;
  logic                 tx_data_valid, tx_data_ready, tx_data_last, tx_data_error;
  logic [DataWidth-1:0] tx_data;
  logic [LaneBits:0]    tx_data_bytes;
  logic [7:0]           gathers_begun_q, gathers_done, jobs_begun, jobs_done;
  logic [9:0]           placed_begun, placed_done;
  logic                 scatter_valid, scatter_ready, post_valid, post_ready;
  scatter_t             scatter;
  post_t                post;
  logic                 rx_data_valid, rx_data_ready, rx_data_last;
  logic [DataWidth-1:0] rx_data;
  logic                 cpl_valid, cpl_ready;
  cpl_write_t           cpl;
  logic                 rx_event, tx_event, gather_error, write_error;
  logic [4:0]           rx_cause;
  logic [15:0]          rx_octets, tx_octets;
  timing_t              timing;
  logic [15:0]          moderation_unit, cq_switch;

  nd_host #(
    .DataWidth(DataWidth), .NumQp(NumQp), .NumCq(NumCq), .NumSrq(NumSrq), .NumToken(NumToken),
    .NumPage(NumPage), .MaxRead(MaxRead)
  ) u_host (
    .clk, .rst,
    .s_axil_awvalid, .s_axil_awready, .s_axil_awaddr, .s_axil_awprot, .s_axil_wvalid,
    .s_axil_wready,
    .s_axil_wdata, .s_axil_wstrb, .s_axil_bvalid, .s_axil_bready, .s_axil_bresp,
    .s_axil_arvalid, .s_axil_arready, .s_axil_araddr, .s_axil_arprot,
    .s_axil_rvalid, .s_axil_rready, .s_axil_rdata, .s_axil_rresp,
    .m_axi_awvalid, .m_axi_awready, .m_axi_awid, .m_axi_awaddr, .m_axi_awlen, .m_axi_awsize,
    .m_axi_awburst, .m_axi_awlock, .m_axi_awcache, .m_axi_awprot, .m_axi_awqos,
    .m_axi_wvalid, .m_axi_wready, .m_axi_wdata, .m_axi_wstrb, .m_axi_wlast,
    .m_axi_bvalid, .m_axi_bready, .m_axi_bid, .m_axi_bresp,
    .m_axi_arvalid, .m_axi_arready, .m_axi_arid, .m_axi_araddr, .m_axi_arlen, .m_axi_arsize,
    .m_axi_arburst, .m_axi_arlock, .m_axi_arcache, .m_axi_arprot, .m_axi_arqos,
    .m_axi_rvalid, .m_axi_rready, .m_axi_rid, .m_axi_rdata, .m_axi_rresp, .m_axi_rlast,
    .irq, .gather_error, .write_error, .port(own), .timing, .moderation_unit,
    .cq_switch,
    .sq_db_valid, .sq_db_ready, .sq_db, .rq_db_valid, .rq_db_ready, .rq_db,
    .cq_db_valid, .cq_db_ready, .cq_db, .srq_db_valid, .srq_db_ready, .srq_db,
    .ctx_wr_valid, .ctx_wr_ready, .ctx_wr, .ctx_busy, .qp_query, .qp_query_state,
    .sq_fetch_valid, .sq_fetch_ready, .sq_fetch, .sq_fetch_rsp_valid, .sq_fetch_rsp,
    .rq_fetch_valid, .rq_fetch_ready, .rq_fetch, .rq_fetch_rsp_valid, .rq_fetch_rsp,
    .chunk_valid, .chunk_ready, .chunk, .chunk_last,
    .tx_data_valid, .tx_data_ready, .tx_data, .tx_data_bytes, .tx_data_last, .tx_data_error,
    .gathers_done, .placed_begun, .placed_done,
    .scatter_valid, .scatter_ready, .scatter, .rx_data_valid, .rx_data_ready, .rx_data,
    .rx_data_last,
    .post_valid, .post_ready, .post, .cpl_valid, .cpl_ready, .cpl,
    .commit_valid, .commit(record), .rx_event, .rx_cause, .rx_octets, .tx_event, .tx_octets
  );

  // ---- send
  // Time of the retry timers stands still while the network does not take what is offered.
  logic tx_stalled_q;
  always_ff @(posedge clk) begin
    tx_stalled_q <= m_axis_tvalid && !m_axis_tready;
    if (rst) tx_stalled_q <= 1'b0;
  end

  logic                send_tx_valid, send_chunk_valid, send_chunk_ready, tx_room;
  tx_desc_t            send_tx;
  chunk_t              send_chunk;
  logic                ack_valid, ack_ready, read_done_valid, read_done_ready;
  ack_t                ack;
  qp_t                 read_done_qp, read_qp, top_psn_addr;
  logic [SlotBits-1:0] read_slot;
  read_t               read;
  logic                read_again;
  logic [7:0]          reads_started;
  psn_t                top_psn, fail_mark_psn;
  qp_t                 requester_addr, requester_wqp, moved_qp, fail_mark_qp;
  requester_t          requester, requester_wdata;
  logic                requester_we, moved_valid, fail_mark_valid, fail_mark_ready;
  logic [NumQp-1:0]    settled;
  logic                emit_valid;
  qp_t                 emit_qp;
  logic        [1:0]   completion_valid, completion_ready;
  completion_t [1:0]   completion;
  logic        [1:0]   qp_event_valid, qp_event_ready;
  qp_t         [1:0]   qp_event_qp;
  status_e     [1:0]   qp_event_status;
  logic                srq_event_valid, srq_event_ready;
  logic [15:0]         srq_event;

  nd_send #(.NumQp(NumQp), .MaxRead(MaxRead), .Outstanding(Outstanding)) u_send (
    .clk, .rst, .epoch, .qp_states, .timing, .verdict_valid, .verdict_qp, .verdict,
    .send_cfg_addr, .send_cfg, .cq_cfg_addr(cq_cfg_addr[0]), .cq_cfg(cq_cfg[0]),
    .qp_clear_valid, .qp_clear_ready(qp_clear_ready[0]), .qp_clear,
    .set_error_valid(set_error_valid[0]), .set_error(set_error_qp[0]),
    .local_valid, .local_ready, .local_req, .local_pages, .local_page_valid, .local_page_ready,
    .local_page, .local_page_error, .local_done, .local_fault, .local_apply, .local_drop,
    .gathers_begun(gathers_begun_q), .gathers_done, .jobs_begun, .jobs_done, .placed_begun,
    .placed_done,
    .tr_req_valid(tr_req_valid[0]), .tr_req_ready(tr_req_ready[0]), .tr_req(tr_req[0]),
    .tr_rsp_valid(tr_rsp_valid[0]), .tr_rsp_ready(tr_rsp_ready[0]), .tr_rsp(tr_rsp[0]),
    .commit_req(commit_req[4:1]), .commit_record(commit_record[4:1]), .commit_gnt(commit_gnt[4:1]),
    .sq_db_valid, .sq_db_ready, .sq_db, .fetch_valid(sq_fetch_valid), .fetch_ready(sq_fetch_ready),
    .fetch(sq_fetch), .fetch_rsp_valid(sq_fetch_rsp_valid), .fetch_rsp(sq_fetch_rsp),
    .chunk_valid(send_chunk_valid), .chunk_ready(send_chunk_ready), .chunk(send_chunk),
    .tx_stalled(tx_stalled_q), .tx_valid(send_tx_valid), .tx_ready(tx_room), .tx(send_tx),
    .ack_valid, .ack_ready, .ack, .read_done_valid, .read_done_ready, .read_done_qp, .settled,
    .completion_valid(completion_valid[0]), .completion_ready(completion_ready[0]),
    .completion(completion[0]), .qp_event_valid(qp_event_valid[0]),
    .qp_event_ready(qp_event_ready[0]),
    .qp_event_qp(qp_event_qp[0]), .qp_event_status(qp_event_status[0]),
    .read_qp, .read_slot, .read, .read_again, .reads_started, .top_psn_addr, .top_psn,
    .emit_valid, .emit_qp, .requester_addr, .requester, .requester_we, .requester_wqp,
    .requester_wdata, .moved_valid, .moved_qp, .fail_mark_valid, .fail_mark_ready, .fail_mark_qp,
    .fail_mark_psn
  );

  // ---- receive
  logic     rx_valid, rx_ready;
  rx_desc_t rx;
  logic     resp_tx_valid, resp_chunk_valid, resp_chunk_ready;
  tx_desc_t resp_tx;
  chunk_t   resp_chunk;

  nd_receive #(.NumQp(NumQp), .NumSrq(NumSrq), .MaxRead(MaxRead)) u_receive (
    .clk, .rst, .own, .timing, .qp_states, .qp_shared, .epoch, .recv_cfg_addr, .recv_cfg,
    .cq_cfg_addr(cq_cfg_addr[2:1]), .cq_cfg(cq_cfg[2:1]),
    .qp_clear_valid, .qp_clear_ready(qp_clear_ready[1]), .qp_clear,
    .srq_wr_valid, .srq_wr_ready, .srq_wr_index, .srq_wr, .context_done,
    .set_error_valid(set_error_valid[1]), .set_error(set_error_qp[1]), .invalidate_valid,
    .invalidate,
    .tr_req_valid(tr_req_valid[2:1]), .tr_req_ready(tr_req_ready[2:1]), .tr_req(tr_req[2:1]),
    .tr_rsp_valid(tr_rsp_valid[2:1]), .tr_rsp_ready(tr_rsp_ready[2:1]), .tr_rsp(tr_rsp[2:1]),
    .commit_req(commit_req[10:5]), .commit_record(commit_record[10:5]),
    .commit_gnt(commit_gnt[10:5]), .rq_db_valid, .rq_db_ready, .rq_db,
    .srq_db_valid, .srq_db_ready, .srq_db,
    .fetch_valid(rq_fetch_valid), .fetch_ready(rq_fetch_ready), .fetch(rq_fetch),
    .fetch_rsp_valid(rq_fetch_rsp_valid), .fetch_rsp(rq_fetch_rsp),
    .scatter_valid, .scatter_ready, .scatter, .post_valid, .post_ready, .post,
    .rx_event, .rx_cause, .rx_octets, .rx_valid, .rx_ready, .rx,
    .tx_valid(resp_tx_valid), .tx_ready(tx_room), .tx(resp_tx),
    .chunk_valid(resp_chunk_valid), .chunk_ready(resp_chunk_ready), .chunk(resp_chunk),
    .ack_valid, .ack_ready, .ack, .read_done_valid, .read_done_ready, .read_done_qp, .settled,
    .gathers_begun(gathers_begun_q), .gathers_done, .jobs_begun, .jobs_done,
    .read_qp, .read_slot, .read, .read_again, .reads_started, .top_psn_addr, .top_psn,
    .emit_valid, .emit_qp, .requester_addr, .requester, .requester_we, .requester_wqp,
    .requester_wdata, .moved_valid, .moved_qp, .fail_mark_valid, .fail_mark_ready, .fail_mark_qp,
    .fail_mark_psn,
    .completion_valid(completion_valid[1]), .completion_ready(completion_ready[1]),
    .completion(completion[1]), .qp_event_valid(qp_event_valid[1]),
    .qp_event_ready(qp_event_ready[1]),
    .qp_event_qp(qp_event_qp[1]), .qp_event_status(qp_event_status[1]),
    .srq_event_valid, .srq_event_ready, .srq_event
  );

  // ---- complete
  nd_complete #(.NumCq(NumCq)) u_complete (
    .clk, .rst, .completion_valid, .completion_ready, .completion,
    .qp_event_valid, .qp_event_ready, .qp_event_qp, .qp_event_status,
    .srq_event_valid, .srq_event_ready, .srq_event,
    .cq_db_valid, .cq_db_ready, .cq_db, .cpl_valid, .cpl_ready, .cpl,
    .moderation_unit, .cq_switch, .cq_wr_valid, .cq_wr_ready, .cq_wr_table, .cq_wr_index, .cq_wr,
    .context_done,
    .commit_req(commit_req[11]), .commit_record(commit_record[11]),
    .commit_gnt(commit_gnt[11])
  );

  // ---- wire
  localparam int unsigned Descriptors = 8;
  localparam int unsigned DescriptorCount = $clog2(Descriptors) + 1;
  logic       tx_valid, tx_ready;
  tx_desc_t   tx;
  logic       tx_push, address_valid, tx_known, unused_room;
  logic [1:0] look_q;          // a lookup began, its word is there
  qp_t        look_qp_q;
  qp_addr_t   address;
  logic [DescriptorCount-1:0] unused_count, unused_addresses;

  nd_fifo #(.T(tx_desc_t), .Depth(Descriptors)) u_tx (
    .clk, .rst, .in_valid(tx_push), .in_ready(tx_room),
    .in_data(resp_tx_valid ? resp_tx : send_tx),
    .out_valid(tx_valid), .out_ready(tx_ready && address_valid), .out_data(tx),
    .count(unused_count)
  );

  // A frame goes where the decision was made to send it, although the entry of its queue pair may be
  // another one, or none, when it leaves: the address is looked up as the descriptor is pushed, and
  // comes three clocks behind it. The word is read one clock after the grant, when no write has followed.
  assign tx_push       = send_tx_valid || resp_tx_valid;
  assign addr_cfg_addr = look_qp_q;
  assign tx_known      = tx_valid && address_valid;

  always_ff @(posedge clk) begin
    look_q    <= {look_q[0], tx_push};
    look_qp_q <= resp_tx_valid ? resp_tx.qp : send_tx.qp;
    if (rst) look_q <= '0;
  end

  nd_fifo #(.T(qp_addr_t), .Depth(Descriptors)) u_address (
    .clk, .rst, .in_valid(look_q[1]), .in_ready(unused_room), .in_data(addr_cfg),
    .out_valid(address_valid), .out_ready(tx_valid && tx_ready), .out_data(address),
    .count(unused_addresses)
  );

  // Frames with payload that were decided.
  always_ff @(posedge clk) begin
    gathers_begun_q <= gathers_begun_q + 8'((send_tx_valid && send_tx.chunks != '0)
                                            || (resp_tx_valid && resp_tx.chunks != '0));
    if (rst) gathers_begun_q <= '0;
  end

  nd_wire #(.DataWidth(DataWidth)) u_wire (
    .clk, .rst, .s_axis_tdata, .s_axis_tkeep, .s_axis_tvalid, .s_axis_tready, .s_axis_tlast,
    .s_axis_tuser,
    .m_axis_tdata, .m_axis_tkeep, .m_axis_tvalid, .m_axis_tready, .m_axis_tlast, .port(own),
    .rx_valid, .rx_ready, .rx_desc(rx), .rx_data_valid, .rx_data_ready, .rx_data, .rx_data_last,
    .tx_valid(tx_known), .tx_ready, .tx_desc(tx), .tx_address(address),
    .send_chunk_valid, .send_chunk_ready, .send_chunk, .resp_chunk_valid, .resp_chunk_ready,
    .resp_chunk,
    .chunk_valid, .chunk_ready, .chunk, .chunk_last,
    .tx_data_valid, .tx_data_ready, .tx_data, .tx_data_bytes, .tx_data_last, .tx_data_error,
    .tx_event, .tx_octets
  );
  assign m_axis_tuser = 1'b0;

  logic unused;
  assign unused = &{1'b0, gather_error, write_error};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_tx_one:  assert (!(send_tx_valid && resp_tx_valid));
      a_tx_room: assert (tx_room || !(send_tx_valid || resp_tx_valid));
    end
  end
`endif
endmodule
