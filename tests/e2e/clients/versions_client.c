/* A C11 client of ge.h that stands for clients of other versions, and the runtimes of this one:
 * versions_client MODEL ENGINES. MODEL's entry takes and gives float32[4] alone. Prints what fails
 * and, last, its counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ge/ge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, &error)

/* A struct in the middle of rubbish: what a caller has behind the struct that it knows. */
#define WITH_TAIL(type)      \
  struct {                   \
    type x;                  \
    unsigned char tail[256]; \
  }

static ge_error error = {.size = sizeof(ge_error)};

/* One run with arrays whose elements are longer than the library knows, with rubbish behind. */
static void Run(ge_session* session) {
  float in[4] = {1, -2, 3, -4}, out[4] = {0};
  WITH_TAIL(ge_tensor) x, y;
  uint32_t inputs = 0;
  memset(&x, 0xab, sizeof x);
  memset(&y, 0xab, sizeof y);
  CHECK(ge_session_input_count(session, NULL, &inputs) == GE_STATUS_OK && inputs == 1);
  memset(&x.x, 0, sizeof x.x);
  memset(&y.x, 0, sizeof y.x);
  x.x.size = sizeof x;
  x.x.dtype = 1;
  x.x.rank = 1;
  x.x.dims[0] = 4;
  x.x.data = in;
  x.x.bytes = sizeof in;
  y.x.size = sizeof y;
  y.x.data = out;
  y.x.bytes = sizeof out;
  CHECK(ge_session_run(session, NULL, &x.x, 1, &y.x, 1, &error) == GE_STATUS_OK);
  CHECK(out[0] == 1 && out[1] == 0 && out[2] == 3 && out[3] == 0); /* Relu */
  CHECK(y.tail[0] == 0xab && y.tail[255] == 0xab);
}

