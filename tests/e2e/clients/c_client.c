/* A C11 client of ge.h, and its test: c_client COMMAND ARGUMENTS, see Usage. Each command prints
 * what fails and, last, its counts. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, NULL)
#define CHECK_OK(x)                                   \
  do {                                                \
    error.message[0] = 0;                             \
    Check((x) == GE_STATUS_OK, #x, __LINE__, &error); \
  } while (0)
/* A bad argument: that status, and a message that says what is wrong. */
#define CHECK_BAD(x)                                                                    \
  do {                                                                                  \
    error.message[0] = 0;                                                               \
    Check((x) == GE_STATUS_INVALID_ARGUMENT && error.message[0], #x, __LINE__, &error); \
  } while (0)
#define CHECK_BAD_QUIET(x) CHECK((x) == GE_STATUS_INVALID_ARGUMENT)

static double Seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void SleepMs(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

static ge_session* Open(const char* engines, const char* model) {
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  ge_session* session = NULL;
  CHECK(ge_session_options_init(&options) == GE_STATUS_OK);
  options.engines = engines;
  /* Whether these are kept whole is a matter of price, and the two ways round differently. */
  options.skip_passes = "recognise-layer-normalization,recognise-gelu";
  CHECK_OK(ge_session_create(&options, &session, &error));
  if (session && model) CHECK_OK(ge_session_load_file(session, model, GE_FORMAT_AUTO, &error));
  return session;
}

static uint64_t ElementBytes(int32_t dtype) {
  switch (dtype) {
    case 2:
    case 3:
    case 9:
      return 1;
    case 4:
    case 5:
    case 10:
    case 16:
      return 2;
    case 7:
    case 11:
    case 13:
      return 8;
    default:
      return 4;
  }
}

/* An input of the entry with random content; unknown dims are `free_dim`. data is malloc'ed. */
static ge_tensor RandomInput(const ge_tensor_info* info, int64_t free_dim, uint32_t seed) {
  ge_tensor t = {.size = sizeof t, .dtype = info->dtype, .rank = info->rank};
  uint64_t count = 1, i;
  int d;
  for (d = 0; d < info->rank; ++d) {
    t.dims[d] = info->dims[d] >= 0 ? info->dims[d] : d == 0 ? 1 : free_dim;
    count *= (uint64_t)t.dims[d];
  }
  t.bytes = count * ElementBytes(t.dtype);
  t.data = calloc(1, t.bytes ? t.bytes : 1);
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    if (t.dtype == 1) ((float*)t.data)[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
    if (t.dtype == 7) ((int64_t*)t.data)[i] = (int64_t)(seed >> 24);
  }
  return t;
}

/* ---- two entries, one state ------------------------------------------------------------------ */

enum { kSide = 32, kCount = kSide * kSide };

static ge_tensor Square(float* data) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 2, .dims = {kSide, kSide}};
  t.data = data;
  t.bytes = kCount * sizeof(float);
  return t;
}

static int AllAre(const float* data, float wanted) {
  int i;
  for (i = 0; i < kCount; ++i) {
    if (data[i] != wanted) return 0;
  }
  return 1;
}

static void Fill(float* data, float value) {
  int i;
  for (i = 0; i < kCount; ++i) data[i] = value;
}

static int StateIs(ge_session* s, float wanted) {
  float content[kCount];
  ge_tensor t = Square(content);
  ge_error error = {.size = sizeof error};
  CHECK_OK(ge_session_get_state(s, "total", &t, &error));
  return AllAre(content, wanted);
}

struct Done {
  pthread_mutex_t mutex;
  int calls;
  ge_status status;
};
static void OnDone(void* context, ge_status status) {
  struct Done* done = context;
  pthread_mutex_lock(&done->mutex);
  ++done->calls;
  done->status = status;
  pthread_mutex_unlock(&done->mutex);
}

