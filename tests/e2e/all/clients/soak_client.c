/* Threads that share two sessions for a while, each doing at random what ge.h allows: runs of every
 * kind of entry, compiles, cancels, states, reports; plans may hold next to nothing, so that they
 * are evicted all the time. Every result is checked. All that goes on in the second session is
 * cancelled now and then.
 *
 *   soak_client MODEL ENGINES SECONDS THREADS      MODEL is soak.gt
 *
 * Prints counts of what was done; last line: N passed, N failed, N skipped. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSessions = 2, kMost = 24, kMostOut = kMost * (kMost + 3) / 2, kWide = 64, kNarrow = 48 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the following, and of printing */
static int passed, failed;

static int Check(int good, const char* what, int line, const ge_error* error) {
  pthread_mutex_lock(&mutex);
  if (good) {
    ++passed;
  } else if (++failed <= 20) {
    printf("FAILED  line %d: %s: %s\n", line, what, error ? error->message : "");
  }
  pthread_mutex_unlock(&mutex);
  return good;
}
#define CHECK(x) Check((x), #x, __LINE__, NULL)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &w->error)

static double Seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct Worker {
  pthread_t thread;
  ge_session** sessions;
  const char *model, *engines;
  double until;
  uint64_t seed;
  ge_error error;
  double added[kSessions]; /* to the state of each */
  uint64_t runs, async, cancelled, ended, compiles, looks, sessions_made;
  ge_tensor out; /* used for every run of one output */
};

static uint32_t Random(struct Worker* w, uint32_t below) {
  w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(w->seed >> 33) % below;
}

static ge_tensor Vector(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 1, .dims = {n}};
  t.data = data;
  t.bytes = (uint64_t)n * sizeof(float);
  return t;
}

static ge_session* Open(struct Worker* w, uint64_t plan_cache_bytes, int replan) {
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.engines = w->engines;
  options.plan_cache_bytes = plan_cache_bytes;
  options.threads = 2;
  options.replan = (uint32_t)replan;
  CHECK_OK(ge_session_create(&options, &s, &w->error));
  if (s) CHECK_OK(ge_session_load_file(s, w->model, GE_FORMAT_AUTO, &w->error));
  return s;
}

/* Whether a call did what it should; it may have been cancelled in the second session. */
static int Went(struct Worker* w, const ge_session* s, ge_status status, int line) {
  if (s == w->sessions[1] && status == GE_STATUS_CANCELLED) {
    ++w->ended;
    return 0;
  }
  return Check(status == GE_STATUS_OK, "a call", line, &w->error);
}

/* ---- what each entry must answer ---------------------------------------------------------------
 */

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

struct Case {
  const char* entry;
  float x[kMost], wanted[kMostOut];
  int64_t n, wanted_n;
  ge_tensor in;
};

static void MakeCase(struct Worker* w, struct Case* c) {
  static const char* const kEntries[] = {"twice", "pick", "fall"};
  const uint32_t kind = Random(w, 3);
  int64_t i;
  c->entry = kEntries[kind];
  c->n = 1 + Random(w, kMost - 1);
  c->wanted_n = c->n;
  for (i = 0; i < c->n; ++i) c->x[i] = Random(w, 2) ? (float)(1 + Random(w, 100)) : 0;
  for (i = 0; i < c->n; ++i) c->wanted[i] = 2 * c->x[i];
  if (kind == 1) c->wanted_n = Kept(c->x, c->n, c->wanted);
  if (kind == 2) c->wanted_n = Fall(c->x, c->n, c->wanted);
  c->in = Vector(c->x, c->n);
}

static int IsRight(const struct Case* c, const ge_tensor* y) {
  return y->rank == 1 && y->dims[0] == c->wanted_n &&
         memcmp(y->data, c->wanted, (size_t)c->wanted_n * sizeof(float)) == 0;
}

/* ---- what a thread does ------------------------------------------------------------------------
 */

