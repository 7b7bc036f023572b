/* A client of ge.h under limits of memory, processes and descriptors: limits_client MODEL ENGINES
 * THREADS [WANTED]. Prints "result NUMBER", the sum of the first output at inputs of ones, and ends
 * with 0; where a call fails, its message, and ends with 3. Two results that differ, one that is
 * not WANTED, a failure without a message and an unknown argument end with 1. */
#include <ge/ge.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostTensors = 8, kMostValues = 1 << 16 };
static ge_error error = {.size = sizeof(ge_error)};

static void Must(ge_status status, const char* what) {
  if (status == GE_STATUS_OK) return;
  if (error.message[0] == 0) {
    fprintf(stderr, "%s: %s without a message\n", what, ge_status_name(status));
    exit(1);
  }
  fprintf(stderr, "client: %s: %s\n", what, error.message);
  exit(3);
}

static ge_tensor Ones(const ge_tensor_info* info) {
  ge_tensor t = {.size = sizeof t, .dtype = info->dtype, .rank = info->rank};
  uint64_t n = 1, i;
  int d;
  for (d = 0; d < info->rank; ++d) {
    t.dims[d] = info->dims[d] > 0 ? info->dims[d] : 1;
    n *= (uint64_t)t.dims[d];
  }
  t.bytes = n * sizeof(float);
  t.data = malloc(t.bytes);
  if (t.dtype != 1 || t.data == NULL) exit(3);
  for (i = 0; i < n; ++i) ((float*)t.data)[i] = 1;
  return t;
}

static double Sum(const ge_tensor* t) {
  double sum = 0;
  uint64_t i;
  for (i = 0; i < t->bytes / sizeof(float); ++i) sum += ((const float*)t->data)[i];
  return sum;
}

static int Alike(double a, double b) { return fabs(a - b) <= 1e-3 * (1 + fabs(b)); }

int main(int argc, char** argv) {
  ge_session_options options;
  ge_session* s = NULL;
  ge_run* run = NULL;
  ge_tensor in[kMostTensors], out[kMostTensors], again[kMostTensors];
  uint32_t n = 0, m = 0, i;
  double sum;
  if (argc < 4) return 1;
  ge_session_options_init(&options);
  options.engines = argv[2][0] ? argv[2] : NULL;
  options.threads = (uint32_t)strtoul(argv[3], NULL, 10);
  options.time_limit_ms = 600 * 1000; /* takes a thread that watches it */
  Must(ge_session_create(&options, &s, &error), "create");
  Must(ge_session_load_file(s, argv[1], GE_FORMAT_AUTO, &error), "load");
  Must(ge_session_input_count(s, NULL, &n), "inputs");
  Must(ge_session_output_count(s, NULL, &m), "outputs");
  if (n > kMostTensors || m > kMostTensors) return 1;
  for (i = 0; i < n; ++i) {
    ge_tensor_info info = {.size = sizeof info};
    Must(ge_session_input_info(s, NULL, i, &info), "input");
    in[i] = Ones(&info);
  }
  memset(out, 0, sizeof out);
  memset(again, 0, sizeof again);
  for (i = 0; i < m; ++i) out[i].size = again[i].size = sizeof out[i];
  Must(ge_session_run(s, NULL, in, n, out, m, &error), "run");
  sum = Sum(&out[0]);
  Must(ge_session_run_async(s, NULL, in, n, again, m, NULL, NULL, &run, &error), "run_async");
  Must(ge_run_wait(run, UINT64_MAX, &error), "wait");
  ge_run_destroy(run);
  printf("result %.9g\n", sum);
  if (!Alike(Sum(&again[0]), sum) || (argc > 4 && !Alike(sum, atof(argv[4])))) return 1;
  for (i = 0; i < m; ++i) {
    ge_tensor_release(&out[i]);
    ge_tensor_release(&again[i]);
  }
  for (i = 0; i < n; ++i) free(in[i].data);
  ge_session_destroy(s);
  return 0;
}