static void SharedState(ge_session* s) {
  ge_error error = {.size = sizeof error};
  float x[kCount], y[kCount];
  ge_tensor in = Square(x), out = Square(y), fresh = {.size = sizeof fresh};
  uint32_t n = 0;
  const char* name = NULL;
  ge_tensor_info info = {.size = sizeof info};
  CHECK(ge_session_entry_count(s, &n) == GE_STATUS_OK && n == 2);
  CHECK(ge_session_entry_name(s, 1, &name) == GE_STATUS_OK && !strcmp(name, "scale"));
  CHECK(ge_session_state_count(s, &n) == GE_STATUS_OK && n == 1);
  CHECK(ge_session_state_info(s, 0, &info) == GE_STATUS_OK && !strcmp(info.name, "total") &&
        info.rank == 2 && info.dims[1] == kSide);
  CHECK(StateIs(s, 0));
  Fill(x, 1.5f);
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK_OK(ge_session_run(s, NULL, &in, 1, &out, 1, &error)); /* NULL = the first entry */
  CHECK(AllAre(y, 3) && StateIs(s, 3));
  Fill(x, 2);
  CHECK_OK(ge_session_run(s, "scale", &in, 1, &out, 1, &error));
  CHECK(AllAre(y, 6) && StateIs(s, 3)); /* the other entry sees it and leaves it */
  Fill(y, -4);
  CHECK_OK(ge_session_set_state(s, "total", &out, &error));
  CHECK_OK(ge_session_run(s, "scale", &in, 1, &fresh, 1, &error));
  CHECK(fresh.flags == GE_TENSOR_ALLOCATED && fresh.bytes == sizeof y);
  CHECK(fresh.data && AllAre(fresh.data, -8));
  ge_tensor_release(&fresh);
  CHECK(fresh.data == NULL);
  Fill(y, 0);
  CHECK_OK(ge_session_set_state(s, "total", &out, &error));
}

static void Buffers(ge_session* s) {
  ge_error error = {.size = sizeof error};
  float x[2 * kCount], y[2 * kCount];
  ge_tensor in = Square(x), out = Square(y);
  Fill(x, 1);
  out.bytes -= 4;
  CHECK_BAD(ge_session_run(s, "scale", &in, 1, &out, 1, &error)); /* too small */
  out = Square(x + 8);
  CHECK_BAD(ge_session_run(s, "scale", &in, 1, &out, 1, &error)); /* overlaps the input */
  out = Square(y);
  out.bytes = sizeof y;
  CHECK_OK(ge_session_run(s, "scale", &in, 1, &out, 1, &error)); /* larger than needed */
  CHECK(out.bytes == kCount * sizeof(float) && out.rank == 2 && out.dims[0] == kSide);
  in.dtype = 7;
  CHECK_BAD(ge_session_run(s, "scale", &in, 1, &out, 1, &error));
  in = Square(x);
  in.rank = GE_MAX_RANK + 1;
  CHECK_BAD(ge_session_run(s, "scale", &in, 1, &out, 1, &error));
  in = Square(x);
  in.dims[0] = -1;
  CHECK_BAD(ge_session_run(s, "scale", &in, 1, &out, 1, &error));
  in = Square(NULL);
  CHECK_BAD(ge_session_run(s, "scale", &in, 1, &out, 1, &error));
  in = Square(x);
  CHECK_BAD(ge_session_run(s, "scale", &in, 0, &out, 1, &error));
  CHECK_BAD(ge_session_run(s, "scale", &in, 1, &out, 0, &error));
  CHECK_BAD(ge_session_run(s, "nobody", &in, 1, &out, 1, &error));
  CHECK(ge_session_load_bytes(s, "ge 1\n", 5, GE_FORMAT_TEXT, &error) ==
        GE_STATUS_FAILED_PRECONDITION); /* one model a session */
}

static void Async(ge_session* s) {
  enum { kRuns = 8 };
  static float x[kCount], y[kRuns][kCount];
  ge_error error = {.size = sizeof error};
  struct Done done[kRuns];
  ge_tensor in = Square(x), out[kRuns];
  ge_run* run[kRuns];
  int i;
  Fill(x, 1);
  for (i = 0; i < kRuns; ++i) {
    pthread_mutex_init(&done[i].mutex, NULL);
    done[i].calls = 0;
    out[i] = Square(y[i]);
    CHECK_OK(ge_session_run_async(s, "add", &in, 1, &out[i], 1, OnDone, &done[i], &run[i], &error));
  }
  for (i = 0; i < kRuns; ++i) {
    CHECK_OK(ge_run_wait(run[i], UINT64_MAX, &error));
    CHECK_OK(ge_run_wait(run[i], 0, &error)); /* may be asked again */
    CHECK(done[i].calls == 1 && done[i].status == GE_STATUS_OK);
    ge_run_destroy(run[i]);
  }
  CHECK(StateIs(s, kRuns)); /* runs that write one state came one after the other */
  Fill(y[0], 0);
  CHECK_OK(ge_session_set_state(s, "total", &out[0], &error));
}