static void Run(struct Worker* w, ge_session* s) {
  struct Case c;
  float own[kMostOut];
  ge_tensor mine = Vector(own, kMostOut), *y = Random(w, 2) ? &w->out : &mine;
  MakeCase(w, &c);
  if (Went(w, s, ge_session_run(s, c.entry, &c.in, 1, y, 1, &w->error), __LINE__)) {
    CHECK(IsRight(&c, y));
  }
  ++w->runs;
}

static void Add(struct Worker* w, int which) {
  ge_session* s = w->sessions[which];
  float x[8], y[8];
  ge_tensor in = Vector(x, 8), out = Vector(y, 8);
  const float d = (float)(1 + Random(w, 3));
  int i;
  for (i = 0; i < 8; ++i) x[i] = d;
  if (!Went(w, s, ge_session_run(s, "add", &in, 1, &out, 1, &w->error), __LINE__)) return;
  w->added[which] += d;
  ++w->runs;
  for (i = 1; i < 8; ++i) CHECK(y[i] == y[0]);
}

/* m trips on x; `last` and the stack of all. */
static int SumsAreRight(const ge_tensor* out, const float* x, int64_t m, int64_t n) {
  int64_t i;
  if (out[0].dims[0] != n || out[1].dims[0] != m || out[1].dims[1] != n) return 0;
  for (i = 0; i < n; ++i) {
    if (((const float*)out[0].data)[i] != (float)m * x[i]) return 0;
    if (m > 0 && ((const float*)out[1].data)[(m - 1) * n + i] != (float)m * x[i]) return 0;
  }
  return 1;
}

struct Done {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  ge_run* run;
  int destroys, calls;
  ge_status status;
};
static void OnDone(void* context, ge_status status) {
  struct Done* d = context;
  if (d->destroys) ge_run_destroy(d->run);
  pthread_mutex_lock(&d->mutex);
  ++d->calls;
  d->status = status;
  pthread_cond_signal(&d->changed);
  pthread_mutex_unlock(&d->mutex);
}

/* A loop, long enough to be cancelled in the middle, or not. */
static void Async(struct Worker* w, ge_session* s) {
  float x[kMost];
  int64_t m = Random(w, 2) ? Random(w, 8) : 200 + Random(w, 800), n = 1 + Random(w, 4), i;
  const int cancels = Random(w, 3) == 0, may_end = cancels || s == w->sessions[1];
  struct Done d = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .destroys = !Random(w, 3)};
  ge_tensor in[2] = {{.size = sizeof *in, .dtype = 7, .data = &m, .bytes = sizeof m}};
  ge_tensor out[2] = {{.size = sizeof *out}, {.size = sizeof *out}};
  for (i = 0; i < n; ++i) x[i] = (float)(1 + Random(w, 9));
  in[1] = Vector(x, n);
  if (!CHECK_OK(ge_session_run_async(s, "count", in, 2, out, 2, OnDone, &d, &d.run, &w->error))) {
    return;
  }
  if (cancels && !d.destroys) {
    const struct timespec t = {0, (long)Random(w, 3000000)};
    nanosleep(&t, NULL);
    CHECK(ge_run_cancel(d.run) == GE_STATUS_OK);
  }
  if (!d.destroys) {
    ge_status end = ge_run_wait(d.run, Random(w, 1000000), NULL);
    if (end == GE_STATUS_DEADLINE_EXCEEDED) end = ge_run_wait(d.run, UINT64_MAX, NULL);
    CHECK(end == GE_STATUS_OK || (may_end && end == GE_STATUS_CANCELLED));
    ge_run_destroy(d.run);
  }
  pthread_mutex_lock(&d.mutex);
  while (d.calls == 0) pthread_cond_wait(&d.changed, &d.mutex);
  pthread_mutex_unlock(&d.mutex);
  CHECK(d.calls == 1 && (d.status == GE_STATUS_OK || may_end));
  if (d.status == GE_STATUS_OK) CHECK(SumsAreRight(out, x, m, n));
  ++w->async;
  w->cancelled += d.status == GE_STATUS_CANCELLED;
  ge_tensor_release(&out[0]);
  ge_tensor_release(&out[1]);
}

