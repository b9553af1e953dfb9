// FIFO whose entries become readable at `commit` and vanish at `discard`.
//
// Both cover every entry written since the last of them, one written in the same clock included;
// `discard` wins. Neither needs an entry. `count` is the number of entries held, readable or not: a
// user who never commits fills it up and must discard. First-word fall-through, output from a
// register. Above `Distributed` entries it lies in block memory, whose output meets a bare flip-flop.
module nd_fifo_commit #(
  // what it carries
  parameter type T = logic [7:0],
  // entries, a power of two
  parameter int unsigned Depth = 16,
  // most entries in distributed memory
  parameter int unsigned Distributed = 64,
  localparam int unsigned CountWidth = $clog2(Depth) + 1
) (
  input  logic                  clk,
  input  logic                  rst,

  input  logic                  in_valid,
  output logic                  in_ready,
  input  T                      in_data,
  input  logic                  commit,
  input  logic                  discard,

  output logic                  out_valid,
  input  logic                  out_ready,
  output T                      out_data,

  output logic [CountWidth-1:0] count
);
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_check
    $error("%m: Depth must be a power of two, at least 2");
  end

  localparam int unsigned PtrWidth = $clog2(Depth);
  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [CountWidth-1:0] count_t;

  // Pointers have one bit more than an address: equal means none.
  count_t wr_q, wr_d;      // next entry written
  count_t safe_q, safe_d;  // first entry not committed
  count_t rd_q, rd_d;      // next entry read from the memory
  count_t free_q, free_d;  // first entry not yet taken from the output
  count_t count_q, count_d;
  logic   push, pop, fetch;

  // The depth is a power of two: full is one bit of the count.
  assign count    = count_q;
  assign in_ready = !count_q[PtrWidth];

  always_comb begin
    push    = in_valid && in_ready;
    pop     = out_valid && out_ready;
    wr_d    = wr_q + count_t'(push);
    safe_d  = safe_q;
    rd_d    = rd_q + count_t'(fetch);
    free_d  = free_q + count_t'(pop);
    count_d = count_q + count_t'(push) - count_t'(pop);
    if (discard) begin
      wr_d    = safe_q;
      count_d = safe_q - free_q - count_t'(pop);
    end else if (commit) begin
      safe_d = wr_d;
    end
  end

  always_ff @(posedge clk) begin
    wr_q    <= wr_d;
    safe_q  <= safe_d;
    rd_q    <= rd_d;
    free_q  <= free_d;
    count_q <= count_d;
    if (rst) begin
      wr_q    <= '0;
      safe_q  <= '0;
      rd_q    <= '0;
      free_q  <= '0;
      count_q <= '0;
    end
  end

  if (Depth <= Distributed) begin : g_reg
    T     mem[Depth];
    T     out_q;
    logic out_valid_q, out_valid_d;

    assign out_valid   = out_valid_q;
    assign out_data    = out_q;
    assign fetch       = rd_q != safe_q && (out_ready || !out_valid_q);
    assign out_valid_d = fetch || (out_valid_q && !out_ready);

    always_ff @(posedge clk) begin
      if (push) mem[ptr_t'(wr_q)] <= in_data;
      if (fetch) out_q <= mem[ptr_t'(rd_q)];
      out_valid_q <= out_valid_d;
      if (rst) out_valid_q <= 1'b0;
    end
  end else begin : g_block
    // Entries on their way from the memory have their place in the output queue.
    localparam int unsigned Queue = 4;
    T           word, word_q;
    logic [1:0] coming_q;
    logic [2:0] taken_q, taken_d;
    logic       unused_ready;
    logic [2:0] unused_count;

    assign fetch   = rd_q != safe_q && taken_q != 3'(Queue);
    assign taken_d = taken_q + 3'(fetch) - 3'(pop);

    // An entry that is fetched was written before.
    nd_ram #(.T(T), .Depth(Depth), .ReadOld(1'b0)) u_ram (
      .clk, .we(push), .waddr(ptr_t'(wr_q)), .wdata(in_data), .raddr(ptr_t'(rd_q)), .rdata(word)
    );

    always_ff @(posedge clk) begin
      word_q   <= word;
      coming_q <= {coming_q[0], fetch};
      taken_q  <= taken_d;
      if (rst) begin
        coming_q <= '0;
        taken_q  <= '0;
      end
    end

    nd_fifo_reg #(.T(T), .Depth(Queue)) u_queue (
      .clk, .rst, .in_valid(coming_q[1]), .in_ready(unused_ready), .in_data(word_q),
      .out_valid, .out_ready, .out_data, .count(unused_count)
    );

`ifdef FORMAL
    always_ff @(posedge clk) begin
      if (!rst) begin
        a_apart: assert (!(push && fetch) || ptr_t'(wr_q) != ptr_t'(rd_q));
        a_place: assert (!coming_q[1] || unused_ready);
        a_taken: assert (count_t'(taken_q) == rd_q - free_q);
        a_under: assert (taken_q == unused_count + 3'(coming_q[0]) + 3'(coming_q[1]));
      end
    end
`endif
  end

`ifdef FORMAL
  logic past_valid = 1'b0;
  always_ff @(posedge clk) begin
    past_valid <= 1'b1;
    if (!past_valid) assume (rst);
    if (past_valid && !rst && !$past(rst)) begin
      a_hold:  assert (!$past(out_valid && !out_ready) || (out_valid && $stable(out_data)));
      a_count: assert (count_q <= count_t'(Depth) && count_q == wr_q - free_q);
      a_safe:  assert (safe_q - free_q <= wr_q - free_q);
      a_read:  assert (rd_q - free_q <= safe_q - free_q);
    end
  end
`endif
endmodule
