// A golden engine with host memory and a driver, another golden engine that follows it action by action, and a checker
// that is shown what the ports of the first one would show. One of the two is enough for a bench; here both are tried.
//
// The first engine stands for a design: put your own in its place, take the records from its port `commit`, frames and
// writes from its other ports, and answer the reads of the reference with what your design's bus read.
package example_node;

  import nd_abi_pkg::*;
  import tandem_dpi::*;

  localparam int unsigned MemoryBytes = 65536;
  localparam longint unsigned Sq = 'h1000;
  localparam longint unsigned Rq = 'h2000;
  localparam longint unsigned Cq = 'h3000;
  localparam longint unsigned Data = 'h4000;
  localparam longint unsigned Eq = 'h8000;
  localparam bit [31:0] Token = 32'h0000_0377;
  localparam bit [23:0] FirstPsn = 24'h100;

  class golden_node;
    chandle dut;
    chandle follower;
    chandle lockstep;
    longint unsigned cycle;
    byte unsigned memory[MemoryBytes];
    bit [7:0] number;
    // the records of packets lie about their PSN
    bit lies;
    bit refused;
    int unsigned compared;

    function new(bit [7:0] own_number);
      cq_context_t cq = '0;
      token_context_t token = '0;
      number = own_number;
      dut = tandem_engine_new(null);
      follower = tandem_engine_new(null);
      lockstep = tandem_checker_new(null, $sformatf("%0d", own_number), 1);
      if (dut == null || follower == null || lockstep == null) $fatal(1, "%s", tandem_last_error_v());
      write_register('h014, 8);
      write_register('h018, Eq[31:0]);
      write_register('h028, 32'h02);
      write_register('h02C, {16'd0, number, 8'd0});
      write_register('h030, {number, 24'h02_00C0});
      cq.valid = 1;
      cq.log_size = 4;
      cq.base = Cq;
      command(TableCq, 1, 512'(cq));
      token.valid = 1;
      token.kind = TokenPrivileged;
      token.local_write = 1;
      token.key = Token[7:0];
      token.pd = 7;
      command(TableToken, {8'd0, Token[31:8]}, 512'(token));
    endfunction

    function void must(int code);
      if (code != Ok) $fatal(1, "code %0d: %s", code, tandem_last_error_v());
    endfunction

    // A clock of the ports is over.
    function void tick();
      cycle++;
      must(tandem_checker_clock(lockstep, cycle, 0));
    endfunction

    function void write_register(int unsigned offset, int unsigned value);
      must(tandem_engine_write_register(dut, offset, value));
      must(tandem_engine_write_register(follower, offset, value));
      must(tandem_checker_register(lockstep, offset, value));
      tick();
    endfunction

    function void receive(bytes_t bytes, int unsigned length);
      must(tandem_engine_receive_frame(dut, bytes, 64'(length)));
      must(tandem_engine_receive_frame(follower, bytes, 64'(length)));
      must(tandem_checker_frame_in(lockstep, bytes, 64'(length)));
      tick();
    endfunction

    // A table entry, and the action that writes it.
    function void command(table_e which, int unsigned index, bit [511:0] entry);
      write_register('h050, index);
      for (int unsigned i = 0; i < 16; i++) write_register('h080 + 4 * i, entry[32 * i +: 32]);
      write_register('h054, {28'd0, which});
      if (!step(this)) $fatal(1, "the command is not executed");
    endfunction

    function void queue_pair(
      bit [23:0] qpn, bit [23:0] peer_qpn, bit [7:0] peer, qp_state_e state
    );
      qp_context_t qp = '0;
      qp.state = state;
      qp.mtu = 3;
      qp.sq_log = 2;
      qp.rq_log = 2;
      qp.pd = 7;
      qp.udp_sport = 16'hC000;
      qp.send_cq = 1;
      qp.recv_cq = 1;
      qp.remote_qpn = peer_qpn;
      qp.hop_limit = 64;
      qp.sq_psn = FirstPsn;
      qp.rq_psn = FirstPsn;
      qp.sq_base = Sq;
      qp.rq_base = Rq;
      qp.remote_mac = {peer, 40'h02};
      qp.retry_cnt = 7;
      qp.rnr_retry = 7;
      qp.remote_ip = {peer, 24'h02_00C0, 16'hFFFF, 80'd0};
      command(TableQp, {8'd0, qpn}, 512'(qp));
    endfunction

    function void store(longint unsigned address, bit [511:0] entry);
      for (int unsigned i = 0; i < 64; i++) memory[address[15:0] + 16'(i)] = entry[8 * i +: 8];
    endfunction

    function sge_t element(int unsigned length);
      element.address = Data;
      element.length = length;
      element.token = Token;
    endfunction

    function void post_send(bit [23:0] qpn, int unsigned length);
      sq_wqe_t wqe = '0;
      wqe.opcode = WqeSend;
      wqe.num_sge = 1;
      wqe.length = length;
      wqe.sge0 = element(length);
      store(Sq, wqe);
      write_register('h100, {qpn[15:0], 16'd1});
    endfunction

    function void post_receive(bit [23:0] qpn, int unsigned length);
      rq_wqe_t wqe = '0;
      wqe.sge0 = element(length);
      store(Rq, wqe);
      write_register('h104, {qpn[15:0], 16'd1});
    endfunction

    function cqe_t completion();
      bit [255:0] entry;
      for (int unsigned i = 0; i < 32; i++) entry[8 * i +: 8] = memory[Cq[15:0] + 16'(i)];
      return entry;
    endfunction

    // Answers the read that an engine lacks.
    function void answer(chandle engine);
      int unsigned channel;
      int unsigned length;
      longint unsigned address;
      bytes_t bytes;
      must(tandem_engine_needed_v(engine, channel, address, length));
      for (int unsigned i = 0; i < length; i++) bytes[i] = memory[address[15:0] + 16'(i)];
      must(tandem_engine_push_read(engine, channel, address, bytes, length, 0));
      if (engine == dut) show_read(channel, address, length);
    endfunction

    // A bus reads whole beats.
    function void show_read(int unsigned channel, longint unsigned address, int unsigned length);
      longint unsigned first;
      longint unsigned bytes_read;
      bytes_t bytes;
      first = {address[63:3], 3'd0};
      bytes_read = ((address + 64'(length) + 7) & ~64'd7) - first;
      for (int unsigned i = 0; i < bytes_read[31:0]; i++) bytes[i] = memory[first[15:0] + 16'(i)];
      must(tandem_checker_read(lockstep, channel, first, bytes, bytes_read, 0, cycle));
    endfunction

    // One action of the dut, checked by the reference. 0 if there is none.
    function bit step(golden_node peer);
      commit_bits_t bits;
      commit_t record;
      int code;
      do begin
        code = tandem_engine_step_v(dut, bits);
        if (code == NeedRead) answer(dut);
      end while (code == NeedRead);
      if (code == None) return 0;
      must(code);
      record = bits;
      if (lies && record.kind == CommitSqEmit) record.psn ^= 1;
      must(tandem_checker_commit_v(lockstep, record));
      do begin
        code = tandem_engine_apply_v(follower, record);
        if (code == NeedRead) answer(follower);
      end while (code == NeedRead);
      if (code == Illegal) begin
        commit_bits_t expected;
        int unsigned room;
        int unsigned has_expected;
        $display("refused: %s", tandem_last_error_v());
        must(tandem_engine_illegal_v(follower, room, has_expected, expected));
        if (has_expected != 0) $display("expected: %s", tandem_action_text_v(expected));
        refused = 1;
        return 0;
      end
      must(code);
      effects(peer);
      return 1;
    endfunction

    // What the design shows is what the reference says, byte for byte; the world takes it.
    function void effects(golden_node peer);
      int unsigned kind, other_kind;
      int unsigned length, other_length;
      longint unsigned address, other_address;
      bytes_t bytes, other_bytes;
      int code, other_code;
      forever begin
        code = tandem_engine_next_effect_v(dut, kind, address, bytes, length);
        other_code = tandem_engine_next_effect_v(follower, other_kind, other_address, other_bytes, other_length);
        if (code != other_code) $fatal(1, "one of them has no effect: %0d, %0d", code, other_code);
        if (code == None) break;
        must(code);
        if (kind != other_kind || address != other_address || length != other_length)
          $fatal(1, "effects differ");
        for (int unsigned i = 0; i < length; i++)
          if (bytes[i] != other_bytes[i]) $fatal(1, "byte %0d differs", i);
        compared++;
        if (kind == Frame) begin
          must(tandem_checker_frame_started(lockstep));
          must(tandem_checker_frame_out(lockstep, bytes, 64'(length)));
          peer.receive(bytes, length);
        end else begin
          for (int unsigned i = 0; i < length; i++) memory[address[15:0] + 16'(i)] = bytes[i];
          must(tandem_checker_written(lockstep, kind == Payload ? 0 : 1, address, bytes, 64'(length)));
          must(tandem_checker_answered(lockstep, kind == Payload ? 0 : 1));
        end
      end
      tick();
    endfunction

    // The verdict of the checker, with which its run ends.
    function bit passed();
      longint unsigned actions, frames, payloads, completions;
      int code;
      code = tandem_checker_finish_v(lockstep, 0, actions, frames, payloads, completions);
      if (code == Diverged) $display("%s", tandem_checker_text_v(lockstep));
      else must(code);
      $display("node %0d: %0d frames, %0d payload writes, %0d completion writes compared", number, frames, payloads,
               completions);
      return code == Ok;
    endfunction

    function void free();
      must(tandem_engine_free(dut));
      must(tandem_engine_free(follower));
      must(tandem_checker_free(lockstep));
    endfunction
  endclass

endpackage