/* On an engine that needs well over 100 ms for a run. */
static void Cancel(ge_session* s) {
  ge_error error = {.size = sizeof error};
  static float x[kCount], y[kCount];
  struct Done done = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
  ge_tensor in = Square(x), out = Square(y);
  ge_run* run = NULL;
  double start, full;
  Fill(x, 5);
  CHECK_OK(ge_session_compile(s, "add", &in, 1, &error));
  start = Seconds();
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  full = Seconds() - start;
  CHECK(full > 0.1 && StateIs(s, 5));
  CHECK_OK(ge_session_run_async(s, "add", &in, 1, &out, 1, OnDone, &done, &run, &error));
  SleepMs(20);
  CHECK(ge_run_wait(run, 1000, &error) == GE_STATUS_DEADLINE_EXCEEDED); /* it is still going */
  CHECK_OK(ge_run_cancel(run));
  CHECK(ge_run_wait(run, UINT64_MAX, &error) == GE_STATUS_CANCELLED);
  CHECK(done.calls == 1 && done.status == GE_STATUS_CANCELLED);
  CHECK(strstr(error.message, "cancelled") != NULL);
  ge_run_destroy(run);
  CHECK(StateIs(s, 5)); /* as before the run */
  CHECK_OK(ge_session_run_async(s, "add", &in, 1, &out, 1, NULL, NULL, &run, &error));
  ge_run_cancel(run);
  ge_run_destroy(run); /* waits; the handle need not be asked first */
  CHECK(StateIs(s, 5));
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK(AllAre(y, 10) && StateIs(s, 10));
  /* All that goes on ends, and nothing that begins later; a time limit ends each call. */
  CHECK_OK(ge_session_run_async(s, "add", &in, 1, &out, 1, NULL, NULL, &run, &error));
  CHECK_OK(ge_session_cancel(s));
  CHECK(ge_run_wait(run, UINT64_MAX, &error) == GE_STATUS_CANCELLED);
  ge_run_destroy(run);
  CHECK(StateIs(s, 10));
  CHECK_OK(ge_session_set_time_limit(s, 20));
  CHECK(ge_session_run(s, "add", &in, 1, &out, 1, &error) == GE_STATUS_DEADLINE_EXCEEDED);
  CHECK(StateIs(s, 10));
  CHECK_OK(ge_session_set_time_limit(s, 0));
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK(AllAre(y, 15) && StateIs(s, 15));
}

/* ---- NULL, short structs, bad numbers ---------------------------------------------------------
 */

static void BadSessions(ge_session* s, const char* model) {
  ge_error error = {.size = sizeof error};
  ge_session* none = NULL;
  ge_session_options o;
  CHECK_BAD_QUIET(ge_session_options_init(NULL));
  CHECK(ge_session_options_init(&o) == GE_STATUS_OK && o.size == sizeof o);
  CHECK_BAD(ge_session_create(NULL, NULL, &error));
  CHECK_BAD_QUIET(ge_session_create(NULL, NULL, NULL));
  o.size = 4;
  CHECK_BAD(ge_session_create(&o, &none, &error));
  o.size = 0;
  CHECK_BAD(ge_session_create(&o, &none, &error));
  ge_session_options_init(&o);
  o.isa_cap = 99;
  CHECK_BAD(ge_session_create(&o, &none, &error));
  ge_session_options_init(&o);
  o.threads = 1u << 30;
  CHECK_BAD(ge_session_create(&o, &none, &error));
  ge_session_options_init(&o);
  o.denormals = 2;
  CHECK_BAD(ge_session_create(&o, &none, &error));
  CHECK(strstr(error.message, "GE_KEEP_DENORMALS") != NULL);
  ge_session_options_init(&o);
  o.numerics = 2;
  CHECK_BAD(ge_session_create(&o, &none, &error));
  CHECK(strstr(error.message, "GE_EXACT_NUMERICS") != NULL);
  ge_session_options_init(&o);
  o.engines = "onednn:denormals=keep";
  CHECK(ge_session_create(&o, &none, &error) != GE_STATUS_OK);
  ge_session_options_init(&o);
  o.engines = "ref,,ref";
  CHECK_BAD(ge_session_create(&o, &none, &error));
  o.engines = "nobody";
  CHECK(ge_session_create(&o, &none, &error) == GE_STATUS_FAILED_PRECONDITION);
  CHECK(strstr(error.message, "nobody") != NULL);
  CHECK(none == NULL);
  o.engines = "ref";
  o.skip_passes = "fold-shapes,nobody";
  CHECK_OK(ge_session_create(&o, &none, &error));
  CHECK_BAD(ge_session_load_file(none, model, 0, &error));
  CHECK(strstr(error.message, "nobody") != NULL);
  ge_session_destroy(none);
  CHECK_BAD(ge_session_load_file(NULL, model, 0, &error));
  CHECK_BAD(ge_session_load_file(s, NULL, 0, &error));
  CHECK_BAD(ge_session_load_file(s, model, 17, &error));
  CHECK_BAD(ge_session_load_bytes(NULL, "x", 1, 0, &error));
  CHECK_BAD(ge_session_load_bytes(s, NULL, 1, 0, &error));
  CHECK_BAD(ge_session_load_bytes(s, "x", 1, 17, &error));
  ge_session_destroy(NULL);
}

