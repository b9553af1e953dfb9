// Types and constants inside room `wire`: the CRC as GF(2) matrices, opcodes, records of its stages.
package nd_wire_pkg;
  import nd_abi_pkg::*;
  import nd_pkg::*;

  localparam int unsigned MaxPayload = 4096;
  localparam int unsigned MaxFrame = 2048;  // that is handed on whole

  // ---- ICRC ----------------------------------------------------------------------------------
  // The register is linear in its old value and in the data, so n bytes are one multiplication of each
  // with a constant matrix. Row o of a matrix holds the input bits that make output bit o.

  localparam logic [31:0] CrcPoly = 32'hEDB88320;  // reflected
  localparam logic [31:0] CrcStart = 32'hDEBB20E3;  // after the eight masked bytes of the LRH
  localparam logic [31:0] CrcResidue = 32'hDEBB20E3;  // after data and its CRC

  typedef logic [31:0] crc_t;
  typedef logic [31:0][31:0] crc_matrix_t;
  typedef logic [31:0][63:0] crc_data_matrix_t;

  // Register after n zero bytes.
  function automatic crc_t crc_zeros(crc_t start, int unsigned n);
    crc_t r;
    r = start;
    for (int unsigned i = 0; i < 8 * n; i++) r = r[0] ? (r >> 1) ^ CrcPoly : r >> 1;
    return r;
  endfunction

  // What n bytes do to the register's old value.
  function automatic crc_matrix_t crc_state_matrix(int unsigned n);
    crc_matrix_t m;
    crc_t column;
    m = '0;
    for (int unsigned i = 0; i < 32; i++) begin
      column = crc_zeros(crc_t'(1) << i, n);
      for (int unsigned o = 0; o < 32; o++) m[o][i] = column[o];
    end
    return m;
  endfunction

  // What eight bytes of data, first one in the lowest lane, add to the register.
  function automatic crc_data_matrix_t crc_data_matrix();
    crc_data_matrix_t m;
    crc_t column;
    m = '0;
    for (int unsigned i = 0; i < 64; i++) begin
      column = crc_zeros(crc_t'(1) << (i % 8), 8 - i / 8);
      for (int unsigned o = 0; o < 32; o++) m[o][i] = column[o];
    end
    return m;
  endfunction

  localparam crc_matrix_t CrcState4 = crc_state_matrix(4);
  localparam crc_matrix_t CrcState8 = crc_state_matrix(8);
  localparam crc_data_matrix_t CrcData8 = crc_data_matrix();

  function automatic crc_t crc_advance(crc_matrix_t m, crc_t state);
    crc_t r;
    for (int unsigned o = 0; o < 32; o++) r[o] = ^(m[o] & state);
    return r;
  endfunction

  function automatic crc_t crc_product(logic [63:0] data);
    crc_t r;
    for (int unsigned o = 0; o < 32; o++) r[o] = ^(CrcData8[o] & data);
    return r;
  endfunction

  // ---- opcodes -------------------------------------------------------------------------------

  // Congestion notification: 16 reserved bytes behind its BTH.
  localparam logic [7:0] OpcodeCnp = 8'h81;

  function automatic logic opcode_known(logic [7:0] opcode);
    return opcode <= 8'h14 || opcode inside {8'h16, 8'h17, 8'h64, 8'h65, OpcodeCnp};
  endfunction

  // Extension headers in units of four bytes.
  function automatic logic [2:0] ext_words(logic [7:0] opcode);
    case (opcode)
      8'h03, 8'h05, 8'h09, 8'h0D, 8'h0F, 8'h10, 8'h11, 8'h16, 8'h17: return 3'd1;
      8'h64: return 3'd2;
      8'h12, 8'h65: return 3'd3;
      8'h06, 8'h0A, 8'h0C, OpcodeCnp: return 3'd4;
      8'h0B: return 3'd5;
      8'h13, 8'h14: return 3'd7;
      default: return 3'd0;
    endcase
  endfunction

  function automatic logic has_reth(logic [7:0] opcode);
    return opcode inside {8'h06, 8'h0A, 8'h0B, 8'h0C};
  endfunction

  function automatic logic has_aeth(logic [7:0] opcode);
    return opcode inside {8'h0D, 8'h0F, 8'h10, 8'h11, 8'h12};
  endfunction

  // IETH or ImmDt directly behind the BTH.
  function automatic logic has_ieth(logic [7:0] opcode);
    return opcode inside {8'h03, 8'h05, 8'h09, 8'h16, 8'h17};
  endfunction

  // Extension headers of the opcodes that are sent, in units of four bytes.
  function automatic logic [2:0] tx_ext_words(logic [7:0] opcode);
    if (opcode inside {8'h06, 8'h0A, 8'h0C, OpcodeCnp}) return 3'd4;
    return opcode inside {8'h0D, 8'h0F, 8'h10, 8'h11} || has_ieth(opcode) ? 3'd1 : 3'd0;
  endfunction

  // Lanes 0..n-1 of eight.
  function automatic logic [63:0] lanes_below(logic [3:0] n);
    logic [63:0] mask;
    for (int unsigned i = 0; i < 8; i++) mask[8*i +: 8] = {8{4'(i) < n}};
    return mask;
  endfunction

  function automatic logic [15:0] swap16(logic [15:0] x);
    return {<<8{x}};
  endfunction

  function automatic logic [23:0] swap24(logic [23:0] x);
    return {<<8{x}};
  endfunction

  function automatic logic [31:0] swap32(logic [31:0] x);
    return {<<8{x}};
  endfunction

  function automatic logic [63:0] swap64(logic [63:0] x);
    return {<<8{x}};
  endfunction

  // ---- receive -------------------------------------------------------------------------------

  typedef enum logic [1:0] {
    KindShort,  // ends before its EtherType
    KindOther,
    KindIpv4,
    KindIpv6
  } frame_kind_e;

  // Eight bytes of a frame from the first byte of the IP header on; first one in the lowest lane.
  typedef struct packed {
    logic        first;
    logic        last;
    logic        bad;    // on the last: the MAC found the frame bad
    logic [3:0]  bytes;  // 8, on the last 0..8
    logic [63:0] data;
  } ip_word_t;

  // What the headers of a frame say; only right if the verdict is.
  typedef struct packed {
    logic [47:0]  dst_mac;
    logic         ipv6;
    logic [127:0] src_ip;
    logic [127:0] dst_ip;
    logic [7:0]   opcode;
    logic         solicited;
    logic         ack_req;
    logic [1:0]   pad;
    logic [15:0]  pkey;
    logic [1:0]   ecn;
    logic [23:0]  dest_qpn;
    psn_t         psn;
    logic [159:0] ext;  // first 20 bytes behind the BTH, first one in the lowest lane
  } rx_fields_t;

  typedef struct packed {
    logic        whole;  // fit for queue pair 1; `len` and `oversize` speak of the whole frame
    drop_cause_e drop;
    len_t        len;
    logic        oversize;
    logic [15:0] frame_len;
  } rx_verdict_t;

  // Checks that the headers alone decide; set = failed.
  typedef struct packed {
    logic not_ip;
    logic short_header;
    logic ip_version;
    logic fragment;
    logic not_udp;
    logic short_frame;
    logic port;
    logic udp_length;
    logic opcode;
    logic tver;
  } rx_flags_t;

  // ---- transmit ------------------------------------------------------------------------------

  // A frame ready to be built: descriptor, address, and what is computed from them.
  typedef struct packed {
    tx_desc_t     desc;
    qp_addr_t     addr;
    logic [127:0] ext;       // extension headers, first byte in the lowest lane
    logic [15:0]  udp_len;   // UDP length
    logic [15:0]  ip_len;    // IPv4 total length
    logic [15:0]  checksum;  // IPv4 header checksum
    logic         becn;      // a CNP
    logic         whole;     // a whole frame: no headers, no ICRC
    logic [1:0]   pad;
    logic [3:0]   start;     // IP word with the first payload byte
    logic         shifted;   // ... which is in its upper half
    logic [9:0]   crc_word;  // IP word with the ICRC, the last one of the frame
    logic         crc_high;  // ... which is in its upper half
  } tx_job_t;

  // A frame of n words from the IP header on is built in n + 2 slots, one for each beat that leaves:
  // the first one with the Ethernet addresses, then the words, then one for the bytes of the last word
  // that the shift by 14 bytes leaves over. A whole frame has one slot for each of its beats.
  typedef struct packed {
    logic        ethernet;  // leaves as it is: the addresses, or a beat of a whole frame
    logic        ipv6;      // with `ethernet`
    logic        first;     // first IP word
    logic        covered;   // has bytes under the ICRC
    logic        crc_low;   // the ICRC goes to the lower half
    logic        crc_high;  // ... to the upper half
    logic        spoil;     // with either: the ICRC is to be wrong
    logic        last;
    logic [2:0]  bytes;     // with `last`; 0: all eight
    logic [63:0] data;
  } tx_slot_t;
endpackage
