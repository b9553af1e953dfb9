/* Two golden engines talk: a send, its frame, its completion entries, all looked at in bytes. */
#include "node.h"

enum { LENGTH = 700 };

static node a, b;

/* Steps `a` until its send leaves, and takes the frame. */
static void send_leaves(uint8_t *frame, size_t *length) {
  uint8_t record[TANDEM_COMMIT_BYTES];
  char text[200];
  tandem_effect effect;
  tandem_barriers barriers;
  DO(tandem_engine_step(a.engine, record));
  DO(tandem_action_text(record, text, sizeof text, NULL));
  CHECK(strcmp(text, "SqDoorbell: queue pair 5, producer index 1") == 0);
  DO(tandem_engine_step(a.engine, record));
  DO(tandem_action_text(record, text, sizeof text, NULL));
  CHECK(strcmp(text, "SqEmit: queue pair 5, request 0, psn 0x000100") == 0);
  DO(tandem_engine_next_effect(a.engine, &effect));
  CHECK(effect.kind == TANDEM_FRAME && effect.payload_barrier == 0);
  CHECK(effect.length == 14 + 20 + 8 + 12 + LENGTH + 4);
  memcpy(frame, effect.bytes, effect.length);
  *length = effect.length;
  DO(tandem_engine_barriers(a.engine, &barriers));
  CHECK(barriers.gather_reads == 1 && barriers.payload_writes == 0);
}

/* What is refused changes nothing, and says why. */
static void refused(void) {
  uint8_t records[4 * TANDEM_COMMIT_BYTES], wrong[TANDEM_COMMIT_BYTES];
  char text[500];
  size_t count = 0, length = 0;
  tandem_illegal illegal;
  tandem_effect effect;
  uint32_t state = 0;
  tandem_engine *other = tandem_engine_clone(a.engine);
  CHECK(other);
  EXPECT(TANDEM_NONE, tandem_engine_illegal(other, &illegal));
  EXPECT(TANDEM_ERR_SHORT, tandem_engine_enabled(other, records, 0, &count));
  CHECK(count == 1);
  DO(tandem_engine_enabled(other, records, 4, &count));
  DO(tandem_engine_apply(other, records));
  EXPECT(TANDEM_ILLEGAL, tandem_engine_apply(other, records));
  DO(tandem_engine_enabled(other, records, 4, &count));
  CHECK(count == 1 && get(records, 14, "commit", "kind") == 6);
  memcpy(wrong, records, sizeof wrong);
  set(wrong, 14, "commit", "psn", PSN + 1);
  EXPECT(TANDEM_ILLEGAL, tandem_engine_apply(other, wrong));
  DO(tandem_last_error(text, sizeof text, &length));
  CHECK(length == strlen(text));
  CHECK(strstr(text, "room send: ") && strstr(text, "psn 0x000101 instead of 0x000100"));
  DO(tandem_engine_illegal(other, &illegal));
  CHECK(illegal.room == TANDEM_ROOM_SEND && illegal.has_expected == 1);
  CHECK(memcmp(illegal.expected, records, sizeof illegal.expected) == 0);
  EXPECT(TANDEM_NONE, tandem_engine_next_effect(other, &effect));
  DO(tandem_engine_apply(other, illegal.expected));
  DO(tandem_engine_next_effect(other, &effect));
  set(wrong, 14, "commit", "kind", 200);
  EXPECT(TANDEM_ERR_VALUE, tandem_engine_apply(other, wrong));
  DO(tandem_engine_describe_qp(other, 5, text, sizeof text, NULL));
  CHECK(strncmp(text, "queue pair 5: Rts", 17) == 0);
  DO(tandem_engine_qp_state(other, 5, &state));
  CHECK(state == QP_RTS);
  EXPECT(TANDEM_NONE, tandem_engine_qp_state(other, 1 << 20, &state));
  DO(tandem_engine_free(other));
}

static void frame_as_it_must_be(const uint8_t *f) {
  static const uint8_t macs[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
  static const uint8_t ips[8] = {192, 0, 2, 1, 192, 0, 2, 2};
  CHECK(memcmp(f, macs, 12) == 0 && f[12] == 8 && f[13] == 0);
  CHECK(memcmp(f + 26, ips, 8) == 0);
  CHECK(f[34] == 0xC0 && f[35] == 5 && f[36] == 0x12 && f[37] == 0xB7); /* UDP ports */
  CHECK(f[42] == 0x04);                                                 /* SEND Only */
  CHECK(f[47] == 0 && f[48] == 0 && f[49] == 6);                        /* DestQP */
  CHECK(f[51] == 0 && f[52] == 1 && f[53] == 0);                        /* PSN */
  CHECK(memcmp(f + 54, a.memory + DATA, LENGTH) == 0);
}

static void entry(const node *n, int receive) {
  const uint8_t *e = n->memory + CQ;
  CHECK(get(e, 32, "cqe", "phase") == 1);
  CHECK(get(e, 32, "cqe", "status") == 0);
  CHECK(get(e, 32, "cqe", "wqe_index") == 0);
  CHECK(get(e, 32, "cqe", "qpn") == (receive ? 6u : 5u));
  CHECK(get(e, 32, "cqe", "receive") == (uint64_t)receive);
  CHECK(get(e, 32, "cqe", "opcode") == (receive ? 0x80u : 1u));
  CHECK(get(e, 32, "cqe", "byte_len") == (receive ? (uint64_t)LENGTH : 0u));
}

int main(void) {
  uint8_t frame[2048];
  size_t length = 0;
  uint32_t value = 0;
  CHECK(tandem_abi() == TANDEM_ABI);
  start(&a, 1, NULL);
  start(&b, 2, NULL);
  DO(tandem_engine_read_register(a.engine, 0, &value));
  CHECK(value == 0x4D444E54);
  /* a by a callback, b by pushes */
  DO(tandem_engine_set_reader(a.engine, reader, &a));
  connect_nodes(&a, &b);
  fill(&a, LENGTH);
  post(&a, &b, LENGTH);
  refused();
  send_leaves(frame, &length);
  frame_as_it_must_be(frame);
  CHECK(memcmp(b.memory + DATA, a.memory + DATA, LENGTH) != 0);
  DO(tandem_engine_receive_frame(b.engine, frame, length));
  while (step(&b, &a) || step(&a, &b)) {}
  CHECK(memcmp(b.memory + DATA, a.memory + DATA, LENGTH) == 0);
  entry(&a, 0);
  entry(&b, 1);
  DO(tandem_engine_is_idle(a.engine, &value));
  CHECK(value == 1);
  DO(tandem_engine_interrupt(a.engine, &value));
  CHECK(value == 0);
  DO(tandem_engine_free(a.engine));
  DO(tandem_engine_free(b.engine));
  puts("ok");
  return 0;
}