/* Options of `size` bytes; what lies behind them is rubbish. */
static ge_session* Make(uint32_t size, const char* engines, const char* model) {
  WITH_TAIL(ge_session_options) o;
  ge_session* session = NULL;
  memset(&o, 0xab, sizeof o);
  memset(&o, 0, size < sizeof o ? size : sizeof o);
  o.x.size = size;
  o.x.engines = engines;
  CHECK(ge_session_create(&o.x, &session, &error) == GE_STATUS_OK);
  if (session) CHECK(ge_session_load_file(session, model, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
  return session;
}

/* Structs as they were when they were first published, and as they may be some day. */
static void Sizes(const char* engines, const char* model) {
  static const uint32_t sizes[] = {32, 40, 80, sizeof(ge_session_options),
                                   sizeof(ge_session_options) + 200};
  WITH_TAIL(ge_error) e;
  WITH_TAIL(ge_tensor_info) info;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    ge_session* session = Make(sizes[i], engines, model);
    if (session) Run(session);
    ge_session_destroy(session);
  }
  ge_session* session = Make(32, engines, model);
  memset(&info, 0xab, sizeof info);
  info.x.size = sizeof info;
  CHECK(ge_session_input_info(session, NULL, 0, &info.x) == GE_STATUS_OK && info.x.rank == 1);
  CHECK(info.tail[0] == 0xab);
  info.x.size = 8;
  CHECK(ge_session_input_info(session, NULL, 0, &info.x) == GE_STATUS_INVALID_ARGUMENT);
  memset(&e, 0xab, sizeof e);
  e.x.size = sizeof e;
  CHECK(ge_session_load_file(session, model, GE_FORMAT_AUTO, &e.x) ==
        GE_STATUS_FAILED_PRECONDITION);
  CHECK(strstr(e.x.message, "has a model already") != NULL && e.tail[0] == 0xab);
  e.x.size = 8;
  e.x.message[0] = 'x'; /* shorter than it ever was: the status alone */
  CHECK(ge_session_load_file(session, model, GE_FORMAT_AUTO, &e.x) ==
        GE_STATUS_FAILED_PRECONDITION);
  CHECK(e.x.message[0] == 'x');
  ge_session_destroy(session);
}

/* Filling in defaults writes no more than the caller has. */
static void Defaults(void) {
  unsigned char room[256];
  ge_status (*unsized)(ge_session_options*) =
      (ge_status(*)(ge_session_options*))dlsym(RTLD_DEFAULT, "ge_session_options_init");
  memset(room, 0xab, sizeof room);
  CHECK(unsized && unsized((ge_session_options*)room) == GE_STATUS_OK);
  CHECK(*(uint32_t*)room == 80 && room[79] == 0 && room[80] == 0xab);
  memset(room, 0xab, sizeof room);
  CHECK(ge_session_options_init_sized((ge_session_options*)room, 32) == GE_STATUS_OK);
  CHECK(*(uint32_t*)room == 32 && room[31] == 0 && room[32] == 0xab);
  CHECK(ge_session_options_init_sized((ge_session_options*)room, 8) == GE_STATUS_INVALID_ARGUMENT);
}

static void Runtimes(const char* engines, const char* model) {
  ge_runtime_options options = {.size = sizeof options, .threads = 2};
  ge_runtime *runtime = NULL, *other = NULL;
  ge_session_options o;
  ge_session* session[2] = {NULL, NULL};
  uint32_t open[3] = {9, 9, 9};
  CHECK(ge_runtime_create(&options, &runtime, &error) == GE_STATUS_OK);
  CHECK(ge_runtime_engine_count(runtime, &open[0]) == GE_STATUS_OK && open[0] == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(ge_session_options_init(&o) == GE_STATUS_OK && o.size == sizeof o);
    o.runtime = runtime;
    o.engines = engines;
    CHECK(ge_session_create(&o, &session[i], &error) == GE_STATUS_OK);
    CHECK(ge_session_load_file(session[i], model, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
    CHECK(ge_runtime_engine_count(runtime, &open[1 + i]) == GE_STATUS_OK);
  }
  CHECK(open[1] > 0 && open[2] == open[1]); /* the second opened none */
  /* Threads and instruction set are the process's. */
  options.threads = 1;
  CHECK(ge_runtime_create(&options, &other, &error) == GE_STATUS_FAILED_PRECONDITION && !other);
  CHECK(strstr(error.message, "threads = 1 was asked for, but this process is fixed to 2") != NULL);
  options.threads = 0;
  options.isa_cap = 1;
  CHECK(ge_runtime_create(&options, &other, &error) == GE_STATUS_FAILED_PRECONDITION && !other);
  CHECK(strstr(error.message, "instruction-set cap 1 was asked for") != NULL);
  options.isa_cap = 7;
  CHECK(ge_runtime_create(&options, &other, &error) == GE_STATUS_INVALID_ARGUMENT && !other);
  options.isa_cap = 0;
  options.size = 8;
  CHECK(ge_runtime_create(&options, &other, &error) == GE_STATUS_INVALID_ARGUMENT && !other);
  CHECK(ge_runtime_create(NULL, NULL, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_runtime_engine_count(NULL, &open[0]) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_runtime_create(NULL, &other, &error) == GE_STATUS_OK); /* what is fixed is fine */
  ge_session* wrong = NULL;
  o.threads = 1;
  CHECK(ge_session_create(&o, &wrong, &error) == GE_STATUS_FAILED_PRECONDITION && !wrong);
  ge_runtime_destroy(other);
  ge_runtime_destroy(runtime); /* sessions keep what they need of it */
  Run(session[0]);
  ge_session_destroy(session[0]);
  Run(session[1]);
  ge_session_destroy(session[1]);
  ge_runtime_destroy(NULL);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: versions_client MODEL ENGINES\n");
    return 2;
  }
  Runtimes(argv[2], argv[1]);
  Sizes(argv[2], argv[1]);
  Defaults();
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
