/* Batches of a data entry: what is lent stays, the end, a place to go on, ranks, failures and
 * cancelled calls, states, sessions that go first. batches_client MODEL PIXELS: batches.gt,
 * a file that it may write. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <ge/ge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, &error)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)
#define CHECK_BAD(x, code, words) \
  Check((x) == (code) && strstr(error.message, words), #x, __LINE__, &error)

static ge_error error = {.size = sizeof(ge_error)};

static ge_session* Open(const char* model) {
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.plugins = "data";
  options.prices = GE_PRICES_ANALYTIC;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  return s;
}

static ge_batches* Begin(ge_session* s, ge_batches_options options) {
  ge_batches* b = NULL;
  CHECK_OK(ge_batches_create(s, &options, &b, &error));
  return b;
}

static ge_batches_options Options(const char* entry, uint64_t batch) {
  ge_batches_options o;
  ge_batches_options_init(&o);
  o.entry = entry;
  o.batch = batch;
  return o;
}

/* The column `p` of entry "rows" is the positions; `x` some numbers of each. */
static int Holds(const ge_batch* batch, int64_t first, int64_t rows) {
  const ge_tensor* columns = NULL;
  uint32_t n = 0;
  CHECK_OK(ge_batch_columns(batch, &columns, &n));
  if (n != 2 || columns[0].rank != 1 || columns[0].dims[0] != rows) return 0;
  const int64_t* p = columns[0].data;
  for (int64_t i = 0; i < rows; ++i) {
    if (p[i] != first + i) return 0;
  }
  return columns[1].rank == 2 && columns[1].dims[0] == rows && columns[1].dtype == 1;
}

static int Threads(void) {
  int n = 0;
  DIR* d = opendir("/proc/self/task");
  while (d && readdir(d)) ++n;
  if (d) closedir(d);
  return n;
}

static void Lent(ge_session* s) {
  ge_batches_options o = Options("rows", 96);
  o.first = 1000;
  o.limit = 96 * 20 + 7;
  ge_batches* b = Begin(s, o);
  ge_batch *held[10], *next = NULL;
  for (int i = 0; i < 10; ++i) {
    CHECK_OK(ge_batches_next(b, NULL, &held[i], &error));
    CHECK(held[i] && Holds(held[i], 1000 + 96 * i, 96));
    CHECK(ge_batch_position(held[i]) == (uint64_t)(1000 + 96 * i));
  }
  for (int i = 10; i < 21; ++i) {
    CHECK_OK(ge_batches_next(b, NULL, &next, &error));
    CHECK(next && Holds(next, 1000 + 96 * i, i < 20 ? 96 : 7));
    ge_batch_release(next);
  }
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(ge_batches_next(b, NULL, &next, &error));
    CHECK(next == NULL); /* the end stays */
  }
  ge_batches_destroy(b);
  for (int i = 0; i < 10; ++i) {
    CHECK(Holds(held[i], 1000 + 96 * i, 96)); /* whoever has it has it */
    ge_batch_release(held[i]);
  }
}

static void Ranks(ge_session* s) {
  for (uint64_t rank = 0; rank < 4; ++rank) {
    ge_batches_options o = Options("rows", 40);
    o.rank = rank;
    o.world = 4;
    o.limit = 46; /* of 6 rows: 2, 2, 2, none */
    o.rows = 3;
    ge_batches* b = Begin(s, o);
    ge_batch* batch = NULL;
    CHECK_OK(ge_batches_next(b, NULL, &batch, &error));
    CHECK(Holds(batch, (int64_t)rank * 10, 10));
    ge_batch_release(batch);
    CHECK_OK(ge_batches_next(b, NULL, &batch, &error));
    CHECK(Holds(batch, 40 + 2 * (int64_t)rank, rank < 3 ? 2 : 0));
    ge_batch_release(batch);
    ge_batches_destroy(b);
  }
}

/* An entry that counts its runs: one run a batch, and none ahead. */
static void States(ge_session* s) {
  ge_batches* b = Begin(s, Options("counted", 64));
  ge_batch* batch = NULL;
  for (int i = 0; i < 5; ++i) {
    const ge_tensor* columns = NULL;
    uint32_t n = 0;
    CHECK_OK(ge_batches_next(b, NULL, &batch, &error));
    CHECK_OK(ge_batch_columns(batch, &columns, &n));
    CHECK(n == 1 && ((const int64_t*)columns[0].data)[0] == i);
    ge_batch_release(batch);
  }
  ge_batches_destroy(b);
}

