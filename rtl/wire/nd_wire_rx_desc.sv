// Record of a received frame from its raw header fields and its verdict.
//
// Extension-header fields that the opcode does not have, and the numbers of a dropped frame, are zero.
module nd_wire_rx_desc
  import nd_abi_pkg::*, nd_pkg::*, nd_wire_pkg::*;
(
  input  rx_fields_t  fields,
  input  rx_verdict_t verdict,
  output rx_desc_t    desc
);
  logic good;

  always_comb begin
    good = verdict.drop == DropNone;
    desc = '0;
    desc.whole     = verdict.whole;
    desc.drop      = verdict.drop;
    desc.dst_mac   = fields.dst_mac;
    desc.ipv6      = fields.ipv6;
    desc.src_ip    = fields.src_ip;
    desc.dst_ip    = fields.dst_ip;
    desc.opcode    = fields.opcode;
    desc.solicited = fields.solicited;
    desc.ack_req   = fields.ack_req;
    desc.pad       = fields.pad;
    desc.pkey      = fields.pkey;
    desc.ecn       = fields.ecn;
    desc.dest_qpn  = good ? fields.dest_qpn : '0;
    desc.psn       = good ? fields.psn : '0;
    if (has_reth(fields.opcode)) begin
      desc.va      = swap64(fields.ext[63:0]);
      desc.token   = swap32(fields.ext[95:64]);
      desc.dma_len = swap32(fields.ext[127:96]);
    end
    if (has_aeth(fields.opcode)) desc.aeth = swap32(fields.ext[31:0]);
    if (has_ieth(fields.opcode)) desc.ieth = swap32(fields.ext[31:0]);
    else if (fields.opcode == 8'h0B) desc.ieth = swap32(fields.ext[159:128]);
    desc.len       = verdict.len;
    desc.oversize  = verdict.oversize;
    desc.frame_len = verdict.frame_len;
  end
endmodule
