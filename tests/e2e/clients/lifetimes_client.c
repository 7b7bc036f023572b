/* Who owns what at the C border, and for how long: output tensors that are used again, a `done`
 * that destroys or waits, plans that are evicted while other threads use them, arrays that cannot
 * be walked. lifetimes_client MODEL ENGINES COMMAND, MODEL being lifetimes.gt; see Usage. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER; /* `done` checks in threads of its own */
static int passed, failed;

static void Check(int good, const char* what, int line, const ge_error* error) {
  pthread_mutex_lock(&counts);
  ++*(good ? &passed : &failed);
  if (!good) printf("FAILED  line %d: %s: %s\n", line, what, error ? error->message : "");
  pthread_mutex_unlock(&counts);
}
#define CHECK(x) Check((x), #x, __LINE__, NULL)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)
#define CHECK_BAD(x) Check((x) == GE_STATUS_INVALID_ARGUMENT, #x, __LINE__, &error)

enum { kMost = 24, kMostOut = kMost * (kMost + 3) / 2, kLarge = 5000 };

static ge_session* Open(const char* model, const char* engines, uint64_t plan_cache_bytes) {
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.engines = engines;
  options.plan_cache_bytes = plan_cache_bytes;
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

/* ---- output tensors that are used again --------------------------------------------------------
 */

/* Whether y is what "twice" or "pick" makes of 1, 2, ..., n. */
static int IsRight(const ge_tensor* y, int64_t n, float factor) {
  int64_t i;
  if (y->rank != 1 || y->dims[0] != n || y->bytes != (uint64_t)n * sizeof(float)) return 0;
  for (i = 0; i < n; ++i) {
    if (((const float*)y->data)[i] != factor * (float)(i + 1)) return 0;
  }
  return 1;
}

/* One tensor for all of these: it grows where it must and stays where it fits. */
static void Grow(ge_session* s, const char* entry, float factor) {
  static const int64_t kSizes[] = {3, 100, 40, 100, kLarge, 7, kLarge, 1, kLarge - 1, 8};
  static float x[kLarge];
  ge_error error = {.size = sizeof error};
  ge_tensor in, out = {.size = sizeof out};
  int64_t i, n, largest = 0;
  size_t k;
  for (i = 0; i < kLarge; ++i) x[i] = (float)(i + 1);
  for (k = 0; k < sizeof kSizes / sizeof *kSizes; ++k) {
    const void* before = out.data;
    n = kSizes[k];
    in = Vector(x, n);
    CHECK_OK(ge_session_run(s, entry, &in, 1, &out, 1, &error));
    CHECK(out.flags == GE_TENSOR_ALLOCATED && out.data && IsRight(&out, n, factor));
    CHECK(n > largest || out.data == before);
    if (n > largest) largest = n;
  }
  in.bytes -= 1; /* a run that fails leaves the tensor as it was */
  CHECK_BAD(ge_session_run(s, entry, &in, 1, &out, 1, &error));
  CHECK(out.flags == GE_TENSOR_ALLOCATED && IsRight(&out, 8, factor));
  ge_tensor_release(&out);
  CHECK(out.data == NULL && out.flags == 0);
  ge_tensor_release(&out);
  in = Vector(x, 5);
  CHECK_OK(ge_session_run(s, entry, &in, 1, &out, 1, &error)); /* and it can be used again */
  CHECK(out.flags == GE_TENSOR_ALLOCATED && IsRight(&out, 5, factor));
  ge_tensor_release(&out);
}

/* A caller's own buffer: `bytes` is its capacity, then what was written, and it is never freed. */
static void Own(ge_session* s, const char* entry, float factor) {
  ge_error error = {.size = sizeof error};
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
  ge_tensor in = Vector(x, 4), out = Vector(y, 8);
  CHECK_OK(ge_session_run(s, entry, &in, 1, &out, 1, &error));
  CHECK(out.data == y && out.flags == 0 && IsRight(&out, 4, factor));
  in = Vector(x, 8);
  CHECK_BAD(ge_session_run(s, entry, &in, 1, &out, 1, &error)); /* 16 bytes, it says */
  CHECK(strstr(error.message, "at least 32") != NULL && out.data == y);
  out.bytes = sizeof y;
  CHECK_OK(ge_session_run(s, entry, &in, 1, &out, 1, &error));
  CHECK(out.data == y && out.flags == 0 && IsRight(&out, 8, factor));
  out.flags = 0x5a5a5a5a; /* never set: the struct was not cleared */
  CHECK_BAD(ge_session_run(s, entry, &in, 1, &out, 1, &error));
  CHECK(strstr(error.message, "flags") != NULL && out.data == y);
  out = Vector(x, 8);
  CHECK_BAD(ge_session_run(s, entry, &in, 1, &out, 1, &error)); /* the input's own memory */
  CHECK(strstr(error.message, "overlap") != NULL);
}

static void State(ge_session* s) {
  ge_error error = {.size = sizeof error};
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  ge_tensor in = Vector(x, 2), out = {.size = sizeof out};
  CHECK_OK(ge_session_run(s, "twice", &in, 1, &out, 1, &error));
  in = Vector(x, 8);
  CHECK_OK(ge_session_set_state(s, "total", &in, &error));
  CHECK_OK(ge_session_get_state(s, "total", &out, &error)); /* larger than what was run */
  CHECK(out.flags == GE_TENSOR_ALLOCATED && IsRight(&out, 8, 1));
  ge_tensor_release(&out);
}

/* To a file and back; a file of something else leaves the state as it was. */
static void StatesOnDisk(ge_session* s, const char* model) {
  ge_error error = {.size = sizeof error};
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, none[8] = {0}, held[8] = {9};
  ge_tensor value = Vector(x, 8), zeros = Vector(none, 8), now = Vector(held, 8);
  char path[256];
  const char* folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/ge_states_XXXXXX", folder ? folder : "build");
  const int file = mkstemp(path);
  CHECK(file >= 0);
  CHECK_OK(ge_session_set_state(s, "total", &value, &error));
  CHECK_OK(ge_session_save_states(s, path, &error));
  CHECK_OK(ge_session_set_state(s, "total", &zeros, &error));
  CHECK(ge_session_save_states(s, "nowhere/at/all", &error) == GE_STATUS_IO_ERROR);
  CHECK(ge_session_restore_states(s, model, &error) != GE_STATUS_OK);
  CHECK_BAD(ge_session_save_states(NULL, path, &error));
  CHECK_BAD(ge_session_save_states(s, NULL, &error));
  CHECK_BAD(ge_session_restore_states(NULL, path, &error));
  CHECK_BAD(ge_session_restore_states(s, NULL, &error));
  CHECK_OK(ge_session_get_state(s, "total", &now, &error));
  CHECK(held[0] == 0 && held[7] == 0);
  CHECK_OK(ge_session_restore_states(s, path, &error));
  CHECK_OK(ge_session_get_state(s, "total", &now, &error));
  CHECK(IsRight(&now, 8, 1));
  close(file);
  remove(path);
}

static void Reuse(const char* model, const char* engines) {
  ge_session* s = Open(model, engines, 0);
  if (failed) return;
  Grow(s, "twice", 2);
  Grow(s, "pick", 1);
  Own(s, "twice", 2);
  Own(s, "pick", 1);
  State(s);
  StatesOnDisk(s, model);
  ge_session_destroy(s);
}

/* ---- what `done` may do ------------------------------------------------------------------------
 */

struct Done {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int calls;
  ge_status status, waited;
  char message[1016];
  ge_run* run;
  ge_session* destroys; /* in done; NULL = none */
  int waits, destroys_run;
};

static void OnDone(void* context, ge_status status) {
  struct Done* d = context;
  ge_error error = {.size = sizeof error};
  ge_status waited = GE_STATUS_OK;
  if (d->waits) waited = ge_run_wait(d->run, UINT64_MAX, &error);
  if (d->waits) CHECK(ge_run_wait(d->run, 0, NULL) == waited);
  if (d->destroys_run) CHECK(ge_run_cancel(d->run) == GE_STATUS_OK);
  if (d->destroys_run) ge_run_destroy(d->run);
  if (d->destroys) ge_session_destroy(d->destroys);
  pthread_mutex_lock(&d->mutex);
  ++d->calls;
  d->status = status;
  d->waited = waited;
  memcpy(d->message, error.message, sizeof d->message);
  pthread_cond_signal(&d->changed);
  pthread_mutex_unlock(&d->mutex);
}

static void UntilDone(struct Done* d) {
  pthread_mutex_lock(&d->mutex);
  while (d->calls == 0) pthread_cond_wait(&d->changed, &d->mutex);
  pthread_mutex_unlock(&d->mutex);
  CHECK(d->calls == 1 && d->status == GE_STATUS_OK);
}

/* Each kind of entry: one plan, and pieces. */
static void InDone(const char* model, const char* engines, const char* entry, int waits,
                   int destroys_run, int destroys_session) {
  ge_error error = {.size = sizeof error};
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  ge_tensor in = Vector(x, 8), out = {.size = sizeof out};
  ge_session* s = Open(model, engines, 0);
  struct Done d = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .waits = waits};
  ge_run* run = NULL;
  d.destroys_run = destroys_run;
  d.destroys = destroys_session ? s : NULL;
  /* `out` is set before the run begins, so that done has the handle. */
  CHECK_OK(ge_session_run_async(s, entry, &in, 1, &out, 1, OnDone, &d, &d.run, &error));
  UntilDone(&d);
  run = d.run;
  if (waits) {
    CHECK(d.waited == GE_STATUS_FAILED_PRECONDITION && strstr(d.message, "done") != NULL);
  }
  if (!destroys_run) {
    CHECK_OK(ge_run_wait(run, UINT64_MAX, &error)); /* from elsewhere it is as ever */
    ge_run_destroy(run);
  }
  CHECK(out.flags == GE_TENSOR_ALLOCATED && out.dims[0] == 8);
  ge_tensor_release(&out);
  if (!destroys_session) ge_session_destroy(s);
}

