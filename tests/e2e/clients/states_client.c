/* States that sessions share: states_client STEP LOOK ENGINES OPERATOR COMMAND, of shared_step.gt,
 * shared_look.gt and states_op.c; see main. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ge/ge.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER; /* kernels and threads check, too */
static int passed, failed;
static void Check(int good, const char* what, int line, const ge_error* error) {
  pthread_mutex_lock(&counts);
  ++*(good ? &passed : &failed);
  if (!good) printf("FAILED  line %d: %s: %s\n", line, what, error ? error->message : "");
  pthread_mutex_unlock(&counts);
}
#define CHECK(x) Check((x), #x, __LINE__, &error)
#define CHECK_IS(x, status) Check((x) == (status), #x, __LINE__, &error)
#define CHECK_OK(x) CHECK_IS(x, GE_STATUS_OK)
#define SAYS(text) CHECK(strstr(error.message, text) != NULL)

enum { kN = 1 << 20, kLarge = 1 << 20 };
static const char *step_model, *look_model, *engines, *operator_path;
static _Thread_local ge_error error = {.size = sizeof(ge_error)};

/* ---- large allocations of the process ----------------------------------------------------------
 */
extern void* __libc_memalign(size_t, size_t);
static atomic_int large;
void* aligned_alloc(size_t align, size_t n) {
  large += n >= kLarge;
  return __libc_memalign(align, n);
}
int posix_memalign(void** out, size_t align, size_t n) {
  large += n >= kLarge;
  *out = __libc_memalign(align, n);
  return *out ? 0 : 12;
}

/* ---- sessions and tensors ----------------------------------------------------------------------
 */
static ge_session* Open(const char* model, ge_states* states) {
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.engines = engines;
  options.plugins = operator_path;
  options.threads = 4; /* runs beside runs, on any machine */
  options.states = states;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  return s;
}

static ge_states* States(void) {
  ge_states* states = NULL;
  CHECK_OK(ge_states_create(&states, &error));
  return states;
}

static ge_tensor Vector(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 1, .dims = {n}};
  t.data = data;
  t.bytes = (uint64_t)n * sizeof(float);
  return t;
}

static float* Filled(float value) {
  float* data = malloc(kN * sizeof *data);
  for (int i = 0; i < kN; ++i) data[i] = value;
  return data;
}

/* The one value that all elements have; NAN-free, -1e30 where they differ. */
static float Same(const float* data) {
  for (int i = 1; i < kN; ++i) {
    if (data[i] != data[0]) return -1e30f;
  }
  return data[0];
}

/* Runs with x everywhere; what y is everywhere goes to *y. */
static ge_status Run(ge_session* s, const char* entry, float x, float* y) {
  float *in_data = Filled(x), *out_data = Filled(-1);
  ge_tensor in = Vector(in_data, kN), out = Vector(out_data, kN);
  const ge_status status = ge_session_run(s, entry, &in, 1, &out, 1, &error);
  *y = Same(out_data);
  free(in_data);
  free(out_data);
  return status;
}

static ge_status Set(ge_states* states, const char* name, float value,
                     const ge_run_options* options) {
  float* data = Filled(value);
  const ge_tensor t = Vector(data, kN);
  const ge_status status = ge_states_set(states, name, &t, options, &error);
  free(data);
  return status;
}

static float Get(ge_states* states, const char* name) {
  float* data = Filled(-2);
  ge_tensor t = Vector(data, kN);
  CHECK_OK(ge_states_get(states, name, &t, NULL, &error));
  const float value = Same(data);
  free(data);
  return value;
}

static int64_t Steps(ge_states* states) {
  int64_t n = -1;
  ge_tensor t = {.size = sizeof t, .data = &n, .bytes = sizeof n};
  CHECK_OK(ge_states_get(states, "steps", &t, NULL, &error));
  return n;
}

/* ---- commands ----------------------------------------------------------------------------------
 */
