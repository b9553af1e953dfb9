/* The checker beside an engine: a right one passes, one bit of a frame is found. */
#include "node.h"

enum { LENGTH = 700 };

static node a, b;

static void conversation(uint8_t flip) {
  start(&a, 1, tandem_checker_new(NULL, "a", 1));
  start(&b, 2, tandem_checker_new(NULL, "b", 1));
  CHECK(a.checker && b.checker);
  DO(tandem_engine_set_reader(a.engine, reader, &a));
  connect_nodes(&a, &b);
  fill(&a, LENGTH);
  post(&a, &b, LENGTH);
  a.flip = flip;
  while (step(&b, &a) || step(&a, &b)) {}
}

static void ended(void) {
  DO(tandem_checker_free(a.checker));
  DO(tandem_checker_free(b.checker));
  DO(tandem_engine_free(a.engine));
  DO(tandem_engine_free(b.engine));
}

int main(void) {
  tandem_summary summary;
  char text[4000];
  uint32_t busy = 1;
  const uint8_t none[TANDEM_COMMIT_BYTES] = {0};

  conversation(0);
  DO(tandem_checker_busy(b.checker, &busy));
  CHECK(busy == 0);
  DO(tandem_checker_finish(a.checker, 0, &summary));
  CHECK(summary.frames == 1 && summary.payload_writes == 0 && summary.completion_writes == 1);
  DO(tandem_checker_finish(b.checker, 0, &summary));
  CHECK(summary.frames == 1 && summary.payload_writes >= 1 && summary.completion_writes == 1);
  EXPECT(TANDEM_NONE, tandem_checker_text(b.checker, text, sizeof text, NULL));
  EXPECT(TANDEM_NONE, tandem_checker_busy(b.checker, &busy));
  ended();

  conversation(1);
  EXPECT(TANDEM_DIVERGED, tandem_checker_finish(a.checker, 0, NULL));
  DO(tandem_checker_text(a.checker, text, sizeof text, NULL));
  CHECK(strstr(text, "divergence on node a"));
  CHECK(strstr(text, "SqEmit: queue pair 5, request 0, psn 0x000100"));
  EXPECT(TANDEM_DIVERGED, tandem_checker_register(a.checker, 0, 0));

  /* What is no record is a difference of the engine; clocks that go back are a mistake of the bench. */
  EXPECT(TANDEM_ERR_VALUE, tandem_checker_clock(b.checker, 1, 0));
  EXPECT(TANDEM_ERR_VALUE, tandem_checker_read(b.checker, TANDEM_GATHER, 4, none, 8, 0, 0));
  DO(tandem_checker_commit(b.checker, none));
  EXPECT(TANDEM_DIVERGED, tandem_checker_finish(b.checker, 0, NULL));
  ended();
  puts("ok");
  return 0;
}
