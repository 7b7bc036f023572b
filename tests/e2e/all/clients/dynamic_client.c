/* Runs a model at random sizes of its inputs' first axes, thousands of times, and watches the
 * memory of the process; then compares a size that was seen before with a model that knows no
 * other. Usage: dynamic_client DYNAMIC STATIC ENGINES RUNS MOST DYNAMIC and STATIC are one model;
 * every unknown size of DYNAMIC is drawn from 1 to MOST, the same for all of them, and 8 in STATIC.
 */
#include <ge/ge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kPorts = 8, kPairs = 301, kSize = 8 };

static int passed, failed;

static void Check(int good, const char* what, int line, const ge_error* error) {
  passed += good;
  failed += !good;
  if (!good) printf("FAILED  line %d: %s: %s\n", line, what, error ? error->message : "");
}
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)

typedef struct Model {
  ge_session* session;
  uint32_t inputs, outputs;
  ge_tensor_info info[kPorts];
  ge_tensor in[kPorts];
} Model;

static uint64_t ElementBytes(int32_t dtype) { return dtype == 7 ? 8 : 4; }

/* Gives every unknown size `n`; the data are ones, sixteen thousand where they are whole numbers.
 */
static void Shape(Model* m, int64_t n) {
  uint32_t i;
  for (i = 0; i < m->inputs; ++i) {
    ge_tensor* t = &m->in[i];
    uint64_t count = 1, k;
    int32_t d;
    free(t->data);
    t->size = sizeof *t;
    t->dtype = m->info[i].dtype;
    t->rank = m->info[i].rank;
    for (d = 0; d < t->rank; ++d) {
      t->dims[d] = m->info[i].dims[d] < 0 ? n : m->info[i].dims[d];
      count *= (uint64_t)t->dims[d];
    }
    t->bytes = count * ElementBytes(t->dtype);
    t->data = malloc(t->bytes ? t->bytes : 1);
    for (k = 0; k < count; ++k) {
      if (t->dtype == 7) {
        ((int64_t*)t->data)[k] = 16000;
      } else {
        ((float*)t->data)[k] = 1;
      }
    }
  }
}

static ge_status Run(Model* m, ge_error* error) {
  ge_tensor out[kPorts];
  uint32_t i;
  ge_status status;
  memset(out, 0, sizeof out);
  for (i = 0; i < m->outputs; ++i) out[i].size = sizeof out[i];
  status = ge_session_run(m->session, NULL, m->in, m->inputs, out, m->outputs, error);
  for (i = 0; i < m->outputs; ++i) ge_tensor_release(&out[i]);
  return status;
}

static int Open(Model* m, const char* path, const char* engines) {
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  uint32_t i;
  memset(m, 0, sizeof *m);
  ge_session_options_init(&options);
  options.engines = engines;
  options.prices = GE_PRICES_ANALYTIC;
  options.threads = 1;
  CHECK_OK(ge_session_create(&options, &m->session, &error));
  CHECK_OK(ge_session_load_file(m->session, path, GE_FORMAT_AUTO, &error));
  if (failed) return 0;
  CHECK_OK(ge_session_input_count(m->session, NULL, &m->inputs));
  CHECK_OK(ge_session_output_count(m->session, NULL, &m->outputs));
  for (i = 0; i < m->inputs && i < kPorts; ++i) {
    m->info[i].size = sizeof m->info[i];
    CHECK_OK(ge_session_input_info(m->session, NULL, i, &m->info[i]));
  }
  return !failed && m->inputs <= kPorts && m->outputs <= kPorts;
}

static long ResidentKb(void) {
  long pages = 0, all = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void Memory(Model* m, int runs, int64_t most) {
  ge_error error = {.size = sizeof error};
  uint32_t seed = 7;
  long warm = 0, end;
  int i, wrong = 0;
  for (i = 0; i < runs; ++i) {
    seed = seed * 1664525u + 1013904223u;
    Shape(m, 1 + (int64_t)((seed >> 8) % (uint32_t)most));
    wrong += Run(m, &error) != GE_STATUS_OK;
    if (i == runs / 4) warm = ResidentKb();
  }
  end = ResidentKb();
  Check(wrong == 0, "every run succeeds", __LINE__, &error);
  printf("%d runs at random sizes 1 to %d: resident %ld KiB after a quarter, %ld KiB at the end\n",
         runs, (int)most, warm, end);
  /* One per cent, and a megabyte for what the C library keeps. */
  Check(end - warm < 1024 + warm / 100, "the memory stays as it was", __LINE__, NULL);
}

static double Time(Model* m, int runs) {
  ge_error error = {.size = sizeof error};
  struct timespec a, b;
  int i;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (i = 0; i < runs; ++i) Run(m, &error);
  clock_gettime(CLOCK_MONOTONIC, &b);
  return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / runs;
}

static int Less(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void SecondSight(Model* dynamic, Model* fixed) {
  static double ratio[kPairs];
  int i, inner;
  Shape(dynamic, kSize);
  Shape(fixed, kSize);
  Time(dynamic, 3);
  Time(fixed, 3);
  inner = (int)(2e6 / Time(fixed, 3)) + 1; /* two milliseconds */
  for (i = 0; i < kPairs; ++i) {
    double a = 0, b = 0;
    if (i % 2) a = Time(dynamic, inner);
    b = Time(fixed, inner);
    if (i % 2 == 0) a = Time(dynamic, inner);
    ratio[i] = a / b;
  }
  qsort(ratio, kPairs, sizeof ratio[0], Less);
  printf(
      "a size seen before / the model of that size alone: %.3f, half of %d pairs in [%.3f, "
      "%.3f]\n",
      ratio[kPairs / 2], kPairs, ratio[kPairs / 4], ratio[kPairs * 3 / 4]);
}

int main(int argc, char** argv) {
  Model dynamic, fixed;
  if (argc != 6) {
    fprintf(stderr, "usage: dynamic_client DYNAMIC STATIC ENGINES RUNS MOST\n");
    return 2;
  }
  if (Open(&dynamic, argv[1], argv[3]) && Open(&fixed, argv[2], argv[3])) {
    Memory(&dynamic, atoi(argv[4]), atoi(argv[5]));
    SecondSight(&dynamic, &fixed);
  }
  ge_session_destroy(dynamic.session);
  ge_session_destroy(fixed.session);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
