/*
 * What tandem_dpi.sv needs beside the library: commit records as vectors, structures as single arguments, texts.
 * C and C++ compilers take it. A text is good until the next text is asked for; the simulator copies it at once.
 */
#include <stdlib.h>
#include <string.h>

#include "svdpi.h"
#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_BYTES = 16384 }; /* MaxBytes of the package */

/* A text that the simulator has not copied yet. */
static char text[65536];

static void to_bytes(uint8_t *record, const svBitVecVal *vector) {
  int i;
  for (i = 0; i < TANDEM_COMMIT_BYTES; i++) record[i] = (uint8_t)(vector[i / 4] >> (8 * (i % 4)));
}

static void to_vector(svBitVecVal *vector, const uint8_t *record) {
  int i;
  memset(vector, 0, sizeof *vector * ((TANDEM_COMMIT_BYTES + 3) / 4));
  for (i = 0; i < TANDEM_COMMIT_BYTES; i++) vector[i / 4] |= (svBitVecVal)record[i] << (8 * (i % 4));
}

static void sizes(tandem_config *config, unsigned log2_qps, unsigned log2_cqs, unsigned log2_srqs, unsigned log2_tokens,
                  unsigned log2_pages, unsigned max_read, unsigned responses) {
  /* What does not fit into a byte is too great anyway; the library says so. */
  config->log2_qps = (uint8_t)(log2_qps > 255 ? 255 : log2_qps);
  config->log2_cqs = (uint8_t)(log2_cqs > 255 ? 255 : log2_cqs);
  config->log2_srqs = (uint8_t)(log2_srqs > 255 ? 255 : log2_srqs);
  config->log2_tokens = (uint8_t)(log2_tokens > 255 ? 255 : log2_tokens);
  config->log2_pages = (uint8_t)(log2_pages > 255 ? 255 : log2_pages);
  config->max_read = (uint8_t)(max_read > 255 ? 255 : max_read);
  config->responses = responses;
}

const char *tandem_last_error_v(void) {
  tandem_last_error(text, sizeof text, NULL);
  return text;
}

const char *tandem_action_text_v(const svBitVecVal *commit) {
  uint8_t record[TANDEM_COMMIT_BYTES];
  to_bytes(record, commit);
  if (tandem_action_text(record, text, sizeof text, NULL) < 0) return tandem_last_error_v();
  return text;
}

void *tandem_engine_new_v(unsigned log2_qps, unsigned log2_cqs, unsigned log2_srqs, unsigned log2_tokens,
                          unsigned log2_pages, unsigned max_read, unsigned responses) {
  tandem_config config;
  sizes(&config, log2_qps, log2_cqs, log2_srqs, log2_tokens, log2_pages, max_read, responses);
  return tandem_engine_new(&config);
}

const char *tandem_engine_describe_qp_v(void *engine, unsigned qpn) {
  if (tandem_engine_describe_qp((tandem_engine *)engine, qpn, text, sizeof text, NULL) < 0) return tandem_last_error_v();
  return text;
}

int tandem_engine_needed_v(void *engine, unsigned *channel, unsigned long long *address, unsigned *length) {
  tandem_read read;
  int32_t code = tandem_engine_needed((tandem_engine *)engine, &read);
  if (code != TANDEM_OK) return code;
  *channel = read.channel;
  *address = read.address;
  *length = read.length;
  return code;
}

int tandem_engine_apply_v(void *engine, const svBitVecVal *commit) {
  uint8_t record[TANDEM_COMMIT_BYTES];
  to_bytes(record, commit);
  return tandem_engine_apply((tandem_engine *)engine, record);
}

int tandem_engine_step_v(void *engine, svBitVecVal *commit) {
  uint8_t record[TANDEM_COMMIT_BYTES] = {0};
  int32_t code = tandem_engine_step((tandem_engine *)engine, record);
  to_vector(commit, record);
  return code;
}

int tandem_engine_enabled_v(void *engine, unsigned index, svBitVecVal *commit) {
  uint8_t *records;
  size_t count = 0;
  int32_t code = tandem_engine_enabled((tandem_engine *)engine, NULL, 0, &count);
  if (code != TANDEM_OK && code != TANDEM_ERR_SHORT) return code;
  if (index >= count) return TANDEM_NONE;
  records = (uint8_t *)calloc(count, TANDEM_COMMIT_BYTES);
  if (!records) return TANDEM_ERR_SYSTEM;
  code = tandem_engine_enabled((tandem_engine *)engine, records, count, &count);
  if (code == TANDEM_OK) to_vector(commit, records + (size_t)index * TANDEM_COMMIT_BYTES);
  free(records);
  return code;
}

int tandem_engine_illegal_v(void *engine, unsigned *room, unsigned *has_expected, svBitVecVal *expected) {
  tandem_illegal illegal;
  int32_t code = tandem_engine_illegal((tandem_engine *)engine, &illegal);
  if (code != TANDEM_OK) return code;
  *room = illegal.room;
  *has_expected = illegal.has_expected;
  to_vector(expected, illegal.expected);
  return code;
}

int tandem_engine_next_effect_v(void *engine, unsigned *kind, unsigned long long *address, unsigned char *bytes,
                                unsigned *length) {
  tandem_effect effect;
  int32_t code = tandem_engine_next_effect((tandem_engine *)engine, &effect);
  if (code != TANDEM_OK) return code;
  if (effect.length > MAX_BYTES) return TANDEM_ERR_SHORT;
  *kind = effect.kind;
  *address = effect.address;
  *length = (unsigned)effect.length;
  memcpy(bytes, effect.bytes, effect.length);
  return code;
}

void *tandem_checker_new_v(unsigned log2_qps, unsigned log2_cqs, unsigned log2_srqs, unsigned log2_tokens,
                           unsigned log2_pages, unsigned max_read, unsigned responses, const char *node,
                           unsigned long long seed) {
  tandem_config config;
  sizes(&config, log2_qps, log2_cqs, log2_srqs, log2_tokens, log2_pages, max_read, responses);
  return tandem_checker_new(&config, node, seed);
}

int tandem_checker_commit_v(void *checker, const svBitVecVal *commit) {
  uint8_t record[TANDEM_COMMIT_BYTES];
  to_bytes(record, commit);
  return tandem_checker_commit((tandem_checker *)checker, record);
}

int tandem_checker_finish_v(void *checker, int interrupt, unsigned long long *actions, unsigned long long *frames,
                            unsigned long long *payload_writes, unsigned long long *completion_writes) {
  tandem_summary summary = {0, 0, 0, 0};
  int32_t code = tandem_checker_finish((tandem_checker *)checker, interrupt, &summary);
  *actions = summary.actions;
  *frames = summary.frames;
  *payload_writes = summary.payload_writes;
  *completion_writes = summary.completion_writes;
  return code;
}

const char *tandem_checker_text_v(void *checker) {
  int32_t code = tandem_checker_text((tandem_checker *)checker, text, sizeof text, NULL);
  if (code < 0 && code != TANDEM_ERR_SHORT) return tandem_last_error_v();
  if (code == TANDEM_NONE) text[0] = 0;
  return text;
}

#ifdef __cplusplus
}
#endif
