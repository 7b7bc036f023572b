/* What a device holds: many shapes of three nets, a limit, and sessions that come and go.
 *
 * device_memory shapes ENGINES: 16 shapes of each net in one runtime. The device holds at most 1.1
 * times the largest arena, all packs and all states.
 *
 * device_memory limit ENGINES: of 1 GiB. A run beyond it is refused by name, and the next is good.
 *
 * device_memory turns ENGINES: room for one of two nets. Packs give way to the other's, and all
 * outputs are as before.
 *
 * device_memory sessions ENGINES N: so many sessions of one runtime, a load and a run each, and a
 * tenth as many with an engine each. Memory stays as it is.
 *
 * Run from the root of the tree: the models are in build/models. Last line: N passed, N failed,
 * N skipped. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ge/ge.h"

enum { kNets = 3, kShapes = 16 };

static int passed, failed;

static int Check(int good, const char* what, const char* detail) {
  passed += good != 0;
  failed += good == 0;
  if (!good) printf("FAILED  %s\n    %s\n", what, detail);
  return good;
}

static int End(void) {
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}

/* Of `memory`, a text of JSON: the number behind "name": in its device_memory; 0 where none is. */
static uint64_t Number(const char* json, const char* name) {
  char key[64];
  const char* at = json ? strstr(json, "\"device_memory\":[{") : NULL;
  snprintf(key, sizeof key, "\"%s\":", name);
  at = at ? strstr(at, key) : NULL;
  return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

struct Held {
  uint64_t arena, packs, states, peak, limit;
};

static struct Held Read(ge_session* s, int of_plan) {
  char* text = NULL;
  const ge_status got =
      of_plan ? ge_session_explain(s, NULL, &text, NULL) : ge_session_report(s, NULL, &text, NULL);
  struct Held h = {0, 0, 0, 0, 0};
  if (got == GE_STATUS_OK) {
    h.arena = Number(text, "arena_bytes");
    h.packs = Number(text, "pack_bytes");
    h.states = Number(text, "state_bytes");
    h.peak = Number(text, "peak_bytes");
    h.limit = Number(text, "limit_bytes");
  }
  ge_text_release(text);
  return h;
}

static ge_session* Open(ge_runtime* runtime, const char* engines, const char* model,
                        ge_error* error) {
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = engines;
  options.runtime = runtime;
  options.policy = GE_PLACE_BY_PRIORITY;
  ge_session* s = NULL;
  char path[256];
  snprintf(path, sizeof path, "build/models/%s.onnx", model);
  if (ge_session_create(&options, &s, error)) return NULL;
  if (ge_session_load_file(s, path, GE_FORMAT_AUTO, error) == GE_STATUS_OK) return s;
  ge_session_destroy(s);
  return NULL;
}

struct Net {
  const char* name;
  int32_t dtype, rank;
  int64_t dims[4]; /* of its input; [0] is the batch, or of tokens [1] their number */
  int free_dim;
};
static const struct Net kNet[kNets] = {
    {"mlp", 1, 2, {1, 784}, 0},
    {"lenet", 1, 4, {1, 1, 28, 28}, 0},
    {"minilm", 7, 2, {1, 1}, 1},
};

/* One run at `size` of the free dim; the first output's bytes are added up in *sum. */
static ge_status Run(ge_session* s, const struct Net* net, int64_t size, double* sum,
                     ge_error* error) {
  ge_tensor in = {.size = sizeof in, .dtype = net->dtype, .rank = net->rank};
  ge_tensor out = {.size = sizeof out};
  const uint64_t element = net->dtype == 7 ? 8 : 4;
  in.bytes = element;
  for (int i = 0; i < net->rank; ++i) {
    in.dims[i] = i == net->free_dim ? size : net->dims[i];
    in.bytes *= (uint64_t)in.dims[i];
  }
  in.data = calloc(1, in.bytes);
  for (uint64_t i = 0; i < in.bytes / element && i < 65536; ++i) {
    if (net->dtype == 7) ((int64_t*)in.data)[i] = (int64_t)(i * 7 % 1000);
    if (net->dtype == 1) ((float*)in.data)[i] = (float)(i * 31 % 17) / 17.0f;
  }
  const ge_status status = ge_session_run(s, NULL, &in, 1, &out, 1, error);
  *sum = 0;
  if (status == GE_STATUS_OK) {
    for (uint64_t i = 0; i < out.bytes / 4; ++i) *sum += ((const float*)out.data)[i];
    ge_tensor_release(&out);
  }
  free(in.data);
  return status;
}

static int Shapes(const char* engines) {
  ge_error error = {.size = sizeof error};
  ge_runtime* runtime = NULL;
  ge_session* s[kNets];
  struct Held needs[kNets] = {{0, 0, 0, 0, 0}}, now = {0, 0, 0, 0, 0};
  uint64_t largest = 0, all_arenas = 0, packs = 0, states = 0;
  double sum;
  if (!Check(!ge_runtime_create(NULL, &runtime, &error), "a runtime", error.message)) return End();
  for (int n = 0; n < kNets; ++n) {
    s[n] = Open(runtime, engines, kNet[n].name, &error);
    if (!Check(s[n] != NULL, kNet[n].name, error.message)) return End();
  }
  for (int k = 0; k < kShapes; ++k) {
    for (int n = 0; n < kNets; ++n) {
      const int64_t size = 1 + (k * 7) % kShapes; /* in no order */
      if (!Check(!Run(s[n], &kNet[n], size, &sum, &error), "a run", error.message)) return End();
      const struct Held need = Read(s[n], 1);
      all_arenas += need.arena;
      if (need.arena > largest) largest = need.arena;
      if (need.packs > needs[n].packs) needs[n].packs = need.packs;
      if (need.states > needs[n].states) needs[n].states = need.states;
    }
  }
  now = Read(s[0], 0);
  for (int n = 0; n < kNets; ++n) {
    packs += needs[n].packs;
    states += needs[n].states;
    ge_session_destroy(s[n]);
  }
  ge_runtime_destroy(runtime);
  const uint64_t held = now.arena + now.packs + now.states;
  const double most = 1.1 * (double)(largest + packs + states);
  printf(
      "%d shapes: the device holds %llu bytes, at most %llu; largest arena %llu of %llu in all, "
      "packs %llu, states %llu\n",
      kNets * kShapes, (unsigned long long)held, (unsigned long long)now.peak,
      (unsigned long long)largest, (unsigned long long)all_arenas, (unsigned long long)packs,
      (unsigned long long)states);
  Check(largest > 0 && packs > 0 && now.packs > 0, "arenas and packs lie on the device", "");
  Check((double)now.arena <= 1.1 * (double)largest, "all arenas share a block", "they do not");
  Check((double)held <= most, "what it holds", "more than 1.1 x (largest arena, packs, states)");
  Check((double)now.peak <= most, "what it held", "more than 1.1 x (largest arena, packs, states)");
  return End();
}

static int Limit(const char* engines) {
  ge_error error = {.size = sizeof error};
  double before, after;
  ge_session* s = Open(NULL, engines, "lenet", &error);
  if (!Check(s != NULL, "lenet", error.message)) return End();
  Check(!Run(s, &kNet[1], 2, &before, &error), "a run that fits", error.message);
  Check(Read(s, 0).limit == 1u << 30, "the report names the limit", "");
  const ge_status beyond = Run(s, &kNet[1], 100000, &after, &error);
  printf("%s\n", error.message);
  Check(beyond == GE_STATUS_LIMIT_EXCEEDED, "a run beyond the limit", error.message);
  Check(strstr(error.message, "the arena of 'lenet' with x [100000,1,28,28]") != NULL &&
            strstr(error.message, "1073741824") != NULL && strstr(error.message, "use smaller"),
        "what is refused, the limit and the way out", error.message);
  Check(!Run(s, &kNet[1], 2, &after, &error), "the next run", error.message);
  Check(before == after, "its outputs", "");
  Check(Read(s, 0).peak <= 1u << 30, "the limit is kept", "");
  ge_session_destroy(s);
  return End();
}

static int InTurns(const char* engines) {
  ge_error error = {.size = sizeof error};
  ge_runtime* runtime = NULL;
  ge_session* s[2];
  double sum, wanted[2];
  uint64_t need = 0;
  struct Held now = {0, 0, 0, 0, 0};
  if (!Check(!ge_runtime_create(NULL, &runtime, &error), "a runtime", error.message)) return End();
  for (int n = 0; n < 2; ++n) {
    s[n] = Open(runtime, engines, kNet[n].name, &error);
    if (!Check(s[n] != NULL, kNet[n].name, error.message)) return End();
    if (!Check(!Run(s[n], &kNet[n], 4, &wanted[n], &error), "a run", error.message)) return End();
    const struct Held of = Read(s[n], 1);
    need += of.arena + of.packs;
  }
  for (int k = 0; k < 20; ++k) {
    const int n = k % 2;
    if (!Check(!Run(s[n], &kNet[n], 4, &sum, &error), "a turn", error.message)) break;
    Check(sum == wanted[n], "its outputs", "differ from those of the first run");
  }
  now = Read(s[0], 0);
  printf("in turns: both want %llu bytes, the limit is %llu, at most %llu were held\n",
         (unsigned long long)need, (unsigned long long)now.limit, (unsigned long long)now.peak);
  Check(need > now.limit && now.limit > 0, "the limit is less than what both want", "");
  Check(now.peak <= now.limit, "the limit is kept", "");
  for (int n = 0; n < 2; ++n) ge_session_destroy(s[n]);
  ge_runtime_destroy(runtime);
  return End();
}

static uint64_t Resident(void) {
  unsigned long long size = 0, pages = 0;
  FILE* f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%llu %llu", &size, &pages) != 2) pages = 0;
  if (f) fclose(f);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In a runtime of our own the engine stays; else it is opened with each. */
static void Sessions(const char* engines, int count, int own_runtime) {
  static const struct Net kTiny = {"tinychain", 1, 1, {4}, 0};
  ge_error error = {.size = sizeof error};
  ge_runtime* runtime = NULL;
  uint64_t resident = 0;
  struct Held first = {0, 0, 0, 0, 0}, now = first;
  double sum;
  if (own_runtime && ge_runtime_create(NULL, &runtime, &error)) {
    Check(0, "a runtime", error.message);
    return;
  }
  for (int k = 0; k < count; ++k) {
    ge_session* s = Open(runtime, engines, kTiny.name, &error);
    if (!Check(s != NULL, "a session", error.message)) break;
    const ge_status ran = Run(s, &kTiny, 4, &sum, &error);
    now = Read(s, 0);
    ge_session_destroy(s);
    if (ran != GE_STATUS_OK && !Check(0, "a run", error.message)) break;
    if (k == 0) first = now;
    if (k == count / 4) resident = Resident(); /* what grows with the first ones has grown */
  }
  ge_runtime_destroy(runtime);
  const uint64_t end = Resident();
  printf("%d sessions%s: the device holds %llu bytes, at most %llu; resident %.1f MB, then %.1f\n",
         count, own_runtime ? " of one runtime" : "",
         (unsigned long long)(now.arena + now.packs + now.states), (unsigned long long)now.peak,
         (double)resident / 1e6, (double)end / 1e6);
  Check(now.arena > 0 && now.arena == first.arena && now.packs == first.packs &&
            now.peak == first.peak,
        "what the device holds", "it is not what the first session left");
  /* The C library's heap and the threads' come and go by so much. */
  Check(end <= resident + (2u << 20), "resident memory", "it grows");
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "shapes") == 0) return Shapes(argv[2]);
  if (argc == 3 && strcmp(argv[1], "limit") == 0) return Limit(argv[2]);
  if (argc == 3 && strcmp(argv[1], "turns") == 0) return InTurns(argv[2]);
  if (argc != 4 || strcmp(argv[1], "sessions") != 0) {
    return fprintf(stderr, "usage: device_memory shapes|limit|turns ENGINES, sessions ENGINES N\n"),
           2;
  }
  Sessions(argv[2], atoi(argv[3]), 1);
  Sessions(argv[2], atoi(argv[3]) / 10, 0);
  return End();
}