static void BadInspection(ge_session* s) {
  ge_error error = {.size = sizeof error};
  ge_tensor_info info = {.size = sizeof info}, brief = {.size = 8};
  const char* text = NULL;
  char* made = NULL;
  uint32_t n = 0;
  CHECK_BAD_QUIET(ge_session_entry_count(NULL, &n));
  CHECK_BAD_QUIET(ge_session_entry_count(s, NULL));
  CHECK_BAD_QUIET(ge_session_entry_name(NULL, 0, &text));
  CHECK_BAD_QUIET(ge_session_entry_name(s, 99, &text));
  CHECK_BAD_QUIET(ge_session_entry_name(s, 0, NULL));
  CHECK_BAD_QUIET(ge_session_input_count(NULL, NULL, &n));
  CHECK_BAD_QUIET(ge_session_input_count(s, "nobody", &n));
  CHECK_BAD_QUIET(ge_session_input_count(s, NULL, NULL));
  CHECK_BAD_QUIET(ge_session_output_count(NULL, NULL, &n));
  CHECK_BAD_QUIET(ge_session_output_count(s, "nobody", &n));
  CHECK_BAD_QUIET(ge_session_output_count(s, NULL, NULL));
  CHECK_BAD_QUIET(ge_session_input_info(NULL, NULL, 0, &info));
  CHECK_BAD_QUIET(ge_session_input_info(s, NULL, 99, &info));
  CHECK_BAD_QUIET(ge_session_input_info(s, NULL, 0, NULL));
  CHECK_BAD_QUIET(ge_session_input_info(s, NULL, 0, &brief));
  CHECK_BAD_QUIET(ge_session_output_info(NULL, NULL, 0, &info));
  CHECK_BAD_QUIET(ge_session_output_info(s, NULL, UINT32_MAX, &info));
  CHECK_BAD_QUIET(ge_session_output_info(s, NULL, 0, NULL));
  CHECK_BAD_QUIET(ge_session_output_info(s, NULL, 0, &brief));
  CHECK_BAD_QUIET(ge_session_metadata(NULL, "k", &text));
  CHECK_BAD_QUIET(ge_session_metadata(s, NULL, &text));
  CHECK_BAD_QUIET(ge_session_metadata(s, "k", NULL));
  CHECK(ge_session_metadata(s, "no such key", &text) == GE_STATUS_OK && text == NULL);
  CHECK_BAD(ge_session_dump(NULL, NULL, "load", &made, &error));
  CHECK_BAD(ge_session_dump(s, NULL, NULL, &made, &error));
  CHECK_BAD(ge_session_dump(s, NULL, "load", NULL, &error));
  CHECK_BAD(ge_session_dump(s, NULL, "nowhere", &made, &error));
  CHECK(ge_session_dump(s, NULL, "memory", &made, &error) == GE_STATUS_FAILED_PRECONDITION);
  CHECK_BAD(ge_session_report(NULL, NULL, &made, &error));
  CHECK_BAD(ge_session_report(s, NULL, NULL, &error));
  CHECK(ge_session_report(s, NULL, &made, &error) == GE_STATUS_FAILED_PRECONDITION);
  CHECK(made == NULL);
  CHECK_OK(ge_session_dump(s, NULL, "load", &made, &error));
  CHECK(made && strstr(made, "fn add") != NULL);
  ge_text_release(made);
  ge_text_release(NULL);
}

