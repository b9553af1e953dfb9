// Two nodes exchange a message. With +lie the design's records are wrong: the reference refuses one, and the checker
// tells it.
module two_nodes;

  import nd_abi_pkg::*;
  import example_node::*;

  localparam int unsigned Length = 700;

  initial begin
    golden_node a;
    golden_node b;
    cqe_t sent;
    cqe_t received;
    bit more;
    a = new(8'd1);
    b = new(8'd2);
    a.queue_pair(5, 6, 8'd2, QpInit);
    a.queue_pair(5, 6, 8'd2, QpRts);
    b.queue_pair(6, 5, 8'd1, QpInit);
    b.queue_pair(6, 5, 8'd1, QpRts);
    for (int unsigned i = 0; i < Length; i++) a.memory[Data[15:0] + 16'(i)] = 8'(7 * i + 1);
    b.post_receive(6, Length);
    a.post_send(5, Length);
    a.lies = $test$plusargs("lie") != 0;
    do begin
      more = a.step(b);
      if (b.step(a)) more = 1;
    end while (more && !a.refused);
    if (a.passed() && b.passed()) begin
      sent = a.completion();
      received = b.completion();
      for (int unsigned i = 0; i < Length; i++)
        if (b.memory[Data[15:0] + 16'(i)] != a.memory[Data[15:0] + 16'(i)]) $fatal(1, "byte %0d is wrong", i);
      if (sent.phase != 1 || sent.status != StatusSuccess || sent.qpn != 5) $fatal(1, "the send has no entry");
      if (received.phase != 1 || received.receive != 1 || received.byte_len != Length)
        $fatal(1, "the receive has no entry");
      $display("%0d effects compared", a.compared + b.compared);
      $display("ok");
    end
    a.free();
    b.free();
    $finish;
  end

endmodule
