/* What the clients of graphs by calls share: graphs, sessions, and their comparison. Include it
 * once, in the program's one file. */
#ifndef GE_TESTS_E2E_GRAPH_MADE_H_
#define GE_TESTS_E2E_GRAPH_MADE_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/clients/check.h"
#include "tests/e2e/clients/graph_calls.h"

#define CHECK(x) Check((x) ? 1 : 0, #x, __LINE__, &error)

static ge_error error = {.size = sizeof(ge_error)};
static const char* engines;
static const char* folder;

typedef struct {
  ge_graph_builder* graph;
  const ge_edit* e;
} Made;

static Made NewGraph(void) {
  const ge_graph_options o = {.size = sizeof o, .name = "made"};
  Made m = {NULL, NULL};
  CHECK(ge_graph_create(&o, &m.graph, &error) == GE_STATUS_OK);
  CHECK(ge_graph_edit(m.graph, &m.e, &error) == GE_STATUS_OK);
  if (!m.e) exit(1);
  return m;
}

/* That the last call of the graph failed with these words in its text, at this node. */
static void Refused(const Made* m, const char* words, const char* node, int line) {
  const ge_status status = ge_graph_error(m->graph, &error);
  Check(status != GE_STATUS_OK && status == error.status, "a failure is told", line, &error);
  Check(strstr(error.message, words) != NULL, words, line, &error);
  Check(strcmp(error.node, node) == 0, node, line, &error);
  error.message[0] = 0;
}
#define REFUSED(m, call, words, node)        \
  do {                                       \
    CHECK((call) == 0);                      \
    Refused((m), (words), (node), __LINE__); \
  } while (0)

static ge_session* NewSession(void) {
  ge_session_options o;
  ge_session* s = NULL;
  ge_session_options_init(&o);
  o.engines = engines;
  o.threads = 1;
  o.prices = GE_PRICES_ANALYTIC;
  CHECK(ge_session_create(&o, &s, &error) == GE_STATUS_OK);
  return s;
}

static ge_tensor TensorOf(int32_t dtype, int32_t rank, int64_t a, int64_t b, void* data,
                          uint64_t bytes) {
  ge_tensor t;
  memset(&t, 0, sizeof t);
  t.size = sizeof t;
  t.dtype = dtype;
  t.rank = rank;
  t.dims[0] = a;
  t.dims[1] = b;
  t.data = data;
  t.bytes = bytes;
  return t;
}

/* Text of the model after each stage that needs no shapes. */
static char* Dump(ge_session* s, const char* stage) {
  char* text = NULL;
  CHECK(ge_session_dump(s, NULL, stage, &text, &error) == GE_STATUS_OK);
  return text;
}

static void SameDumps(ge_session* a, ge_session* b, int line) {
  static const char* const kStages[] = {"load", "infer", "rewrite"};
  for (size_t i = 0; i < sizeof kStages / sizeof *kStages; ++i) {
    char *x = Dump(a, kStages[i]), *y = Dump(b, kStages[i]);
    const int same = x && y && strcmp(x, y) == 0;
    Check(same, kStages[i], line, NULL);
    if (!same) printf("--- made\n%s--- file\n%s", x ? x : "", y ? y : "");
    ge_text_release(x);
    ge_text_release(y);
  }
}

/* The graph as text and proto gives the same model at every stage; `s` has loaded it. */
static void SameFromFiles(const Made* m, ge_session* s, const char* name, int line) {
  static const char* const kEnds[] = {"gt", "gepb"};
  for (int i = 0; i < 2; ++i) {
    char path[512];
    ge_session* other = NewSession();
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, kEnds[i]);
    CHECK(ge_graph_save(m->graph, path, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
    CHECK(ge_session_load_file(other, path, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
    SameDumps(s, other, line);
    ge_session_destroy(other);
  }
}

#endif /* GE_TESTS_E2E_GRAPH_MADE_H_ */
