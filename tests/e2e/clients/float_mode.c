/* Whether a session leaves the floating-point mode (MXCSR) of the application's threads as it found
 * it: of the thread that runs, and of OpenMP's workers, which serve the application's regions and
 * the engines' by turns. Usage: float_mode MODEL ENGINES fresh|used. With `fresh` the engines' own
 * regions are the first to make workers; with `used` the application's are, and each worker has a
 * word of its own. Prints what fails and, last, its counts. */
#include <ge/ge.h>
#include <immintrin.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* Flags of exceptions (the low six bits) rise in any library's arithmetic. */
enum { kThreads = 2, kFlags = 0x3f, kUp = 0x4000, kDown = 0x2000, kFlushResults = 0x8000 };
static int passed, failed;

static void Check(int good, const char* what) {
  if (good) {
    ++passed;
  } else {
    ++failed;
    printf("FAILED  %s\n", what);
  }
}

/* What each of OpenMP's threads has, without changing it. */
static void Read(unsigned* word) {
#pragma omp parallel num_threads(kThreads)
  word[omp_get_thread_num()] = _mm_getcsr() & ~(unsigned)kFlags;
}

static float x[256 * 256];

static int Run(ge_session* session) {
  ge_error error = {.size = sizeof error};
  ge_tensor in = {sizeof in, 1, 2, 0, {256, 256}, x, sizeof x};
  ge_tensor out = {.size = sizeof out};
  const ge_status status = ge_session_run(session, NULL, &in, 1, &out, 1, &error);
  if (status != GE_STATUS_OK) printf("FAILED  %s\n", error.message);
  uint32_t bits = 1;
  if (status == GE_STATUS_OK) memcpy(&bits, (const float*)out.data + 1, sizeof bits);
  ge_tensor_release(&out);
  return bits == 0;
}

/* `fresh`: a session and its first run make the workers, and only then the application looks. */
static void Unchanged(const char* model, const char* engines, int fresh, unsigned denormals) {
  const unsigned plain = 0x1f80;
  unsigned before[kThreads] = {plain, plain}, after[kThreads] = {0};
  if (!fresh) {
#pragma omp parallel num_threads(kThreads)
    _mm_setcsr(plain | (omp_get_thread_num() == 0 ? kUp : kDown | kFlushResults));
    Read(before);
  }
  ge_session_options options;
  ge_session* session = NULL;
  ge_error error = {.size = sizeof error};
  ge_session_options_init(&options);
  options.threads = kThreads;
  options.engines = engines;
  options.denormals = denormals;
  Check(ge_session_create(&options, &session, &error) == GE_STATUS_OK, "create");
  Check(ge_session_load_file(session, model, GE_FORMAT_AUTO, &error) == GE_STATUS_OK, "load");
  for (int i = 0; i < 3; ++i) {
    Check(Run(session) == (denormals == GE_FLUSH_DENORMALS), "denormals are as the session says");
    Check((_mm_getcsr() & ~(unsigned)kFlags) == before[0], "the calling thread's word after a run");
  }
  Read(after);
  for (int i = 0; i < kThreads; ++i) {
    char what[100];
    snprintf(what, sizeof what, "%s, %s: thread %d had %x, has %x", engines,
             fresh ? "fresh" : "used", i, before[i], after[i]);
    Check(after[i] == before[i], what);
  }
  ge_session_destroy(session);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    printf("usage: float_mode MODEL ENGINES fresh|used\n");
    return 2;
  }
  /* By bits: arithmetic here would raise flags. */
  for (uint32_t i = 0; i < 256 * 256; ++i) {
    const uint32_t bits = i % 7 * 70000;
    memcpy(&x[i], &bits, sizeof bits);
  }
  const int fresh = strcmp(argv[3], "fresh") == 0;
  Unchanged(argv[1], argv[2], fresh, GE_FLUSH_DENORMALS);
  Unchanged(argv[1], argv[2], 0, GE_KEEP_DENORMALS);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
