/* Prepared runs and the limits of single calls: what is bound, bound anew, refused; states, plans
 * that are replaced or evicted, entries that run in pieces; what a call costs, and that it
 * allocates nothing. prepared_client MODEL ENGINES [SLOW_ENGINES], MODEL being prepared.gt. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, &error)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)
#define CHECK_BAD(x, words) \
  Check((x) == GE_STATUS_INVALID_ARGUMENT && strstr(error.message, words), #x, __LINE__, &error)

static ge_error error = {.size = sizeof(ge_error)};

static ge_session* Open(const char* model, const char* engines, uint64_t plan_cache_bytes) {
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.engines = engines;
  options.plan_cache_bytes = plan_cache_bytes;
  options.prices = GE_PRICES_ANALYTIC;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  return s;
}

static ge_tensor Vector(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 1, .dims = {n}};
  t.data = data;
  t.bytes = (uint64_t)n * sizeof(float);
  return t;
}

static int IsTwice(const float* x, const float* y, int n) {
  for (int i = 0; i < n; ++i) {
    if (y[i] != 2 * x[i]) return 0;
  }
  return 1;
}

/* ---- what is bound ----------------------------------------------------------------------------
 */

static void Binding(ge_session* s) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, other[8] = {9, 8, 7, 6, 5, 4, 3, 2}, y[8], z[12];
  ge_tensor in = Vector(x, 8), out = Vector(y, 8), seen = {.size = sizeof seen}, t;
  ge_prepared* p = NULL;
  CHECK_OK(ge_prepared_create(s, "twice", &in, 1, &out, 1, &p, &error));
  CHECK(out.rank == 1 && out.dims[0] == 8 && out.dtype == 1 && out.flags == 0);
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(IsTwice(x, y, 8));
  x[3] = -7; /* the buffer is read anew */
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(IsTwice(x, y, 8));
  in = Vector(other, 8);
  CHECK_OK(ge_prepared_set_input(p, 0, &in, &error));
  t = Vector(z, 12); /* a larger buffer will do */
  CHECK_OK(ge_prepared_set_output(p, 0, &t, &error));
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(IsTwice(other, z, 8) && IsTwice(x, y, 8));
  CHECK_OK(ge_prepared_output(p, 0, &seen, &error));
  CHECK(seen.data == z && seen.bytes == 32 && seen.dims[0] == 8 && seen.flags == 0);
  /* What does not fit leaves what is bound. */
  t = Vector(x, 7);
  CHECK_BAD(ge_prepared_set_input(p, 0, &t, &error), "prepared with f32[8]");
  t = Vector(x, 8);
  t.dtype = 6;
  CHECK_BAD(ge_prepared_set_input(p, 0, &t, &error), "is i32[8]");
  t = Vector(NULL, 8);
  CHECK_BAD(ge_prepared_set_input(p, 0, &t, &error), "has no data");
  t = Vector(x, 8);
  CHECK_BAD(ge_prepared_set_input(p, 1, &t, &error), "no input 1");
  CHECK_BAD(ge_prepared_set_output(p, 1, &t, &error), "no output 1");
  CHECK_BAD(ge_prepared_output(p, 1, &seen, &error), "no output 1");
  t = Vector(y, 7);
  CHECK_BAD(ge_prepared_set_output(p, 0, &t, &error), "at least 32");
  t = Vector(other + 1, 8);
  CHECK_BAD(ge_prepared_set_output(p, 0, &t, &error), "overlap");
  t = Vector(NULL, 8);
  CHECK_BAD(ge_prepared_set_output(p, 0, &t, &error), "data is NULL");
  memset(z, 0, sizeof z);
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(IsTwice(other, z, 8));
  ge_prepared_destroy(p);
}