static void Cancelled(ge_session* s) {
  ge_cancel_token* token = NULL;
  ge_run_options run = {.size = sizeof run};
  ge_batches_options o = Options("rows", 4096);
  ge_batches* b = Begin(s, o);
  ge_batch* batch = NULL;
  CHECK_OK(ge_cancel_token_create(&token, &error));
  run.cancel = token;
  CHECK_OK(ge_batches_next(b, &run, &batch, &error));
  ge_batch_release(batch);
  CHECK_OK(ge_cancel_token_cancel(token));
  CHECK(ge_batches_next(b, &run, &batch, &error) == GE_STATUS_CANCELLED);
  CHECK(batch == NULL);
  CHECK_OK(ge_cancel_token_reset(token));
  CHECK_OK(ge_batches_next(b, &run, &batch, &error)); /* the same one */
  CHECK(batch && Holds(batch, 4096, 4096));
  ge_batch_release(batch);
  ge_batches_destroy(b);
  ge_cancel_token_destroy(token);
}

static void Refused(ge_session* s) {
  ge_batches_options o = Options("nothing", 8);
  ge_batches* b = NULL;
  ge_batch* batch = NULL;
  const ge_status bad = GE_STATUS_INVALID_ARGUMENT;
  CHECK_BAD(ge_batches_create(s, &o, &b, &error), bad, "is no data entry");
  CHECK(b == NULL);
  o = Options("none", 8);
  CHECK(ge_batches_create(s, &o, &b, &error) == bad);
  o = Options("whole", 8);
  CHECK_BAD(ge_batches_create(s, &o, &b, &error), GE_STATUS_UNSUPPORTED, "rows along the first");
  o = Options("rows", 9);
  o.world = 8; /* two each: none for the last three */
  CHECK_BAD(ge_batches_create(s, &o, &b, &error), bad, "some for each rank");
  o = Options("rows", 8);
  o.rows = 9;
  CHECK_BAD(ge_batches_create(s, &o, &b, &error), bad, "rows of a run are 9");
  o = Options("rows", 8);
  o.size = 8;
  CHECK_BAD(ge_batches_create(s, &o, &b, &error), bad, "ge_batches_options");
  CHECK_BAD(ge_batches_create(s, NULL, NULL, &error), bad, "out is NULL");
  CHECK_BAD(ge_batches_next(NULL, NULL, &batch, &error), bad, "batches is NULL");
  CHECK(ge_batch_columns(NULL, NULL, NULL) == bad);
  CHECK(ge_batch_position(NULL) == 0);
  ge_batch_release(NULL);
  ge_batches_destroy(NULL);
  ge_batches_options_init(NULL);
}

/* Destroyed while rows are made, and behind its session; no thread is left. */
static void Ends(const char* model) {
  const int before = Threads();
  for (int i = 0; i < 20; ++i) {
    ge_session* s = Open(model);
    ge_batches_options o = Options("rows", 4096);
    o.ahead = 4;
    ge_batches* b = Begin(s, o);
    ge_batch* batch = NULL;
    CHECK_OK(ge_batches_next(b, NULL, &batch, &error));
    if (i % 2 == 0) ge_session_destroy(s);
    if (i % 4 == 0) ge_batch_release(batch);
    ge_batches_destroy(b);
    if (i % 4 != 0) ge_batch_release(batch);
    if (i % 2 != 0) ge_session_destroy(s);
  }
  CHECK(Threads() == before);
}

/* u8[64,3,4,4] of 128, or of numbers that differ, as numpy saves it. */
static void WritePixels(const char* path, int differ) {
  char head[128];
  memset(head, ' ', sizeof head);
  memcpy(head, "\x93NUMPY\x01\0\x76\0", 10);
  const char* dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (64, 3, 4, 4), }";
  memcpy(head + 10, dict, strlen(dict));
  head[127] = '\n';
  char pixels[64 * 48];
  memset(pixels, (char)128, sizeof pixels);
  for (int i = 0; differ && i < 64 * 48; ++i) pixels[i] = (char)i;
  FILE* f = fopen(path, "wb");
  CHECK(f && fwrite(head, 1, sizeof head, f) == sizeof head &&
        fwrite(pixels, 1, sizeof pixels, f) == sizeof pixels && fclose(f) == 0);
}