/* Runs that are going when their session is destroyed end first. */
static void DestroyEarly(const char* model, const char* engines) {
  enum { kRuns = 6 };
  ge_error error = {.size = sizeof error};
  static float x[kLarge], y[kRuns][kLarge];
  ge_session* s = Open(model, engines, 0);
  ge_tensor in = Vector(x, kLarge), out[kRuns];
  ge_run* run[kRuns];
  int i, k;
  for (i = 0; i < kLarge; ++i) x[i] = (float)(i + 1);
  for (i = 0; i < kRuns; ++i) {
    out[i] = Vector(y[i], kLarge);
    CHECK_OK(ge_session_run_async(s, i % 2 ? "twice" : "pick", &in, 1, &out[i], 1, NULL, NULL,
                                  &run[i], &error));
  }
  ge_session_destroy(s);
  for (i = 0; i < kRuns; ++i) {
    CHECK_OK(ge_run_wait(run[i], UINT64_MAX, &error));
    for (k = 0; k < kLarge && y[i][k] == (i % 2 ? 2 : 1) * x[k];) ++k;
    CHECK(k == kLarge);
    ge_run_destroy(run[i]);
  }
}

static void DoneCalls(const char* model, const char* engines) {
  static const char* const kEntries[] = {"twice", "pick"};
  int i, k;
  for (i = 0; i < 2; ++i) {
    for (k = 0; k < 8; ++k) InDone(model, engines, kEntries[i], k & 1, k & 2, k & 4);
  }
  DestroyEarly(model, engines);
}

