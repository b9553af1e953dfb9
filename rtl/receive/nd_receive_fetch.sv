// Fetches posted receives ahead of their use: up to two entries of each ring are held.
//
// Rings are those of the queue pairs, then the shared receive queues. Those that may need a fetch are
// marked (by a doorbell, or when a receive was used) and served in turn. `fetched` tells whether
// entry {ring, odd} is here; it is read without delay, the entry itself one clock later. An entry
// leaves by `consumed`. A fetch on its way when the ring is cleared or flushed is discarded when it
// arrives. The entry that a queue pair took from a shared queue is kept in a place of its own ring.
module nd_receive_fetch
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
#(
  // rings
  parameter int unsigned NumRing = 80,
  // fetches on their way
  parameter int unsigned Slots = 4
) (
  input  logic       clk,
  input  logic       rst,

  input  logic [NumRing-1:0] live,   // rings that are fetched from
  input  logic       clear,
  input  qp_t        clear_qp,

  input  logic       mark,         // more was posted
  input  qp_t        mark_qp,
  input  logic       consumed,     // receive `consumed_odd` was used, or flushed
  input  qp_t        consumed_qp,
  input  logic       consumed_odd,
  input  logic       flushed,      // `consumed` is a flush

  output qp_t        qp,           // ring, data one clock later
  input  idx_t       producer,
  input  idx_t       consumer,
  input  addr_t      base,
  input  logic [3:0] log_size,

  output logic       fetch_valid,
  input  logic       fetch_ready,
  output fetch_req_t fetch,
  input  logic       fetch_rsp_valid,
  input  fetch_rsp_t fetch_rsp,

  input  logic       keep_valid,   // in place {keep_qp, 0}
  output logic       keep_ready,
  input  qp_t        keep_qp,
  input  receive_t   keep,

  input  qp_t        read_qp,
  input  logic       read_odd,
  output logic       fetched,
  output receive_t   receive
);
  localparam int unsigned QpBits   = $clog2(NumRing);
  localparam int unsigned SlotBits = Slots > 1 ? $clog2(Slots) : 1;
  typedef logic [QpBits-1:0] qp_bits_t;
  typedef logic [SlotBits-1:0] slot_t;

  typedef enum logic [2:0] {
    Pick,
    Look,
    Wait,
    Decide,
    Send
  } state_e;

  typedef struct packed {
    logic     busy;
    logic     stale;
    qp_bits_t qp;
    logic     odd;
  } flight_t;

  state_e     state_q, state_d;
  qp_bits_t   qp_q, qp_d;
  idx_t       producer_q, producer_d, consumer_q, consumer_d, next_q, next_d;
  addr_t      base_q, base_d;
  logic [3:0] log_q, log_d;
  fetch_req_t req_q, req_d;
  flight_t [Slots-1:0] flight_q, flight_d;
  logic [NumRing-1:0]    work_q, work_d, work_gnt;
  logic [2*NumRing-1:0]  filled_q, filled_d;
  qp_bits_t            work_idx;
  logic                pick;

  logic       next_we;
  idx_t       next_wdata;
  idx_t       next_rdata[1];
  qp_t        next_rqp[1];
  slot_t      slot, slot_d, slot_q;
  logic       slot_free;
  idx_t       ring_index, ahead, behind;
  addr_t      entry_addr;
  logic       unused;

  // the answer: registered, then with its sum
  logic       rsp_valid_q, sum_valid_q;
  slot_t      rsp_slot_q, sum_slot_q;
  receive_t   rsp_q, sum_q;
  rq_wqe_t    rsp_wqe;
  sge_t       rsp_sge[4];
  flight_t    landing;
  logic       land;

  assign unused = &{1'b0, fetch_rsp.tag, fetch_rsp.unit, fetch_rsp.last, fetch_rsp.error,
                    rsp_q.total, mark_qp, read_qp, keep_qp, landing.busy};

  assign qp          = qp_t'(qp_q);
  assign next_rqp[0] = qp_t'(qp_q);
  assign fetch_valid = state_q == Send;
  assign fetch       = req_q;
  assign pick        = state_q == Pick && |work_q && !clear;

  nd_rr_arb #(.N(NumRing)) u_pick (
    .clk, .rst, .req(work_q), .advance(pick), .gnt(work_gnt), .gnt_idx(work_idx)
  );
  nd_receive_table #(.T(idx_t), .NumQp(NumRing), .Reads(1)) u_next (
    .clk, .clear, .clear_qp, .we(next_we), .wqp(qp_t'(qp_q)), .wdata(next_wdata),
    .rqp(next_rqp), .rdata(next_rdata)
  );

  always_comb begin
    slot      = '0;
    slot_free = 1'b0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (!flight_q[i].busy) begin
        slot      = slot_t'(i);
        slot_free = 1'b1;
      end
    end
  end

  assign ahead      = next_q - consumer_q;
  assign behind     = consumer_q - next_q;
  assign ring_index = next_q & ~(16'hFFFF << log_q);
  assign entry_addr = base_q + {42'd0, ring_index, 6'd0};

  always_comb begin
    state_d    = state_q;
    qp_d       = qp_q;
    producer_d = producer_q;
    consumer_d = consumer_q;
    next_d     = next_q;
    base_d     = base_q;
    log_d      = log_q;
    req_d      = req_q;
    slot_d     = slot_q;
    work_d     = work_q;
    next_we    = 1'b0;
    next_wdata = next_q + 16'd1;
    unique case (state_q)
      Pick: begin
        if (pick) begin
          qp_d    = work_idx;
          work_d  = work_q & ~work_gnt;
          state_d = Look;
        end
      end
      Look: state_d = Wait;
      Wait: begin
        producer_d = producer;
        consumer_d = consumer;
        next_d     = next_rdata[0];
        base_d     = base;
        log_d      = log_size;
        state_d    = Decide;
      end
      Decide: begin
        if (clear) begin
          state_d = Decide;
        end else if (!live[qp_q]) begin
          state_d = Pick;
        end else if (ahead[15] && behind != '0) begin
          // entries were flushed unfetched
          next_we    = 1'b1;
          next_wdata = consumer_q;
          state_d    = Look;
        end else if (next_q == producer_q || ahead >= 16'd2) begin
          state_d = Pick;
        end else if (slot_free) begin
          next_we = 1'b1;
          slot_d  = slot;
          req_d.addr  = entry_addr;
          req_d.unit_count = 3'd1;
          req_d.tag   = 9'(slot);
          state_d = Send;
        end
      end
      Send: if (fetch_ready) state_d = Look;
      default: state_d = Pick;
    endcase
    if (clear && qp_t'(qp_q) == clear_qp && state_q inside {Look, Wait, Decide}) state_d = Pick;
    if (mark) work_d[mark_qp[QpBits-1:0]] = 1'b1;
    if (consumed) work_d[consumed_qp[QpBits-1:0]] = 1'b1;
    if (clear) work_d[clear_qp[QpBits-1:0]] = 1'b0;
  end

  assign rsp_wqe = fetch_rsp.data;
  assign landing = flight_q[sum_slot_q];
  assign land    = sum_valid_q && !landing.stale && !(clear && qp_t'(landing.qp) == clear_qp);

  always_comb begin
    flight_d = flight_q;
    filled_d = filled_q;
    if (state_q == Decide && state_d == Send) begin
      flight_d[slot_d] = '{busy: 1'b1, stale: 1'b0, qp: qp_q, odd: next_q[0]};
    end
    if (sum_valid_q) flight_d[sum_slot_q].busy = 1'b0;
    if (land) filled_d[{landing.qp, landing.odd}] = 1'b1;
    if (consumed) filled_d[{consumed_qp[QpBits-1:0], consumed_odd}] = 1'b0;
    for (int unsigned i = 0; i < Slots; i++) begin
      if (flight_q[i].busy && ((clear && qp_t'(flight_q[i].qp) == clear_qp) ||
          (consumed && flushed && qp_t'(flight_q[i].qp) == consumed_qp))) begin
        flight_d[i].stale = 1'b1;
      end
    end
    if (clear) begin
      filled_d[{clear_qp[QpBits-1:0], 1'b0}] = 1'b0;
      filled_d[{clear_qp[QpBits-1:0], 1'b1}] = 1'b0;
    end
    for (int unsigned i = 0; i < 4; i++) rsp_sge[i] = rsp_q.sge[i];
  end

  always_ff @(posedge clk) begin
    state_q     <= state_d;
    qp_q        <= qp_d;
    producer_q  <= producer_d;
    consumer_q  <= consumer_d;
    next_q      <= next_d;
    base_q      <= base_d;
    log_q       <= log_d;
    req_q       <= req_d;
    slot_q      <= slot_d;
    work_q      <= work_d;
    flight_q    <= flight_d;
    filled_q    <= filled_d;
    rsp_valid_q <= fetch_rsp_valid;
    rsp_slot_q  <= fetch_rsp.tag[SlotBits-1:0];
    rsp_q.sge   <= {rsp_wqe.sge3, rsp_wqe.sge2, rsp_wqe.sge1, rsp_wqe.sge0};
    rsp_q.total   <= '0;
    sum_valid_q <= rsp_valid_q;
    sum_slot_q  <= rsp_slot_q;
    sum_q.sge   <= rsp_q.sge;
    sum_q.total   <= (34'(rsp_sge[0].length) + 34'(rsp_sge[1].length)) +
                   (34'(rsp_sge[2].length) + 34'(rsp_sge[3].length));
    if (rst) begin
      state_q     <= Pick;
      work_q      <= '0;
      flight_q    <= '0;
      filled_q    <= '0;
      rsp_valid_q <= 1'b0;
      sum_valid_q <= 1'b0;
    end
  end

  assign fetched = filled_q[{read_qp[QpBits-1:0], read_odd}];
  assign keep_ready = !land;
  nd_ram #(.T(receive_t), .Depth(2 * NumRing)) u_receives (
    .clk, .we(land || keep_valid),
    .waddr(land ? {landing.qp, landing.odd} : {keep_qp[QpBits-1:0], 1'b0}),
    .wdata(land ? sum_q : keep),
    .raddr({read_qp[QpBits-1:0], read_odd}), .rdata(receive)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      a_known: assert (!fetch_rsp_valid || flight_q[fetch_rsp.tag[SlotBits-1:0]].busy);
    end
  end
`endif
endmodule
