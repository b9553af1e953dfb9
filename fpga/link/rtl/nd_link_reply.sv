// Reply buffer: packets are written once, stuffed by COBS and closed with their CRC, and sent as often
// as asked.
//
// It holds the last reply, and beside it a refusal, which must not overwrite the reply (`refusal`
// with `start` and `send`). `start`, `close` and `send` are high for one clock while `idle`, bytes go
// between `start` and `close`; at most PacketBytes - 64 with the CRC, and 22 of a refusal.
module nd_link_reply
  import nd_link_pkg::*;
#(
  // bytes of the buffer, a power of two
  parameter int unsigned PacketBytes = 2048
) (
  input  logic       clk,
  input  logic       rst,

  input  logic       start,
  input  logic       refusal,
  input  logic       in_valid,
  output logic       in_ready,
  input  logic [7:0] in_data,
  input  logic       close,
  input  logic       send,
  output logic       idle,    // nothing is closed or sent

  output logic       m_axis_tvalid,
  input  logic       m_axis_tready,
  output logic [7:0] m_axis_tdata
);
  localparam int unsigned AddrWidth = $clog2(PacketBytes);
  typedef logic [AddrWidth-1:0] addr_t;
  localparam addr_t RefusalBase = addr_t'(PacketBytes - 32);

  // ---- writer: the place of a group's code is kept free until the group ends
  typedef enum logic [2:0] {
    Closed,
    Open,
    Full,   // a group of 254 bytes: its code is written, and no zero follows from it
    Crc,
    Finish  // the last code
  } write_e;

  write_e     write_q, write_d, after_q, after_d;
  addr_t      code_q, code_d, wr_q, wr_d;
  logic [7:0] run_q, run_d;  // code of the group so far
  crc_t       crc_q, crc_d;
  logic [1:0] crc_left_q, crc_left_d;
  addr_t      end_q[2];      // behind the last byte of the reply, of the refusal
  logic       area_q;
  logic       we, put, ended;
  addr_t      waddr;
  logic [7:0] wdata, byte_in;

  always_comb begin
    write_d    = write_q;
    after_d    = after_q;
    code_d     = code_q;
    wr_d       = wr_q;
    run_d      = run_q;
    crc_d      = crc_q;
    crc_left_d = crc_left_q;
    in_ready   = write_q == Open;
    byte_in    = write_q == Crc ? crc_q[7:0] : in_data;
    put        = write_q == Crc || (write_q == Open && in_valid);
    ended      = 1'b0;
    we         = 1'b0;
    waddr      = wr_q;
    wdata      = byte_in;
    case (write_q)
      Open: begin
        if (in_valid) crc_d = crc_byte(crc_q, in_data);
        if (close) begin
          write_d    = Crc;
          crc_d      = ~crc_q;
          crc_left_d = 2'd3;
        end
      end
      Crc: begin
        crc_d      = {8'd0, crc_q[31:8]};
        crc_left_d = crc_left_q - 2'd1;
        if (crc_left_q == '0) write_d = Finish;
      end
      Full: begin
        we      = 1'b1;
        waddr   = code_q;
        wdata   = run_q;
        code_d  = wr_q;
        wr_d    = wr_q + addr_t'(1);
        run_d   = 8'd1;
        write_d = after_q;
      end
      Finish: begin
        we      = 1'b1;
        waddr   = code_q;
        wdata   = run_q;
        ended   = 1'b1;
        write_d = Closed;
      end
      default: begin
        if (start) begin
          write_d = Open;
          code_d  = refusal ? RefusalBase : '0;
          wr_d    = code_d + addr_t'(1);
          run_d   = 8'd1;
          crc_d   = '1;
        end
      end
    endcase
    if (put) begin
      we   = 1'b1;
      wr_d = wr_q + addr_t'(1);
      if (byte_in == '0) begin
        waddr  = code_q;
        wdata  = run_q;
        code_d = wr_q;
        run_d  = 8'd1;
      end else begin
        run_d = run_q + 8'd1;
        if (run_q == 8'hFE) begin
          after_d = write_d;
          write_d = Full;
        end
      end
    end
  end

  // ---- sender
  typedef enum logic [2:0] {
    Quiet,
    Lead,   // a zero byte
    Fetch,
    Await,
    Byte,
    Tail    // a zero byte
  } send_e;

  send_e      send_q, send_d;
  addr_t      rd_q, rd_d, last_q;
  logic [7:0] word, word_q;

  assign idle = send_q == Quiet && write_q == Closed;

  always_comb begin
    send_d = send_q;
    rd_d   = rd_q;
    case (send_q)
      Quiet: begin
        rd_d = refusal ? RefusalBase : '0;
        if (send) send_d = Lead;
      end
      Lead:  if (m_axis_tready) send_d = Fetch;
      Fetch: send_d = Await;
      Await: send_d = Byte;
      Byte: begin
        if (m_axis_tready) begin
          rd_d   = rd_q + addr_t'(1);
          send_d = rd_d == last_q ? Tail : Fetch;
        end
      end
      default: if (m_axis_tready) send_d = Quiet;
    endcase
  end

  nd_ram #(.Depth(PacketBytes)) u_bytes (
    .clk, .we, .waddr, .wdata, .raddr(rd_q), .rdata(word)
  );

  always_ff @(posedge clk) begin
    write_q    <= write_d;
    after_q    <= after_d;
    code_q     <= code_d;
    wr_q       <= wr_d;
    run_q      <= run_d;
    crc_q      <= crc_d;
    crc_left_q <= crc_left_d;
    send_q     <= send_d;
    rd_q       <= rd_d;
    word_q     <= word;
    if (start) area_q <= refusal;
    if (ended) end_q[area_q] <= wr_q;
    if (send) last_q <= end_q[refusal];
    if (rst) begin
      write_q <= Closed;
      send_q  <= Quiet;
    end
  end

  assign m_axis_tvalid = send_q == Lead || send_q == Byte || send_q == Tail;
  assign m_axis_tdata  = send_q == Byte ? word_q : '0;
endmodule
