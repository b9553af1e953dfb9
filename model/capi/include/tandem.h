/*
 * The golden model of the Tandem RDMA engine, for test benches in C, C++ and (through DPI-C) SystemVerilog.
 *
 * Two objects:
 *
 *   tandem_engine   the golden engine: a transition system without clock, threads or I/O. It lists the actions that are
 *                   legal, executes one that it is given, or says why it is not legal; and tells what the world must
 *                   see of it. Use it as a reference, or as a NIC.
 *   tandem_checker  the lockstep checker around one: it takes what the ports of an engine showed, clock by clock, and
 *                   tells the first difference. Use it if your design has the commit interface (docs/src/commit.md).
 *
 * What registers, tables, requests and entries look like is in docs/src/abi-tables.md, what the engine does with them
 * in docs/src/semantics.md, both of the repository.
 *
 * What functions return
 *   TANDEM_OK or another code from 0 on is an answer, a code below 0 is a mistake of the caller (or of the library:
 *   TANDEM_ERR_PANIC). What was refused changed nothing. Functions that make an object return NULL if they fail.
 *   tandem_last_error tells in words what went wrong.
 *
 * Pointers
 *   They may be NULL only where it says so; NULL elsewhere is answered with TANDEM_ERR_NULL. Bytes with a length of 0
 *   may be NULL. Bytes that go in are copied. A pointer that is neither NULL nor good cannot be found out.
 *
 * Threads
 *   An object may be used by any thread, by one at a time; different objects have nothing to do with each other. A call
 *   for an object in which another call is under way (from another thread, or from its own callback) is answered with
 *   TANDEM_ERR_BUSY. This does not cover freeing: whoever frees an object sees to it that nobody uses it any more.
 *
 * Memory
 *   Tables are allocated whole, 2 to the power of each size of the configuration. A process that has no memory left ends.
 */
#ifndef TANDEM_H
#define TANDEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; tandem_abi() tells that of the library. */
#define TANDEM_ABI 1

/* ------------------------------------------------------------------------------------------------------------------
 * What functions return
 */

#define TANDEM_OK 0          /* done */
#define TANDEM_NONE 1        /* there is nothing of what was asked for */
#define TANDEM_NEED_READ 2   /* a read was not answered: see tandem_engine_needed, answer it, call again */
#define TANDEM_ILLEGAL 3     /* the model does not allow the action: see tandem_engine_illegal */
#define TANDEM_DIVERGED 4    /* the checker has found a difference: see tandem_checker_text */
#define TANDEM_ERR_NULL (-1)   /* a pointer is NULL */
#define TANDEM_ERR_VALUE (-2)  /* a value is outside of what is allowed, a name or number unknown */
#define TANDEM_ERR_SHORT (-3)  /* a buffer is too short; its length is told where there is a place for it */
#define TANDEM_ERR_BUSY (-4)   /* the object is in use */
#define TANDEM_ERR_PANIC (-5)  /* the library failed inside; do not use the object any more, but free it */
#define TANDEM_ERR_SYSTEM (-6) /* the operating system refused */

/* Version of the library: TANDEM_ABI of the header that belongs to it. */
uint32_t tandem_abi(void);

/*
 * The text of the last call of this thread that returned neither TANDEM_OK nor TANDEM_NONE, or made nothing. Of an
 * illegal action it names the room of the engine that decided, what was expected, and why.
 *
 * Here and below, a text is written with a final zero, cut off (TANDEM_ERR_SHORT) if it does not fit into `capacity`
 * bytes; `length` (may be NULL) gets the length of the whole text without the zero.
 */
int32_t tandem_last_error(char *text, size_t capacity, size_t *length);

/* ------------------------------------------------------------------------------------------------------------------
 * Records
 */

/* Bytes of a commit record: `commit` of abi-tables.md, lowest byte first. Every action has one. */
#define TANDEM_COMMIT_BYTES 14

/* An action in words. `record` is TANDEM_COMMIT_BYTES long. */
int32_t tandem_action_text(const uint8_t *record, char *text, size_t capacity, size_t *length);

/*
 * Records of the ABI by the names of abi-tables.md: layouts "sq_wqe", "sge", "rq_wqe", "cqe", "eqe", "qp_context",
 * "cq_context", "srq_context", "token_context", "commit". `length` is that of `record`, at least that of the layout.
 *
 * tandem_field tells the place of any field. The other two do for fields of up to 64 bits; what is wider
 * ("remote_ip", "sge0") begins at a byte: bit / 8. A value that does not fit is refused.
 */