static void Calls(void) {
  ge_states* states = States();
  ge_tensor_info info = {.size = sizeof info};
  float y;
  uint32_t n = 9;
  CHECK_OK(Set(states, "w", 3, NULL));
  ge_session *step = Open(step_model, states), *look = Open(look_model, states);
  CHECK(Get(states, "w") == 3 && Get(states, "m") == 0 && Steps(states) == 0);
  CHECK_OK(Run(step, "step", 1, &y)); /* m 1, w 4 */
  CHECK_OK(Run(look, "look", 0, &y));
  CHECK(y == 4);
  CHECK_OK(Run(step, "step", 1, &y)); /* m 1.5, w 5.5 */
  CHECK(y == 4.5f && Steps(states) == 2);
  CHECK_OK(Run(look, "look", 1, &y));
  CHECK(y == 6.5f && Get(states, "w") == 5.5f);
  CHECK_OK(Set(states, "w", 0, NULL));
  CHECK_OK(Run(look, "look", 1, &y));
  CHECK(y == 1);
  CHECK_OK(ge_states_count(states, &n));
  CHECK(n == 3);
  CHECK_OK(ge_states_info(states, 2, &info));
  CHECK(!strcmp(info.name, "w") && info.rank == 1 && info.dims[0] == kN && info.dtype == 1);
  CHECK(!strcmp(info.type, "tensor(float)"));
  CHECK_IS(ge_states_info(states, 3, &info), GE_STATUS_INVALID_ARGUMENT);
  ge_tensor none = {.size = sizeof none};
  CHECK_OK(ge_states_get(states, "w", &none, NULL, &error)); /* of its type alone */
  CHECK(none.bytes == kN * sizeof(float) && none.data == NULL);
  CHECK_OK(ge_session_reset_states(step, &error));
  CHECK(Get(states, "w") == 1);
  ge_states_release(states); /* the sessions keep theirs */
  CHECK_OK(Run(step, "step", 1, &y));
  CHECK_OK(Run(look, "look", 0, &y));
  CHECK(y == 2);
  ge_session_destroy(step);
  CHECK_OK(Run(look, "look", 0, &y));
  CHECK(y == 2);
  ge_session_destroy(look);
}