/* All buffers of a run at once: also such as exchange their places, an input and an output. */
static void RunOn(ge_session* s) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], z[8];
  ge_tensor in = Vector(x, 8), out = Vector(y, 8), seen = {.size = sizeof seen};
  ge_prepared* p = NULL;
  CHECK_OK(ge_prepared_create(s, "twice", &in, 1, &out, 1, &p, &error));
  void *at_x = x, *at_y = y, *at_z = z, *none = NULL, *behind = x + 1;
  CHECK_OK(ge_prepared_run_on(p, &at_x, &at_y, NULL, &error));
  CHECK(IsTwice(x, y, 8));
  CHECK_OK(ge_prepared_run_on(p, &at_y, &at_z, NULL, &error));
  CHECK(IsTwice(y, z, 8));
  CHECK_OK(ge_prepared_run_on(p, &at_z, &at_y, NULL, &error));
  CHECK(IsTwice(z, y, 8));
  CHECK_BAD(ge_prepared_run_on(p, &at_x, &behind, NULL, &error), "overlap");
  CHECK_BAD(ge_prepared_run_on(p, &none, &at_y, NULL, &error), "inputs[0] has no data");
  CHECK_BAD(ge_prepared_run_on(p, &at_x, &none, NULL, &error), "outputs[0] has no data");
  CHECK_BAD(ge_prepared_run_on(p, NULL, &at_y, NULL, &error), "inputs is NULL");
  CHECK_BAD(ge_prepared_run_on(p, &at_x, NULL, NULL, &error), "outputs is NULL");
  CHECK_BAD(ge_prepared_run_on(NULL, &at_x, &at_y, NULL, &error), "prepared is NULL");
  CHECK_OK(ge_prepared_output(p, 0, &seen, &error));
  CHECK(seen.data == y && seen.bytes == 32);
  ge_prepared_destroy(p);
}

static void Refused(ge_session* s) {
  float x[8] = {0}, y[8];
  ge_tensor in = Vector(x, 8), out = Vector(y, 8), brief = in;
  ge_prepared* p = (ge_prepared*)(void*)x;
  brief.size = 8;
  CHECK_BAD(ge_prepared_create(NULL, "twice", &in, 1, &out, 1, &p, &error), "session is NULL");
  CHECK(p == NULL);
  CHECK_BAD(ge_prepared_create(s, "twice", &in, 1, &out, 1, NULL, &error), "out is NULL");
  CHECK_BAD(ge_prepared_create(s, "nobody", &in, 1, &out, 1, &p, &error), "no entry 'nobody'");
  CHECK_BAD(ge_prepared_create(s, "twice", &brief, 1, &out, 1, &p, &error), "ge_tensor");
  CHECK_BAD(ge_prepared_create(s, "twice", &in, 0, &out, 1, &p, &error), "takes 1 inputs");
  CHECK_BAD(ge_prepared_create(s, "twice", &in, 1, &out, 0, &p, &error), "1 outputs");
  in.data = NULL;
  CHECK_BAD(ge_prepared_create(s, "twice", &in, 1, &out, 1, &p, &error), "has no data");
  in.data = y;
  CHECK_BAD(ge_prepared_create(s, "twice", &in, 1, &out, 1, &p, &error), "overlap");
  CHECK_BAD(ge_prepared_run(NULL, NULL, &error), "prepared is NULL");
  CHECK_BAD(ge_prepared_set_input(NULL, 0, &in, &error), "prepared is NULL");
  CHECK_BAD(ge_prepared_set_output(NULL, 0, &in, &error), "prepared is NULL");
  CHECK_BAD(ge_prepared_output(NULL, 0, &in, &error), "prepared is NULL");
  ge_prepared_destroy(NULL);
}

/* Memory that the session makes is the caller's, and outlives both. */
static void Allocated(const char* model, const char* engines) {
  float x[5] = {1, 2, 3, 4, 5};
  ge_session* s = Open(model, engines, 0);
  ge_tensor in = Vector(x, 5), out = {.size = sizeof out};
  ge_prepared* p = NULL;
  CHECK_OK(ge_prepared_create(s, NULL, &in, 1, &out, 1, &p, &error));
  CHECK(out.flags == GE_TENSOR_ALLOCATED && out.bytes == 20);
  ge_session_destroy(s); /* the prepared run keeps what it needs */
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  ge_prepared_destroy(p);
  CHECK(out.data && IsTwice(x, out.data, 5));
  ge_tensor_release(&out);
}

static void State(ge_session* s) {
  float x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, y[8];
  ge_tensor in = Vector(x, 8), out = Vector(y, 8);
  ge_prepared* p = NULL;
  CHECK_OK(ge_session_reset_states(s, &error));
  CHECK_OK(ge_prepared_create(s, "add", &in, 1, &out, 1, &p, &error));
  for (int i = 0; i < 3; ++i) CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(y[0] == 3 && y[7] == 3);
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(y[0] == 5);
  ge_prepared_destroy(p);
}

