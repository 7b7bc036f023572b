/* The engine ascend beside another user of AscendCL in its process.
 *
 * ascend_threads threads first|second: two sessions, eight threads, each of them with a context of
 * its own that holds a block, before, between and after runs. The other user initializes first, or
 * finds that the engine has.
 *
 * ascend_threads sessions N: so many sessions one after another, each with an engine of its own, on
 * a device with few streams; then as many at once as it takes until one is refused. Memory of the
 * device and of the process stays as it is.
 *
 * Run from the root of the tree: models are in build/models. AscendCL is looked for where the
 * linker looks. Last line: N passed, N failed, N skipped. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ge/ge.h"

enum { kThreads = 8, kRounds = 25, kBytes = 1024, kHostToDevice = 1, kDeviceToHost = 2, kHbm = 1 };
enum { kInput = 784, kRepeatInitialize = 100002 };

static int passed, failed;
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;

static int Check(int good, const char* what, const char* detail) {
  pthread_mutex_lock(&counts);
  passed += good != 0;
  failed += good == 0;
  if (!good) printf("FAILED  %s\n    %s\n", what, detail);
  pthread_mutex_unlock(&counts);
  return good;
}

/* ---- the other user ------------------------------------------------------------------------- */

typedef void* Context;
static struct {
  int (*aclInit)(const char*);
  int (*aclrtCreateContext)(Context*, int32_t);
  int (*aclrtDestroyContext)(Context);
  int (*aclrtSetCurrentContext)(Context);
  int (*aclrtGetCurrentContext)(Context*);
  int (*aclrtMalloc)(void**, size_t, int);
  int (*aclrtFree)(void*);
  int (*aclrtMemcpy)(void*, size_t, const void*, size_t, int);
  int (*aclrtGetMemInfo)(int, size_t*, size_t*);
} acl;

static int FindAcl(void) {
  void* library = dlopen("libascendcl.so", RTLD_NOW);
  if (!Check(library != NULL, "libascendcl.so", library ? "" : dlerror())) return 0;
#define FIND(name) *(void**)&acl.name = dlsym(library, #name)
  FIND(aclInit);
  FIND(aclrtCreateContext);
  FIND(aclrtDestroyContext);
  FIND(aclrtSetCurrentContext);
  FIND(aclrtGetCurrentContext);
  FIND(aclrtMalloc);
  FIND(aclrtFree);
  FIND(aclrtMemcpy);
  FIND(aclrtGetMemInfo);
#undef FIND
  return 1;
}

/* A thread's own: a context, and a block in it with bytes of the thread's. */
struct Own {
  Context context;
  void* block;
  unsigned char wanted[kBytes];
};

static int Begin(struct Own* own, int number) {
  memset(own->wanted, 17 * number + 1, sizeof own->wanted);
  return acl.aclrtCreateContext(&own->context, 0) == 0 &&
         acl.aclrtMalloc(&own->block, kBytes, 0) == 0 &&
         acl.aclrtMemcpy(own->block, kBytes, own->wanted, kBytes, kHostToDevice) == 0;
}

/* The thread's context is current, and what it holds is there. */
static int Stands(const struct Own* own) {
  Context now = NULL;
  unsigned char found[kBytes];
  return acl.aclrtGetCurrentContext(&now) == 0 && now == own->context &&
         acl.aclrtMemcpy(found, kBytes, own->block, kBytes, kDeviceToHost) == 0 &&
         memcmp(found, own->wanted, kBytes) == 0;
}

static int End(struct Own* own) {
  return acl.aclrtFree(own->block) == 0 && acl.aclrtDestroyContext(own->context) == 0;
}

/* ---- sessions ------------------------------------------------------------------------------- */

static ge_session* Open(const char* model, ge_error* error) {
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = "ascend,ref";
  options.policy = GE_PLACE_BY_PRIORITY;
  ge_session* s = NULL;
  char path[256];
  snprintf(path, sizeof path, "build/models/%s.onnx", model);
  if (ge_session_create(&options, &s, error)) return NULL;
  if (ge_session_load_file(s, path, GE_FORMAT_AUTO, error) == GE_STATUS_OK) return s;
  ge_session_destroy(s);
  return NULL;
}

static ge_status Run(ge_session* s, int32_t rank, int64_t size, int seed, double* sum,
                     ge_error* error) {
  float data[kInput];
  ge_tensor in = {.size = sizeof in, .dtype = 1, .rank = rank};
  ge_tensor out = {.size = sizeof out};
  in.dims[0] = 1;
  in.dims[rank - 1] = size;
  in.bytes = sizeof(float) * (uint64_t)size;
  in.data = data;
  for (int64_t i = 0; i < size; ++i) data[i] = (float)((i + seed) * 31 % 17) / 17.0f;
  const ge_status status = ge_session_run(s, NULL, &in, 1, &out, 1, error);
  *sum = 0;
  if (status != GE_STATUS_OK) return status;
  for (uint64_t i = 0; i < out.bytes / 4; ++i) *sum += ((const float*)out.data)[i] * (float)(i + 1);
  ge_tensor_release(&out);
  return status;
}

/* Whether the session's report names the device: a run that the CPU repeated would be as right. */
static int IsOnDevice(ge_session* s) {
  char* text = NULL;
  const ge_status got = ge_session_report(s, NULL, &text, NULL);
  const int good = got == GE_STATUS_OK && strstr(text, "\"device_memory\":[{") != NULL &&
                   strstr(text, "\"lost_devices\":[]") != NULL;
  ge_text_release(text);
  return good;
}

struct Worker {
  int number;
  ge_session* session;
  double wanted;
};

