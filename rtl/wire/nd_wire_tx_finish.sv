// Puts the ICRC and the Ethernet header to the slots of a frame: beats of frames.
//
// Three clocks for the ICRC, one for the shift; every slot gives one beat. Those of a whole frame are
// not shifted. A spoilt ICRC is the right one
// with all its bits inverted.
module nd_wire_tx_finish
  import nd_wire_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic [31:0] own_mac_end,  // its last four octets

  input  logic        slot_valid,
  input  tx_slot_t    slot,
  input  logic [63:0] crc_data,

  output logic        beat_valid,
  output logic [63:0] beat_data,
  output logic        beat_last,
  output logic [2:0]  beat_bytes  // with `last`; 0: all eight
);
  logic [3:1]     valid_q;
  tx_slot_t [3:1] slot_q;
  tx_slot_t       slot3_d;
  crc_t           product_q;  // of the slot in stage 1
  crc_t           state_q, state_d, half_q, half_d;

  always_comb begin
    if (slot_q[1].first) begin
      state_d = crc_zeros(CrcStart, 8) ^ product_q;
    end else begin
      state_d = crc_advance(CrcState8, state_q) ^ product_q;
    end
    half_d = crc_advance(CrcState4, state_q) ^ product_q;

    slot3_d = slot_q[2];
    if (slot_q[2].crc_low) slot3_d.data[31:0] = slot_q[2].spoil ? state_q : ~state_q;
    if (slot_q[2].crc_high) slot3_d.data[63:32] = slot_q[2].spoil ? half_q : ~half_q;
  end

  always_ff @(posedge clk) begin
    product_q <= crc_product(crc_data);
    if (valid_q[1] && slot_q[1].covered) begin
      half_q <= half_d;
      if (!slot_q[1].crc_high) state_q <= state_d;
    end
    valid_q <= {valid_q[2:1], slot_valid};
    slot_q  <= {slot3_d, slot_q[1], slot};
    if (rst) valid_q <= '0;
  end

  // ---- shift by the Ethernet header ------------------------------------------------------------
  logic [47:0] held_q, held_d;  // bytes for the next beat
  logic        valid4_q, last4_q;
  logic [63:0] data4_q, data4_d;
  logic [2:0]  bytes4_q;

  always_comb begin
    data4_d = {slot_q[3].data[15:0], held_q};
    held_d  = slot_q[3].data[63:16];
    if (slot_q[3].ethernet) begin
      data4_d = slot_q[3].data;
      held_d  = {slot_q[3].ipv6 ? 16'hDD86 : 16'h0008, own_mac_end};
    end
  end

  always_ff @(posedge clk) begin
    valid4_q <= valid_q[3];
    if (valid_q[3]) begin
      held_q   <= held_d;
      data4_q  <= data4_d;
      last4_q  <= slot_q[3].last;
      bytes4_q <= slot_q[3].bytes;
    end
    if (rst) valid4_q <= 1'b0;
  end

  assign beat_valid = valid4_q;
  assign beat_data  = data4_q;
  assign beat_last  = last4_q;
  assign beat_bytes = bytes4_q;
endmodule
