// Queue-pair contexts: one memory per group and read port; states, and who has a shared receive
// queue, in flip-flops.
//
// `qp_we` writes the whole entry; a read one clock later gives the new one. Each `*_addr` is
// answered one clock later. `error_valid` moves a queue pair to QpErr. An index outside the table
// is never written and reads some entry of it.
module nd_tables
  import nd_pkg::*;
  import nd_abi_pkg::*;
#(
  // queue pairs, a power of two
  parameter int unsigned NumQp = 64
) (
  input  logic                  clk,
  input  logic                  rst,

  input  logic                  qp_we,
  input  qp_t                   qp_index,
  input  qp_context_t           qp_entry,
  input  logic                  error_valid,
  input  qp_t                   error_qp,

  output qp_state_e [NumQp-1:0] qp_states,
  output logic      [NumQp-1:0] qp_shared,   // it has a shared receive queue

  input  qp_t       [3:0]       send_cfg_addr,
  output qp_send_t  [3:0]       send_cfg,
  input  qp_t       [2:0]       recv_cfg_addr,
  output qp_recv_t  [2:0]       recv_cfg,
  input  qp_t                   addr_cfg_addr,
  output qp_addr_t              addr_cfg,
  input  qp_t       [2:0]       cq_cfg_addr,
  output qp_cq_t    [2:0]       cq_cfg
);
  if (NumQp < 2 || (NumQp & (NumQp - 1)) != 0) begin : g_check
    $error("%m: NumQp must be a power of two, at least 2");
  end

  typedef logic [$clog2(NumQp)-1:0] row_t;

  qp_state_e [NumQp-1:0] states_q, states_d;
  logic      [NumQp-1:0] shared_q, shared_d;
  qp_send_t              send_word;
  qp_recv_t              recv_word;
  qp_addr_t              addr_word;
  qp_cq_t                cq_word;
  row_t                  row;

  assign row       = row_t'(qp_index);
  assign qp_states = states_q;
  assign qp_shared = shared_q;

  assign send_word = '{
    sq_base: qp_entry.sq_base, sq_log: qp_entry.sq_log, sq_stride: qp_entry.sq_stride,
    mtu: qp_entry.mtu, pd: qp_entry.pd, max_ord: qp_entry.max_ord,
    sq_psn: qp_entry.sq_psn, timeout: qp_entry.timeout, retry_cnt: qp_entry.retry_cnt
  };
  assign recv_word = '{
    rq_base: qp_entry.rq_base, rq_log: qp_entry.rq_log, mtu: qp_entry.mtu, pd: qp_entry.pd,
    max_ird: qp_entry.max_ird, rq_psn: qp_entry.rq_psn, sq_psn: qp_entry.sq_psn,
    remote_read: qp_entry.remote_read, remote_write: qp_entry.remote_write,
    min_rnr_timer: qp_entry.min_rnr_timer, retry_cnt: qp_entry.retry_cnt,
    rnr_retry: qp_entry.rnr_retry, ipv6: qp_entry.ipv6, remote_ip: qp_entry.remote_ip
  };
  assign addr_word = '{
    ipv6: qp_entry.ipv6, traffic_class: qp_entry.traffic_class, hop_limit: qp_entry.hop_limit,
    udp_sport: qp_entry.udp_sport, remote_qpn: qp_entry.remote_qpn,
    remote_mac: qp_entry.remote_mac, remote_ip: qp_entry.remote_ip
  };
  assign cq_word = '{send_cq: qp_entry.send_cq, recv_cq: qp_entry.recv_cq};

  for (genvar i = 0; i < 4; i++) begin : g_send
    nd_ram #(.T(qp_send_t), .Depth(NumQp)) u_send (
      .clk, .we(qp_we), .waddr(row), .wdata(send_word),
      .raddr(row_t'(send_cfg_addr[i])), .rdata(send_cfg[i])
    );
  end

  for (genvar i = 0; i < 3; i++) begin : g_recv
    nd_ram #(.T(qp_recv_t), .Depth(NumQp)) u_recv (
      .clk, .we(qp_we), .waddr(row), .wdata(recv_word),
      .raddr(row_t'(recv_cfg_addr[i])), .rdata(recv_cfg[i])
    );
  end

  nd_ram #(.T(qp_addr_t), .Depth(NumQp)) u_addr (
    .clk, .we(qp_we), .waddr(row), .wdata(addr_word),
    .raddr(row_t'(addr_cfg_addr)), .rdata(addr_cfg)
  );

  for (genvar i = 0; i < 3; i++) begin : g_cq
    nd_ram #(.T(qp_cq_t), .Depth(NumQp)) u_cq (
      .clk, .we(qp_we), .waddr(row), .wdata(cq_word),
      .raddr(row_t'(cq_cfg_addr[i])), .rdata(cq_cfg[i])
    );
  end

  always_comb begin
    states_d = states_q;
    shared_d = shared_q;
    if (qp_we) shared_d[row] = qp_entry.srq;
    if (error_valid) states_d[row_t'(error_qp)] = QpErr;
    if (qp_we) states_d[row] = qp_state_e'(qp_entry.state);
  end

  always_ff @(posedge clk) begin
    states_q <= states_d;
    shared_q <= shared_d;
    if (rst) begin
      states_q <= {NumQp{QpReset}};
      shared_q <= '0;
    end
  end

  // the table keeps no reserved bits
  logic unused;
  assign unused = &{1'b0, qp_index, error_qp, send_cfg_addr, recv_cfg_addr, addr_cfg_addr,
                    cq_cfg_addr, qp_entry};

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_one: assert (!(qp_we && error_valid));
    end
  end
`endif
endmodule
