// ICRC of received datagrams, eight bytes a clock.
//
// The last word of a datagram is filled up with zeros by the sender of the words; as zero bytes only
// multiply the register with a constant matrix, a good datagram ends with one of eight constants.
// `good` is valid three clocks after the last word and speaks of `zeros`, given one clock after it.
module nd_wire_icrc_check
  import nd_wire_pkg::*;
(
  input  logic        clk,

  input  logic        valid,
  input  logic        first,
  input  logic [63:0] data,
  input  logic [2:0]  zeros,
  output logic        good
);
  crc_t product_q, state_q, state_d, expected_q, expected_d;
  logic valid_q, first_q, good_q;

  always_comb begin
    state_d = product_q ^ (first_q ? crc_zeros(CrcStart, 8) : crc_advance(CrcState8, state_q));
    case (zeros)
      3'd1:    expected_d = crc_zeros(CrcResidue, 1);
      3'd2:    expected_d = crc_zeros(CrcResidue, 2);
      3'd3:    expected_d = crc_zeros(CrcResidue, 3);
      3'd4:    expected_d = crc_zeros(CrcResidue, 4);
      3'd5:    expected_d = crc_zeros(CrcResidue, 5);
      3'd6:    expected_d = crc_zeros(CrcResidue, 6);
      3'd7:    expected_d = crc_zeros(CrcResidue, 7);
      default: expected_d = CrcResidue;
    endcase
  end

  always_ff @(posedge clk) begin
    valid_q    <= valid;
    first_q    <= first;
    product_q  <= crc_product(data);
    if (valid_q) state_q <= state_d;
    expected_q <= expected_d;
    good_q     <= state_q == expected_q;
  end

  assign good = good_q;
endmodule
