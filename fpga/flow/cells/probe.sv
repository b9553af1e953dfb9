// Everything of which the flow makes cells, in small: what the cell models are compared on.
//
// Memories of each width of block memory, as wide as they are deep in the device; memories in logic cells;
// carry chains; wide multiplexers; flip-flops with and without enable, with reset to zero and to one.
module probe #(
  localparam int unsigned Rams = 7
) (
  input  logic                  clk,
  input  logic                  rst,
  input  logic [63:0]           stimulus,
  output logic [Rams-1:0][35:0] ram,
  output logic [63:0]           sum,
  output logic [31:0]           count,
  output logic [7:0]            picked,
  output logic [7:0]            held
);
  localparam int unsigned Width[Rams] = '{1, 2, 4, 9, 18, 36, 4};
  localparam int unsigned Depth[Rams] = '{16384, 8192, 4096, 2048, 1024, 512, 16};

  for (genvar i = 0; i < Rams; i++) begin : g_ram
    localparam int unsigned Address = $clog2(Depth[i]);

    logic [Width[i]-1:0] rdata;

    // Few addresses, so that words are read after they were written, and while they are.
    nd_ram #(.T(logic [Width[i]-1:0]), .Depth(Depth[i])) u_ram (
      .clk,
      .we   (stimulus[0]),
      .waddr(Address'({stimulus[4:1], 8'h5a, stimulus[6:5]})),
      .wdata(stimulus[63-:Width[i]]),
      .raddr(Address'({stimulus[10:7], 8'h5a, stimulus[12:11]})),
      .rdata
    );

    always_ff @(posedge clk) ram[i] <= 36'(rdata);
  end

  always_ff @(posedge clk) begin
    sum    <= {stimulus[31:0] + stimulus[63:32], stimulus[31:0] - stimulus[63:32]};
    picked <= stimulus[{stimulus[60:58], 3'b000}+:8];
    if (stimulus[13]) held <= stimulus[21:14];
    if (rst) begin
      count <= 32'hffff_ff00;
      held  <= 8'ha5;
    end else if (stimulus[22]) begin
      count <= count + 32'(stimulus[23]) + 32'd1;
    end
  end
endmodule