static void Refused(void) {
  ge_states* states = States();
  float four[4] = {1, 2, 3, 4}, y;
  ge_tensor t = Vector(four, 4);
  const ge_run_options bad = {.size = 1};
  CHECK_IS(ge_states_create(NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_set(NULL, "w", &t, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_set(states, NULL, &t, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_set(states, "w", NULL, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_set(states, "w", &t, &bad, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_get(states, "w", &t, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  SAYS("no shared state 'w'");
  CHECK_IS(ge_states_get(NULL, "w", &t, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_get(states, "w", NULL, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_erase(NULL, "w", &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_erase(states, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_count(NULL, NULL), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_info(states, 0, NULL), GE_STATUS_INVALID_ARGUMENT);
  CHECK_IS(ge_states_cancel(NULL), GE_STATUS_INVALID_ARGUMENT);
  ge_states_release(NULL);
  t.bytes = 15;
  CHECK_IS(ge_states_set(states, "w", &t, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  t.bytes = 16;
  CHECK_OK(ge_states_set(states, "w", &t, NULL, &error));
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.engines = engines;
  options.threads = 4;
  options.states = states;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_IS(ge_session_load_file(s, step_model, GE_FORMAT_AUTO, &error), GE_STATUS_INVALID_ARGUMENT);
  SAYS("'w'");
  SAYS("f32[4]");
  SAYS("f32[1048576]");
  uint32_t n = 0;
  CHECK_OK(ge_states_count(states, &n));
  CHECK(n == 1); /* nothing was added */
  CHECK_OK(ge_states_erase(states, "w", &error));
  CHECK_OK(ge_session_load_file(s, step_model, GE_FORMAT_AUTO, &error)); /* the same session */
  CHECK(Get(states, "w") == 1);
  CHECK_IS(ge_states_set(states, "w", &t, NULL, &error), GE_STATUS_INVALID_ARGUMENT);
  SAYS("'w' is f32[1048576] and used by 1 session; its new value is f32[4]");
  CHECK_IS(ge_states_erase(states, "w", &error), GE_STATUS_FAILED_PRECONDITION);
  SAYS("'w' is used by 1 session");
  CHECK_OK(Run(s, "step", 1, &y));
  ge_session_destroy(s);
  CHECK(Get(states, "w") == 2);
  CHECK_OK(ge_states_set(states, "w", &t, NULL, &error));
  CHECK_OK(ge_states_erase(states, "w", &error));
  ge_states_release(states);
}

/* ---- within a run ------------------------------------------------------------------------------
 */
static struct {
  ge_states *states, *others;
  ge_session *look, *again, *apart; /* the last one of `others` */
  int writes, ends;                 /* the run does; the hook ends it */
  ge_cancel_token* token;
  ge_status waited[3];
  atomic_int begun;
} in;

static void* Waits(void* number) {
  const int i = (int)(intptr_t)number;
  const ge_run_options limits[] = {{.size = sizeof(ge_run_options)},
                                   {.size = sizeof(ge_run_options), .time_limit_ms = 20},
                                   {.size = sizeof(ge_run_options), .cancel = in.token}};
  ++in.begun;
  in.waited[i] = Set(in.states, "w", 100, i == 0 ? NULL : &limits[i]);
  return NULL;
}

static void* Beside(void* none) {
  float y;
  (void)none;
  CHECK_OK(Set(in.states, "free", 5, NULL)); /* no run uses it */
  /* Where a device's plan wants the state elsewhere it has to be alone, to move it. */
  if (!in.writes && !strstr(engines, "devsim")) CHECK_OK(Run(in.again, "look", 0, &y));
  return NULL;
}

static void Hook(void) {
  pthread_t beside, waits[3];
  float y;
  uint32_t n = 0;
  CHECK_IS(Set(in.states, "w", 7, NULL), GE_STATUS_FAILED_PRECONDITION);
  SAYS("within a run");
  SAYS("'w'");
  float* data = Filled(0);
  ge_tensor t = Vector(data, kN);
  CHECK_IS(ge_states_get(in.states, "w", &t, NULL, &error), GE_STATUS_FAILED_PRECONDITION);
  CHECK_IS(ge_session_get_state(in.look, "w", &t, &error), GE_STATUS_FAILED_PRECONDITION);
  free(data);
  CHECK_IS(Run(in.again, "look", 0, &y), GE_STATUS_FAILED_PRECONDITION);
  CHECK_OK(ge_states_count(in.states, &n));
  CHECK_OK(Set(in.others, "w", 8, NULL));
  CHECK(Get(in.others, "w") == 8);
  CHECK_OK(Run(in.apart, "look", 1, &y)); /* a run within a run */
  CHECK(y == 9);
  pthread_create(&beside, NULL, Beside, NULL);
  pthread_join(beside, NULL); /* it waits for nobody */
  in.begun = 0;
  for (int i = 0; i < 3; ++i) pthread_create(&waits[i], NULL, Waits, (void*)(intptr_t)i);
  pthread_join(waits[1], NULL);
  CHECK(in.waited[1] == GE_STATUS_DEADLINE_EXCEEDED);
  CHECK_OK(ge_cancel_token_cancel(in.token));
  pthread_join(waits[2], NULL);
  CHECK(in.waited[2] == GE_STATUS_CANCELLED);
  in.waited[0] = 99;
  while (in.begun < 3) sched_yield();
  while (*(volatile ge_status*)&in.waited[0] == 99) {
    ge_states_cancel(in.states); /* once it has begun it ends */
    sched_yield();
  }
  pthread_join(waits[0], NULL);
  CHECK(in.waited[0] == GE_STATUS_CANCELLED);
  CHECK_OK(ge_cancel_token_reset(in.token));
  if (in.ends) CHECK_OK(ge_session_cancel(in.look));
}

static void Inside(void) {
  float y;
  void* op = dlopen(operator_path, RTLD_NOW); /* the library that the host opens, too */
  void (**hook)(void) = op ? (void (**)(void))dlsym(op, "states_op_hook") : NULL;
  in.states = States();
  in.others = States();
  CHECK_OK(ge_cancel_token_create(&in.token, &error));
  CHECK_OK(Set(in.states, "w", 3, NULL));
  in.look = Open(look_model, in.states);
  in.again = Open(look_model, in.states);
  in.apart = Open(look_model, in.others);
  CHECK(hook != NULL);
  if (!hook || failed) return;
  *hook = Hook;
  CHECK_OK(Run(in.look, "pause", 1, &y));
  CHECK(y == 4);
  in.writes = 1;
  CHECK_OK(Run(in.look, "keep", 1, &y));
  CHECK(Get(in.states, "w") == 4);
  in.ends = 1;
  CHECK_IS(Run(in.look, "keep", 1, &y), GE_STATUS_CANCELLED);
  CHECK(Get(in.states, "w") == 4); /* as it was */
  *hook = NULL;
  CHECK_OK(Run(in.look, "keep", 1, &y));
  CHECK(Get(in.states, "w") == 5);
  ge_session_destroy(in.look);
  ge_session_destroy(in.again);
  ge_session_destroy(in.apart);
  ge_states_release(in.states);
  ge_states_release(in.others);
  ge_cancel_token_destroy(in.token);
}

/* ---- eight threads -----------------------------------------------------------------------------
 */
enum { kThreads = 8, kEach = 20 };
static struct {
  ge_states* states;
  ge_session* sessions[3]; /* two that step, one that looks */
} all;

/* All elements of w are equal at any time, so that a torn one shows. */
static void* Work(void* number) {
  const int i = (int)(intptr_t)number;
  float y;
  for (int k = 0; k < kEach; ++k) {
    if (i < 4) {
      CHECK_OK(Run(all.sessions[i % 2], "step", (float)(i % 3), &y));
    } else if (i < 6) {
      CHECK_OK(Run(all.sessions[2], "look", 0, &y));
    } else if (i == 6) {
      CHECK_OK(Set(all.states, "w", (float)k, NULL));
      y = 0;
    } else {
      y = Get(all.states, "w");
    }
    CHECK(y > -1e29f);
  }
  return NULL;
}

static void Threads(void) {
  pthread_t threads[kThreads];
  all.states = States();
  all.sessions[0] = Open(step_model, all.states);
  all.sessions[1] = Open(step_model, all.states);
  all.sessions[2] = Open(look_model, all.states);
  for (int i = 0; i < kThreads; ++i) {
    pthread_create(&threads[i], NULL, Work, (void*)(intptr_t)i);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK(Steps(all.states) == 4 * kEach);
  for (int i = 0; i < 3; ++i) ge_session_destroy(all.sessions[i]);
  ge_states_release(all.states);
}

/* ---- bytes -------------------------------------------------------------------------------------
 */
static long StateBytes(ge_session* s) {
  char* text = NULL;
  long bytes = -1;
  CHECK_OK(ge_session_report(s, NULL, &text, &error));
  for (const char* at = text; at && (at = strstr(at, "\"state_bytes\":")); ++at) {
    const long found = atol(at + strlen("\"state_bytes\":")); /* of a device, and of all */
    if (found > bytes) bytes = found;
  }
  ge_text_release(text);
  return bytes;
}

static void Bytes(void) {
  const long one = kN * (long)sizeof(float);
  ge_states* states = States();
  float y;
  large = 0;
  CHECK_OK(Set(states, "w", 3, NULL));
  CHECK_OK(Set(states, "m", 0, NULL));
  CHECK(large == 2); /* the states themselves */
  large = 0;
  ge_session *look = Open(look_model, states), *second = Open(look_model, states);
  CHECK(large == 0); /* no second one */
  ge_session* step = Open(step_model, states);
  printf("%d blocks of 1 MiB and more beside the states\n", (int)large);
  CHECK_OK(Run(step, "step", 1, &y));
  CHECK_OK(Run(look, "look", 0, &y));
  CHECK_OK(Run(second, "look", 0, &y));
  CHECK(y == 4);
  const long all_bytes = StateBytes(step), w_bytes = StateBytes(look);
  printf("bytes of states: %ld of the step, %ld of who looks\n", all_bytes, w_bytes);
  CHECK(w_bytes == one || w_bytes == 2 * one); /* with the memory that runs write beside */
  CHECK(w_bytes == StateBytes(second));
  CHECK(all_bytes <= 4 * one + 16 && all_bytes >= 2 * one + 8);
  large = 0;
  for (int i = 0; i < 5; ++i) CHECK_OK(Run(second, "look", 0, &y));
  CHECK_OK(Set(states, "w", 3, NULL));
  CHECK_OK(Run(second, "look", 0, &y));
  CHECK(y == 3);
  ge_session_destroy(look);
  ge_session_destroy(second);
  ge_session_destroy(step);
  ge_states_release(states);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*command)(void);
  } kCommands[] = {{"calls", Calls},
                   {"refused", Refused},
                   {"inside", Inside},
                   {"threads", Threads},
                   {"bytes", Bytes}};
  const size_t n = sizeof kCommands / sizeof *kCommands;
  size_t i = 0;
  while (argc == 6 && i < n && strcmp(argv[5], kCommands[i].name)) ++i;
  if (argc != 6 || i == n) {
    fprintf(stderr,
            "usage: states_client STEP LOOK ENGINES OPERATOR COMMAND\n"
            "  calls    a step and an evaluation of one set of weights\n"
            "  refused  arguments, other types, what is in use\n"
            "  inside   calls from within a run, and beside it\n"
            "  threads  eight on three sessions\n"
            "  bytes    the states are held once\n");
    return 2;
  }
  step_model = argv[1];
  look_model = argv[2];
  engines = argv[3];
  operator_path = argv[4];
  kCommands[i].command();
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