int32_t tandem_field(const char *layout, const char *field, uint32_t *bit, uint32_t *width);
int32_t tandem_set_field(uint8_t *record, size_t length, const char *layout, const char *field, uint64_t value);
int32_t tandem_get_field(const uint8_t *record, size_t length, const char *layout, const char *field, uint64_t *value);

/* ------------------------------------------------------------------------------------------------------------------
 * The golden engine
 */

typedef struct tandem_engine tandem_engine;

/* Sizes of an engine. */
typedef struct tandem_config {
  uint8_t log2_qps;    /* queue pairs, at most 16 */
  uint8_t log2_cqs;    /* completion queues, at most 14 */
  uint8_t log2_srqs;   /* shared receive queues, at most 16 */
  uint8_t log2_tokens; /* memory tokens, at most 24 */
  uint8_t log2_pages;  /* pages, at most 28 */
  uint8_t max_read;    /* reads outstanding on a queue pair, either way */
  uint32_t responses;  /* responses that may wait before `enabled` and `step` take no more frames; at least 1 */
} tandem_config;

/* The sizes of the engine of the repository. */
int32_t tandem_config_default(tandem_config *config);

/* An engine after reset. `config` may be NULL: the default. */
tandem_engine *tandem_engine_new(const tandem_config *config);

/* Another one in the same state: with its effects, pushed reads and callback. From then on each goes its own way. */
tandem_engine *tandem_engine_clone(const tandem_engine *engine);

/* Frees an engine; NULL is nothing. */
int32_t tandem_engine_free(tandem_engine *engine);

/* A register write of the driver. Doorbells, arms and commands wait for their action; all others act at once. Unknown
 * offsets do nothing. */
int32_t tandem_engine_write_register(tandem_engine *engine, uint32_t offset, uint32_t value);

/* The value of a register; unknown offsets read 0. */
int32_t tandem_engine_read_register(const tandem_engine *engine, uint32_t offset, uint32_t *value);

/* A frame arrives, from the destination address on, without FCS. It waits for its action. */
int32_t tandem_engine_receive_frame(tandem_engine *engine, const uint8_t *bytes, size_t length);

/* The interrupt line: 1 if the event queue holds entries that the driver has not consumed, else 0. */
int32_t tandem_engine_interrupt(const tandem_engine *engine, uint32_t *level);

/* 1 if nothing waits for the engine: no doorbell, command, frame, response, completion. Requests may wait for the peer,
 * timers may run. */
int32_t tandem_engine_is_idle(const tandem_engine *engine, uint32_t *idle);

/* The state of a queue pair, as `qp_state` of abi-tables.md; TANDEM_NONE if the table does not have it. */
int32_t tandem_engine_qp_state(const tandem_engine *engine, uint32_t qpn, uint32_t *state);

/* The state of a queue pair in words, some lines. */
int32_t tandem_engine_describe_qp(const tandem_engine *engine, uint32_t qpn, char *text, size_t capacity,
                                  size_t *length);

/* --- what its DMA reads ---
 *
 * Actions that use requests or payload need bytes of host memory. A read is answered, first match counts:
 *
 *   1. by what was pushed: channel, address and length must be the same. Of equal gather reads the oldest is taken. A
 *      pushed fetch replaces an equal one. What an executed action used is used up, the rest stays until cleared;
 *   2. by the callback, if one is set;
 *   3. not: then the call returns TANDEM_NEED_READ, changes nothing, and tandem_engine_needed tells the read.
 *
 * So a bench without callbacks calls, answers what is needed, and calls again, until the action is executed. Gather
 * reads come in the order of the packet's bytes and never cross 4 KiB. A receive that stays because a frame did not
 * fit is asked for again by the next action that looks at it.
 */

#define TANDEM_SQ_FETCH 0 /* entries of send queues, and page lists */
#define TANDEM_RQ_FETCH 1 /* entries of receive queues */
#define TANDEM_GATHER 2   /* payload of what is sent */

typedef struct tandem_read {
  uint32_t channel; /* TANDEM_SQ_FETCH, TANDEM_RQ_FETCH, TANDEM_GATHER */
  uint32_t length;  /* bytes */
  uint64_t address; /* logical address of the first byte */
} tandem_read;

/*
 * Answers a read. Fills `length` bytes and returns 0; or returns 1 if the bus answers with an error (bytes may be
 * filled); or returns less than 0 if there is no answer yet. It may be called by apply, step and enabled of its engine,
 * in their thread. It must not throw, jump out, or call for the same engine (TANDEM_ERR_BUSY).
 *
 * An error of the bus at a page list fails its request. At a gather read the packet leaves with its ICRC turned over.
 * At an entry of a ring it is not looked at: the bytes count, zeros if there are none.
 */
