/* Control flow and shapes that the data decide, from C: buffers, threads, memory over many runs,
 * and what a node of a loop's body costs. Usage: flow_client MODEL ENGINES RUNS */
#include <ge/ge.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, NULL)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)

enum { kMost = 64, kThreads = 8, kTrips = 40 };

static ge_tensor Vector(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 1, .dims = {n}};
  t.data = data;
  t.bytes = (uint64_t)n * sizeof(float);
  return t;
}
static ge_tensor Number(int64_t* m) {
  ge_tensor t = {.size = sizeof t, .dtype = 7, .rank = 0};
  t.data = m;
  t.bytes = sizeof *m;
  return t;
}

/* The sums of m trips on x = 1, 2, ..., n; 1 when all are right. `all` is given. */
static int Counts(ge_session* s, int64_t m, int64_t n, ge_error* error) {
  float x[kMost], last[kMost];
  int64_t i, k;
  int good;
  ge_tensor in[2], out[2];
  for (i = 0; i < n; ++i) x[i] = (float)(i + 1);
  in[0] = Number(&m);
  in[1] = Vector(x, n);
  out[0] = Vector(last, kMost);
  memset(&out[1], 0, sizeof out[1]);
  out[1].size = sizeof out[1];
  if (ge_session_run(s, "count", in, 2, out, 2, error) != GE_STATUS_OK) return 0;
  good = out[0].rank == 1 && out[0].dims[0] == n && out[1].rank == 2 && out[1].dims[0] == m &&
         out[1].dims[1] == n;
  for (i = 0; good && i < n; ++i) {
    good = last[i] == (float)m * x[i];
    for (k = 0; good && k < m; ++k) {
      good = ((float*)out[1].data)[k * n + i] == (float)(k + 1) * x[i];
    }
  }
  ge_tensor_release(&out[1]);
  return good;
}

static void Buffers(ge_session* s) {
  ge_error error = {.size = sizeof error};
  float x[4] = {0, 3, 0, 7}, y[4] = {-1, -1, -1, -1};
  ge_tensor in = Vector(x, 4), out = Vector(y, 4);
  CHECK_OK(ge_session_compile(s, "pick", &in, 1, &error));
  CHECK_OK(ge_session_run(s, "pick", &in, 1, &out, 1, &error));
  CHECK(out.rank == 1 && out.dims[0] == 2 && out.bytes == 8 && y[0] == 3 && y[1] == 7);
  CHECK(out.data == y && y[2] == -1);
  out = Vector(y, 1);
  y[0] = -1;
  CHECK(ge_session_run(s, "pick", &in, 1, &out, 1, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "needs at least 8") != NULL && y[0] == -1 && out.data == y);
  in.bytes = 12;
  CHECK(ge_session_run(s, "pick", &in, 1, &out, 1, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(Counts(s, 3, 5, &error) && Counts(s, 0, 5, &error) && Counts(s, 7, 1, &error));
}

/* What its runs have planned is shown, and nothing before there was one. */
static void Dump(ge_session* s, int ran) {
  ge_error error = {.size = sizeof error};
  char* text = NULL;
  if (!ran) {
    CHECK(ge_session_dump(s, "pick", "memory", &text, &error) == GE_STATUS_FAILED_PRECONDITION);
    CHECK(text == NULL && strstr(error.message, "run the entry first") != NULL);
    return;
  }
  CHECK_OK(ge_session_dump(s, "pick", "memory", &text, &error));
  CHECK(text != NULL && strstr(text, "# piece 1 of ") == text && strstr(text, "launch") != NULL);
  ge_text_release(text);
}

static void* Work(void* session) {
  ge_error error = {.size = sizeof error};
  intptr_t wrong = 0;
  int64_t i;
  for (i = 0; i < kTrips; ++i) wrong += !Counts(session, i % 9, 1 + i % 6, &error);
  return (void*)wrong;
}

static void Threads(ge_session* s) {
  pthread_t threads[kThreads];
  void* wrong = NULL;
  intptr_t sum = 0;
  int i;
  for (i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, Work, s);
  for (i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], &wrong);
    sum += (intptr_t)wrong;
  }
  CHECK(sum == 0);
}

/* Plans that may hold one byte in all: each gives way to the next, and every sum is still right. */
static void Evict(const char* model, const char* engines) {
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  ge_session* s = NULL;
  int64_t i;
  int wrong = 0;
  ge_session_options_init(&options);
  options.engines = engines;
  options.plan_cache_bytes = 1;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  for (i = 0; i < 12; ++i) wrong += !Counts(s, 2, 1 + i % 6, &error);
  CHECK(wrong == 0);
  ge_session_destroy(s);
}

static long ResidentKb(void) {
  long pages = 0, all = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Shapes at random: all of them were seen after the first quarter or so. */
static void Memory(ge_session* s, int runs) {
  ge_error error = {.size = sizeof error};
  uint32_t seed = 7;
  long warm = 0, end;
  int i, wrong = 0;
  for (i = 0; i < runs; ++i) {
    seed = seed * 1664525u + 1013904223u;
    wrong += !Counts(s, seed >> 29, 1 + (seed >> 24) % 16, &error);
    if (i == runs / 4) warm = ResidentKb();
  }
  end = ResidentKb();
  CHECK(wrong == 0);
  printf("%d runs at random shapes: resident %ld KiB after a quarter, %ld KiB at the end\n", runs,
         warm, end);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed for a while */
  /* A leak of one small tensor a run would be 0.1 KiB a run. */
  CHECK(end - warm < 512 + runs / 100);
#endif
}

static void Cost(ge_session* s) {
  ge_error error = {.size = sizeof error};
  int64_t m = 1000;
  float x[4] = {1, 2, 3, 4}, y[4];
  ge_tensor in[2], out = Vector(y, 4);
  struct timespec a, b;
  double best = 1e30;
  int i;
  in[0] = Number(&m);
  in[1] = Vector(x, 4);
  for (i = 0; i < 20; ++i) {
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK_OK(ge_session_run(s, "spin", in, 2, &out, 1, &error));
    clock_gettime(CLOCK_MONOTONIC, &b);
    const double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    if (ns < best) best = ns;
  }
  printf("1000 trips of 10 nodes: %.0f ns a node, kernels included\n", best / 10000);
}

int main(int argc, char** argv) {
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  ge_session* s = NULL;
  if (argc != 4) {
    fprintf(stderr, "usage: flow_client MODEL ENGINES RUNS\n");
    return 2;
  }
  ge_session_options_init(&options);
  options.engines = argv[2];
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, argv[1], GE_FORMAT_AUTO, &error));
  if (!failed) {
    Dump(s, 0);
    Buffers(s);
    Dump(s, 1);
  }
  if (!failed) {
    Threads(s);
    Cost(s);
    Memory(s, atoi(argv[3]));
    Evict(argv[1], argv[2]);
  }
  ge_session_destroy(s);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
