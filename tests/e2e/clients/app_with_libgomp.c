/* app_with_libgomp MODEL ENGINES [WANTED]: runs MODEL on ones with two threads, twenty times, and
 * prints the sums of its outputs; with WANTED it compares them with those, and counts the threads
 * of the process: the caller's and the pool's one, and after a region of our own libgomp's one
 * more. APP_OPENS: a library that the application has opened before, which then stays libgomp's. */
#include <dirent.h>
#include <dlfcn.h>
#include <ge/ge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kImage = 32 * 64 * 64, kMatrix = 192 * 512 };

static int failed(const char* why) {
  printf("FAILED %s\n", why);
  return 1;
}

static double sum(const ge_tensor* t) {
  double s = 0;
  for (uint64_t i = 0; i < t->bytes / 4; ++i) s += ((const float*)t->data)[i];
  return s;
}

/* The sums of both outputs as text; what the session says where it fails. */
static int run(ge_session* session, char* found, size_t room) {
  static float x[kImage], a[kMatrix];
  for (int i = 0; i < kImage; ++i) x[i] = 1.0f / (float)(1 + i % 7);
  for (int i = 0; i < kMatrix; ++i) a[i] = 1.0f / (float)(1 + i % 5);
  const ge_tensor in[2] = {{.size = sizeof in[0],
                            .dtype = 1,
                            .rank = 4,
                            .dims = {1, 32, 64, 64},
                            .data = x,
                            .bytes = sizeof x},
                           {.size = sizeof in[0],
                            .dtype = 1,
                            .rank = 2,
                            .dims = {192, 512},
                            .data = a,
                            .bytes = sizeof a}};
  ge_error error = {.size = sizeof error};
  ge_tensor out[2] = {{.size = sizeof out[0]}, {.size = sizeof out[0]}};
  if (ge_session_run(session, NULL, in, 2, out, 2, &error)) return failed(error.message);
  snprintf(found, room, "%.9g %.9g", sum(&out[0]), sum(&out[1]));
  ge_tensor_release(&out[0]);
  ge_tensor_release(&out[1]);
  return 0;
}

#ifdef NO_LIBGOMP
static int judge(const char* found, const char* wanted) {
  (void)wanted;
  puts(found);
  return 0;
}
#else
void GOMP_parallel(void (*fn)(void*), void* data, unsigned threads, unsigned flags);
static void nothing(void* data) { (void)data; }

static int threads(void) {
  int n = 0;
  DIR* all = opendir("/proc/self/task");
  for (struct dirent* e; all && (e = readdir(all)) != NULL;) n += e->d_name[0] != '.';
  if (all) closedir(all);
  return n;
}

static int judge(const char* found, const char* wanted) {
  const int same = wanted && strcmp(found, wanted) == 0;
  if (!same) printf("FAILED sums are %s, without libgomp %s\n", found, wanted ? wanted : "");
  if (getenv("APP_OPENS")) {
    printf("%d passed, %d failed, 0 skipped\n", same, !same);
    return !same;
  }
  const int pool = threads();
  GOMP_parallel(nothing, NULL, 2, 0);
  const int more = threads();
  if (pool != 2) printf("FAILED %d threads after the runs, wanted the caller's and one\n", pool);
  if (more != 3) printf("FAILED %d threads after a region of the application\n", more);
  const int passed = same + (pool == 2) + (more == 3);
  printf("%d passed, %d failed, 0 skipped\n", passed, 3 - passed);
  return passed != 3;
}
#endif

int main(int argc, char** argv) {
  if (argc < 3) return failed("wanted: MODEL ENGINES [WANTED]");
  const char* opens = getenv("APP_OPENS");
  if (opens && !dlopen(opens, RTLD_NOW | RTLD_LOCAL)) return failed(dlerror());
  ge_error error = {.size = sizeof error};
  ge_session_options options = {.size = sizeof options, .threads = 2};
  ge_session* session = NULL;
  options.engines = argv[2];
  char found[200] = "";
  int bad = ge_session_create(&options, &session, &error) ||
            ge_session_load_file(session, argv[1], GE_FORMAT_AUTO, &error);
  if (bad) failed(error.message);
  for (int i = 0; !bad && i < 20; ++i) bad = run(session, found, sizeof found);
  if (!bad) bad = judge(found, argc > 3 ? argv[3] : NULL);
  ge_session_destroy(session);
  return bad;
}
