// AXI4-Lite slave that makes one access at a time of what it is asked, reads and writes in turn.
//
// `req` is high for one clock; the access ends with `rd_ack` or `wr_ack`, in the same clock at the earliest.
// Request and answer are registers, so that what lies between has a clock for itself.
module nd_host_axil #(
  // bits of an address
  parameter int unsigned AddrWidth = 10
) (
  input  logic                 clk,
  input  logic                 rst,

  input  logic                 s_axil_awvalid,
  output logic                 s_axil_awready,
  input  logic [AddrWidth-1:0] s_axil_awaddr,
  input  logic                 s_axil_wvalid,
  output logic                 s_axil_wready,
  input  logic [31:0]          s_axil_wdata,
  input  logic [3:0]           s_axil_wstrb,
  output logic                 s_axil_bvalid,
  input  logic                 s_axil_bready,
  output logic [1:0]           s_axil_bresp,
  input  logic                 s_axil_arvalid,
  output logic                 s_axil_arready,
  input  logic [AddrWidth-1:0] s_axil_araddr,
  output logic                 s_axil_rvalid,
  input  logic                 s_axil_rready,
  output logic [31:0]          s_axil_rdata,
  output logic [1:0]           s_axil_rresp,

  output logic                 req,
  output logic                 req_is_wr,
  output logic [AddrWidth-1:0] addr,       // a multiple of 4
  output logic [31:0]          wr_data,
  output logic [31:0]          wr_biten,
  input  logic                 wr_ack,
  input  logic                 rd_ack,
  input  logic [31:0]          rd_data
);
  typedef enum logic [1:0] {
    Idle,
    Access,
    Answer
  } state_e;

  // What came on each channel and waits.
  logic                 aw_valid_q, aw_valid_d, w_valid_q, w_valid_d, ar_valid_q, ar_valid_d;
  logic [AddrWidth-1:0] aw_addr_q, ar_addr_q;
  logic [31:0]          w_data_q;
  logic [3:0]           w_strb_q;

  // The access; write data stay where they came.
  state_e               state_q, state_d;
  logic                 req_q, req_d;
  logic                 is_wr_q, is_wr_d;  // of the last access, too
  logic [AddrWidth-1:0] addr_q, addr_d;
  logic [31:0]          rdata_q;
  logic                 write, read, answered, unused;

  assign s_axil_awready = !aw_valid_q;
  assign s_axil_wready  = !w_valid_q;
  assign s_axil_arready = !ar_valid_q;
  assign s_axil_bvalid  = state_q == Answer && is_wr_q;
  assign s_axil_bresp   = 2'b00;
  assign s_axil_rvalid  = state_q == Answer && !is_wr_q;
  assign s_axil_rdata   = rdata_q;
  assign s_axil_rresp   = 2'b00;

  assign req       = req_q;
  assign req_is_wr = is_wr_q;
  assign addr      = addr_q;
  assign wr_data   = w_data_q;
  assign unused    = ^{s_axil_awaddr[1:0], s_axil_araddr[1:0]};

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) wr_biten[8*i +: 8] = {8{w_strb_q[i]}};
  end

  always_comb begin
    write    = state_q == Idle && aw_valid_q && w_valid_q && !(ar_valid_q && is_wr_q);
    read     = state_q == Idle && ar_valid_q && !write;
    answered = (s_axil_bvalid && s_axil_bready) || (s_axil_rvalid && s_axil_rready);

    state_d = state_q;
    req_d   = write || read;
    is_wr_d = req_d ? write : is_wr_q;
    addr_d  = write ? aw_addr_q : ar_addr_q;
    case (state_q)
      Idle:    if (req_d) state_d = Access;
      Access:  if (is_wr_q ? wr_ack : rd_ack) state_d = Answer;
      default: if (answered) state_d = Idle;
    endcase

    aw_valid_d = aw_valid_q ? !write : s_axil_awvalid;
    ar_valid_d = ar_valid_q ? !read : s_axil_arvalid;
    w_valid_d  = w_valid_q ? !(state_q == Access && wr_ack) : s_axil_wvalid;
  end

  always_ff @(posedge clk) begin
    aw_valid_q <= aw_valid_d;
    w_valid_q  <= w_valid_d;
    ar_valid_q <= ar_valid_d;
    if (!aw_valid_q) aw_addr_q <= {s_axil_awaddr[AddrWidth-1:2], 2'b00};
    if (!ar_valid_q) ar_addr_q <= {s_axil_araddr[AddrWidth-1:2], 2'b00};
    if (!w_valid_q) begin
      w_data_q <= s_axil_wdata;
      w_strb_q <= s_axil_wstrb;
    end
    state_q <= state_d;
    req_q   <= req_d;
    is_wr_q <= is_wr_d;
    if (state_q == Idle) addr_q <= addr_d;
    if (state_q == Access) rdata_q <= rd_data;
    if (rst) begin
      aw_valid_q <= 1'b0;
      w_valid_q  <= 1'b0;
      ar_valid_q <= 1'b0;
      state_q    <= Idle;
      req_q      <= 1'b0;
      is_wr_q    <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) a_ack: assert (state_q == Access || !(wr_ack || rd_ack));
  end
`endif
endmodule