/* Weights that are packed; rows of equal numbers. */
static void Dense(struct Worker* w, ge_session* s) {
  static const int64_t kRows[] = {1, 2, 5, 7, 8, 13, 16};
  float x[16 * kWide];
  const int64_t n = kRows[Random(w, 7)];
  ge_tensor in = Vector(x, n * kWide), out[2] = {{.size = sizeof *out}, {.size = sizeof *out}};
  int64_t i, k;
  int wrong = 0;
  in.rank = 2;
  in.dims[0] = n;
  in.dims[1] = kWide;
  for (i = 0; i < n; ++i) {
    const float value = (float)(1 + Random(w, 4));
    for (k = 0; k < kWide; ++k) x[i * kWide + k] = value;
  }
  if (!Went(w, s, ge_session_run(s, "dense", &in, 1, out, 2, &w->error), __LINE__)) return;
  for (i = 0; i < n * kNarrow; ++i) {
    /* x * 64 * 0.5, then that * 64 * 0.25: exact in f32 */
    const float d = ((const float*)out[1].data)[i] * kNarrow - 1;
    wrong += ((const float*)out[0].data)[i] != x[i / kNarrow * kWide] * 32 * 16;
    wrong += d > 1e-5f || d < -1e-5f;
  }
  CHECK(wrong == 0);
  ++w->runs;
  ge_tensor_release(&out[0]);
  ge_tensor_release(&out[1]);
}

static void Compile(struct Worker* w, ge_session* s) {
  struct Case c;
  MakeCase(w, &c);
  c.in.data = NULL;
  (void)Went(w, s, ge_session_compile(s, c.entry, &c.in, 1, &w->error), __LINE__);
  ++w->compiles;
}

static void Look(struct Worker* w, ge_session* s) {
  static const char* const kStages[] = {"load", "infer", "rewrite", "bind", "place", "memory"};
  static const char* const kEntries[] = {"add", "twice", "dense"};
  const char* entry = kEntries[Random(w, 3)];
  float now[8];
  ge_tensor state = Vector(now, 8);
  ge_tensor_info info = {.size = sizeof info};
  char* text = NULL;
  const uint32_t what = Random(w, 4);
  ge_status end;
  if (what == 0) {
    end = ge_session_dump(s, entry, kStages[Random(w, 6)], &text, &w->error);
    if (end != GE_STATUS_FAILED_PRECONDITION && Went(w, s, end, __LINE__)) CHECK(text[0]);
  } else if (what == 1) {
    end = ge_session_report(s, Random(w, 2) ? entry : "fall", &text, &w->error);
    CHECK(end == GE_STATUS_FAILED_PRECONDITION || (end == GE_STATUS_OK && text[0] == '{'));
  } else if (what == 2) {
    CHECK_OK(ge_session_get_state(s, "total", &state, &w->error));
    CHECK(now[7] == now[0]);
  } else {
    CHECK(ge_session_input_info(s, entry, 0, &info) == GE_STATUS_OK && info.name);
  }
  ge_text_release(text);
  ++w->looks;
}

/* A session beside those that are shared, which ends with a run that its time limit ends. */
static void Beside(struct Worker* w) {
  ge_session* s = Open(w, 0, 0);
  float x[1] = {1};
  int64_t m = 1000000;
  ge_tensor in[2] = {{.size = sizeof *in, .dtype = 7, .data = &m, .bytes = sizeof m}};
  ge_tensor out[2] = {{.size = sizeof *out}, {.size = sizeof *out}};
  if (!s) return;
  Run(w, s);
  Dense(w, s);
  in[1] = Vector(x, 1);
  CHECK(ge_session_set_time_limit(s, 2) == GE_STATUS_OK);
  CHECK(ge_session_run(s, "count", in, 2, out, 2, NULL) == GE_STATUS_DEADLINE_EXCEEDED);
  CHECK(out[0].data == NULL && out[1].flags == 0);
  ge_session_destroy(s);
  ++w->sessions_made;
}

