/* Load, run and close of a model by ge.h with two threads, for learned.py:
 *
 *   learned MODEL RUNS
 *
 * Inputs are zeros, free sizes 1. Prints the ms of load, of the runs, of close, and of load and
 * close together. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMost = 16, kMostElement = 16 };

static double NowMs(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void Try(ge_status status, const ge_error* error) {
  if (status == GE_STATUS_OK) return;
  fprintf(stderr, "%s\n", error->message[0] ? error->message : ge_status_name(status));
  exit(1);
}

static uint32_t Inputs(ge_session* session, ge_tensor* inputs, ge_error* error) {
  uint32_t count = 0, i;
  int32_t axis;
  ge_tensor_info info = {.size = sizeof info};
  Try(ge_session_input_count(session, NULL, &count), error);
  for (i = 0; i < count && i < kMost; ++i) {
    uint64_t elements = 1;
    Try(ge_session_input_info(session, NULL, i, &info), error);
    inputs[i].size = sizeof *inputs;
    inputs[i].dtype = info.dtype;
    inputs[i].rank = info.rank;
    for (axis = 0; axis < info.rank; ++axis) {
      inputs[i].dims[axis] = info.dims[axis] > 0 ? info.dims[axis] : 1;
      elements *= (uint64_t)inputs[i].dims[axis];
    }
    inputs[i].bytes = elements * (info.dtype == 1 ? sizeof(float) : sizeof(int64_t));
    inputs[i].data = calloc(elements, kMostElement);
  }
  return count;
}

int main(int argc, char** argv) {
  double begin, loaded, ran, closed;
  int runs = argc > 2 ? atoi(argv[2]) : 0;
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  ge_session* session;
  static ge_tensor inputs[kMost], outputs[kMost];
  uint32_t n_inputs, n_outputs = 0, i;
  if (argc < 2) return 2;
  Try(ge_session_options_init(&options), &error);
  options.threads = 2;
  begin = NowMs();
  Try(ge_session_create(&options, &session, &error), &error);
  Try(ge_session_load_file(session, argv[1], GE_FORMAT_AUTO, &error), &error);
  loaded = NowMs();
  n_inputs = Inputs(session, inputs, &error);
  Try(ge_session_output_count(session, NULL, &n_outputs), &error);
  for (i = 0; i < n_outputs && i < kMost; ++i) outputs[i].size = sizeof *outputs;
  for (; runs > 0; --runs) {
    Try(ge_session_run(session, NULL, inputs, n_inputs, outputs, n_outputs, &error), &error);
  }
  ran = NowMs();
  ge_session_destroy(session);
  closed = NowMs();
  printf("%.4f %.4f %.4f %.4f\n", loaded - begin, ran - loaded, closed - ran,
         loaded - begin + closed - ran);
  return 0;
}
