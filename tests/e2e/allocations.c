/* Counts, by the module that asks, what a run allocates once a shape is known.
 *
 *   allocations MODEL ENGINES DIMS     e.g. allocations lenet.onnx onednn,ref 64x1x28x28
 *
 * Takes the place of malloc and operator new in its process and looks up each caller's module. The
 * host (libgraphengine), ref and our shims must allocate nothing; what a vendor's library allocates
 * is printed. Last line: N passed, N failed, N skipped. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ge/ge.h"

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

enum { kModules = 64, kRuns = 10 };
static struct {
  const void* base;
  const char* name;
  atomic_uint count;
} modules[kModules];
static atomic_int counting;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void Note(const void* caller) {
  if (!atomic_load(&counting)) return;
  Dl_info info;
  if (!dladdr(caller, &info)) return;
  while (atomic_flag_test_and_set(&lock)) {
  }
  for (int i = 0; i < kModules; ++i) {
    if (modules[i].base && modules[i].base != info.dli_fbase) continue;
    modules[i].base = info.dli_fbase;
    modules[i].name = info.dli_fname;
    ++modules[i].count;
    break;
  }
  atomic_flag_clear(&lock);
}

#define CALLER __builtin_return_address(0)
void* malloc(size_t n) { return Note(CALLER), __libc_malloc(n); }
void* calloc(size_t n, size_t m) { return Note(CALLER), __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { return Note(CALLER), __libc_realloc(p, n); }
void* aligned_alloc(size_t a, size_t n) { return Note(CALLER), __libc_memalign(a, n); }
void* memalign(size_t a, size_t n) { return Note(CALLER), __libc_memalign(a, n); }
int posix_memalign(void** out, size_t a, size_t n) {
  Note(CALLER);
  *out = __libc_memalign(a, n);
  return *out ? 0 : 12;
}
/* operator new(size_t), operator new[](size_t) */
void* _Znwm(size_t n) { return Note(CALLER), __libc_malloc(n ? n : 1); }
void* _Znam(size_t n) { return Note(CALLER), __libc_malloc(n ? n : 1); }

static int Fail(const ge_error* e) {
  printf("%s\n0 passed, 1 failed, 0 skipped\n", e->message);
  return 1;
}

static void ReadDims(const char* text, ge_tensor* t) {
  t->rank = 0;
  while (*text && t->rank < GE_MAX_RANK) {
    char* end;
    t->dims[t->rank++] = strtoll(text, &end, 10);
    text = *end ? end + 1 : end;
  }
}

static int Ours(const char* name) {
  static const char* const kOurs[] = {"libgraphengine", "/ref.so",    "/onednn.so",  "/openblas.so",
                                      "/native.so",     "/devsim.so", "/allocations"};
  for (size_t i = 0; i < sizeof kOurs / sizeof *kOurs; ++i) {
    if (strstr(name, kOurs[i])) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: allocations MODEL ENGINES DIMS\n"), 2;
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = argv[2];
  options.threads = 1;
  ge_session* s;
  if (ge_session_create(&options, &s, &error)) return Fail(&error);
  if (ge_session_load_file(s, argv[1], GE_FORMAT_AUTO, &error)) return Fail(&error);
  ge_tensor_info info = {.size = sizeof info};
  ge_session_input_info(s, NULL, 0, &info);
  ge_tensor in = {.size = sizeof in, .dtype = info.dtype}, out = {.size = sizeof out};
  ReadDims(argv[3], &in);
  in.bytes = info.dtype == 7 ? 8 : 4;
  for (int i = 0; i < in.rank; ++i) in.bytes *= (uint64_t)in.dims[i];
  in.data = calloc(1, in.bytes);
  if (ge_session_run(s, NULL, &in, 1, &out, 1, &error)) return Fail(&error);
  ge_tensor mine = out; /* from here on the output is a caller's buffer */
  mine.flags = 0;
  if (ge_session_run(s, NULL, &in, 1, &mine, 1, &error)) return Fail(&error);
  atomic_store(&counting, 1);
  ge_status status = GE_STATUS_OK;
  for (int i = 0; i < kRuns && status == GE_STATUS_OK; ++i) {
    status = ge_session_run(s, NULL, &in, 1, &mine, 1, &error);
  }
  atomic_store(&counting, 0);
  if (status != GE_STATUS_OK) return Fail(&error);
  int failed = 0;
  for (int i = 0; i < kModules && modules[i].base; ++i) {
    const char* name = strrchr(modules[i].name, '/');
    int ours = Ours(modules[i].name);
    failed += ours;
    printf("%s%s: %.1f allocations a run\n", ours ? "FAILED " : "",
           name ? name + 1 : modules[i].name, (double)modules[i].count / kRuns);
  }
  ge_tensor_release(&out);
  free(in.data);
  ge_session_destroy(s);
  printf("%d passed, %d failed, 0 skipped\n", failed == 0, failed);
  return failed != 0;
}
