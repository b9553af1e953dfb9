// Between the MAC, the core's network port, and the link's own frames.
//
// With `link_only` the core's network is the link: what comes from the MAC is dropped, and what the core
// sends goes to the capture alone, which may hold the core up. Without, the core is on the MAC; frames of
// the link go in between those of the MAC, and with `copy` the capture sees what the core sends.
// `link_only` counts from the next frame on, in each direction. While `clear` is high the core is in
// reset: it gets and gives nothing, and what is left of a frame from the MAC is dropped after it.
module nd_link_net #(
  // bits of a beat
  parameter int unsigned DataWidth = 64,
  localparam int unsigned Lanes = DataWidth / 8,
  localparam int unsigned BeatWidth = DataWidth + Lanes + 2
) (
  input  logic                 clk,
  input  logic                 rst,
  input  logic                 clear,
  input  logic                 link_only,
  input  logic                 copy,
  output logic                 lossless,     // the capture holds the core up
  output logic                 injected,     // one clock for each frame
  output logic                 mac_dropped,

  // beats are {tuser, tlast, tkeep, tdata}
  input  logic                 mac_rx_valid,
  output logic                 mac_rx_ready,
  input  logic [BeatWidth-1:0] mac_rx,
  output logic                 mac_tx_valid,
  input  logic                 mac_tx_ready,
  output logic [BeatWidth-1:0] mac_tx,

  input  logic                 inject_valid,
  output logic                 inject_ready,
  input  logic [BeatWidth-1:0] inject,
  output logic                 capture_valid,
  input  logic                 capture_ready,

  output logic                 core_rx_valid,
  input  logic                 core_rx_ready,
  output logic [BeatWidth-1:0] core_rx,
  input  logic                 core_tx_valid,
  output logic                 core_tx_ready,
  input  logic [BeatWidth-1:0] core_tx
);
  localparam int unsigned Last = BeatWidth - 2;

  // ---- to the core: whose frame is under way
  typedef enum logic [1:0] {
    Between,
    FromLink,
    FromMac,
    Drop
  } source_e;

  source_e source_q, source_d, source;

  always_comb begin
    source = source_q;
    if (source_q == Between) begin
      if (clear || link_only) begin
        if (mac_rx_valid) source = Drop;
      end else if (!inject_valid && mac_rx_valid) begin
        source = FromMac;
      end
      if (!clear && inject_valid) source = FromLink;
    end
    core_rx_valid = 1'b0;
    core_rx       = source == FromMac ? mac_rx : inject;
    mac_rx_ready  = 1'b0;
    inject_ready  = 1'b0;
    mac_dropped   = 1'b0;
    injected      = 1'b0;
    source_d      = source;
    case (source)
      FromLink: begin
        core_rx_valid = inject_valid;
        inject_ready  = core_rx_ready;
        if (inject_valid && core_rx_ready && inject[Last]) begin
          source_d = Between;
          injected = 1'b1;
        end
        if (clear) source_d = Between;
      end
      FromMac: begin
        core_rx_valid = mac_rx_valid;
        mac_rx_ready  = core_rx_ready;
        if (mac_rx_valid && core_rx_ready && mac_rx[Last]) source_d = Between;
        else if (clear) source_d = Drop;
      end
      Drop: begin
        mac_rx_ready = 1'b1;
        if (mac_rx_valid && mac_rx[Last]) begin
          source_d    = Between;
          mac_dropped = 1'b1;
        end
      end
      default: ;
    endcase
  end

  // ---- from the core
  logic inside_q, inside_d, link_q, link_d, link, cut_q, cut_d;

  assign link     = inside_q ? link_q : link_only;
  assign lossless = link;

  always_comb begin
    mac_tx        = core_tx;
    mac_tx_valid  = core_tx_valid && !link && !clear;
    core_tx_ready = link ? capture_ready : mac_tx_ready;
    capture_valid = core_tx_valid && core_tx_ready && (link || copy) && !clear;
    inside_d      = inside_q;
    link_d        = link;
    cut_d         = cut_q;
    if (core_tx_valid && core_tx_ready) inside_d = !core_tx[Last];
    // What the core had begun to send ends as a bad frame.
    if (clear && inside_q && !link) cut_d = 1'b1;
    if (clear) inside_d = 1'b0;
    if (cut_q) begin
      mac_tx       = {2'b11, {Lanes{1'b1}}, {DataWidth{1'b0}}};
      mac_tx_valid = 1'b1;
      if (mac_tx_ready) cut_d = 1'b0;
      core_tx_ready = 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    source_q <= source_d;
    inside_q <= inside_d;
    link_q   <= link_d;
    cut_q    <= cut_d;
    if (rst) begin
      source_q <= Between;
      inside_q <= 1'b0;
      cut_q    <= 1'b0;
    end
  end
endmodule
