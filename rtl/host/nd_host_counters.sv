// Counters: frames by drop cause, bytes, and the actions that tell of loss and congestion.
//
// `rx_event` and `tx_event` each count for one clock, `commit` when `commit_valid`; there may be one of
// each in every clock. Frames by cause and actions lie in memories: `drop_read` asks for cause
// `drop_index`, `action_read` for `action_index`, and holds until `drop_done` or `action_done`, the
// clock in which the count is valid. All counters start at zero after reset.
module nd_host_counters
  import nd_abi_pkg::*, nd_host_pkg::*;
(
  input  logic        clk,
  input  logic        rst,

  input  logic        commit_valid,
  input  commit_t     commit,
  input  logic        rx_event,
  input  logic [4:0]  rx_cause,
  input  logic [15:0] rx_octets,
  input  logic        tx_event,
  input  logic [15:0] tx_octets,

  output logic        rx_counted,  // rx_event and tx_event, one clock later
  output logic        tx_counted,
  output logic [63:0] rx_total,
  output logic [63:0] tx_total,

  input  logic        drop_read,
  input  logic [4:0]  drop_index,
  output logic        drop_done,
  output logic [31:0] drop_count,

  input  logic        action_read,
  input  counted_e    action_index,
  output logic        action_done,
  output logic [31:0] action_count
);
  // Events, registered at the boundary.
  logic        rx_q, tx_q;
  logic [4:0]  cause_q;
  logic [15:0] rx_octets_q, tx_octets_q;
  logic        acted_q;
  commit_t     commit_q;
  // The action, and whether it is one that counts.
  logic        counts_q, counts_d;
  counted_e    counted_q, counted_d;

  logic [63:0] rx_total_q, tx_total_q;
  logic        unused;

  assign rx_counted = rx_q;
  assign tx_counted = tx_q;
  assign rx_total   = rx_total_q;
  assign tx_total   = tx_total_q;
  assign unused     = ^{commit_q.qpn, commit_q.index, commit_q.psn, commit_q.token};

  nd_host_tally #(.Depth(32)) u_drops (
    .clk, .rst, .count(rx_q), .count_index(cause_q),
    .read(drop_read), .read_index(drop_index), .read_done(drop_done), .read_count(drop_count)
  );

  nd_host_tally #(.Depth(8)) u_actions (
    .clk, .rst, .count(counts_q), .count_index(counted_q),
    .read(action_read), .read_index(action_index), .read_done(action_done),
    .read_count(action_count)
  );

  always_comb begin
    counts_d  = 1'b0;
    counted_d = CountGoBacks;
    case (commit_q.kind)
      CommitTimeout: begin
        counts_d  = 1'b1;
        counted_d = CountTimeouts;
      end
      CommitRxResponse: begin
        case (commit_q.cause)
          RxGoBack:  counted_d = CountGoBacks;
          RxRnrWait: counted_d = CountRnrWaits;
          default:   counted_d = CountCnpIn;
        endcase
        counts_d = commit_q.cause inside {RxGoBack, RxRnrWait, RxCnp};
      end
      CommitRxRequest: begin
        counted_d = commit_q.cause == RxDuplicate ? CountDuplicates : CountNaksOut;
        counts_d  = commit_q.cause inside {
          RxDuplicate, RxNakSequence, RxNakInvalid, RxNakAccess, RxNakOperation, RxRnr
        };
      end
      CommitRespond: begin
        counts_d  = commit_q.cause == RespondCnp;
        counted_d = CountCnpOut;
      end
      default: ;
    endcase
    counts_d &= acted_q;
  end

  always_ff @(posedge clk) begin
    rx_q        <= rx_event;
    tx_q        <= tx_event;
    cause_q     <= rx_cause;
    rx_octets_q <= rx_octets;
    tx_octets_q <= tx_octets;
    acted_q     <= commit_valid;
    commit_q    <= commit;
    counts_q    <= counts_d;
    counted_q   <= counted_d;
    if (rx_q) rx_total_q <= rx_total_q + 64'(rx_octets_q);
    if (tx_q) tx_total_q <= tx_total_q + 64'(tx_octets_q);
    if (rst) begin
      rx_q       <= 1'b0;
      tx_q       <= 1'b0;
      acted_q    <= 1'b0;
      counts_q   <= 1'b0;
      rx_total_q <= '0;
      tx_total_q <= '0;
    end
  end
endmodule