static void BadRuns(ge_session* s) {
  ge_error error = {.size = sizeof error};
  static float x[kCount], y[kCount];
  ge_tensor in = Square(x), out = Square(y), brief = Square(x);
  ge_run* run = NULL;
  brief.size = sizeof brief - 8;
  CHECK_BAD(ge_session_compile(NULL, NULL, &in, 1, &error));
  CHECK_BAD(ge_session_compile(s, NULL, NULL, 1, &error));
  CHECK_BAD(ge_session_compile(s, NULL, &brief, 1, &error));
  CHECK_BAD(ge_session_compile(s, "nobody", &in, 1, &error));
  CHECK_BAD(ge_session_run(NULL, NULL, &in, 1, &out, 1, &error));
  CHECK_BAD(ge_session_run(s, NULL, NULL, 1, &out, 1, &error));
  CHECK_BAD(ge_session_run(s, NULL, &in, 1, NULL, 1, &error));
  CHECK_BAD(ge_session_run(s, NULL, &brief, 1, &out, 1, &error));
  CHECK_BAD(ge_session_run(s, NULL, &in, 1, &brief, 1, &error));
  CHECK_BAD(ge_session_run_async(NULL, NULL, &in, 1, &out, 1, NULL, NULL, &run, &error));
  CHECK_BAD(ge_session_run_async(s, NULL, NULL, 1, &out, 1, NULL, NULL, &run, &error));
  CHECK_BAD(ge_session_run_async(s, NULL, &in, 1, NULL, 1, NULL, NULL, &run, &error));
  CHECK_BAD(ge_session_run_async(s, NULL, &brief, 1, &out, 1, NULL, NULL, &run, &error));
  CHECK_BAD(ge_session_run_async(s, NULL, &in, 1, &out, 1, NULL, NULL, NULL, &error));
  CHECK(run == NULL);
  CHECK_BAD(ge_run_wait(NULL, 0, &error));
  CHECK_BAD_QUIET(ge_run_wait(NULL, 0, NULL));
  CHECK_BAD_QUIET(ge_run_cancel(NULL));
  CHECK_BAD_QUIET(ge_session_cancel(NULL));
  CHECK_BAD_QUIET(ge_session_set_time_limit(NULL, 1));
  ge_run_destroy(NULL);
  ge_tensor_release(NULL);
  brief.flags = GE_TENSOR_ALLOCATED;
  ge_tensor_release(&brief); /* too short to say whose the data is: left alone */
  CHECK(brief.data == x);
}

static void BadStates(ge_session* s) {
  ge_error error = {.size = sizeof error};
  static float x[kCount];
  ge_tensor t = Square(x), brief = Square(x);
  ge_tensor_info info = {.size = sizeof info}, brief_info = {.size = 8};
  uint32_t n = 0;
  brief.size = 16;
  CHECK_BAD_QUIET(ge_session_state_count(NULL, &n));
  CHECK_BAD_QUIET(ge_session_state_count(s, NULL));
  CHECK_BAD_QUIET(ge_session_state_info(NULL, 0, &info));
  CHECK_BAD_QUIET(ge_session_state_info(s, 1, &info));
  CHECK_BAD_QUIET(ge_session_state_info(s, UINT32_MAX, &info));
  CHECK_BAD_QUIET(ge_session_state_info(s, 0, NULL));
  CHECK_BAD_QUIET(ge_session_state_info(s, 0, &brief_info));
  CHECK_BAD(ge_session_get_state(NULL, "total", &t, &error));
  CHECK_BAD(ge_session_get_state(s, NULL, &t, &error));
  CHECK_BAD(ge_session_get_state(s, "nobody", &t, &error));
  CHECK_BAD(ge_session_get_state(s, "total", NULL, &error));
  CHECK_BAD(ge_session_get_state(s, "total", &brief, &error));
  CHECK_BAD(ge_session_set_state(NULL, "total", &t, &error));
  CHECK_BAD(ge_session_set_state(s, NULL, &t, &error));
  CHECK_BAD(ge_session_set_state(s, "nobody", &t, &error));
  CHECK_BAD(ge_session_set_state(s, "total", NULL, &error));
  CHECK_BAD(ge_session_set_state(s, "total", &brief, &error));
  t.bytes -= 4;
  CHECK_BAD(ge_session_get_state(s, "total", &t, &error));
  CHECK_BAD(ge_session_set_state(s, "total", &t, &error));
  t = Square(NULL);
  CHECK_OK(ge_session_get_state(s, "total", &t, &error));
  CHECK(t.bytes == sizeof x);
}