static void* Work(void* at) {
  const struct Worker* w = at;
  ge_error error = {.size = sizeof error};
  struct Own own;
  double sum;
  if (!Check(Begin(&own, w->number), "a context of a thread's own", "it cannot be made")) return 0;
  for (int k = 0; k < kRounds; ++k) {
    const ge_status ran = Run(w->session, 2, kInput, w->number, &sum, &error);
    if (!Check(ran == GE_STATUS_OK, "a run", error.message)) break;
    Check(sum == w->wanted, "its outputs", "differ from those of a run alone");
    if (!Check(Stands(&own), "the thread's context behind a run", "it is another")) break;
  }
  Check(End(&own), "the thread's context ends", "it does not");
  return NULL;
}

static void Threads(int first) {
  ge_error error = {.size = sizeof error};
  ge_session* sessions[2];
  struct Own own;
  struct Worker workers[kThreads];
  pthread_t threads[kThreads];
  if (first) {
    Check(acl.aclInit(NULL) == 0, "the other user initializes", "it is refused");
    Check(Begin(&own, 100), "its context", "it cannot be made");
  }
  for (int k = 0; k < 2; ++k) {
    sessions[k] = Open("mlp", &error);
    if (!Check(sessions[k] != NULL, "a session", error.message)) return;
  }
  if (!first) {
    Check(acl.aclInit(NULL) == kRepeatInitialize, "the engine has initialized", "it has not");
    Check(Begin(&own, 100), "its context", "it cannot be made");
  }
  for (int k = 0; k < kThreads; ++k) {
    workers[k] = (struct Worker){k, sessions[k % 2], 0};
    const ge_status ran = Run(sessions[k % 2], 2, kInput, k, &workers[k].wanted, &error);
    if (!Check(ran == GE_STATUS_OK, "a run alone", error.message)) return;
  }
  Check(Stands(&own), "the first thread's context", "it is another");
  for (int k = 0; k < kThreads; ++k) pthread_create(&threads[k], NULL, Work, &workers[k]);
  for (int k = 0; k < kThreads; ++k) pthread_join(threads[k], NULL);
  for (int k = 0; k < 2; ++k) {
    Check(IsOnDevice(sessions[k]), "runs are the device's", "some were repeated");
    ge_session_destroy(sessions[k]);
    Check(Stands(&own), "its context behind a session's end", "it is another");
  }
  Check(End(&own), "its context ends", "it does not");
  printf("%d threads, two sessions, %d runs each; the other user came %s\n", kThreads, kRounds,
         first ? "first" : "second");
}

/* ---- many sessions -------------------------------------------------------------------------- */

/* Without what the C library keeps for later. */
static uint64_t Resident(void) {
  malloc_trim(0);
  unsigned long long size = 0, pages = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%llu %llu", &size, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static size_t Left(void) {
  size_t left = 0, all = 0;
  return acl.aclrtGetMemInfo(kHbm, &left, &all) == 0 ? left : 0;
}

static void Sessions(int count) {
  enum { kMost = 64 };
  ge_error error = {.size = sizeof error};
  ge_session* held[kMost];
  uint64_t resident = 0;
  double sum, wanted = 0;
  struct Own own;
  int n = 0, on_device = 0;
  Check(acl.aclInit(NULL) == 0 && Begin(&own, 1), "the other user's context", "none");
  const size_t left = Left();
  for (int k = 0; k < count; ++k) {
    ge_session* s = Open("tinychain", &error);
    if (!Check(s != NULL, "a session", error.message)) return;
    const ge_status ran = Run(s, 1, 4, 3, &sum, &error);
    on_device += ran == GE_STATUS_OK && IsOnDevice(s);
    ge_session_destroy(s);
    if (k == 0) wanted = sum;
    if (ran != GE_STATUS_OK || sum != wanted || Left() != left || !Stands(&own)) {
      Check(0, "a session among many", ran != GE_STATUS_OK ? error.message : "it leaves traces");
      return;
    }
    if (k == count / 4) resident = Resident(); /* what grows with the first ones has grown */
  }
  const uint64_t end = Resident();
  printf(
      "%d sessions, %d on the device: it has %zu bytes left, as before; resident %.1f MB, then "
      "%.1f\n",
      count, on_device, left, (double)resident / 1e6, (double)end / 1e6);
  Check(on_device == count, "sessions on the device", "some were not");
  /* Pieces of the heap between others come and go by so much. */
  Check(end <= resident + (2u << 20), "resident memory", "it grows");
  ge_status ran = GE_STATUS_OK;
  for (; n < kMost && ran == GE_STATUS_OK; ++n) {
    held[n] = Open("tinychain", &error);
    if (!Check(held[n] != NULL, "a session beside others", error.message)) return;
    ran = Run(held[n], 1, 4, 3, &sum, &error);
  }
  printf("%d sessions at once, until: %s\n", n - 1, ran == GE_STATUS_OK ? "-" : error.message);
  Check(ran != GE_STATUS_OK && n > 1, "one beyond the caps is refused", "none is");
  Check(strstr(error.message, "streams-cap: all ") != NULL, "the cap is named", error.message);
  while (n > 0) ge_session_destroy(held[--n]);
  Check(Left() == left && Stands(&own), "what is left behind them", "other than before");
  Check(End(&own), "the other user's context ends", "it does not");
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return fprintf(stderr, "usage: ascend_threads threads first|second, sessions N\n"), 2;
  }
  if (FindAcl()) {
    if (strcmp(argv[1], "threads") == 0) {
      Threads(strcmp(argv[2], "first") == 0);
    } else {
      Sessions(atoi(argv[2]));
    }
  }
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
