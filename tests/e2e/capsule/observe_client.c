/* Observed runs from C: observe_client MODEL FOLDER, MODEL being prepared.gt. Eight threads run one
 * session while their runs are recorded, then prepared and asynchronous runs; afterwards nothing
 * is. What was recorded is for the caller to replay. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, &error)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)
#define CHECK_SAYS(x, code, words) \
  Check((x) == (code) && strstr(error.message, words), #x, __LINE__, &error)

enum { kThreads = 8, kRuns = 5, kNumbers = 8, kMost = 40 };

static ge_error error = {.size = sizeof(ge_error)};

static ge_tensor Vector(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 1, .dims = {n}};
  t.data = data;
  t.bytes = (uint64_t)n * sizeof(float);
  return t;
}

static int TwiceOf(ge_session* s, float first, int n) {
  float x[kMost], y[kMost];
  for (int i = 0; i < n; ++i) x[i] = first + (float)i;
  ge_tensor in = Vector(x, n), out = Vector(y, n);
  ge_error mine = {.size = sizeof mine};
  if (ge_session_run(s, "twice", &in, 1, &out, 1, &mine) != GE_STATUS_OK) return 0;
  for (int i = 0; i < n; ++i) {
    if (y[i] != 2 * x[i]) return 0;
  }
  return 1;
}

static int Twice(ge_session* s, float first) { return TwiceOf(s, first, kNumbers); }

/* Later sizes have plans shaped like earlier ones, which keep no graph. */
static void Sizes(ge_session* s) {
  for (int n = 9; n <= kMost; n += 5) CHECK(TwiceOf(s, 3, n));
}

/* In pieces: the data decide how many are kept. */
static void Picks(ge_session* s, int from, int to) {
  float x[kMost], y[kMost];
  for (int n = from; n <= to; ++n) {
    for (int i = 0; i < kMost; ++i) x[i] = i < n ? (float)(i + 1) : 0;
    ge_tensor in = Vector(x, kMost), out = Vector(y, kMost);
    CHECK_OK(ge_session_run(s, "pick", &in, 1, &out, 1, &error));
    CHECK(out.dims[0] == n && y[n - 1] == (float)n);
  }
}

struct Share {
  ge_session* session;
  int number, good;
};

static void* RunShare(void* given) {
  struct Share* share = given;
  for (int i = 0; i < kRuns; ++i)
    share->good += Twice(share->session, (float)(share->number * 10 + i));
  return NULL;
}

static void Threads(ge_session* s) {
  pthread_t threads[kThreads];
  struct Share shares[kThreads];
  int good = 0;
  for (int i = 0; i < kThreads; ++i) {
    shares[i] = (struct Share){s, i, 0};
    CHECK(pthread_create(&threads[i], NULL, RunShare, &shares[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    good += shares[i].good;
  }
  CHECK(good == kThreads * kRuns);
}

static void OtherRuns(ge_session* s) {
  float x[kNumbers] = {1, 2, 3, 4, 5, 6, 7, 8}, y[kNumbers];
  ge_tensor in = Vector(x, kNumbers), out = Vector(y, kNumbers);
  ge_prepared* prepared = NULL;
  CHECK_OK(ge_prepared_create(s, "twice", &in, 1, &out, 1, &prepared, &error));
  CHECK_OK(ge_prepared_run(prepared, NULL, &error));
  CHECK(y[7] == 16);
  ge_prepared_destroy(prepared);
  ge_run* run = NULL;
  CHECK_OK(ge_session_run_async(s, "twice", &in, 1, &out, 1, NULL, NULL, &run, &error));
  CHECK_OK(ge_run_wait(run, UINT64_MAX, &error));
  ge_run_destroy(run);
}

static void Refused(ge_session* s) {
  ge_observe_options o = {.size = sizeof o, .record = "nowhere", .values = "much"};
  CHECK_SAYS(ge_session_observe(NULL, &o, &error), GE_STATUS_INVALID_ARGUMENT, "session is NULL");
  CHECK_SAYS(ge_session_observe(s, &o, &error), GE_STATUS_INVALID_ARGUMENT, "are 'much', wanted");
  o.values = NULL;
  o.record = NULL;
  CHECK_SAYS(ge_session_observe(s, &o, &error), GE_STATUS_INVALID_ARGUMENT, "record is NULL");
  o.record = "";
  CHECK_SAYS(ge_session_observe(s, &o, &error), GE_STATUS_INVALID_ARGUMENT, "have no place");
  o.record = "/dev/null/records";
  CHECK_SAYS(ge_session_observe(s, &o, &error), GE_STATUS_IO_ERROR,
             "no folder '/dev/null/records'");
  o.size = 8;
  CHECK_SAYS(ge_session_observe(s, &o, &error), GE_STATUS_INVALID_ARGUMENT,
             "ge_observe_options says that it is 8 bytes");
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, argv[1], GE_FORMAT_AUTO, &error));
  Refused(s);
  CHECK(Twice(s, 1)); /* planned before anybody looks */
  Sizes(s);
  Picks(s, 3, 12);
  ge_observe_options o = {.size = sizeof o, .record = argv[2], .values = "border"};
  CHECK_OK(ge_session_observe(s, &o, &error));
  Threads(s);
  Sizes(s);
  OtherRuns(s);
  Picks(s, 10, 15);
  CHECK_OK(ge_session_observe(s, NULL, &error));
  CHECK(Twice(s, 2));
  ge_session_destroy(s);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