/* The greatest distance of the next batch's numbers from 128. */
static float Farthest(ge_batches* b) {
  ge_batch* batch = NULL;
  const ge_tensor* columns = NULL;
  uint32_t n = 0;
  float most = 0;
  CHECK_OK(ge_batches_next(b, NULL, &batch, &error));
  CHECK_OK(ge_batch_columns(batch, &columns, &n));
  const float* x = columns[0].data;
  for (int i = 0; i < 8 * 48; ++i) {
    const float away = x[i] > 128 ? x[i] - 128 : 128 - x[i];
    if (away > most) most = away;
  }
  ge_batch_release(batch);
  return most;
}

static void Set(ge_session* s, const char* state, float number) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .data = &number, .bytes = sizeof number};
  CHECK_OK(ge_session_set_state(s, state, &t, &error));
}

static ge_session* Piped(const char* model, const char* pixels, const char* steps) {
  char pass[500];
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.plugins = "data";
  options.prices = GE_PRICES_ANALYTIC;
  snprintf(pass, sizeof pass, "data:pipe='%s | %s';batch=8", pixels, steps);
  options.passes = pass;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  return s;
}

/* Of the next batch, u8[8,3,4,4]: 2 = the pictures of these rows, 1 = each plane is one number. */
static int Seen(ge_batches* b, int row) {
  ge_batch* batch = NULL;
  const ge_tensor* columns = NULL;
  uint32_t n = 0;
  int whole = 1, flat = 1;
  CHECK_OK(ge_batches_next(b, NULL, &batch, &error));
  CHECK_OK(ge_batch_columns(batch, &columns, &n));
  const unsigned char* x = columns[0].data;
  for (int i = 0; i < 8 * 48; ++i) {
    whole = whole && x[i] == (unsigned char)(row * 48 + i);
    flat = flat && x[i] == x[i / 16 * 16];
  }
  ge_batch_release(batch);
  return whole ? 2 : flat;
}

/* Ends of a range, and the numbers of normalise. */
static void OtherAmounts(const char* model, const char* pixels) {
  WritePixels(pixels, 1);
  ge_session* s = Piped(model, pixels, "random-resized-crop 4 scale=@least..@most ratio=1..1");
  ge_batches* b = Begin(s, Options("data", 8));
  CHECK(Seen(b, 0) == 2);
  Set(s, "least", 0.0625f);
  Set(s, "most", 0.0625f); /* one pixel of sixteen */
  CHECK(Seen(b, 8) == 1);
  Set(s, "most", 7); /* kept at 1 */
  Set(s, "least", 7);
  CHECK(Seen(b, 16) == 2);
  Set(s, "most", -1); /* kept above 0, where no box has a pixel: the greatest one */
  CHECK(Seen(b, 24) == 2);
  ge_batches_destroy(b);
  ge_session_destroy(s);

  WritePixels(pixels, 0);
  s = Piped(model, pixels, "zoom @zoom");
  b = Begin(s, Options("data", 8));
  CHECK(Farthest(b) < 1e-3f);
  Set(s, "zoom", 0.5f); /* zeros around it */
  CHECK(Farthest(b) == 128);
  Set(s, "zoom", 1);
  CHECK(Farthest(b) < 1e-3f);
  ge_batches_destroy(b);
  ge_session_destroy(s);

  s = Piped(model, pixels, "normalise @mean @deviation");
  b = Begin(s, Options("data", 8));
  Set(s, "mean", 128 / 255.f);
  CHECK(Farthest(b) == 128); /* all 0 */
  Set(s, "mean", 0);
  Set(s, "deviation", 1 / 255.f);
  CHECK(Farthest(b) < 1e-3f);
  ge_batches_destroy(b);
  ge_session_destroy(s);
}

/* An amount that the program sets between steps is seen by exactly the next batch. */
static void Amounts(const char* model, const char* pixels) {
  WritePixels(pixels, 0);
  ge_session* s = Piped(model, pixels, "noise @strength");
  ge_batches_options o = Options("data", 8);
  o.ahead = 4;
  ge_batches* b = Begin(s, o);
  const float wanted[] = {0, 0.1f, 0.1f, 0, 0.4f, 0, 0};
  for (int i = 0; i < 7; ++i) {
    const float v = wanted[i];
    if (i > 0) Set(s, "strength", v);
    const float away = Farthest(b);
    CHECK(v == 0 ? away == 0 : away > 255 * v && away < 255 * v * 6);
  }
  ge_batches_destroy(b);
  ge_session_destroy(s);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  ge_session* s = Open(argv[1]);
  Lent(s);
  Ranks(s);
  States(s);
  Cancelled(s);
  Refused(s);
  ge_session_destroy(s);
  Ends(argv[1]);
  Amounts(argv[1], argv[2]);
  OtherAmounts(argv[1], argv[2]);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
