// Turns descriptors with their addresses into jobs: computes lengths and the IPv4 header checksum.
//
// One job in at most six clocks, less than the shortest frame takes.
module nd_wire_tx_prepare
  import nd_pkg::*, nd_wire_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic [31:0] own_ipv4,  // first octet in the lowest byte

  input  logic        desc_valid,
  output logic        desc_ready,
  input  tx_desc_t    desc,
  input  qp_addr_t    address,

  output logic        job_valid,
  input  logic        job_ready,
  output tx_job_t     job
);
  typedef enum logic [2:0] {
    Idle,
    Add1,   // sums of the address; lengths
    Add2,   // sum of all halves
    Fold,
    Final,
    Done
  } state_e;

  state_e      state_q, state_d;
  tx_job_t     job_q, job_d;
  logic [17:0] own_q, own_d;        // sum of what does not depend on the frame
  logic [17:0] part_q, part_d;
  logic [16:0] peer_q, peer_d;
  logic [19:0] sum_q, sum_d;
  logic [16:0] fold_q, fold_d;
  // In units of four bytes:
  logic [2:0]  ext;
  logic [10:0] body;                // extension headers, payload and pad
  logic [4:0]  headers;             // all before the payload
  logic [10:0] before_icrc;

  assign desc_ready = state_q == Idle;
  assign job_valid  = state_q == Done;
  assign job        = job_q;

  always_comb begin
    state_d = state_q;
    job_d   = job_q;
    case (state_q)
      Idle:    if (desc_valid) state_d = Add1;
      Add1:    state_d = Add2;
      Add2:    state_d = Fold;
      Fold:    state_d = Final;
      Final:   state_d = Done;
      default: if (job_ready) state_d = Idle;
    endcase

    // Lengths, from the registered descriptor.
    ext         = tx_ext_words(job_q.desc.opcode);
    body        = 11'((job_q.desc.len + 13'd3) >> 2) + 11'(ext);
    headers     = (job_q.addr.ipv6 ? 5'd15 : 5'd10) + 5'(ext);
    before_icrc = body + (job_q.addr.ipv6 ? 11'd15 : 11'd10);

    // IPv4 header checksum. Identification 0, don't fragment.
    own_d  = 18'h08511  // version and length, DF, protocol
           + 18'(swap16(own_ipv4[15:0])) + 18'(swap16(own_ipv4[31:16]));
    part_d = own_q + 18'(job_q.addr.traffic_class) + {2'b00, job_q.addr.hop_limit, 8'd0};
    peer_d = {1'b0, swap16(job_q.addr.remote_ip[111:96])}
           + {1'b0, swap16(job_q.addr.remote_ip[127:112])};
    sum_d  = {2'b00, part_q} + {3'b000, peer_q} + {4'd0, job_q.ip_len};
    fold_d = {1'b0, sum_q[15:0]} + 17'(sum_q[19:16]);

    case (state_q)
      Idle: begin
        job_d.desc = desc;
        job_d.addr = address;
        job_d.becn = desc.opcode == OpcodeCnp;
        job_d.whole = desc.opcode == TxFrame;
        job_d.pad  = 2'd0 - desc.len[1:0];
        // of a CNP, only the queue pair counts
        if (job_d.becn) begin
          job_d.desc.solicited = 1'b0;
          job_d.desc.ack_req   = 1'b0;
          job_d.desc.psn       = '0;
        end
      end
      Add1: begin
        job_d.udp_len  = {3'd0, body, 2'd0} + 16'd24;
        job_d.ip_len   = {3'd0, body, 2'd0} + 16'd44;
        job_d.start    = headers[4:1];
        job_d.shifted  = headers[0];
        job_d.crc_word = before_icrc[10:1];
        job_d.crc_high = before_icrc[0];
        job_d.ext      = '0;
        if (has_reth(job_q.desc.opcode)) begin
          job_d.ext = {swap32(job_q.desc.dma_len), swap32(job_q.desc.token), swap64(job_q.desc.va)};
        end else if (has_aeth(job_q.desc.opcode)) begin
          job_d.ext[31:0] = swap32(job_q.desc.aeth);
        end else if (has_ieth(job_q.desc.opcode)) begin
          job_d.ext[31:0] = swap32(job_q.desc.ieth);
        end
      end
      Final: job_d.checksum = ~(fold_q[15:0] + 16'(fold_q[16]));
      default: ;
    endcase
  end

  always_ff @(posedge clk) begin
    state_q <= state_d;
    job_q   <= job_d;
    own_q   <= own_d;
    part_q  <= part_d;
    peer_q  <= peer_d;
    sum_q   <= sum_d;
    fold_q  <= fold_d;
    if (rst) state_q <= Idle;
  end
endmodule