/* ---- plans that are evicted while they are used ------------------------------------------------
 */

/* What keeps the numbers of x that are not 0 makes of it; answers how many there are. */
static int64_t Kept(const float* x, int64_t n, float* kept) {
  int64_t i, m = 0;
  for (i = 0; i < n; ++i) {
    if (x[i] != 0) kept[m++] = x[i];
  }
  return m;
}
static int64_t Fall(const float* x, int64_t n, float* y) {
  float kept[kMost];
  const int64_t m = Kept(x, n, kept);
  int64_t below = m;
  if (m < 2) {
    memcpy(y, kept, (size_t)m * sizeof *y);
  } else {
    below = Fall(kept + 1, m - 1, y);
  }
  memcpy(y + below, kept, (size_t)m * sizeof *y);
  return below + m;
}
static int64_t Stages(const float* x, int64_t n, float* y) {
  float kept[kMost];
  int64_t i, m = Kept(x, n, kept);
  for (i = 3; i < m; ++i) y[i - 3] = 2 * kept[i];
  return m < 3 ? 0 : m - 3;
}

struct Worker {
  pthread_t thread;
  ge_session* session;
  uint32_t seed;
  int runs, wrong;
  ge_error error;
};

static void* Work(void* context) {
  struct Worker* w = context;
  static const char* const kEntries[] = {"pick", "fall", "stages", "twice"};
  float x[kMost], wanted[kMostOut];
  ge_tensor out = {.size = sizeof out};
  int64_t i, n, m;
  int k, entry;
  for (k = 0; k < w->runs; ++k) {
    w->seed = w->seed * 1664525u + 1013904223u;
    entry = (int)(w->seed >> 30);
    n = 1 + (w->seed >> 20) % (kMost - 1);
    for (i = 0; i < n; ++i) x[i] = (w->seed >> (i % 16)) & 1 ? (float)(i + 1) : 0;
    if (entry == 3) {
      for (i = 0; i < n; ++i) wanted[i] = 2 * x[i];
      m = n;
    } else {
      m = entry == 0 ? Kept(x, n, wanted) : entry == 1 ? Fall(x, n, wanted) : Stages(x, n, wanted);
    }
    ge_tensor in = Vector(x, n);
    if (ge_session_run(w->session, kEntries[entry], &in, 1, &out, 1, &w->error) != 0 ||
        out.dims[0] != m || memcmp(out.data, wanted, (size_t)m * sizeof *wanted) != 0) {
      ++w->wrong;
    }
  }
  ge_tensor_release(&out);
  return NULL;
}