/* What the data decide: dims are those of the last run, and buffers must be there. */
static void Pieces(ge_session* s) {
  float x[6] = {0, 1, 0, 2, 3, 0}, y[6];
  ge_tensor in = Vector(x, 6), out = Vector(y, 6), none = {.size = sizeof none}, seen = none;
  ge_prepared* p = NULL;
  CHECK_BAD(ge_prepared_create(s, "pick", &in, 1, &none, 1, &p, &error),
            "output 'y' has no buffer");
  CHECK_OK(ge_prepared_create(s, "pick", &in, 1, &out, 1, &p, &error));
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK_OK(ge_prepared_output(p, 0, &seen, &error));
  CHECK(seen.dims[0] == 3 && seen.bytes == 12 && y[0] == 1 && y[2] == 3);
  x[0] = 9;
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK_OK(ge_prepared_output(p, 0, &seen, &error));
  CHECK(seen.dims[0] == 4 && seen.data == y && y[0] == 9);
  out = Vector(y, 3);
  CHECK_OK(ge_prepared_set_output(p, 0, &out, &error));
  CHECK_BAD(ge_prepared_run(p, NULL, &error), "at least 16");
  x[0] = 0;
  CHECK_OK(ge_prepared_run(p, NULL, &error)); /* as before the one that failed */
  ge_prepared_destroy(p);
}

/* Its plan gives way to others in the session, and stays here. */
static void Evicted(const char* model, const char* engines) {
  float x[64], y[64], z[64];
  ge_session* s = Open(model, engines, 1);
  ge_prepared* p = NULL;
  ge_tensor in = Vector(x, 16), out = Vector(y, 16), more, to;
  for (int i = 0; i < 64; ++i) x[i] = (float)i;
  CHECK_OK(ge_prepared_create(s, "twice", &in, 1, &out, 1, &p, &error));
  for (int n = 17; n < 64; ++n) {
    more = Vector(x, n);
    to = Vector(z, n);
    CHECK_OK(ge_session_run(s, "twice", &more, 1, &to, 1, &error));
  }
  char* report = NULL;
  CHECK_OK(ge_session_report(s, "twice", &report, &error));
  CHECK(report && strstr(report, "\"evicted\":0,") == NULL);
  ge_text_release(report);
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(IsTwice(x, y, 16));
  ge_prepared_destroy(p);
  ge_session_destroy(s);
}

/* Runs may replace the plan; nobody notices but by the time. */
static void Replanned(const char* model, const char* engines) {
  float x[512], y[512];
  ge_session_options options;
  ge_session* s = NULL;
  ge_prepared* p = NULL;
  ge_tensor in = Vector(x, 512), out = Vector(y, 512);
  for (int i = 0; i < 512; ++i) x[i] = (float)i;
  ge_session_options_init(&options);
  options.engines = engines;
  options.replan = 1;
  options.prices = GE_PRICES_ANALYTIC;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  CHECK_OK(ge_prepared_create(s, "twice", &in, 1, &out, 1, &p, &error));
  int wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    y[0] = y[511] = -1;
    wrong += ge_prepared_run(p, NULL, &error) != GE_STATUS_OK || !IsTwice(x, y, 512);
  }
  CHECK(wrong == 0);
  ge_prepared_destroy(p);
  ge_session_destroy(s);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

struct Shared {
  ge_prepared* p;
  atomic_int good, busy, other;
};
static void* RunShared(void* context) {
  struct Shared* shared = context;
  for (int i = 0; i < 500; ++i) {
    ge_error mine = {.size = sizeof mine};
    const ge_status status = ge_prepared_run(shared->p, NULL, &mine);
    if (status == GE_STATUS_OK) {
      ++shared->good;
    } else {
      const int told = status == GE_STATUS_FAILED_PRECONDITION && strstr(mine.message, "thread");
      ++*(told ? &shared->busy : &shared->other);
    }
  }
  return NULL;
}

/* Either it ran or it said that another thread has it. */
static void Threads(ge_session* s) {
  static float x[4096], y[4096];
  ge_tensor in = Vector(x, 4096), out = Vector(y, 4096);
  struct Shared shared = {NULL, 0, 0, 0};
  pthread_t threads[4];
  CHECK_OK(ge_prepared_create(s, "twice", &in, 1, &out, 1, &shared.p, &error));
  for (int t = 0; t < 4; ++t) CHECK(!pthread_create(&threads[t], NULL, RunShared, &shared));
  for (int t = 0; t < 4; ++t) pthread_join(threads[t], NULL);
  CHECK(shared.good > 0 && shared.good + shared.busy == 2000 && shared.other == 0);
  ge_prepared_destroy(shared.p);
}

/* ---- limits of single calls -------------------------------------------------------------------
 */

static int StateIs(ge_session* s, float wanted) {
  float held[8];
  ge_tensor t = Vector(held, 8);
  CHECK_OK(ge_session_get_state(s, "total", &t, &error));
  return held[0] == wanted && held[7] == wanted;
}

struct Canceller {
  pthread_t thread;
  ge_cancel_token* token;
};
static void* CancelSoon(void* context) {
  const struct timespec t = {0, 20 * 1000 * 1000};
  nanosleep(&t, NULL);
  ge_cancel_token_cancel(((struct Canceller*)context)->token);
  return NULL;
}

