// Records inside the room `complete`.
package nd_complete_pkg;
  import nd_pkg::*;
  import nd_abi_pkg::*;

  // Present arm, in order of strength, so that the stronger of two is the greater.
  typedef enum logic [1:0] {
    HeldNone,
    HeldErrors,
    HeldSolicited,
    HeldAny
  } held_e;

  // How long events are put off.
  typedef struct packed {
    logic [15:0] count;     // entries not consumed at which they are not
    logic [15:0] interval;  // microseconds
  } moderation_t;

  // What the context says of a completion queue.
  typedef struct packed {
    logic        valid;
    logic [4:0]  log_size;
    addr_t       base;
    moderation_t moderation;
  } ring_t;

  // Run-time state of a completion queue; all zero when its context is written.
  typedef struct packed {
    idx_t  producer;
    idx_t  consumer;
    idx_t  notable;  // index after the last solicited or error entry
    held_e held;
    logic  dead;     // overrun
  } queue_t;

  // What is to be done.
  typedef enum logic [2:0] {
    DoEntry,
    DoDoorbell,  // or arm
    DoEvent,     // of a queue pair
    DoLimit,     // event of a shared receive queue
    DoDue        // the event that was put off
  } what_e;

  function automatic logic moderated(moderation_t moderation);
    return moderation.interval != '0 && moderation.count > 16'd1;
  endfunction

  function automatic held_e held_of(arm_e arm);
    unique case (arm)
      ArmErrors:    return HeldErrors;
      ArmSolicited: return HeldSolicited;
      ArmAny:       return HeldAny;
      default:      return HeldNone;
    endcase
  endfunction
endpackage