/* Plans may hold one byte in all, so that each gives way to the next. */
static void Evict(const char* model, const char* engines, int threads, int runs) {
  ge_session* s = Open(model, engines, 1);
  struct Worker* w = calloc((size_t)threads, sizeof *w);
  int t;
  for (t = 0; t < threads && !failed; ++t) {
    w[t].session = s;
    w[t].seed = (uint32_t)t + 7;
    w[t].runs = runs;

    w[t].error.size = sizeof(ge_error);
    CHECK(pthread_create(&w[t].thread, NULL, Work, &w[t]) == 0);
  }
  for (t = 0; t < threads && w[t].thread; ++t) {
    pthread_join(w[t].thread, NULL);
    Check(w[t].wrong == 0, "a thread's runs differ", __LINE__, &w[t].error);
  }
  printf("%d threads x %d runs under %s\n", threads, runs, engines);
  free(w);
  ge_session_destroy(s);
}

/* ---- arrays that cannot be walked, shapes that are known with another dtype --------------------
 */

static void Arrays(const char* model, const char* engines) {
  static const char* const kEntries[] = {"twice", "pick"};
  ge_error error = {.size = sizeof error};
  char bytes[2 * sizeof(ge_tensor) + 64];
  float x[4] = {1, 2, 3, 4}, y[4];
  ge_session* s = Open(model, engines, 0);
  ge_tensor in = Vector(x, 4), out = Vector(y, 4), odd;
  ge_run* run = NULL;
  int i;
  for (i = 0; i < 2; ++i) {
    in.dtype = 1;
    CHECK_OK(ge_session_run(s, kEntries[i], &in, 1, &out, 1, &error));
    CHECK_OK(ge_session_compile(s, kEntries[i], &in, 1, &error));
    in.dtype = 6; /* int32, as many bytes */
    CHECK_BAD(ge_session_compile(s, kEntries[i], &in, 1, &error));
    CHECK(strstr(error.message, "'x' is i32") != NULL);
    CHECK_BAD(ge_session_run(s, kEntries[i], &in, 1, &out, 1, &error));
    CHECK_BAD(ge_session_compile(s, kEntries[i], &in, 0, &error));
  }
  in = Vector(x, 4);
  odd = in;
  odd.size += 1; /* the second would lie on an odd address */
  CHECK_BAD(ge_session_run(s, NULL, &odd, 1, &out, 1, &error));
  CHECK(strstr(error.message, "8") != NULL);
  CHECK_BAD(ge_session_compile(s, NULL, &odd, 1, &error));
  CHECK_BAD(ge_session_set_state(s, "total", &odd, &error));
  odd = out;
  odd.size += 4;
  CHECK_BAD(ge_session_run(s, NULL, &in, 1, &odd, 1, &error));
  CHECK_BAD(ge_session_run_async(s, NULL, &in, 1, &odd, 1, NULL, NULL, &run, &error));
  memset(bytes, 0, sizeof bytes);
  memcpy(bytes + 1 + (8 - (uintptr_t)bytes % 8) % 8, &in, sizeof in); /* nor may the first */
  CHECK_BAD(ge_session_run(s, NULL, (ge_tensor*)(void*)(bytes + 1 + (8 - (uintptr_t)bytes % 8) % 8),
                           1, &out, 1, &error));
  ge_session_destroy(s);
}

int main(int argc, char** argv) {
  const char* command = argc > 3 ? argv[3] : "";
  if (!strcmp(command, "reuse") && argc == 4) {
    Reuse(argv[1], argv[2]);
  } else if (!strcmp(command, "done") && argc == 4) {
    DoneCalls(argv[1], argv[2]);
  } else if (!strcmp(command, "arrays") && argc == 4) {
    Arrays(argv[1], argv[2]);
  } else if (!strcmp(command, "evict") && argc == 6) {
    Evict(argv[1], argv[2], atoi(argv[4]), atoi(argv[5]));
  } else {
    fprintf(stderr,
            "usage: lifetimes_client MODEL ENGINES reuse    output tensors used again\n"
            "       lifetimes_client MODEL ENGINES done     what `done` may do\n"
            "       lifetimes_client MODEL ENGINES arrays   strides and dtypes\n"
            "       lifetimes_client MODEL ENGINES evict THREADS RUNS\n");
    return 2;
  }
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
