// Proof of nd_host_axil: every access is made once, as asked, and answered once, with what it gave.
module nd_host_axil_proof (
  input logic        clk,
  input logic        rst,
  input logic        s_axil_awvalid,
  input logic [3:0]  s_axil_awaddr,
  input logic        s_axil_wvalid,
  input logic [31:0] s_axil_wdata,
  input logic [3:0]  s_axil_wstrb,
  input logic        s_axil_bready,
  input logic        s_axil_arvalid,
  input logic [3:0]  s_axil_araddr,
  input logic        s_axil_rready,
  input logic        wr_ack,
  input logic        rd_ack,
  input logic [31:0] rd_data,
  input logic [4:0]  pick             // free: the entry of each queue that is to be followed
);
  logic        s_axil_awready, s_axil_wready, s_axil_bvalid;
  logic        s_axil_arready, s_axil_rvalid;
  logic [1:0]  s_axil_bresp, s_axil_rresp;
  logic [31:0] s_axil_rdata;
  logic        req, req_is_wr;
  logic [3:0]  addr;
  logic [31:0] wr_data, wr_biten;

  nd_host_axil #(.AddrWidth(4)) u_dut (.*);

  nd_proof_reset u_reset (.*);
  nd_proof_stream u_b (
    .clk, .rst, .valid(s_axil_bvalid), .ready(s_axil_bready), .data(s_axil_bresp)
  );
  nd_proof_stream #(.Width(34)) u_r (
    .clk, .rst, .valid(s_axil_rvalid), .ready(s_axil_rready), .data({s_axil_rresp, s_axil_rdata})
  );

  // The access that is made: from `req` to its ack.
  logic open_q, open, write, read;
  assign open  = open_q || req;
  assign write = open && req_is_wr && wr_ack;
  assign read  = open && !req_is_wr && rd_ack;

  // A few bits stand for all.
  logic [1:0] aw_inside, ar_inside, b_inside, r_inside;
  logic       w_inside;
  nd_proof_order #(.Most(2)) u_aw (
    .clk, .rst, .push(s_axil_awvalid && s_axil_awready), .push_data(s_axil_awaddr[3:2]),
    .pop(write), .pop_data(addr[3:2]), .pick(pick[0]), .inside_count(aw_inside)
  );
  // Data wait where they came until the access is made.
  nd_proof_order #(.Width(4), .Most(1)) u_w (
    .clk, .rst, .push(s_axil_wvalid && s_axil_wready),
    .push_data({s_axil_wstrb[3], s_axil_wdata[31], s_axil_wstrb[0], s_axil_wdata[0]}),
    .pop(write), .pop_data({wr_biten[24], wr_data[31], wr_biten[7], wr_data[0]}),
    .pick(pick[1]), .inside_count(w_inside)
  );
  nd_proof_order #(.Most(2)) u_ar (
    .clk, .rst, .push(s_axil_arvalid && s_axil_arready), .push_data(s_axil_araddr[3:2]),
    .pop(read), .pop_data(addr[3:2]), .pick(pick[2]), .inside_count(ar_inside)
  );
  nd_proof_order #(.Width(1), .Most(1)) u_answer (
    .clk, .rst, .push(write), .push_data(1'b0),
    .pop(s_axil_bvalid && s_axil_bready), .pop_data(1'b0), .pick(pick[4]),
    .inside_count(b_inside[0])
  );
  nd_proof_order #(.Most(1)) u_data (
    .clk, .rst, .push(read), .push_data({rd_data[31], rd_data[0]}),
    .pop(s_axil_rvalid && s_axil_rready), .pop_data({s_axil_rdata[31], s_axil_rdata[0]}),
    .pick(pick[3]), .inside_count(r_inside[0])
  );
  assign b_inside[1] = 1'b0;
  assign r_inside[1] = 1'b0;

  logic [1:0] writes_q;  // made since a read waits
  logic [2:0] idle_q;    // clocks that an access waits and none is made or answered

  always_ff @(posedge clk) begin
    open_q <= open && !write && !read;
    if (ar_inside == '0 || read) writes_q <= '0;
    else if (write && writes_q != 2'd3) writes_q <= writes_q + 2'd1;
    if (open || b_inside != '0 || r_inside != '0) idle_q <= '0;
    else if ((aw_inside && w_inside != '0) || ar_inside != '0) idle_q <= idle_q + 3'd1;
    if (rst) begin
      open_q   <= 1'b0;
      writes_q <= '0;
      idle_q   <= '0;
    end
    if (!rst) begin
      // The block answers what it is asked.
      assume (!wr_ack || (open && req_is_wr));
      assume (!rd_ack || (open && !req_is_wr));
      a_one:     assert (!(req && open_q));
      a_aligned: assert (!open || addr[1:0] == 2'b00);
      a_shown:   assert (s_axil_bvalid == b_inside[0] && s_axil_rvalid == r_inside[0]);
      a_single:  assert (!(s_axil_bvalid && s_axil_rvalid));
      // One that is already on its way, and one more.
      a_fair:    assert (writes_q <= 2'd1);
      a_prompt:  assert (idle_q <= 3'd1);
      c_both:    cover (writes_q == 2'd1 && read);
    end
  end
endmodule