typedef int32_t (*tandem_reader)(void *user, uint32_t channel, uint64_t address, uint8_t *bytes, size_t length);

/* Sets the callback and the pointer that it is given, or takes it away (NULL). */
int32_t tandem_engine_set_reader(tandem_engine *engine, tandem_reader reader, void *user);

/* Pushes an answer. With `bus_error` not 0 bytes may be NULL. */
int32_t tandem_engine_push_read(tandem_engine *engine, uint32_t channel, uint64_t address, const uint8_t *bytes,
                                uint32_t length, int32_t bus_error);

/* Forgets what was pushed and not used. */
int32_t tandem_engine_clear_reads(tandem_engine *engine);

/* The read for which the last apply, step or enabled returned TANDEM_NEED_READ; TANDEM_NONE if it did not. */
int32_t tandem_engine_needed(const tandem_engine *engine, tandem_read *read);

/* --- actions --- */

/*
 * Executes the action of a commit record (TANDEM_COMMIT_BYTES). TANDEM_OK; TANDEM_NEED_READ; TANDEM_ILLEGAL if the
 * model does not allow it now; TANDEM_ERR_VALUE if there is no such kind of action.
 */
int32_t tandem_engine_apply(tandem_engine *engine, const uint8_t *record);

/*
 * Executes the next action of a fair choice and tells its record (`record` may be NULL). TANDEM_NONE if none is legal
 * but those that need a clock, which are left to the caller: Timeout, RnrResume, CqEvent, Respond with a congestion
 * notification. TANDEM_NEED_READ: the same action has its turn again.
 */
int32_t tandem_engine_step(tandem_engine *engine, uint8_t *record);

/*
 * All actions that are legal now, TANDEM_COMMIT_BYTES each, one after another; `count` (may be NULL) gets their number,
 * also with TANDEM_ERR_SHORT, if there is no room for them. `capacity` is a number of records. Timers have no time
 * here: their ends are listed while they run.
 */
int32_t tandem_engine_enabled(tandem_engine *engine, uint8_t *records, size_t capacity, size_t *count);

#define TANDEM_ROOM_HOST 0     /* registers, doorbells, events */
#define TANDEM_ROOM_CONTEXT 1  /* tables and tokens */
#define TANDEM_ROOM_SEND 2     /* send queues */
#define TANDEM_ROOM_RECEIVE 3  /* frames in, responses */
#define TANDEM_ROOM_WIRE 4     /* frames as bytes */
#define TANDEM_ROOM_COMPLETE 5 /* completion queues */

/* Why an action was refused. */
typedef struct tandem_illegal {
  uint32_t room;                         /* TANDEM_ROOM_…: where to look */
  uint32_t has_expected;                 /* 1 if another action is legal in its place */
  uint8_t expected[TANDEM_COMMIT_BYTES]; /* its commit record, if so */
} tandem_illegal;

/* Why the last apply or step was refused; TANDEM_NONE if it was not. tandem_last_error has it in words. */
int32_t tandem_engine_illegal(const tandem_engine *engine, tandem_illegal *illegal);

/* --- what the world sees ---
 *
 * Effects wait, in their order, until they are taken. The order counts for each kind: the world must see the frames
 * in this order, and so on; between kinds only the barriers bind.
 */

#define TANDEM_FRAME 0      /* an Ethernet frame without FCS leaves */
#define TANDEM_PAYLOAD 1    /* payload is written to host memory; never across 4 KiB */
#define TANDEM_COMPLETION 2 /* a completion entry or an event is written to host memory */

typedef struct tandem_effect {
  uint32_t kind;            /* TANDEM_FRAME, TANDEM_PAYLOAD, TANDEM_COMPLETION */
  uint64_t address;         /* logical address of the first byte; 0 for frames */
  const uint8_t *bytes;     /* good until the next call for the engine */
  size_t length;            /* how many */
  uint64_t action;          /* number of the action, from 0 */
  uint64_t payload_barrier; /* so many payload writes (the oldest) must have been answered before it is seen */
  uint64_t gather_barrier;  /* so many gather reads (the oldest) must have been answered before it is seen */
} tandem_effect;

/* Takes the oldest effect; TANDEM_NONE if there is none. */
int32_t tandem_engine_next_effect(tandem_engine *engine, tandem_effect *effect);

