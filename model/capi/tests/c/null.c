/* Wrong arguments: each is told by its code, none is an accident. */
#include "node.h"

static node a;

/* Calls for the engine whose callback it is. */
static int32_t calls_back(void *user, uint32_t channel, uint64_t address, uint8_t *bytes, size_t length) {
  uint32_t value = 0;
  (void)channel, (void)address, (void)bytes, (void)length;
  EXPECT(TANDEM_ERR_BUSY, tandem_engine_interrupt((tandem_engine *)user, &value));
  EXPECT(TANDEM_ERR_BUSY, tandem_engine_free((tandem_engine *)user));
  return -1;
}

static void engines(void) {
  uint8_t record[TANDEM_COMMIT_BYTES] = {6, 5};
  tandem_config config;
  tandem_effect effect;
  tandem_read need;
  uint32_t value;
  char text[100];
  EXPECT(TANDEM_ERR_NULL, tandem_config_default(NULL));
  DO(tandem_config_default(&config));
  config.log2_qps = 17;
  CHECK(tandem_engine_new(&config) == NULL);
  DO(tandem_last_error(text, sizeof text, NULL));
  CHECK(strcmp(text, "log2_qps is 17, at most 16") == 0);
  DO(tandem_config_default(&config));
  config.responses = 0;
  CHECK(tandem_engine_new(&config) == NULL && tandem_checker_new(&config, NULL, 0) == NULL);
  CHECK(tandem_engine_clone(NULL) == NULL);
  DO(tandem_engine_free(NULL));
  DO(tandem_checker_free(NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_write_register(NULL, 0, 0));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_read_register(NULL, 0, &value));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_read_register(a.engine, 0, NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_receive_frame(a.engine, NULL, 4));
  EXPECT(TANDEM_ERR_VALUE, tandem_engine_receive_frame(a.engine, record, SIZE_MAX));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_apply(a.engine, NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_apply(NULL, record));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_step(NULL, NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_next_effect(a.engine, NULL));
  EXPECT(TANDEM_NONE, tandem_engine_next_effect(a.engine, &effect));
  EXPECT(TANDEM_NONE, tandem_engine_needed(a.engine, &need));
  EXPECT(TANDEM_ERR_VALUE, tandem_engine_push_read(a.engine, 3, 0, record, 14, 0));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_push_read(a.engine, 2, 0, NULL, 14, 0));
  DO(tandem_engine_push_read(a.engine, 2, 0, NULL, 14, 1));
  DO(tandem_engine_clear_reads(a.engine));
  EXPECT(TANDEM_ERR_SHORT, tandem_engine_describe_qp(a.engine, 5, text, 4, NULL));
  CHECK(strcmp(text, "que") == 0);
  EXPECT(TANDEM_ERR_SHORT, tandem_engine_describe_qp(a.engine, 5, text, 0, NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_engine_describe_qp(a.engine, 5, NULL, 4, NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_last_error(NULL, 4, NULL));
}

static void records(void) {
  uint8_t record[TANDEM_COMMIT_BYTES] = {0};
  char text[100];
  uint64_t value = 0;
  uint32_t bit = 0, width = 0;
  EXPECT(TANDEM_ERR_VALUE, tandem_action_text(record, text, sizeof text, NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_action_text(NULL, text, sizeof text, NULL));
  EXPECT(TANDEM_ERR_VALUE, tandem_set_field(record, 14, "commits", "kind", 1));
  EXPECT(TANDEM_ERR_VALUE, tandem_set_field(record, 14, "commit", "kinds", 1));
  EXPECT(TANDEM_ERR_VALUE, tandem_set_field(record, 14, "commit", "kind", 256));
  EXPECT(TANDEM_ERR_VALUE, tandem_set_field(record, 14, "commit", "\xFF", 1));
  EXPECT(TANDEM_ERR_SHORT, tandem_set_field(record, 13, "commit", "kind", 1));
  EXPECT(TANDEM_ERR_NULL, tandem_set_field(NULL, 14, "commit", "kind", 1));
  EXPECT(TANDEM_ERR_NULL, tandem_set_field(record, 14, NULL, "kind", 1));
  EXPECT(TANDEM_ERR_NULL, tandem_get_field(record, 14, "commit", "kind", NULL));
  EXPECT(TANDEM_ERR_VALUE, tandem_get_field(a.memory, 64, "qp_context", "remote_ip", &value));
  EXPECT(TANDEM_ERR_NULL, tandem_field("commit", "psn", NULL, &width));
  DO(tandem_field("commit", "psn", &bit, &width));
  CHECK(bit == 48 && width == 24);
  DO(tandem_set_field(record, 14, "commit", "psn", 0x123456));
  CHECK(record[6] == 0x56 && record[7] == 0x34 && record[8] == 0x12);
}

static void checkers(void) {
  tandem_checker *checker = tandem_checker_new(NULL, NULL, 0);
  CHECK(checker && tandem_checker_new(NULL, "\xFF", 0) == NULL);
  EXPECT(TANDEM_ERR_NULL, tandem_checker_clock(NULL, 1, 0));
  EXPECT(TANDEM_ERR_NULL, tandem_checker_commit(checker, NULL));
  EXPECT(TANDEM_ERR_NULL, tandem_checker_frame_in(checker, NULL, 1));
  EXPECT(TANDEM_ERR_VALUE, tandem_checker_written(checker, 2, 0, NULL, 0));
  EXPECT(TANDEM_ERR_VALUE, tandem_checker_answered(checker, 2));
  EXPECT(TANDEM_ERR_VALUE, tandem_checker_read(checker, 0, ~(uint64_t)7, a.memory, 16, 0, 0));
  EXPECT(TANDEM_ERR_NULL, tandem_checker_busy(checker, NULL));
  DO(tandem_checker_free(checker));
}

int main(void) {
  uint8_t record[TANDEM_COMMIT_BYTES];
  start(&a, 1, NULL);
  engines();
  records();
  checkers();
  /* A callback must not call for its own engine; that it has no answer is told. */
  queue_pair(&a, &a, 5, 5, QP_INIT);
  queue_pair(&a, &a, 5, 5, QP_RTS);
  DO(tandem_engine_set_reader(a.engine, calls_back, a.engine));
  write_register(&a, 0x100, 5 << 16 | 1);
  DO(tandem_engine_step(a.engine, record));
  EXPECT(TANDEM_NEED_READ, tandem_engine_step(a.engine, record));
  DO(tandem_engine_free(a.engine));
  puts("ok");
  return 0;
}
