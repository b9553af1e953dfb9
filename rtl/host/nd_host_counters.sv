// Counters of frames by drop cause, and of bytes.
//
// An event counts for one clock of `rx_event` or `tx_event`; there may be one in every clock. The drop
// counters lie in a memory: `read` asks for number `read_index` and holds until `read_done`, the clock
// in which `read_count` is valid. All counters start at zero after reset.
module nd_host_counters (
  input  logic        clk,
  input  logic        rst,

  input  logic        rx_event,
  input  logic [4:0]  rx_cause,
  input  logic [15:0] rx_octets,
  input  logic        tx_event,
  input  logic [15:0] tx_octets,

  output logic        rx_counted,  // rx_event and tx_event, one clock later
  output logic        tx_counted,
  output logic [63:0] rx_total,
  output logic [63:0] tx_total,

  input  logic        read,
  input  logic [4:0]  read_index,
  output logic        read_done,
  output logic [31:0] read_count
);
  // Events, registered at the boundary.
  logic        rx_q, tx_q;
  logic [4:0]  cause_q;
  logic [15:0] rx_octets_q, tx_octets_q;

  logic [63:0] rx_total_q, tx_total_q;

  // Two steps: the memory is read, then written; an event comes before a reader.
  logic [31:0] used_q, used_d;    // counters written since reset; others count as zero
  logic [4:0]  addr;
  logic        count_q, read_q, read_d;
  logic [4:0]  addr_q;
  logic        valid_q;           // the counter was used when it was read
  // what was written in the clock before: the memory has not given it
  logic        wrote_q;
  logic [4:0]  wrote_addr_q;
  logic [31:0] wrote_count_q;
  logic [31:0] word, old_count, new_count;

  assign addr       = rx_q ? cause_q : read_index;
  assign read_d     = read && !rx_q && !read_q;
  assign new_count  = old_count + 32'd1;
  assign read_done  = read_q;
  assign read_count = old_count;
  assign rx_counted = rx_q;
  assign tx_counted = tx_q;
  assign rx_total   = rx_total_q;
  assign tx_total   = tx_total_q;

  nd_ram #(.T(logic [31:0]), .Depth(32)) u_drops (
    .clk, .we(count_q), .waddr(addr_q), .wdata(new_count), .raddr(addr), .rdata(word)
  );

  always_comb begin
    used_d = used_q;
    if (count_q) used_d[addr_q] = 1'b1;
    old_count = valid_q ? word : '0;
    if (wrote_q && wrote_addr_q == addr_q) old_count = wrote_count_q;
  end

  always_ff @(posedge clk) begin
    rx_q          <= rx_event;
    tx_q          <= tx_event;
    cause_q       <= rx_cause;
    rx_octets_q   <= rx_octets;
    tx_octets_q   <= tx_octets;
    if (rx_q) rx_total_q <= rx_total_q + 64'(rx_octets_q);
    if (tx_q) tx_total_q <= tx_total_q + 64'(tx_octets_q);
    used_q        <= used_d;
    count_q       <= rx_q;
    read_q        <= read_d;
    addr_q        <= addr;
    valid_q       <= used_q[addr];
    wrote_q       <= count_q;
    wrote_addr_q  <= addr_q;
    wrote_count_q <= new_count;
    if (rst) begin
      rx_q       <= 1'b0;
      tx_q       <= 1'b0;
      rx_total_q <= '0;
      tx_total_q <= '0;
      used_q     <= '0;
      count_q    <= 1'b0;
      read_q     <= 1'b0;
      wrote_q    <= 1'b0;
    end
  end
endmodule
