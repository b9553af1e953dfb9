// Constants of the host link: `docs/src/host-link.md` is what they mean.
package nd_link_pkg;
  localparam logic [7:0] Version = 8'h01;
  localparam logic [7:0] ReplyBit = 8'h80;
  localparam int unsigned HeaderBytes = 5;   // version, session, sequence number
  localparam int unsigned TrailerBytes = 8;  // count, code, status, CRC of a reply
  localparam int unsigned CrcBytes = 4;
  localparam int unsigned Overhead = 64;     // of a packet buffer, so that COBS and a refusal fit
  localparam int unsigned RecordBytes = 18;  // a commit record with its time

  typedef enum logic [7:0] {
    ReadRegisters  = 8'h01,
    WriteRegisters = 8'h02,
    ReadMemory     = 8'h03,
    WriteMemory    = 8'h04,
    FillMemory     = 8'h05,
    SendFrame      = 8'h06,
    TakeFrame      = 8'h07,
    TakeCommits    = 8'h08,
    ReadLink       = 8'h09,
    WriteLink      = 8'h0A,
    Wait           = 8'h0B
  } op_e;

  typedef enum logic [7:0] {
    Done       = 8'd0,
    Malformed  = 8'd1,
    Argument   = 8'd2,
    Range      = 8'd3,
    ReplyFull  = 8'd4,
    NoRoom     = 8'd5,
    BusError   = 8'd6,
    BusTimeout = 8'd7,
    NoSession  = 8'd16,
    Sequence   = 8'd17,
    BadVersion = 8'd18,
    Broken     = 8'd19
  } code_e;

  // An operation as its unit gets it.
  typedef struct packed {
    logic [39:0] arg;  // what follows `n`, first byte lowest
    logic [15:0] n;
    op_e         op;
  } op_t;

  // Link registers.
  localparam logic [5:0] RegMagic     = 6'd0;
  localparam logic [5:0] RegVersion   = 6'd1;
  localparam logic [5:0] RegClock     = 6'd2;
  localparam logic [5:0] RegMemBytes  = 6'd3;
  localparam logic [5:0] RegMemBaseLo = 6'd4;
  localparam logic [5:0] RegMemBaseHi = 6'd5;
  localparam logic [5:0] RegFifos     = 6'd6;
  localparam logic [5:0] RegLog       = 6'd7;
  localparam logic [5:0] RegBuild     = 6'd8;
  localparam logic [5:0] RegControl   = 6'd9;
  localparam logic [5:0] RegNowLo     = 6'd10;
  localparam logic [5:0] RegNowHi     = 6'd11;
  localparam logic [5:0] RegCounters  = 6'd16;

  localparam logic [31:0] Magic = 32'h4B4C_444E;

  // What is counted, in the order of the counters' registers.
  localparam int unsigned Events = 13;
  typedef struct packed {
    logic commit_lost;
    logic commit;
    logic mac_dropped;
    logic injected;
    logic capture_dropped;
    logic captured;
    logic busy;
    logic line;
    logic malformed;
    logic broken;
    logic refused;
    logic repeated;
    logic good;
  } events_t;

  // ---- CRC-32, a byte a clock: the register moves on by a byte, and what falls out of it with the
  //      data is multiplied by a constant matrix, of which row o makes output bit o.
  localparam logic [31:0] CrcPoly = 32'hEDB8_8320;    // reflected
  localparam logic [31:0] CrcResidue = 32'hDEBB_20E3;  // after data and their CRC

  typedef logic [31:0] crc_t;
  typedef logic [31:0][7:0] crc_matrix_t;

  function automatic crc_matrix_t crc_matrix();
    crc_matrix_t m;
    crc_t r;
    for (int unsigned i = 0; i < 8; i++) begin
      r = crc_t'(1) << i;
      for (int unsigned k = 0; k < 8; k++) r = r[0] ? (r >> 1) ^ CrcPoly : r >> 1;
      for (int unsigned o = 0; o < 32; o++) m[o][i] = r[o];
    end
    return m;
  endfunction

  localparam crc_matrix_t CrcMatrix = crc_matrix();

  function automatic crc_t crc_byte(crc_t state, logic [7:0] data);
    crc_t r;
    logic [7:0] out;
    out = state[7:0] ^ data;
    for (int unsigned o = 0; o < 32; o++) r[o] = ^(CrcMatrix[o] & out);
    return r ^ (state >> 8);
  endfunction
endpackage
