// The golden model of the Tandem RDMA engine for test benches in SystemVerilog, by DPI-C.
//
// `include/tandem.h` is the reference: what is imported under its own name behaves as it says there. Functions that end
// with `_v` have a form that SystemVerilog can take: commit records as vectors, structures as single arguments, texts as
// strings. They are in tandem_dpi.c.
//
// Bytes cross in an array of a fixed size, with their number beside it.
package tandem_dpi;

  // a commit record, as on the port `commit`; `nd_abi_pkg::commit_t` has its fields
  typedef bit [111:0] commit_bits_t;

  // bytes of a frame, a read or a write: the longest of them fits
  localparam int unsigned MaxBytes = 16384;
  typedef byte unsigned bytes_t[MaxBytes];

  // What functions return.
  localparam int Ok = 0;
  localparam int None = 1;
  localparam int NeedRead = 2;
  localparam int Illegal = 3;
  localparam int Diverged = 4;

  // Kinds of effects.
  localparam int unsigned Frame = 0;
  localparam int unsigned Payload = 1;
  localparam int unsigned Completion = 2;

  // The text of the last call that failed.
  import "DPI-C" function string tandem_last_error_v();

  // An action in words.
  import "DPI-C" function string tandem_action_text_v(input commit_bits_t commit);

  // --- the golden engine ---

  // A default engine if the argument is null. Of other sizes: the function below.
  import "DPI-C" function chandle tandem_engine_new(input chandle sizes);
  import "DPI-C" function chandle tandem_engine_new_v(
    input int unsigned log2_qps,
    input int unsigned log2_cqs,
    input int unsigned log2_srqs,
    input int unsigned log2_tokens,
    input int unsigned log2_pages,
    input int unsigned max_read,
    input int unsigned responses
  );
  import "DPI-C" function chandle tandem_engine_clone(input chandle engine);
  import "DPI-C" function int tandem_engine_free(input chandle engine);

  import "DPI-C" function int tandem_engine_write_register(
    input chandle engine,
    input int unsigned offset,
    input int unsigned value
  );
  import "DPI-C" function int tandem_engine_read_register(
    input chandle engine,
    input int unsigned offset,
    output int unsigned value
  );
  import "DPI-C" function int tandem_engine_receive_frame(
    input chandle engine,
    input bytes_t bytes,
    input longint unsigned length
  );
  import "DPI-C" function int tandem_engine_interrupt(input chandle engine, output int unsigned level);
  import "DPI-C" function int tandem_engine_is_idle(input chandle engine, output int unsigned idle);
  import "DPI-C" function int tandem_engine_qp_state(
    input chandle engine,
    input int unsigned qpn,
    output int unsigned state
  );
  import "DPI-C" function string tandem_engine_describe_qp_v(input chandle engine, input int unsigned qpn);

  // Reads: after NeedRead ask what is needed, push it, and call again.
  import "DPI-C" function int tandem_engine_needed_v(
    input chandle engine,
    output int unsigned channel,
    output longint unsigned address,
    output int unsigned length
  );
  import "DPI-C" function int tandem_engine_push_read(
    input chandle engine,
    input int unsigned channel,
    input longint unsigned address,
    input bytes_t bytes,
    input int unsigned length,
    input int bus_error
  );
  import "DPI-C" function int tandem_engine_clear_reads(input chandle engine);

  // Actions. `tandem_engine_enabled_v` tells the legal action number `index`, None behind the last one.
  import "DPI-C" function int tandem_engine_apply_v(input chandle engine, input commit_bits_t commit);
  import "DPI-C" function int tandem_engine_step_v(input chandle engine, output commit_bits_t commit);
  import "DPI-C" function int tandem_engine_enabled_v(
    input chandle engine,
    input int unsigned index,
    output commit_bits_t commit
  );

  // What is legal in place of the action that was refused last; `has_expected` 0 if no single one is.
  import "DPI-C" function int tandem_engine_illegal_v(
    input chandle engine,
    output int unsigned room,
    output int unsigned has_expected,
    output commit_bits_t expected
  );

  // The oldest effect, taken.
  import "DPI-C" function int tandem_engine_next_effect_v(
    input chandle engine,
    output int unsigned kind,
    output longint unsigned address,
    output bytes_t bytes,
    output int unsigned length
  );

  // --- the lockstep checker ---

  // Of an engine of the default size, or of these sizes.
  import "DPI-C" function chandle tandem_checker_new(
    input chandle sizes,
    input string node,
    input longint unsigned seed
  );
  import "DPI-C" function chandle tandem_checker_new_v(
    input int unsigned log2_qps,
    input int unsigned log2_cqs,
    input int unsigned log2_srqs,
    input int unsigned log2_tokens,
    input int unsigned log2_pages,
    input int unsigned max_read,
    input int unsigned responses,
    input string node,
    input longint unsigned seed
  );
  import "DPI-C" function int tandem_checker_free(input chandle lockstep);
  import "DPI-C" function int tandem_checker_register(
    input chandle lockstep,
    input int unsigned offset,
    input int unsigned value
  );
  import "DPI-C" function int tandem_checker_frame_in(
    input chandle lockstep,
    input bytes_t bytes,
    input longint unsigned length
  );
  import "DPI-C" function int tandem_checker_frame_started(input chandle lockstep);
  import "DPI-C" function int tandem_checker_frame_out(
    input chandle lockstep,
    input bytes_t bytes,
    input longint unsigned length
  );
  import "DPI-C" function int tandem_checker_read(
    input chandle lockstep,
    input int unsigned channel,
    input longint unsigned address,
    input bytes_t bytes,
    input longint unsigned length,
    input int bus_error,
    input longint unsigned asked
  );
  import "DPI-C" function int tandem_checker_written(
    input chandle lockstep,
    input int unsigned id,
    input longint unsigned address,
    input bytes_t bytes,
    input longint unsigned length
  );
  import "DPI-C" function int tandem_checker_answered(input chandle lockstep, input int unsigned id);
  import "DPI-C" function int tandem_checker_commit_v(input chandle lockstep, input commit_bits_t commit);
  import "DPI-C" function int tandem_checker_clock(
    input chandle lockstep,
    input longint unsigned cycle,
    input longint unsigned stalled
  );
  import "DPI-C" function int tandem_checker_busy(input chandle lockstep, output int unsigned busy);

  // The verdict; how many actions, frames and writes were compared.
  import "DPI-C" function int tandem_checker_finish_v(
    input chandle lockstep,
    input int irq,
    output longint unsigned actions,
    output longint unsigned frames,
    output longint unsigned payload_writes,
    output longint unsigned completion_writes
  );
  import "DPI-C" function string tandem_checker_text_v(input chandle lockstep);

endpackage