static void BeforeLoading(void) {
  ge_error error = {.size = sizeof error}, brief = {.size = 12};
  ge_tensor t = {.size = sizeof t};
  ge_session* s = Open("ref", NULL);
  uint32_t n = 7;
  CHECK(ge_session_entry_count(s, &n) == GE_STATUS_FAILED_PRECONDITION && n == 0);
  CHECK(ge_session_run(s, NULL, NULL, 0, NULL, 0, &error) == GE_STATUS_FAILED_PRECONDITION);
  CHECK(ge_session_compile(s, NULL, NULL, 0, &error) == GE_STATUS_FAILED_PRECONDITION);
  CHECK(ge_session_get_state(s, "total", &t, &error) == GE_STATUS_FAILED_PRECONDITION);
  CHECK(ge_session_load_file(s, "no/such/file.gt", 0, &error) == GE_STATUS_IO_ERROR);
  CHECK(strstr(error.message, "no/such/file.gt") != NULL);
  brief.message[0] = 'x'; /* a ge_error that is too short is not written to */
  CHECK(ge_session_load_file(s, "no/such/file.gt", 0, &brief) == GE_STATUS_IO_ERROR);
  CHECK(brief.message[0] == 'x' && brief.status == 0);
  ge_session_destroy(s);
}

static void Names(void) {
  CHECK(!strcmp(ge_version(), "0.1.0"));
  CHECK(!strcmp(ge_status_name(GE_STATUS_OK), "OK"));
  CHECK(!strcmp(ge_status_name(GE_STATUS_CANCELLED), "CANCELLED"));
  CHECK(!strcmp(ge_status_name(-1), "UNKNOWN") && !strcmp(ge_status_name(999), "UNKNOWN"));
}

/* ---- many threads, one session ----------------------------------------------------------------
 */

enum { kMost = 8 };
struct Worker {
  pthread_t thread;
  ge_session* session;
  int runs, wrong;
  float share; /* of the greatest magnitude, by which an element may be off; 0: no bit */
  uint32_t n_in, n_out;
  ge_tensor in[kMost], wanted[kMost], out[kMost];
  ge_error error;
};

/* Outputs that are compared with a share are of float32. */
static int Equal(const ge_tensor* a, const ge_tensor* b, float share) {
  const float *x = a->data, *y = b->data;
  float greatest = 0;
  size_t i, n = a->bytes / sizeof *x;
  if (a->bytes != b->bytes) return 0;
  if (share == 0 || a->dtype != 1) return memcmp(a->data, b->data, a->bytes) == 0;
  for (i = 0; i < n; ++i) greatest = fmaxf(greatest, fabsf(y[i]));
  for (i = 0; i < n && fabsf(x[i] - y[i]) <= share * greatest; ++i) {
  }
  return i == n;
}

static void* Work(void* context) {
  struct Worker* w = context;
  uint32_t i;
  int k;
  for (k = 0; k < w->runs; ++k) {
    for (i = 0; i < w->n_out; ++i) memset(w->out[i].data, 0xee, w->out[i].bytes);
    if (ge_session_run(w->session, NULL, w->in, w->n_in, w->out, w->n_out, &w->error)) ++w->wrong;
    for (i = 0; i < w->n_out; ++i) {
      w->wrong += !Equal(&w->out[i], &w->wanted[i], w->share);
    }
  }
  return NULL;
}