/* On an engine whose "add" takes 100 ms and more. */
static void Limits(const char* model, const char* slow) {
  float x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, y[8];
  ge_session* s = Open(model, slow, 0);
  ge_tensor in = Vector(x, 8), out = Vector(y, 8);
  ge_run_options options = {.size = sizeof options, .time_limit_ms = 20};
  struct Canceller c = {.token = NULL};
  ge_prepared* p = NULL;
  CHECK_OK(ge_cancel_token_create(&c.token, &error));
  CHECK_OK(ge_prepared_create(s, "add", &in, 1, &out, 1, &p, &error));
  CHECK_OK(ge_prepared_run(p, NULL, &error));
  CHECK(StateIs(s, 1));
  CHECK(ge_prepared_run(p, &options, &error) == GE_STATUS_DEADLINE_EXCEEDED);
  CHECK(ge_session_run_with(s, "add", &in, 1, &out, 1, &options, &error) ==
        GE_STATUS_DEADLINE_EXCEEDED);
  CHECK(strstr(error.message, "time limit") && StateIs(s, 1));
  options.time_limit_ms = 60000;
  options.cancel = c.token;
  CHECK_OK(ge_prepared_run(p, &options, &error));
  CHECK_OK(ge_session_run_with(s, "add", &in, 1, &out, 1, &options, &error));
  CHECK(StateIs(s, 3));
  for (int k = 0; k < 2; ++k) {
    CHECK(!pthread_create(&c.thread, NULL, CancelSoon, &c));
    CHECK((k ? ge_prepared_run(p, &options, &error)
             : ge_session_run_with(s, "add", &in, 1, &out, 1, &options, &error)) ==
          GE_STATUS_CANCELLED);
    pthread_join(c.thread, NULL);
    CHECK(StateIs(s, 3));
    CHECK(ge_prepared_run(p, &options, &error) == GE_STATUS_CANCELLED); /* until it is reset */
    CHECK_OK(ge_prepared_run(p, NULL, &error));                         /* others go on */
    CHECK_OK(ge_cancel_token_reset(c.token));
    CHECK_OK(ge_prepared_run(p, &options, &error));
    CHECK(StateIs(s, 5));
    CHECK_OK(ge_session_reset_states(s, &error));
    for (int i = 0; i < 3; ++i) CHECK_OK(ge_prepared_run(p, NULL, &error));
  }
  ge_prepared_destroy(p);
  ge_session_destroy(s);
  ge_cancel_token_destroy(c.token);
}

static void BadLimits(ge_session* s) {
  float x[8] = {0}, y[8];
  ge_tensor in = Vector(x, 8), out = Vector(y, 8);
  ge_run_options brief = {.size = 8};
  CHECK_BAD(ge_session_run_with(s, "twice", &in, 1, &out, 1, &brief, &error), "ge_run_options");
  ge_run_options stopped = {.size = sizeof stopped};
  ge_run* run = NULL;
  CHECK_OK(ge_cancel_token_create(&stopped.cancel, &error));
  CHECK_OK(ge_cancel_token_cancel(stopped.cancel));
  CHECK_OK(
      ge_session_run_async_with(s, "twice", &in, 1, &out, 1, &stopped, NULL, NULL, &run, &error));
  CHECK(ge_run_wait(run, UINT64_MAX, &error) == GE_STATUS_CANCELLED);
  ge_run_destroy(run);
  ge_cancel_token_destroy(stopped.cancel);
  CHECK_BAD(
      ge_session_run_async_with(s, "twice", &in, 1, &out, 1, &brief, NULL, NULL, &run, &error),
      "ge_run_options");
  CHECK(run == NULL);
  CHECK_BAD(ge_cancel_token_create(NULL, &error), "out is NULL");
  CHECK(ge_cancel_token_cancel(NULL) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_cancel_token_reset(NULL) == GE_STATUS_INVALID_ARGUMENT);
  ge_cancel_token_destroy(NULL);
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: prepared_client MODEL ENGINES [SLOW_ENGINES]\n");
    return 2;
  }
  ge_session* s = Open(argv[1], argv[2], 0);
  if (!failed) {
    Binding(s);
    RunOn(s);
    Refused(s);
    State(s);
    Pieces(s);
    Threads(s);
    BadLimits(s);
    Allocated(argv[1], argv[2]);
    Evicted(argv[1], argv[2]);
    Replanned(argv[1], argv[2]);
    if (argc == 4) Limits(argv[1], argv[3]);
  }
  ge_session_destroy(s);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