static void* Work(void* context) {
  struct Worker* w = context;
  while (Seconds() < w->until) {
    const int which = (int)Random(w, kSessions);
    ge_session* s = w->sessions[which];
    const uint32_t what = Random(w, 1000);
    if (what < 450) {
      Run(w, s);
    } else if (what < 600) {
      Async(w, s);
    } else if (what < 750) {
      Dense(w, s);
    } else if (what < 850) {
      Add(w, which);
    } else if (what < 930) {
      Compile(w, s);
    } else if (what < 995) {
      Look(w, s);
    } else if (what < 998) {
      CHECK(ge_session_cancel(w->sessions[1]) == GE_STATUS_OK);
    } else {
      Beside(w);
    }
  }
  return NULL;
}

static uint64_t Evicted(struct Worker* w, ge_session* s) {
  char *text = NULL, *at;
  uint64_t n = 0;
  CHECK_OK(ge_session_report(s, "twice", &text, &w->error));
  at = text ? strstr(text, "\"evicted\":") : NULL;
  CHECK(at != NULL);
  if (at) n = strtoull(at + strlen("\"evicted\":"), NULL, 10);
  ge_text_release(text);
  return n;
}

/* After all threads: the states hold what was added, and by nobody else. */
static void Finish(struct Worker* workers, int threads, ge_session** sessions) {
  struct Worker* w = workers;
  uint64_t runs = 0, async = 0, cancelled = 0, compiles = 0, looks = 0, made = 0, evicted = 0;
  uint64_t ended = 0;
  float now[8];
  ge_tensor state = Vector(now, 8);
  int t, i;
  for (i = 0; i < kSessions; ++i) {
    double sum = 0;
    for (t = 0; t < threads; ++t) sum += workers[t].added[i];
    CHECK_OK(ge_session_get_state(sessions[i], "total", &state, &w->error));
    CHECK(sum >= (1 << 24) || now[0] == (float)sum);
    evicted += Evicted(w, sessions[i]);
  }
  for (t = 0; t < threads; ++t) {
    runs += workers[t].runs;
    async += workers[t].async;
    cancelled += workers[t].cancelled;
    ended += workers[t].ended;
    compiles += workers[t].compiles;
    looks += workers[t].looks;

    made += workers[t].sessions_made;
  }
  printf(
      "%d threads, %s: %llu runs and %llu asynchronous ones, %llu of them cancelled; "
      "%llu other calls cancelled with their session; %llu compiles, %llu looks inside, %llu plans "
      "evicted, %llu sessions beside\n",
      threads, w->engines, (unsigned long long)runs, (unsigned long long)async,
      (unsigned long long)cancelled, (unsigned long long)ended, (unsigned long long)compiles,
      (unsigned long long)looks, (unsigned long long)evicted, (unsigned long long)made);
  CHECK(runs > 0 && async > 0 && cancelled > 0 && evicted > 0);
}

int main(int argc, char** argv) {
  ge_session* sessions[kSessions] = {NULL, NULL};
  const int threads = argc == 5 ? atoi(argv[4]) : 0;
  struct Worker* w;
  int t;
  if (threads < 1 || threads > 64) {
    fprintf(stderr, "usage: soak_client MODEL ENGINES SECONDS THREADS\n");
    return 2;
  }
  w = calloc((size_t)threads, sizeof *w);
  for (t = 0; t < threads; ++t) {
    w[t].model = argv[1];
    w[t].engines = argv[2];
    w[t].seed = (uint64_t)t + 1;
    w[t].sessions = sessions;
    w[t].until = Seconds() + atof(argv[3]);
    w[t].error.size = sizeof(ge_error);
    w[t].out.size = sizeof(ge_tensor);
  }
  sessions[0] = Open(w, 1, 0);
  sessions[1] = Open(w, 100000, 1);
  for (t = 0; t < threads && !failed; ++t) pthread_create(&w[t].thread, NULL, Work, &w[t]);
  for (t = 0; t < threads && w[t].thread; ++t) pthread_join(w[t].thread, NULL);
  if (sessions[0] && sessions[1]) Finish(w, threads, sessions);
  for (t = 0; t < threads; ++t) ge_tensor_release(&w[t].out);
  for (t = 0; t < kSessions; ++t) ge_session_destroy(sessions[t]);
  free(w);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