/* Each thread has inputs of its own; what it must see comes from a run of `wanted_engines`. */
static void Threads(const char* model, const char* engines, const char* wanted_engines,
                    int n_threads, int runs, float share) {
  ge_error error = {.size = sizeof error};
  ge_session* s = Open(engines, model);
  ge_session* alone = Open(wanted_engines, model);
  struct Worker* w = calloc((size_t)n_threads, sizeof *w);
  uint32_t n_in = 0, n_out = 0, i;
  double start;
  int t, wrong = 0;
  if (failed) return;
  CHECK(ge_session_input_count(s, NULL, &n_in) == GE_STATUS_OK && n_in <= kMost);
  CHECK(ge_session_output_count(s, NULL, &n_out) == GE_STATUS_OK && n_out <= kMost);
  for (t = 0; t < n_threads && !failed; ++t) {
    w[t].session = s;
    w[t].runs = runs;
    w[t].share = share;
    w[t].n_in = n_in;
    w[t].n_out = n_out;
    w[t].error.size = sizeof(ge_error);
    for (i = 0; i < n_in; ++i) {
      ge_tensor_info info = {.size = sizeof info};
      CHECK(ge_session_input_info(s, NULL, i, &info) == GE_STATUS_OK);
      w[t].in[i] = RandomInput(&info, 4, (uint32_t)t * 100 + i);
    }
    for (i = 0; i < n_out; ++i) w[t].wanted[i].size = sizeof(ge_tensor);
    CHECK_OK(ge_session_run(alone, NULL, w[t].in, n_in, w[t].wanted, n_out, &error));
    for (i = 0; i < n_out; ++i) {
      w[t].out[i] = w[t].wanted[i];
      w[t].out[i].data = malloc(w[t].out[i].bytes + 1);
      w[t].out[i].flags = 0;
    }
    /* Different inputs, different outputs: else the comparison would say nothing. */
    if (t > 0) CHECK(!Equal(&w[t].wanted[0], &w[0].wanted[0], share));
  }
  start = Seconds();
  for (t = 0; t < n_threads && !failed; ++t) {
    CHECK(pthread_create(&w[t].thread, NULL, Work, &w[t]) == 0);
  }
  for (t = 0; t < n_threads && w[t].thread; ++t) {
    pthread_join(w[t].thread, NULL);
    Check(w[t].wrong == 0, "a thread's runs differ", __LINE__, &w[t].error);
    wrong += w[t].wrong;
    for (i = 0; i < n_in; ++i) free(w[t].in[i].data);
    for (i = 0; i < n_out; ++i) {
      free(w[t].out[i].data);
      ge_tensor_release(&w[t].wanted[i]);
    }
  }
  printf("%s under %s: %d threads x %d runs in %.2f s, %d differ\n", model, engines, n_threads,
         runs, Seconds() - start, wrong);
  free(w);
  ge_session_destroy(alone);
  ge_session_destroy(s);
}

static int Usage(void) {
  fprintf(stderr,
          "usage: c_client states MODEL ENGINES          two entries, buffers, async\n"
          "       c_client cancel MODEL SLOW_ENGINES     cancel in mid-run\n"
          "       c_client bad MODEL                     NULL, short structs, bad numbers\n"
          "       c_client threads MODEL ENGINES WANTED_ENGINES THREADS RUNS [SHARE]\n");
  return 2;
}

int main(int argc, char** argv) {
  const char* command = argc > 1 ? argv[1] : "";
  ge_session* s = NULL;
  if (!strcmp(command, "states") && argc == 4) {
    s = Open(argv[3], argv[2]);
    if (!failed) {
      SharedState(s);
      Buffers(s);
      Async(s);
    }
  } else if (!strcmp(command, "cancel") && argc == 4) {
    s = Open(argv[3], argv[2]);
    if (!failed) Cancel(s);
  } else if (!strcmp(command, "bad") && argc == 3) {
    s = Open("ref", argv[2]);
    if (!failed) {
      BadSessions(s, argv[2]);
      BadInspection(s);
      BadRuns(s);
      BadStates(s);
    }
    BeforeLoading();
    Names();
  } else if (!strcmp(command, "threads") && (argc == 7 || argc == 8)) {
    Threads(argv[2], argv[3], argv[4], atoi(argv[5]), atoi(argv[6]),
            argc == 8 ? (float)atof(argv[7]) : 0);
  } else {
    return Usage();
  }
  ge_session_destroy(s);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
