/* Counts, by the module that asks, what a run allocates once a shape is known.
 *
 *   allocations MODEL ENGINES DIMS     e.g. allocations lenet.onnx onednn,ref 64x1x28x28
 *   allocations MODEL ENGINES DIMS ENTRY TRIPS   e.g. allocations loop.gt ref 4 spin 1000
 *
 * With TRIPS: a loop, whose input 0 says how often and input 1 is its data. What a run of one trip
 * allocates is compared with what a run of so many does: the other trips must allocate nothing.
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

enum { kModules = 64, kWarm = 12, kRuns = 10 };
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

static unsigned Total(void) {
  unsigned sum = 0;
  for (int i = 0; i < kModules && modules[i].base; ++i) sum += modules[i].count;
  return sum;
}

/* Allocations of one run, of every module; -1 when it fails. */
static long Counted(ge_session* s, const char* entry, ge_tensor* in, ge_tensor* out, ge_error* e) {
  const unsigned before = Total();
  atomic_store(&counting, 1);
  const ge_status status = ge_session_run(s, entry, in, 2, out, 1, e);
  atomic_store(&counting, 0);
  return status == GE_STATUS_OK ? (long)(Total() - before) : -1;
}

static int Loop(ge_session* s, const char* entry, int64_t trips, ge_tensor* data) {
  ge_error error = {.size = sizeof error};
  int64_t m = 1;
  ge_tensor in[2] = {{.size = sizeof *in, .dtype = 7, .data = &m, .bytes = sizeof m}, *data};
  ge_tensor out = {.size = sizeof out};
  long one, many;
  if (ge_session_run(s, entry, in, 2, &out, 1, &error)) return Fail(&error);
  out.flags = 0;
  m = trips;
  if (ge_session_run(s, entry, in, 2, &out, 1, &error)) return Fail(&error);
  m = 1;
  one = Counted(s, entry, in, &out, &error);
  m = trips;
  many = Counted(s, entry, in, &out, &error);
  if (one < 0 || many < 0) return Fail(&error);
  free(out.data);
  printf("1 trip: %ld allocations, %ld trips: %ld\n", one, (long)trips, many);
  printf("%d passed, %d failed, 0 skipped\n", one == many, one != many);
  return one != many;
}

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) {
    return fprintf(stderr, "usage: allocations MODEL ENGINES DIMS [ENTRY TRIPS]\n"), 2;
  }
  ge_error error = {.size = sizeof error};
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = argv[2];
  options.threads = 1;
  ge_session* s;
  if (ge_session_create(&options, &s, &error)) return Fail(&error);
  if (ge_session_load_file(s, argv[1], GE_FORMAT_AUTO, &error)) return Fail(&error);
  ge_tensor_info info = {.size = sizeof info};
  const int loop = argc == 6;
  ge_session_input_info(s, loop ? argv[4] : NULL, (uint32_t)loop, &info);
  ge_tensor in = {.size = sizeof in, .dtype = info.dtype}, out = {.size = sizeof out};
  ReadDims(argv[3], &in);
  in.bytes = info.dtype == 7 ? 8 : 4;
  for (int i = 0; i < in.rank; ++i) in.bytes *= (uint64_t)in.dims[i];
  in.data = calloc(1, in.bytes);
  if (loop) {
    const int failed = Loop(s, argv[4], atol(argv[5]), &in);
    free(in.data);
    ge_session_destroy(s);
    return failed;
  }
  if (ge_session_run(s, NULL, &in, 1, &out, 1, &error)) return Fail(&error);
  ge_tensor mine = out; /* from here on the output is a caller's buffer */
  mine.flags = 0;
  /* The first runs are timed, and a device's launches are captured once addresses stood still. */
  for (int i = 0; i < kWarm; ++i) {
    if (ge_session_run(s, NULL, &in, 1, &mine, 1, &error)) return Fail(&error);
  }
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
