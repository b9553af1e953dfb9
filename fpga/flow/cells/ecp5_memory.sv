// Simulation model of the ECP5's block memory, in the modes that the flow uses: 1,024 rows of 18 bits behind
// two ports of 1, 2, 4, 9 or 18 bits; or written through port A, 36 bits wide, two rows at once, and
// read through port B. Output registers are off.
//
// When one port reads a row in the clock in which the other writes it, the device promises nothing: the
// model then reads the complement of the old bits, so that a design that relies on either word fails.
module DP16KD #(
  // bits of a word: 1, 2, 4, 9, 18 or 36
  parameter int DATA_WIDTH_A = 18,
  parameter int DATA_WIDTH_B = 18,
  parameter string REGMODE_A = "NOREG",
  parameter string REGMODE_B = "NOREG",
  parameter string RESETMODE = "SYNC",
  parameter string ASYNC_RESET_RELEASE = "SYNC",
  parameter string CSDECODE_A = "0b000",
  parameter string CSDECODE_B = "0b000",
  parameter string GSR = "AUTO",
  // what a port reads while it writes: "NORMAL" nothing new, "WRITETHROUGH" the new word,
  // "READBEFOREWRITE" the old one
  parameter string WRITEMODE_A = "NORMAL",
  parameter string WRITEMODE_B = "NORMAL",
  parameter string CLKAMUX = "CLKA",
  parameter string CLKBMUX = "CLKB",
  // sixteen rows each, 20 bits apart
  parameter logic [319:0] INITVAL_00 = 320'h0, INITVAL_01 = 320'h0, INITVAL_02 = 320'h0,
                          INITVAL_03 = 320'h0, INITVAL_04 = 320'h0, INITVAL_05 = 320'h0,
                          INITVAL_06 = 320'h0, INITVAL_07 = 320'h0, INITVAL_08 = 320'h0,
                          INITVAL_09 = 320'h0, INITVAL_0A = 320'h0, INITVAL_0B = 320'h0,
                          INITVAL_0C = 320'h0, INITVAL_0D = 320'h0, INITVAL_0E = 320'h0,
                          INITVAL_0F = 320'h0, INITVAL_10 = 320'h0, INITVAL_11 = 320'h0,
                          INITVAL_12 = 320'h0, INITVAL_13 = 320'h0, INITVAL_14 = 320'h0,
                          INITVAL_15 = 320'h0, INITVAL_16 = 320'h0, INITVAL_17 = 320'h0,
                          INITVAL_18 = 320'h0, INITVAL_19 = 320'h0, INITVAL_1A = 320'h0,
                          INITVAL_1B = 320'h0, INITVAL_1C = 320'h0, INITVAL_1D = 320'h0,
                          INITVAL_1E = 320'h0, INITVAL_1F = 320'h0, INITVAL_20 = 320'h0,
                          INITVAL_21 = 320'h0, INITVAL_22 = 320'h0, INITVAL_23 = 320'h0,
                          INITVAL_24 = 320'h0, INITVAL_25 = 320'h0, INITVAL_26 = 320'h0,
                          INITVAL_27 = 320'h0, INITVAL_28 = 320'h0, INITVAL_29 = 320'h0,
                          INITVAL_2A = 320'h0, INITVAL_2B = 320'h0, INITVAL_2C = 320'h0,
                          INITVAL_2D = 320'h0, INITVAL_2E = 320'h0, INITVAL_2F = 320'h0,
                          INITVAL_30 = 320'h0, INITVAL_31 = 320'h0, INITVAL_32 = 320'h0,
                          INITVAL_33 = 320'h0, INITVAL_34 = 320'h0, INITVAL_35 = 320'h0,
                          INITVAL_36 = 320'h0, INITVAL_37 = 320'h0, INITVAL_38 = 320'h0,
                          INITVAL_39 = 320'h0, INITVAL_3A = 320'h0, INITVAL_3B = 320'h0,
                          INITVAL_3C = 320'h0, INITVAL_3D = 320'h0, INITVAL_3E = 320'h0,
                          INITVAL_3F = 320'h0
) (
  input  logic DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
               DIA3, DIA2, DIA1, DIA0,
  input  logic ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input  logic CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
  output logic DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
               DOA3, DOA2, DOA1, DOA0,
  input  logic DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
               DIB3, DIB2, DIB1, DIB0,
  input  logic ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input  logic CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
  output logic DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
               DOB3, DOB2, DOB1, DOB0
);
  localparam bit Wide = DATA_WIDTH_A == 36;

  if (!(DATA_WIDTH_A inside {1, 2, 4, 9, 18, 36}) || !(DATA_WIDTH_B inside {1, 2, 4, 9, 18, 36})
      || (DATA_WIDTH_B == 36 && !Wide)) begin : g_widths
    $error("%m: widths %0d and %0d are not modelled", DATA_WIDTH_A, DATA_WIDTH_B);
  end
  if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG" || CLKAMUX != "CLKA" || CLKBMUX != "CLKB"
      || CSDECODE_A != "0b000" || CSDECODE_B != "0b000") begin : g_modes
    $error("%m: output registers, falling edges and decoders are not modelled");
  end
  if (RESETMODE == "ASYNC") begin : g_no_reset
    // What the flow says of a memory without reset.
    always_ff @(posedge CLKA) if (RSTA || RSTB) $fatal(1, "%m: asynchronous resets are not modelled");
  end

  localparam logic [64*320-1:0] Init = {
    INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38,
    INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30,
    INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
    INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20,
    INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
    INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
    INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
    INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00
  };

  logic [17:0] mem[1024];

  initial begin
    for (int unsigned i = 0; i < 1024; i++) mem[i] = Init[(i/16)*320+(i%16)*20+:18];
  end

  logic [17:0] dia, dib, doa, dob;
  logic [13:0] ada, adb;

  assign dia = {
    DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
    DIA1, DIA0
  };
  assign dib = {
    DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2,
    DIB1, DIB0
  };
  assign ada = {
    ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0
  };
  assign adb = {
    ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0
  };
  assign {
    DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0
  } = doa;
  assign {
    DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
    DOB1, DOB0
  } = dob;

  // The lowest bit of a row that an address means, for words of less than 18 bits.
  function automatic int unsigned place(int width, logic [3:0] low);
    case (width)
      9:       return low[3] ? 9 : 0;
      4:       return (low[3] ? 9 : 0) + 4 * 32'(low[2]);
      2:       return (low[3] ? 9 : 0) + 2 * 32'(low[2:1]);
      1:       return (low[3] ? 9 : 0) + 32'(low[2:0]);
      default: return 0;
    endcase
  endfunction

  // The bits of a row that an address means; of a word of 18 bits, those that its byte enables let in.
  function automatic logic [17:0] bits(int width, logic [3:0] low);
    case (width)
      18:      return {{9{low[1]}}, {9{low[0]}}};
      9:       return 18'h1ff << place(9, low);
      4:       return 18'h00f << place(4, low);
      2:       return 18'h003 << place(2, low);
      default: return 18'h001 << place(1, low);
    endcase
  endfunction

  // A row after a write.
  function automatic logic [17:0] written(int width, logic [3:0] low, logic [17:0] row,
                                          logic [17:0] data);
    logic [17:0] mask;
    mask = bits(width, low);
    return (row & ~mask) | ((data << place(width, low)) & mask);
  endfunction

  // The word of a row.
  function automatic logic [17:0] word(int width, logic [3:0] low, logic [17:0] row);
    return width == 18 ? row : (row & bits(width, low)) >> place(width, low);
  endfunction

  logic        ena, enb;
  logic        write_a, write_b;
  logic [17:0] row_a, row_b, clash_a, clash_b;

  assign ena     = CEA && {CSA2, CSA1, CSA0} == 3'b000;
  assign enb     = CEB && {CSB2, CSB1, CSB0} == 3'b000;
  assign write_a = ena && WEA;
  assign write_b = enb && WEB && !Wide;

  if (Wide) begin : g_wide
    // The two rows that port A writes.
    logic       same;
    logic [8:0] pair;

    assign pair = ada[13:5];
    assign same = write_a && pair == adb[13:5];

    always_ff @(posedge CLKA) begin
      if (write_a) begin
        mem[{pair, 1'b0}] <= written(18, {2'b00, ada[1:0]}, mem[{pair, 1'b0}], dia);
        mem[{pair, 1'b1}] <= written(18, {2'b00, ada[3:2]}, mem[{pair, 1'b1}], dib);
      end
    end

    assign clash_a = same ? bits(18, {2'b00, ada[1:0]}) : 18'h0;
    assign clash_b = same ? bits(18, {2'b00, ada[3:2]}) : 18'h0;

    if (DATA_WIDTH_B == 36) begin : g_wide_read
      assign row_a = mem[{adb[13:5], 1'b0}] ^ clash_a;
      assign row_b = mem[{adb[13:5], 1'b1}] ^ clash_b;

      always_ff @(posedge CLKB) begin
        if (RSTB) {dob, doa} <= '0;
        else if (enb) {dob, doa} <= {row_b, row_a};
      end
    end else begin : g_read
      assign row_a = '0;
      assign row_b = mem[adb[13:4]] ^ (adb[4] ? clash_b : clash_a);
      assign doa   = '0;

      always_ff @(posedge CLKB) begin
        if (RSTB) dob <= '0;
        else if (enb) dob <= word(DATA_WIDTH_B, adb[3:0], row_b);
      end
    end

    logic unused;
    assign unused = &{1'b0, WEB, RSTA, adb[3:0], ada[4]};
  end else begin : g_ports
    logic        same;
    logic [17:0] new_a, new_b;

    assign same    = ada[13:4] == adb[13:4];
    assign clash_a = same && write_b ? bits(DATA_WIDTH_B, adb[3:0]) : 18'h0;
    assign clash_b = same && write_a ? bits(DATA_WIDTH_A, ada[3:0]) : 18'h0;
    assign row_a   = mem[ada[13:4]];
    assign row_b   = mem[adb[13:4]];
    assign new_a   = written(DATA_WIDTH_A, ada[3:0], row_a, dia);
    assign new_b   = written(DATA_WIDTH_B, adb[3:0], row_b, dib);

    always_ff @(posedge CLKA) begin
      if (write_a) mem[ada[13:4]] <= new_a;
      if (RSTA) doa <= '0;
      else if (ena && !WEA) doa <= word(DATA_WIDTH_A, ada[3:0], row_a ^ clash_a);
      else if (ena && WRITEMODE_A == "READBEFOREWRITE") doa <= word(DATA_WIDTH_A, ada[3:0], row_a);
      else if (ena && WRITEMODE_A == "WRITETHROUGH") doa <= word(DATA_WIDTH_A, ada[3:0], new_a);
    end

    always_ff @(posedge CLKB) begin
      if (write_b) mem[adb[13:4]] <= new_b;
      if (RSTB) dob <= '0;
      else if (enb && !WEB) dob <= word(DATA_WIDTH_B, adb[3:0], row_b ^ clash_b);
      else if (enb && WRITEMODE_B == "READBEFOREWRITE") dob <= word(DATA_WIDTH_B, adb[3:0], row_b);
      else if (enb && WRITEMODE_B == "WRITETHROUGH") dob <= word(DATA_WIDTH_B, adb[3:0], new_b);
    end
  end

  logic unused_register;
  assign unused_register = &{1'b0, OCEA, OCEB};
endmodule