/* How many effects wait. */
int32_t tandem_engine_effects(const tandem_engine *engine, size_t *count);

/* Placement: what the last executed action waits for. For the retirement of a read the action itself must wait. */
typedef struct tandem_barriers {
  uint64_t payload_writes;  /* payload writes of all actions so far */
  uint64_t payload_barrier; /* so many of them must have been answered before what the last action shows */
  uint64_t gather_reads;    /* gather reads of all actions so far */
  uint64_t gather_barrier;  /* so many of them likewise */
} tandem_barriers;

int32_t tandem_engine_barriers(const tandem_engine *engine, tandem_barriers *barriers);

/* ------------------------------------------------------------------------------------------------------------------
 * The checker
 *
 * In every clock tell what the ports show in it, in any order between the kinds (what is of one kind: in its order),
 * then end the clock with tandem_checker_clock. Clocks in which nothing happens may be left out. Nothing is to be
 * told from before or during reset.
 *
 * It works in a thread of its own, some hundred clocks behind: a difference may be told later than it is seen, but
 * with the number of its clock. After it, all functions that tell something return TANDEM_DIVERGED.
 */

typedef struct tandem_checker tandem_checker;

/* What was checked. */
typedef struct tandem_summary {
  uint64_t actions;           /* actions that the model allowed */
  uint64_t frames;            /* frames compared */
  uint64_t payload_writes;    /* payload writes compared */
  uint64_t completion_writes; /* completion entries and events compared */
} tandem_summary;

/* A checker of an engine of this size (NULL: the default). `node` (may be NULL) and `seed` appear in its texts. */
tandem_checker *tandem_checker_new(const tandem_config *config, const char *node, uint64_t seed);

/* Frees a checker, with a verdict or without; NULL is nothing. */
int32_t tandem_checker_free(tandem_checker *checker);

/* The driver's write of a register begins. */
int32_t tandem_checker_register(tandem_checker *checker, uint32_t offset, uint32_t value);

/* The engine took the last beat of a frame: the whole frame. */
int32_t tandem_checker_frame_in(tandem_checker *checker, const uint8_t *bytes, size_t length);

/* The first beat of a frame leaves the engine. If it is not told, the frame counts as begun when it ends, and what it
 * had to wait for is checked only then. */
int32_t tandem_checker_frame_started(tandem_checker *checker);

/* The last beat of a frame leaves the engine: the whole frame. */
int32_t tandem_checker_frame_out(tandem_checker *checker, const uint8_t *bytes, size_t length);

/* The last beat of a read burst: all its beats, 8 bytes each, from the address of the first one on. `asked` is the clock in
 * which its address was taken. `channel` is TANDEM_SQ_FETCH and so on, the ARID. */
int32_t tandem_checker_read(tandem_checker *checker, uint32_t channel, uint64_t address, const uint8_t *bytes,
                            size_t length, int32_t bus_error, uint64_t asked);

/* The last beat of a write burst: the bytes with their strobes set, and the address of the first of them. `id` is the
 * AWID: 0 payload, 1 completions and events. */
int32_t tandem_checker_written(tandem_checker *checker, uint32_t id, uint64_t address, const uint8_t *bytes,
                               size_t length);

/* The oldest unanswered write burst of an ID is answered (B). */
int32_t tandem_checker_answered(tandem_checker *checker, uint32_t id);

/* The engine commits an action: `commit_valid`. */
int32_t tandem_checker_commit(tandem_checker *checker, const uint8_t *record);

/* The clock is over. `cycle` rises from call to call; `stalled` is the number of clocks so far in which the transmit
 * stream was stalled (valid without ready): timers are not late by them. */
int32_t tandem_checker_clock(tandem_checker *checker, uint64_t cycle, uint64_t stalled);

/* Whether a timer runs, or an action waits for a read: 1 if something will happen by itself. It waits until all that
 * was told is checked. TANDEM_NONE after the end. */
int32_t tandem_checker_busy(tandem_checker *checker, uint32_t *busy);

/* The run is over, with the interrupt line at this level; waits for the verdict: TANDEM_OK (`summary`, may be NULL, is
 * filled) or TANDEM_DIVERGED. Effects that are missing, or not explained, are differences now. */
int32_t tandem_checker_finish(tandem_checker *checker, int32_t interrupt, tandem_summary *summary);

/* The difference in words: room, action, what the model allows, the last actions of the queue pair. TANDEM_NONE if
 * there is none by now. */
int32_t tandem_checker_text(const tandem_checker *checker, char *text, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
