// Simulation models of the ECP5 cells of which the synthesised netlists consist: logic, carry, flip-flop
// and distributed memory. Block memory is in ecp5_memory.sv.
//
// Each does what the cell's parameters say, and no more than the flow makes of them: a parameter with
// another value than those here stops the elaboration, so that nothing is simulated wrongly in silence.
// `cells_bench.sv` compares them with RTL.

// A function of four inputs.
module LUT4 #(
  // the value for each {D, C, B, A}
  parameter logic [15:0] INIT = 16'h0
) (
  input  logic A, B, C, D,
  output logic Z
);
  assign Z = INIT[{D, C, B, A}];
endmodule

// Joins two LUT4 to a function of five inputs.
module PFUMX (
  input  logic ALUT, BLUT, C0,
  output logic Z
);
  assign Z = C0 ? ALUT : BLUT;
endmodule

// Joins two functions of five inputs, or of six.
module L6MUX21 (
  input  logic D0, D1, SD,
  output logic Z
);
  assign Z = SD ? D1 : D0;
endmodule

// Two bits of a carry chain.
module CCU2C #(
  // the functions of the two bits
  parameter logic [15:0] INIT0 = 16'h0,
  parameter logic [15:0] INIT1 = 16'h0,
  // "NO": the bit uses the carry
  parameter string INJECT1_0 = "NO",
  parameter string INJECT1_1 = "NO"
) (
  input  logic CIN,
  input  logic A0, B0, C0, D0,
  input  logic A1, B1, C1, D1,
  output logic S0, S1,
  output logic COUT
);
  if (INJECT1_0 != "NO" || INJECT1_1 != "NO") begin : g_check
    $error("%m: only carry chains with INJECT1 = NO are modelled");
  end

  logic carry, propagate0, propagate1, generate0, generate1;

  // With D and C high a bit hands its carry on if the whole function is true; it makes a carry if
  // its lower quarter, a function of A and B alone, is true.
  assign propagate0 = INIT0[{D0, C0, B0, A0}];
  assign generate0  = INIT0[{2'b00, B0, A0}];
  assign propagate1 = INIT1[{D1, C1, B1, A1}];
  assign generate1  = INIT1[{2'b00, B1, A1}];

  assign S0    = propagate0 ^ CIN;
  assign carry = propagate0 ? CIN : generate0;
  assign S1    = propagate1 ^ carry;
  assign COUT  = propagate1 ? carry : generate1;
endmodule

// A flip-flop. All of a device's flip-flops hold their reset value when it has been configured.
module TRELLIS_FF #(
  parameter string GSR = "AUTO",
  // "1": always enabled; "CE": by CE; "INV": by its inverse
  parameter string CEMUX = "1",
  parameter string CLKMUX = "CLK",
  // "INV": reset while LSR is low
  parameter string LSRMUX = "LSR",
  // "LSR_OVER_CE": a synchronous reset goes before CE; "CE_OVER_LSR": not without CE
  parameter string SRMODE = "LSR_OVER_CE",
  // "SET": the reset value is one
  parameter string REGSET = "RESET",
  parameter string LSRMODE = "LSR"
) (
  input  logic CLK, LSR, CE, DI, M,
  output logic Q
);
  localparam logic Value = REGSET == "SET";

  if (CLKMUX != "CLK" || LSRMODE != "LSR" || SRMODE == "ASYNC") begin : g_check
    $error("%m: only rising edges and synchronous resets to a constant are modelled");
  end

  logic reset, enable;

  assign reset  = LSRMUX == "INV" ? ~LSR : LSR;
  assign enable = CEMUX == "CE" ? CE : CEMUX == "INV" ? ~CE : CEMUX == "1";

  initial Q = Value;

  always_ff @(posedge CLK) begin
    if (reset && (SRMODE == "LSR_OVER_CE" || enable)) Q <= Value;
    else if (enable) Q <= DI;
  end

  logic unused;
  assign unused = M;
endmodule

// Sixteen words of four bits, written on a clock and read at once.
module TRELLIS_DPR16X4 #(
  parameter string WCKMUX = "WCK",
  // "INV": written while WRE is low
  parameter string WREMUX = "WRE",
  // the words, the lowest first
  parameter logic [63:0] INITVAL = 64'h0
) (
  input  logic [3:0] DI, WAD,
  input  logic       WRE, WCK,
  input  logic [3:0] RAD,
  output logic [3:0] DO
);
  if (WCKMUX != "WCK") begin : g_check
    $error("%m: only writes on the rising edge are modelled");
  end

  logic [3:0] mem[16];

  initial begin
    for (int unsigned i = 0; i < 16; i++) mem[i] = INITVAL[4*i+:4];
  end

  always_ff @(posedge WCK) begin
    if (WREMUX == "INV" ? !WRE : WRE) mem[WAD] <= DI;
  end

  assign DO = mem[RAD];
endmodule
