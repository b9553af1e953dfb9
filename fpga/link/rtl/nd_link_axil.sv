// AXI4-Lite master: one access at a time, with an end to waiting.
//
// An access that is not answered within 2**TimeoutBits clocks is given up with BusTimeout. As AXI
// allows no master to take a request back, the bus is then `stuck`: the request stays, and every access
// fails at once until `rst`, which is that of the core behind the bus, too.
module nd_link_axil
  import nd_link_pkg::*;
#(
  // bits of an address
  parameter int unsigned AddrWidth = 12,
  // log2 of the clocks after which an access is given up
  parameter int unsigned TimeoutBits = 16
) (
  input  logic                 clk,
  input  logic                 rst,

  input  logic                 req,
  input  logic                 is_write,
  input  logic [AddrWidth-1:0] addr,
  input  logic [31:0]          wdata,
  output logic                 ack,
  output code_e                code,
  output logic [31:0]          rdata,
  output logic                 stuck,

  output logic                 m_axil_awvalid,
  input  logic                 m_axil_awready,
  output logic [AddrWidth-1:0] m_axil_awaddr,
  output logic [2:0]           m_axil_awprot,
  output logic                 m_axil_wvalid,
  input  logic                 m_axil_wready,
  output logic [31:0]          m_axil_wdata,
  output logic [3:0]           m_axil_wstrb,
  input  logic                 m_axil_bvalid,
  output logic                 m_axil_bready,
  input  logic [1:0]           m_axil_bresp,
  output logic                 m_axil_arvalid,
  input  logic                 m_axil_arready,
  output logic [AddrWidth-1:0] m_axil_araddr,
  output logic [2:0]           m_axil_arprot,
  input  logic                 m_axil_rvalid,
  output logic                 m_axil_rready,
  input  logic [31:0]          m_axil_rdata,
  input  logic [1:0]           m_axil_rresp
);
  logic                   aw_q, aw_d, w_q, w_d, ar_q, ar_d, b_q, b_d, r_q, r_d;
  logic                   ack_q, ack_d, stuck_q, stuck_d, waits, late;
  code_e                  code_q, code_d;
  logic [31:0]            rdata_q, wdata_q;
  logic [AddrWidth-1:0]   addr_q;
  logic [TimeoutBits-1:0] time_q;

  assign waits = b_q || r_q;
  assign late  = waits && time_q == '1;

  always_comb begin
    aw_d    = aw_q && !m_axil_awready;
    w_d     = w_q && !m_axil_wready;
    ar_d    = ar_q && !m_axil_arready;
    b_d     = b_q;
    r_d     = r_q;
    ack_d   = 1'b0;
    code_d  = Done;
    stuck_d = stuck_q;
    if (stuck_q) begin
      ack_d  = req;
      code_d = BusTimeout;
    end else if (req) begin
      aw_d = is_write;
      w_d  = is_write;
      b_d  = is_write;
      ar_d = !is_write;
      r_d  = !is_write;
    end else if ((b_q && m_axil_bvalid) || (r_q && m_axil_rvalid)) begin
      b_d   = 1'b0;
      r_d   = 1'b0;
      ack_d = 1'b1;
      if ((b_q ? m_axil_bresp : m_axil_rresp) != 2'b00) code_d = BusError;
    end else if (late) begin
      ack_d   = 1'b1;
      code_d  = BusTimeout;
      stuck_d = 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    aw_q    <= aw_d;
    w_q     <= w_d;
    ar_q    <= ar_d;
    b_q     <= b_d;
    r_q     <= r_d;
    ack_q   <= ack_d;
    code_q  <= code_d;
    stuck_q <= stuck_d;
    time_q  <= waits ? time_q + TimeoutBits'(1) : '0;
    if (r_q) rdata_q <= m_axil_rdata;
    if (req && !stuck_q) begin
      addr_q  <= addr;
      wdata_q <= wdata;
    end
    if (rst) begin
      aw_q    <= 1'b0;
      w_q     <= 1'b0;
      ar_q    <= 1'b0;
      b_q     <= 1'b0;
      r_q     <= 1'b0;
      stuck_q <= 1'b0;
      time_q  <= '0;
      // In reset there is nobody to answer.
      ack_q   <= req || waits;
      code_q  <= BusTimeout;
    end
  end

  assign ack   = ack_q;
  assign code  = code_q;
  assign rdata = rdata_q;
  assign stuck = stuck_q;

  assign m_axil_awvalid = aw_q;
  assign m_axil_awaddr  = addr_q;
  assign m_axil_awprot  = 3'b000;
  assign m_axil_wvalid  = w_q;
  assign m_axil_wdata   = wdata_q;
  assign m_axil_wstrb   = '1;
  assign m_axil_bready  = b_q;
  assign m_axil_arvalid = ar_q;
  assign m_axil_araddr  = addr_q;
  assign m_axil_arprot  = 3'b000;
  assign m_axil_rready  = r_q;
endmodule
