/* A golden engine with memory and a driver, for the programs beside it: compiled as C and as C++. */
#ifndef NODE_H
#define NODE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tandem.h"

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) failed(__FILE__, __LINE__, #condition);                              \
  } while (0)

/* A call that must return a code. */
#define EXPECT(code, call)                                                                 \
  do {                                                                                     \
    int32_t got_ = (call);                                                                 \
    if (got_ != (code)) miscalled(__FILE__, __LINE__, #call, got_);                            \
  } while (0)

#define DO(call) EXPECT(TANDEM_OK, call)

static void failed(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
  exit(1);
}

static void miscalled(const char *file, int line, const char *call, int32_t got) {
  char text[2000] = "";
  tandem_last_error(text, sizeof text, NULL);
  fprintf(stderr, "%s:%d: %s returned %d: %s\n", file, line, call, (int)got, text);
  exit(1);
}

enum {
  MEMORY = 0x10000,
  SQ = 0x1000,
  RQ = 0x2000,
  CQ = 0x3000,
  DATA = 0x4000,
  EQ = 0x8000,
  TOKEN = 3 << 8 | 0x77,
  PSN = 0x100,
  QP_INIT = 1,
  QP_RTS = 3
};

typedef struct node {
  tandem_engine *engine;
  tandem_checker *checker; /* may be NULL */
  uint64_t cycle;
  uint8_t number;
  uint8_t flip; /* turns a bit of the next frame that is told to the checker */
  uint8_t memory[MEMORY];
} node;

/* Tells the checker that a clock is over. */
static void tick(node *n) {
  if (n->checker) DO(tandem_checker_clock(n->checker, ++n->cycle, 0));
}

static void write_register(node *n, uint32_t offset, uint32_t value) {
  DO(tandem_engine_write_register(n->engine, offset, value));
  if (n->checker) DO(tandem_checker_register(n->checker, offset, value));
  tick(n);
}

/* What the bus does with a read: it is shown in whole beats. */
static int32_t bus_read(node *n, uint32_t channel, uint64_t address, uint8_t *bytes, size_t length) {
  uint64_t first = address & ~(uint64_t)7, end = (address + length + 7) & ~(uint64_t)7;
  if (end > MEMORY || end < first) return 1;
  memcpy(bytes, n->memory + address, length);
  if (n->checker)
    DO(tandem_checker_read(n->checker, channel, first, n->memory + first, end - first, 0, n->cycle));
  return 0;
}

static int32_t reader(void *user, uint32_t channel, uint64_t address, uint8_t *bytes, size_t length) {
  return bus_read((node *)user, channel, address, bytes, length);
}

/* One step; reads are answered by pushes if there is no callback. 0 if there is nothing to do. */
static int step(node *n, node *peer) {
  uint8_t record[TANDEM_COMMIT_BYTES], bytes[4096];
  tandem_effect effect;
  tandem_read need;
  int32_t code;
  while ((code = tandem_engine_step(n->engine, record)) == TANDEM_NEED_READ) {
    DO(tandem_engine_needed(n->engine, &need));
    CHECK(need.length <= sizeof bytes);
    CHECK(bus_read(n, need.channel, need.address, bytes, need.length) == 0);
    DO(tandem_engine_push_read(n->engine, need.channel, need.address, bytes, need.length, 0));
  }
  if (code == TANDEM_NONE) return 0;
  CHECK(code == TANDEM_OK);
  if (n->checker) DO(tandem_checker_commit(n->checker, record));
  while ((code = tandem_engine_next_effect(n->engine, &effect)) == TANDEM_OK) {
    if (effect.kind == TANDEM_FRAME) {
      DO(tandem_engine_receive_frame(peer->engine, effect.bytes, effect.length));
      if (n->checker) {
        CHECK(effect.length <= sizeof bytes);
        memcpy(bytes, effect.bytes, effect.length);
        bytes[60] ^= n->flip;
        n->flip = 0;
        DO(tandem_checker_frame_out(n->checker, bytes, effect.length));
      }
      if (peer->checker) {
        DO(tandem_checker_frame_in(peer->checker, effect.bytes, effect.length));
        tick(peer);
      }
    } else {
      uint32_t id = effect.kind == TANDEM_PAYLOAD ? 0 : 1;
      CHECK(effect.address + effect.length <= MEMORY);
      memcpy(n->memory + effect.address, effect.bytes, effect.length);
      if (n->checker) {
        DO(tandem_checker_written(n->checker, id, effect.address, effect.bytes, effect.length));
        DO(tandem_checker_answered(n->checker, id));
      }
    }
  }
  CHECK(code == TANDEM_NONE);
  tick(n);
  return 1;
}

static void set(uint8_t *record, size_t length, const char *layout, const char *field, uint64_t value) {
  DO(tandem_set_field(record, length, layout, field, value));
}

static uint64_t get(const uint8_t *record, size_t length, const char *layout, const char *field) {
  uint64_t value = 0;
  DO(tandem_get_field(record, length, layout, field, &value));
  return value;
}

/* Writes a table entry, and lets its action happen. */
static void command(node *n, uint32_t table, uint32_t index, const uint8_t *entry, size_t length) {
  uint32_t status = 1;
  size_t at;
  write_register(n, 0x050, index);
  for (at = 0; at + 4 <= length; at += 4) {
    const uint8_t *b = entry + at;
    uint32_t word = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    write_register(n, 0x080 + (uint32_t)at, word);
  }
  write_register(n, 0x054, table);
  CHECK(step(n, n));
  DO(tandem_engine_read_register(n->engine, 0x058, &status));
  CHECK(status == 0);
}

static void queue_pair(node *n, const node *peer, uint32_t qpn, uint32_t peer_qpn, uint32_t state) {
  static const char L[] = "qp_context";
  uint8_t e[64] = {0};
  uint32_t bit = 0, width = 0;
  set(e, 64, L, "state", state);
  set(e, 64, L, "mtu", 3);
  set(e, 64, L, "sq_log", 2);
  set(e, 64, L, "rq_log", 2);
  set(e, 64, L, "pd", 7);
  set(e, 64, L, "udp_sport", 0xC000 + qpn);
  set(e, 64, L, "send_cq", 1);
  set(e, 64, L, "recv_cq", 1);
  set(e, 64, L, "remote_qpn", peer_qpn);
  set(e, 64, L, "hop_limit", 64);
  set(e, 64, L, "sq_psn", PSN);
  set(e, 64, L, "rq_psn", PSN);
  set(e, 64, L, "sq_base", SQ);
  set(e, 64, L, "rq_base", RQ);
  set(e, 64, L, "remote_mac", 0x02 | (uint64_t)peer->number << 40);
  set(e, 64, L, "retry_cnt", 7);
  set(e, 64, L, "rnr_retry", 7);
  DO(tandem_field(L, "remote_ip", &bit, &width));
  CHECK(bit % 8 == 0 && width == 128);
  {
    uint8_t ip[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 0};
    ip[15] = peer->number;
    memcpy(e + bit / 8, ip, sizeof ip);
  }
  command(n, 0, qpn, e, sizeof e);
}

/* An engine with a completion queue, a privileged token, and a driver's registers. */
static void start(node *n, uint8_t number, tandem_checker *checker) {
  uint8_t cq[16] = {0}, token[40] = {0};
  memset(n, 0, sizeof *n);
  n->number = number;
  n->checker = checker;
  n->engine = tandem_engine_new(NULL);
  CHECK(n->engine);
  write_register(n, 0x014, 8);
  write_register(n, 0x018, EQ);
  write_register(n, 0x028, 0x02);
  write_register(n, 0x02C, (uint32_t)number << 8);
  write_register(n, 0x030, 192 | 2 << 16 | (uint32_t)number << 24);
  set(cq, 16, "cq_context", "valid", 1);
  set(cq, 16, "cq_context", "log_size", 4);
  set(cq, 16, "cq_context", "base", CQ);
  command(n, 1, 1, cq, sizeof cq);
  set(token, 40, "token_context", "valid", 1);
  set(token, 40, "token_context", "kind", 3);
  set(token, 40, "token_context", "local_write", 1);
  set(token, 40, "token_context", "key", TOKEN & 0xFF);
  set(token, 40, "token_context", "pd", 7);
  command(n, 2, TOKEN >> 8, token, sizeof token);
}

/* Both ends of a connection: queue pair 5 of a, 6 of b. */
static void connect_nodes(node *a, node *b) {
  queue_pair(a, b, 5, 6, QP_INIT);
  queue_pair(a, b, 5, 6, QP_RTS);
  queue_pair(b, a, 6, 5, QP_INIT);
  queue_pair(b, a, 6, 5, QP_RTS);
}

static void element(uint8_t *to, uint64_t address, uint32_t length) {
  set(to, 16, "sge", "address", address);
  set(to, 16, "sge", "length", length);
  set(to, 16, "sge", "token", TOKEN);
}

/* Posts a receive, and a send of bytes at DATA: both for DATA of the other. */
static void post(node *a, node *b, uint32_t length) {
  uint8_t *wqe = a->memory + SQ;
  memset(wqe, 0, 64);
  set(wqe, 64, "sq_wqe", "opcode", 1);
  set(wqe, 64, "sq_wqe", "num_sge", 1);
  set(wqe, 64, "sq_wqe", "index", 0);
  set(wqe, 64, "sq_wqe", "length", length);
  element(wqe + 32, DATA, length);
  memset(b->memory + RQ, 0, 64);
  element(b->memory + RQ, DATA, length);
  write_register(b, 0x104, 6 << 16 | 1);
  write_register(a, 0x100, 5 << 16 | 1);
}

static void fill(node *n, uint32_t length) {
  uint32_t i;
  for (i = 0; i < length; i++) n->memory[DATA + i] = (uint8_t)(i * 7 + 1);
}

#endif
