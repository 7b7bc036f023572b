/* A C program that uses one runtime as an application does, and times it from the outside; door.py
 * compiles and starts it, a process a figure.
 *
 *   first_run first|rest|two THREADS MODEL NANOSECONDS [library FILE]
 *             {in NAME DTYPE DIMS FILE}... {out NAME FILE}...
 *
 * first: session, model and first run, timed from the first call of the API; NANOSECONDS is when
 * the process was started (CLOCK_MONOTONIC), to tell what lay before that call. rest:  the
 * processor time of this process in the 100 ms after a run, several times. two:   two sessions run
 * for a second, a thread each; how many other threads can run is sampled. DIMS is 1x3x224x224, or -
 * for a scalar; files hold raw bytes. Prints one JSON object. */
#define _GNU_SOURCE
#include "tools/bench/door/first_run.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kRunsBefore = 10, kRests = 5, kMostSamples = 1000 };

void Die(const char* what, const char* why) {
  fprintf(stderr, "first_run: %s: %s\n", what, why);
  exit(1);
}

static double Ms(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void SleepMs(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

void WriteBytes(const char* file, const void* data, uint64_t bytes) {
  FILE* f = fopen(file, "wb");
  if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0) Die(file, "cannot be written");
}

static void ReadBytes(struct TensorFile* t) {
  FILE* f = fopen(t->file, "rb");
  long size = -1;
  if (f && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
  if (size < 0 || fseek(f, 0, SEEK_SET) != 0) Die(t->file, "cannot be read");
  t->bytes = (uint64_t)size;
  t->data = aligned_alloc(64, ((size_t)size / 64 + 1) * 64);
  if (!t->data || fread(t->data, 1, t->bytes, f) != t->bytes) Die(t->file, "cannot be read");
  fclose(f);
}

static void ReadDims(struct TensorFile* t, const char* text) {
  char* end = NULL;
  for (t->rank = 0; *text != '-' && *text != 0; text = *end ? end + 1 : end) {
    if (t->rank == kMostRank) Die(t->name, "its rank is too high");
    t->dims[t->rank++] = strtoll(text, &end, 10);
  }
}

static void ReadArguments(int argc, char** argv, struct Work* work) {
  int i = 5;
  work->threads = atoi(argv[2]);
  work->model = argv[3];
  while (i < argc) {
    const int left = argc - i;
    if (strcmp(argv[i], "library") == 0 && left >= 2) {
      work->library = argv[i + 1];
      i += 2;
    } else if (strcmp(argv[i], "in") == 0 && left >= 5 && work->n_inputs < kMostTensors) {
      struct TensorFile* t = &work->inputs[work->n_inputs++];
      t->name = argv[i + 1];
      t->dtype = atoi(argv[i + 2]);
      t->file = argv[i + 4];
      ReadDims(t, argv[i + 3]);
      ReadBytes(t);
      i += 5;
    } else if (strcmp(argv[i], "out") == 0 && left >= 3 && work->n_outputs < kMostTensors) {
      struct TensorFile* t = &work->outputs[work->n_outputs++];
      t->name = argv[i + 1];
      t->file = argv[i + 2];
      i += 3;
    } else {
      Die(argv[i], "no such argument, or one is missing");
    }
  }
}

static void First(const struct Work* work, double started) {
  const double begin = Ms(CLOCK_MONOTONIC);
  struct Session* session = SideCreate(work);
  const double created = Ms(CLOCK_MONOTONIC);
  SideLoad(session);
  const double loaded = Ms(CLOCK_MONOTONIC);
  SideRun(session);
  const double end = Ms(CLOCK_MONOTONIC);
  SideSave(session);
  SideDestroy(session);
  printf(
      "{\"total_ms\": %.4f, \"before_ms\": %.3f, \"create_ms\": %.4f, \"load_ms\": %.4f, "
      "\"first_ms\": %.4f}\n",
      end - begin, begin - started, created - begin, loaded - created, end - loaded);
}

static void Rest(const struct Work* work) {
  struct Session* session = SideCreate(work);
  int i, k;
  SideLoad(session);
  printf("{\"rest_ms\": [");
  for (i = 0; i < kRests; ++i) {
    double begin;
    for (k = 0; k < kRunsBefore; ++k) SideRun(session);
    begin = Ms(CLOCK_PROCESS_CPUTIME_ID);
    SleepMs(100);
    printf("%s%.4f", i ? ", " : "", Ms(CLOCK_PROCESS_CPUTIME_ID) - begin);
  }
  printf("]}\n");
  SideSave(session);
  SideDestroy(session);
}

static atomic_int stop;

static void* RunUntilStop(void* session) {
  while (!atomic_load(&stop)) SideRun(session);
  return NULL;
}

/* Threads of this process that run or wait for a core, without the calling one. */
static int Runnable(void) {
  DIR* tasks = opendir("/proc/self/task");
  struct dirent* entry;
  int count = 0;
  if (!tasks) Die("/proc/self/task", "cannot be read");
  while ((entry = readdir(tasks)) != NULL) {
    char path[320], line[512], *state = NULL;
    FILE* f;
    if (entry->d_name[0] == '.' || atoi(entry->d_name) == (int)getpid()) continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
    f = fopen(path, "r");
    if (f && fgets(line, sizeof line, f)) state = strrchr(line, ')');
    count += state != NULL && state[1] == ' ' && state[2] == 'R';
    if (f) fclose(f);
  }
  closedir(tasks);
  return count;
}

static int Ascending(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static void Two(const struct Work* work) {
  static int seen[kMostSamples];
  struct Session* sessions[2];
  pthread_t threads[2];
  double sum = 0, end;
  int i, n = 0;
  for (i = 0; i < 2; ++i) {
    sessions[i] = SideCreate(work);
    SideLoad(sessions[i]);
    SideRun(sessions[i]);
  }
  for (i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, RunUntilStop, sessions[i]);
  SleepMs(100);
  for (end = Ms(CLOCK_MONOTONIC) + 1000; Ms(CLOCK_MONOTONIC) < end && n < kMostSamples; ++n) {
    SleepMs(3);
    seen[n] = Runnable();
    sum += seen[n];
  }
  atomic_store(&stop, 1);
  for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < 2; ++i) SideDestroy(sessions[i]);
  qsort(seen, (size_t)n, sizeof *seen, Ascending);
  printf(
      "{\"runnable_median\": %d, \"runnable_mean\": %.3f, \"runnable_p95\": %d, "
      "\"runnable_max\": %d, \"samples\": %d}\n",
      seen[n / 2], sum / n, seen[n * 95 / 100], seen[n - 1], n);
}

int main(int argc, char** argv) {
  static struct Work work;
  if (argc < 5) Die("arguments", "first_run first|rest|two THREADS MODEL NANOSECONDS ...");
  ReadArguments(argc, argv, &work);
  SidePrepare(&work);
  if (strcmp(argv[1], "first") == 0) {
    First(&work, strtod(argv[4], NULL) * 1e-6);
  } else if (strcmp(argv[1], "rest") == 0) {
    Rest(&work);
  } else if (strcmp(argv[1], "two") == 0) {
    Two(&work);
  } else {
    Die(argv[1], "wanted first, rest or two");
  }
  return 0;
}
