/* Runs in flight at once, of a kernel whose threads wait for each other: each ends, with the
 * numbers of a run alone. team_client MODEL ENGINES, MODEL being conv_grad_weight.gt. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, &error)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)

enum { kThreads = 3, kRuns = 40, kX = 8 * 16 * 32 * 32, kDy = 8 * 32 * 32 * 32, kDw = 32 * 16 * 9 };

static ge_error error = {.size = sizeof(ge_error)};
static ge_session* session;
static float x[kX], dy[kDy], wanted[kDw];

static ge_tensor Image(float* data, int64_t a, int64_t b, int64_t side) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 4, .dims = {a, b, side, side}};
  t.data = data;
  t.bytes = (uint64_t)(a * b * side * side) * sizeof(float);
  return t;
}

static ge_status Run(float* dw) {
  ge_tensor in[2] = {Image(x, 8, 16, 32), Image(dy, 8, 32, 32)}, out = Image(dw, 32, 16, 3);
  return ge_session_run(session, "main", in, 2, &out, 1, NULL);
}

static void* Runs(void* wrong) {
  float* dw = malloc(kDw * sizeof(float));
  for (int k = 0; dw && k < kRuns; ++k) {
    int good = Run(dw) == GE_STATUS_OK;
    for (int i = 0; i < kDw; ++i) good &= fabsf(dw[i] - wanted[i]) <= 1e-2f;
    *(int*)wrong += !good;
  }
  free(dw);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = argv[2];
  options.threads = 2;
  CHECK_OK(ge_session_create(&options, &session, &error));
  CHECK_OK(ge_session_load_file(session, argv[1], GE_FORMAT_AUTO, &error));
  for (int i = 0; i < kX; ++i) x[i] = (float)(i * 7 % 13 - 6);
  for (int i = 0; i < kDy; ++i) dy[i] = (float)(i * 5 % 11 - 5) / 8;
  CHECK_OK(Run(wanted));
  pthread_t thread[kThreads];
  int wrong[kThreads] = {0};
  for (int t = 0; t < kThreads; ++t) CHECK(pthread_create(&thread[t], NULL, Runs, &wrong[t]) == 0);
  for (int t = 0; t < kThreads; ++t) {
    CHECK(pthread_join(thread[t], NULL) == 0);
    CHECK(wrong[t] == 0);
  }
  ge_session_destroy(session);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
