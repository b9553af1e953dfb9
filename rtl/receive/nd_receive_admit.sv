// Checks that come before the sequence of packets: steps 1 and 2 of "Receive: order of checks".
//
// Combinational. `state` is QpReset for a queue pair outside the table. `taken_whole`: queue pair 1 takes
// the frame as it is, so that nothing of it is checked.
module nd_receive_admit
  import nd_pkg::*;
  import nd_abi_pkg::*;
  import nd_receive_pkg::*;
(
  input  port_t       own,
  input  rx_desc_t    frame,
  input  qp_state_e   state,
  input  logic        failed,  // a request failed before: no response is taken
  input  qp_recv_t    cfg,
  output logic        taken_whole,
  output drop_cause_e cause
);
  // An IPv4 address as ::ffff:a.b.c.d, first octet in the lowest byte.
  localparam logic [95:0] Mapped = {16'hFFFF, 80'd0};

  op_t  op;
  logic own_address, taken, unused;

  assign unused = &{1'b0, frame, cfg, op};

  always_comb begin
    op = decode(frame.opcode);
    own_address = frame.dst_mac == own.mac &&
                  frame.dst_ip == (frame.ipv6 ? own.ipv6 : {own.ipv4, Mapped});
    if (op.response) taken = state == QpRts && (!failed || op.cnp);
    else taken = state inside {QpRtr, QpRts};

    taken_whole = frame.whole && state inside {QpRtr, QpRts};

    cause = DropNone;
    if (taken_whole) cause = DropNone;
    else if (frame.drop != DropNone) cause = frame.drop;
    else if (!own_address) cause = DropDestAddress;
    else if (frame.dest_qpn < 24'd2 || state == QpReset) cause = DropQpn;
    else if (frame.opcode[7:5] != 3'd0 && !op.cnp) cause = DropService;
    else if (frame.opcode == OpAtomicAck) cause = DropUnsupported;
    else if (!taken) cause = DropQpState;
    else if (frame.ipv6 != cfg.ipv6 || frame.src_ip != cfg.remote_ip) cause = DropSourceAddress;
    else if (frame.pkey[14:0] != 15'h7FFF) cause = DropPkey;
  end
endmodule
