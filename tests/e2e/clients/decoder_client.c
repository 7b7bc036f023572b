/* A decoder run token by token, twice: its past fed back as an input, and kept in caches by the
 * session: decoder_client MODEL.gt ENGINES FOLDER. The model is tests/e2e/models/decoder.gt. */
#include <ge/ge.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, NULL)
#define CHECK_OK(x)                                   \
  do {                                                \
    error.message[0] = 0;                             \
    Check((x) == GE_STATUS_OK, #x, __LINE__, &error); \
  } while (0)
/* A refusal with this status, whose message has this text. */
#define CHECK_SAYS(x, wanted, text)                                              \
  do {                                                                           \
    error.message[0] = 0;                                                        \
    Check((x) == (wanted) && strstr(error.message, text), #x, __LINE__, &error); \
  } while (0)

enum { kWords = 5, kMostBatch = 2, kMostNew = 8 };
static ge_error error = {.size = sizeof error};

static ge_session* Open(const char* engines, const char* model, uint64_t kv_cache) {
  ge_session_options options;
  ge_session* session = NULL;
  CHECK(ge_session_options_init(&options) == GE_STATUS_OK);
  options.engines = engines;
  options.kv_cache = kv_cache;
  CHECK_OK(ge_session_create(&options, &session, &error));
  if (session) CHECK_OK(ge_session_load_file(session, model, GE_FORMAT_AUTO, &error));
  return session;
}

static ge_tensor Ids(int64_t* data, int64_t batch, int64_t count, uint32_t seed) {
  ge_tensor t = {.size = sizeof t, .dtype = 7, .rank = 2, .dims = {batch, count}, .data = data};
  for (int64_t i = 0; i < batch * count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = seed >> 8 & 3;
  }
  t.bytes = (uint64_t)(batch * count) * 8;
  return t;
}

/* A decoder without caches: the past is what the caller keeps. */
typedef struct Plain {
  ge_session* session;
  ge_tensor in[3], out[3];
} Plain;

static void Begin(Plain* p, int64_t batch) {
  for (int i = 0; i < 3; ++i) {
    ge_tensor_release(&p->in[i]);
    ge_tensor_release(&p->out[i]);
    memset(&p->in[i], 0, sizeof p->in[i]);
    memset(&p->out[i], 0, sizeof p->out[i]);
    p->in[i].size = p->out[i].size = sizeof(ge_tensor);
    p->in[i].dtype = 1;
    p->in[i].rank = 4;
    p->in[i].dims[0] = batch;
    p->in[i].dims[1] = 2;
    p->in[i].dims[3] = 2;
  }
}

/* The run's present is the next one's past: the same bytes at the same place. */
static void RunPlain(Plain* p, const ge_tensor* ids) {
  p->in[0] = *ids;
  CHECK_OK(ge_session_run(p->session, NULL, p->in, 3, p->out, 3, &error));
  for (int i = 1; i < 3; ++i) {
    const void* made = p->out[i].data;
    void* before = p->in[i].flags == GE_TENSOR_ALLOCATED ? p->in[i].data : NULL;
    const int64_t rows = p->out[i].dims[2];
    CHECK_OK(ge_tensor_feed(&p->out[i], &p->in[i], &error));
    CHECK(p->in[i].data == made && p->in[i].dims[2] == rows);
    CHECK(p->out[i].data == before);
  }
}

/* Logits of the same ids by a session with caches, which has no past among its inputs. */
static void RunCached(ge_session* s, const ge_tensor* ids, const ge_tensor* wanted) {
  ge_tensor out = {.size = sizeof out};
  CHECK_OK(ge_session_run(s, NULL, ids, 1, &out, 1, &error));
  CHECK(out.bytes == wanted->bytes && out.rank == 3 && out.dims[1] == ids->dims[1]);
  const float *a = out.data, *b = wanted->data;
  int good = a && b;
  for (uint64_t i = 0; good && i < wanted->bytes / 4; ++i) {
    good = fabsf(a[i] - b[i]) <= 1e-5f * (1 + fabsf(b[i]));
  }
  CHECK(good);
  ge_tensor_release(&out);
}

static int64_t Length(ge_session* s) {
  int64_t length = -1;
  ge_tensor t = {.size = sizeof t, .data = &length, .bytes = sizeof length};
  CHECK_OK(ge_session_get_state(s, "kv_length", &t, &error));
  return length;
}

static int64_t Capacity(ge_session* s) {
  ge_tensor t = {.size = sizeof t};
  CHECK_OK(ge_session_get_state(s, "past_value", &t, &error));
  CHECK(t.rank == 4);
  return t.dims[2];
}

/* The number behind "name": in the session's report. */
static long Counter(ge_session* s, const char* name) {
  char* text = NULL;
  long value = -1;
  CHECK_OK(ge_session_report(s, NULL, &text, &error));
  const char* at = text ? strstr(text, name) : NULL;
  if (at) value = atol(at + strlen(name) + 1);
  ge_text_release(text);
  return value;
}

static void Sequence(Plain* plain, ge_session* s, int64_t batch, int64_t prompt, int tokens) {
  int64_t data[kMostBatch * kMostNew];
  Begin(plain, batch);
  CHECK_OK(ge_session_reset_states(s, &error));
  for (int i = 0; i <= tokens; ++i) {
    const ge_tensor ids = Ids(data, batch, i == 0 ? prompt : 1, (uint32_t)i + 5);
    RunPlain(plain, &ids);
    RunCached(s, &ids, &plain->out[0]);
  }
  CHECK(Length(s) == prompt + tokens);
}

/* Capacities of 4, 8, 16, 32: a plan for each of them and each number of new ids. */
static void Growth(Plain* plain, ge_session* s) {
  Sequence(plain, s, 1, 3, 27);
  CHECK(Capacity(s) == 32);
  CHECK(Counter(s, "\"compiles\"") == 5);     /* 3 ids and 1 at 4; 1 at 8, 16 and 32 */
  CHECK(Counter(s, "\"plans_shaped\"") >= 1); /* twice the capacity: like the plan before */
  CHECK(Counter(s, "\"state_bytes_written\"") == 2 * 2 * 2 * 4 + 8); /* new rows, and the length */
  Sequence(plain, s, 2, 5, 6);
  CHECK(Capacity(s) == 32);
  CHECK(Counter(s, "\"compiles\"") == 7);
}

static void Never(void* context) {
  (void)context;
  CHECK(0);
}

static void Refusals(Plain* plain, ge_session* s) {
  int64_t data[kMostBatch * kMostNew];
  ge_tensor out = {.size = sizeof out};
  Sequence(plain, s, 1, 2, 1);
  ge_tensor ids = Ids(data, 2, 1, 1);
  CHECK_SAYS(ge_session_run(s, NULL, &ids, 1, &out, 1, &error), GE_STATUS_INVALID_ARGUMENT,
             "holds 3 rows");
  CHECK(Length(s) == 3);
  int64_t wrong = -1;
  ge_tensor length = {.size = sizeof length, .dtype = 7, .data = &wrong, .bytes = sizeof wrong};
  CHECK_SAYS(ge_session_set_state(s, "kv_length", &length, &error), GE_STATUS_INVALID_ARGUMENT,
             "say that -1 rows of state 'past_key'");
  wrong = Capacity(s) + 1;
  CHECK_SAYS(ge_session_set_state(s, "kv_length", &length, &error), GE_STATUS_INVALID_ARGUMENT,
             "wanted 0 to 32");
  float rows[2 * 2 * 2] = {0};
  ge_tensor two = {.size = sizeof two,
                   .dtype = 1,
                   .rank = 4,
                   .dims = {1, 2, 2, 2},
                   .data = rows,
                   .bytes = sizeof rows};
  CHECK_SAYS(ge_session_set_state(s, "past_value", &two, &error), GE_STATUS_INVALID_ARGUMENT,
             "say that 3 rows of state 'past_value'");
  CHECK_SAYS(ge_session_donate_state(s, "past_value", &two, Never, NULL, &error),
             GE_STATUS_INVALID_ARGUMENT, "say that 3 rows of state 'past_value'");
  CHECK(Length(s) == 3 && Capacity(s) == 32);
  ids = Ids(data, 1, 1, 1);
  CHECK_OK(ge_session_reset_states(s, &error));
  CHECK_OK(ge_session_run(s, NULL, &ids, 1, &out, 1, &error));
  CHECK(Length(s) == 1);
  CHECK_SAYS(ge_tensor_feed(&ids, &out, &error), GE_STATUS_INVALID_ARGUMENT, "not allocated");
  CHECK_SAYS(ge_tensor_feed(&out, &out, &error), GE_STATUS_INVALID_ARGUMENT, "two structs");
  CHECK_SAYS(ge_tensor_feed(NULL, &out, &error), GE_STATUS_INVALID_ARGUMENT, "NULL");
  CHECK_SAYS(ge_session_reset_states(NULL, &error), GE_STATUS_INVALID_ARGUMENT, "NULL");
  ge_tensor_release(&out);
}

/* Back to an earlier length, and to a file: what is appended then is as it was. */
static void BackAgain(Plain* plain, ge_session* s, ge_session* other, const char* path) {
  int64_t data[kMostBatch * kMostNew], first[1];
  Sequence(plain, s, 1, 4, 3);
  CHECK_OK(ge_session_save_states(s, path, &error));
  CHECK_OK(ge_session_restore_states(other, path, &error));
  CHECK(Length(other) == 7);
  const ge_tensor ids = Ids(data, 1, 1, 77);
  RunPlain(plain, &ids);
  RunCached(s, &ids, &plain->out[0]);
  RunCached(other, &ids, &plain->out[0]);
  int64_t seven = 7;
  ge_tensor length = {.size = sizeof length, .dtype = 7, .data = &seven, .bytes = sizeof seven};
  CHECK_OK(ge_session_set_state(s, "kv_length", &length, &error));
  const ge_tensor astray = Ids(first, 1, 1, 3);
  ge_tensor out = {.size = sizeof out};
  CHECK_OK(ge_session_run(s, NULL, &astray, 1, &out, 1, &error));
  CHECK_OK(ge_session_set_state(s, "kv_length", &length, &error));
  RunCached(s, &ids, &plain->out[0]);
  ge_tensor_release(&out);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    printf("usage: decoder_client MODEL.gt ENGINES FOLDER\n");
    return 2;
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/decoder.states", argv[3]);
  Plain plain = {.session = Open(argv[2], argv[1], 0)};
  for (int i = 0; i < 3; ++i) plain.in[i].size = plain.out[i].size = sizeof(ge_tensor);
  ge_session *s = Open(argv[2], argv[1], 4), *other = Open(argv[2], argv[1], GE_KV_CACHE_ROWS);
  if (!failed) {
    Growth(&plain, s);
    Refusals(&plain, s);
    BackAgain(&plain, s, other, path);
    Begin(&plain, 1);
  }
  remove(path);
  ge_session_destroy(plain.session);
  ge_session_destroy(s);
  ge_session_destroy(other);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
