/* Values of any kind and tensors by DLPack, from C: texts, sequences, maps, optionals, who owns
 * what for how long, and what is refused. values_client MODEL ENGINES, MODEL being values.gt. */
#define _POSIX_C_SOURCE 200809L
#include <dlpack/dlpack.h>
#include <ge/ge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, &error)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)
#define CHECK_IS(x, wanted, words) \
  Check((x) == (wanted) && strstr(error.message, words), #x, __LINE__, &error)
#define CHECK_BAD(x, words) CHECK_IS(x, GE_STATUS_INVALID_ARGUMENT, words)

static ge_error error = {.size = sizeof(ge_error)};

static ge_tensor Vector(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 1, .dims = {n}};
  t.data = data;
  t.bytes = (uint64_t)n * sizeof(float);
  return t;
}

static ge_any* Texts(const char* const* texts, int64_t n) {
  ge_any* v = NULL;
  CHECK_OK(ge_any_of_texts(texts, NULL, &n, 1, &v, &error));
  return v;
}

static ge_any_info InfoOf(const ge_any* v) {
  ge_any_info info = {.size = sizeof info};
  CHECK_OK(ge_any_inspect(v, &info, &error));
  return info;
}

static int TextIs(const ge_any* v, uint64_t i, const char* wanted) {
  const char* text = NULL;
  uint64_t length = 0;
  CHECK_OK(ge_any_text(v, i, &text, &length, &error));
  return text && length == strlen(wanted) && !strcmp(text, wanted);
}

static void CountDown(void* context) { --*(int*)context; }

/* ---- making and looking ------------------------------------------------------------------------
 */

static void Making(void) {
  float x[6] = {1, 2, 3, 4, 5, 6};
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 2, .dims = {2, 3}};
  ge_tensor seen = {.size = sizeof seen};
  ge_any *copy = NULL, *lent = NULL, *seq = NULL, *first = NULL, *none = NULL;
  int held = 1;
  t.data = x;
  t.bytes = sizeof x;
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &copy, &error));
  CHECK_OK(ge_any_of_tensor(&t, CountDown, &held, &lent, &error));
  x[0] = 7;
  CHECK_OK(ge_any_tensor(copy, &seen, &error));
  CHECK(seen.rank == 2 && seen.dims[1] == 3 && seen.bytes == 24 && ((float*)seen.data)[0] == 1);
  CHECK_OK(ge_any_tensor(lent, &seen, &error));
  CHECK(seen.data == x); /* not copied */
  const ge_any* both[2] = {lent, copy};
  CHECK_OK(ge_any_of_sequence(1, both, 2, &seq, &error));
  ge_any_info info = InfoOf(seq);
  CHECK(info.kind == GE_ANY_SEQUENCE && info.count == 2 && info.dtype == 1 && info.rank == 0);
  ge_any_release(lent);
  CHECK(held == 1); /* the sequence has it */
  CHECK_OK(ge_any_element(seq, 0, &first, &error));
  ge_any_release(seq);
  CHECK(held == 1); /* and its element */
  info = InfoOf(first);
  CHECK(info.kind == GE_ANY_TENSOR && info.rank == 2 && info.count == 6);
  ge_any_release(first);
  CHECK(held == 0);
  CHECK_OK(ge_any_of_none(&none, &error));
  info = InfoOf(none);
  CHECK(info.kind == GE_ANY_NONE && info.count == 0 && info.dtype == 0);
  ge_any_release(none);
  ge_any_release(copy);
  ge_any_release(NULL);
}

static void TextsAndMaps(void) {
  const char* const words[] = {"ants", "a text that is longer than a short one", ""};
  const char raw[] = {'a', 0, 'b'};
  const char* const bytes[] = {raw};
  const uint64_t three = 3;
  const int64_t dims[] = {1, 1};
  float x[3] = {1, 2, 3};
  int64_t numbers[3] = {5, 6, 5};
  ge_tensor t = Vector(x, 3), k = {.size = sizeof k, .dtype = 7, .rank = 1, .dims = {3}};
  ge_any *texts = Texts(words, 3), *odd = NULL, *values = NULL, *map = NULL, *part = NULL;
  ge_any* keys = NULL;
  const char* text = NULL;
  uint64_t length = 0;
  ge_any_info info = InfoOf(texts);
  CHECK(info.kind == GE_ANY_TEXTS && info.dtype == 8 && info.count == 3 && info.dims[0] == 3);
  for (uint64_t i = 0; i < 3; ++i) CHECK(TextIs(texts, i, words[i]));
  CHECK_OK(ge_any_of_texts(bytes, &three, dims, 2, &odd, &error));
  CHECK_OK(ge_any_text(odd, 0, &text, &length, &error));
  CHECK(length == 3 && !memcmp(text, raw, 3) && text[3] == 0);
  CHECK_OK(ge_any_text(odd, 0, &text, NULL, &error));
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &values, &error));
  CHECK_OK(ge_any_of_map(texts, values, &map, &error));
  info = InfoOf(map);
  CHECK(info.kind == GE_ANY_MAP && info.dtype == 8 && info.count == 3);
  CHECK_OK(ge_any_element(map, 0, &part, &error));
  CHECK(TextIs(part, 1, words[1]));
  ge_any_release(part);
  CHECK_OK(ge_any_element(map, 1, &part, &error));
  CHECK(InfoOf(part).kind == GE_ANY_TENSOR);
  ge_any_release(part);
  ge_any_release(map);
  k.data = numbers;
  k.bytes = sizeof numbers;
  CHECK_OK(ge_any_of_tensor(&k, NULL, NULL, &keys, &error));
  CHECK_BAD(ge_any_of_map(keys, values, &map, &error), "twice");
  CHECK_BAD(ge_any_of_map(values, keys, &map, &error), "keys are f32[3]");
  CHECK_BAD(ge_any_of_map(texts, odd, &map, &error), "as many elements");
  CHECK_BAD(ge_any_of_map(NULL, values, &map, &error), "keys is NULL");
  CHECK_BAD(ge_any_of_map(texts, NULL, &map, &error), "values is NULL");
  ge_any_release(texts);
  ge_any_release(odd);
  ge_any_release(values);
  ge_any_release(keys);
}

static void BadValues(void) {
  const char* const words[] = {"a", NULL};
  const int64_t two = 2, minus = -1, wide[17] = {0};
  float x[2] = {1, 2};
  int held = 1;
  ge_tensor t = Vector(x, 2), brief = {.size = 16};
  ge_any *v = NULL, *texts = Texts(words, 1), *out = (ge_any*)(void*)x;
  ge_any_info info = {.size = sizeof info}, short_info = {.size = 8};
  const ge_any* elements[2] = {texts, NULL};
  const char* text = NULL;
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &v, &error));
  t.bytes = 4;
  CHECK_BAD(ge_any_of_tensor(&t, CountDown, &held, &out, &error), "4 bytes");
  CHECK(out == NULL && held == 1); /* it stays the caller's */
  t = Vector(NULL, 2);
  CHECK_BAD(ge_any_of_tensor(&t, CountDown, &held, &out, &error), "data is NULL");
  t.dtype = 8;
  t.bytes = 0;
  CHECK_BAD(ge_any_of_tensor(&t, NULL, NULL, &out, &error), "");
  CHECK_BAD(ge_any_of_tensor(NULL, NULL, NULL, &out, &error), "tensor is NULL");
  CHECK_BAD(ge_any_of_tensor(&t, NULL, NULL, NULL, &error), "out is NULL");
  CHECK_BAD(ge_any_of_none(NULL, &error), "out is NULL");
  CHECK_BAD(ge_any_of_texts(words, NULL, &two, 1, &out, &error), "a text is NULL");
  CHECK_BAD(ge_any_of_texts(NULL, NULL, &two, 1, &out, &error), "texts is NULL");
  CHECK_BAD(ge_any_of_texts(words, NULL, &minus, 1, &out, &error), "negative");
  CHECK_BAD(ge_any_of_texts(words, NULL, wide, 17, &out, &error), "rank is 17");
  CHECK_BAD(ge_any_of_texts(words, NULL, NULL, 1, &out, &error), "dims is NULL");
  CHECK_BAD(ge_any_of_sequence(8, elements, 2, &out, &error), "an element is NULL");
  CHECK_BAD(ge_any_of_sequence(8, NULL, 2, &out, &error), "elements is NULL");
  CHECK_BAD(ge_any_of_sequence(1, elements, 1, &out, &error), "wanted a tensor of f32");
  CHECK_BAD(ge_any_of_sequence(99, NULL, 0, &out, &error), "dtype is 99");
  CHECK_BAD(ge_any_inspect(NULL, &info, &error), "value is NULL");
  CHECK_BAD(ge_any_inspect(v, NULL, &error), "out is NULL");
  CHECK_BAD(ge_any_inspect(v, &short_info, &error), "ge_any_info");
  CHECK_BAD(ge_any_tensor(texts, &t, &error), "wanted a tensor of numbers");
  CHECK_BAD(ge_any_tensor(v, &brief, &error), "ge_tensor");
  CHECK_BAD(ge_any_tensor(NULL, &t, &error), "value is NULL");
  CHECK_BAD(ge_any_text(v, 0, &text, NULL, &error), "wanted a tensor of texts");
  CHECK_BAD(ge_any_text(texts, 1, &text, NULL, &error), "no text 1");
  CHECK_BAD(ge_any_element(v, 0, &out, &error), "wanted a sequence or a map");
  ge_any_release(v);
  ge_any_release(texts);
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static void RunTexts(ge_session* s) {
  const char* const words[] = {"bee", "ant"};
  ge_any *in = Texts(words, 2), *out = NULL;
  const ge_any* inputs[1] = {in};
  CHECK_OK(ge_session_run_values(s, "greet", inputs, 1, &out, 1, NULL, &error));
  ge_any_info info = InfoOf(out);
  CHECK(info.kind == GE_ANY_TEXTS && info.count == 2);
  CHECK(TextIs(out, 0, "hello bee") && TextIs(out, 1, "hello ant"));
  ge_any_release(in);
  CHECK(TextIs(out, 0, "hello bee")); /* it needs nothing but itself */
  ge_any_release(out);
}

static void RunSequences(ge_session* s) {
  float x[4] = {1, 2, 3, 4}, y[2] = {5, 6};
  ge_tensor a = Vector(x, 4), b = Vector(y, 2), seen = {.size = sizeof seen};
  int held = 2;
  ge_any *v[2] = {NULL, NULL}, *seq = NULL, *out[2] = {NULL, NULL};
  CHECK_OK(ge_any_of_tensor(&a, CountDown, &held, &v[0], &error));
  CHECK_OK(ge_any_of_tensor(&b, CountDown, &held, &v[1], &error));
  CHECK_OK(ge_any_of_sequence(1, (const ge_any* const*)v, 2, &seq, &error));
  ge_any_release(v[0]);
  ge_any_release(v[1]);
  const ge_any* inputs[1] = {seq};
  CHECK_OK(ge_session_run_values(s, "turn", inputs, 1, out, 2, NULL, &error));
  ge_any_release(seq);
  ge_any_info info = InfoOf(out[0]);
  CHECK(info.kind == GE_ANY_SEQUENCE && info.count == 2);
  CHECK_OK(ge_any_element(out[0], 1, &v[0], &error));
  CHECK_OK(ge_any_tensor(v[0], &seen, &error));
  CHECK(seen.dims[0] == 2 && seen.data == y && held == 2); /* where it lay, as long as it is had */
  ge_any_release(v[0]);
  CHECK_OK(ge_any_tensor(out[1], &seen, &error));
  CHECK(seen.rank == 0 && *(int64_t*)seen.data == 2);
  ge_any_release(out[0]);
  ge_any_release(out[1]);
  CHECK(held == 0);
}

/* A map's texts as numbers, by their keys: the whole of a text or none. */
static void RunMaps(ge_session* s) {
  const char *const words[] = {"-3e2", "2.5"}, *const odd[] = {"1.5x", ""};
  int64_t numbers[2] = {7, 4};
  ge_tensor k = {.size = sizeof k, .dtype = 7, .rank = 1, .dims = {2}},
            seen = {.size = sizeof seen};
  ge_any *keys = NULL, *texts = Texts(words, 2), *map = NULL, *out = NULL;
  k.data = numbers;
  k.bytes = sizeof numbers;
  CHECK_OK(ge_any_of_tensor(&k, NULL, NULL, &keys, &error));
  CHECK_OK(ge_any_of_map(keys, texts, &map, &error));
  const ge_any* inputs[1] = {map};
  CHECK_OK(ge_session_run_values(s, "read", inputs, 1, &out, 1, NULL, &error));
  CHECK_OK(ge_any_tensor(out, &seen, &error));
  const float* const y = seen.data;
  CHECK(seen.dtype == 1 && seen.bytes == 8 && y[0] == 2.5f && y[1] == -300);
  ge_any_release(out);
  ge_any_release(map);
  ge_any_release(texts);
  texts = Texts(odd, 2);
  CHECK_OK(ge_any_of_map(keys, texts, &map, &error));
  inputs[0] = map;
  CHECK_BAD(ge_session_run_values(s, "read", inputs, 1, &out, 1, NULL, &error),
            "a value of the map is '', wanted a number");
  ge_any_release(map);
  ge_any_release(texts);
  ge_any_release(keys);
}

/* A sequence that a node made is one of its elements' type. */
static void RunMade(ge_session* s) {
  int64_t x[2] = {1, 2};
  ge_tensor t = {.size = sizeof t, .dtype = 7, .rank = 1, .dims = {2}};
  ge_any *in = NULL, *out = NULL;
  t.data = x;
  t.bytes = sizeof x;
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &in, &error));
  const ge_any* inputs[1] = {in};
  CHECK_OK(ge_session_run_values(s, "wrap", inputs, 1, &out, 1, NULL, &error));
  ge_any_info info = InfoOf(out);
  CHECK(info.kind == GE_ANY_SEQUENCE && info.count == 1 && info.dtype == 7);
  ge_any_release(out);
  ge_any_release(in);
}

static void RunOptionals(ge_session* s) {
  float x[2] = {3, 4};
  ge_tensor t = Vector(x, 2), seen = {.size = sizeof seen};
  ge_any *some = NULL, *none = NULL, *out = NULL;
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &some, &error));
  CHECK_OK(ge_any_of_none(&none, &error));
  const ge_any* inputs[1] = {some};
  CHECK_OK(ge_session_run_values(s, "given", inputs, 1, &out, 1, NULL, &error));
  CHECK_OK(ge_any_tensor(out, &seen, &error));
  CHECK(seen.dtype == 9 && *(uint8_t*)seen.data == 1);
  ge_any_release(out);
  inputs[0] = none;
  CHECK_OK(ge_session_run_values(s, "given", inputs, 1, &out, 1, NULL, &error));
  CHECK_OK(ge_any_tensor(out, &seen, &error));
  CHECK(*(uint8_t*)seen.data == 0);
  ge_any_release(out);
  ge_any_release(some);
  ge_any_release(none);
}

/* Constants and states that are given out are copies, which the next run does not change. */
static void RunStates(ge_session* s) {
  float x[2] = {1, 1};
  ge_tensor t = Vector(x, 2), seen = {.size = sizeof seen};
  ge_any *in = NULL, *out[2] = {NULL, NULL}, *again[2] = {NULL, NULL};
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &in, &error));
  const ge_any* inputs[1] = {in};
  CHECK_OK(ge_session_run_values(s, "count", inputs, 1, out, 2, NULL, &error));
  CHECK_OK(ge_session_run_values(s, "count", inputs, 1, again, 2, NULL, &error));
  CHECK_OK(ge_any_tensor(out[0], &seen, &error));
  CHECK(((float*)seen.data)[0] == 0);
  CHECK_OK(ge_any_tensor(again[0], &seen, &error));
  CHECK(((float*)seen.data)[0] == 1);
  for (int i = 0; i < 2; ++i) ge_any_release(again[i]);
  ge_any_release(in);
  ge_run_options options = {.size = sizeof options};
  ge_cancel_token* token = NULL;
  CHECK_OK(ge_cancel_token_create(&token, &error));
  CHECK_OK(ge_cancel_token_cancel(token));
  options.cancel = token;
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &in, &error));
  inputs[0] = in;
  CHECK_IS(ge_session_run_values(s, "count", inputs, 1, again, 2, &options, &error),
           GE_STATUS_CANCELLED, "cancelled");
  CHECK(again[0] == NULL && again[1] == NULL);
  ge_cancel_token_destroy(token);
  ge_any_release(in);
  ge_any_release(out[0]);
  ge_any_release(out[1]);
}

static void BadRuns(ge_session* s) {
  float x[2] = {1, 1};
  ge_tensor t = Vector(x, 2);
  const char* const words[] = {"bee", "ant"};
  ge_any *numbers = NULL, *texts = Texts(words, 2), *out[2] = {texts, texts}, *empty = NULL;
  CHECK_OK(ge_any_of_tensor(&t, NULL, NULL, &numbers, &error));
  CHECK_OK(ge_any_of_sequence(7, NULL, 0, &empty, &error));
  const ge_any *in[2] = {numbers, NULL}, *words_in[1] = {texts}, *empty_in[1] = {empty};
  CHECK_BAD(ge_session_run_values(s, "greet", in, 1, out, 1, NULL, &error),
            "input 'names' is f32[2], the model wants str[n]");
  CHECK(out[0] == NULL);
  CHECK_BAD(ge_session_run_values(s, "turn", words_in, 1, out, 2, NULL, &error), "input 'parts'");
  CHECK_BAD(ge_session_run_values(s, "given", words_in, 1, out, 1, NULL, &error), "input 'x'");
  CHECK_BAD(ge_session_run_values(s, "greet", in, 2, out, 1, NULL, &error), "an input is NULL");
  CHECK_BAD(ge_session_run_values(s, "greet", words_in, 0, out, 1, NULL, &error), "takes 1 inputs");
  CHECK_BAD(ge_session_run_values(s, "greet", words_in, 1, out, 2, NULL, &error), "has 1 outputs");
  CHECK_BAD(ge_session_run_values(s, "greet", NULL, 1, out, 1, NULL, &error), "inputs is NULL");
  CHECK_BAD(ge_session_run_values(s, "greet", words_in, 1, NULL, 1, NULL, &error), "outputs is");
  CHECK_BAD(ge_session_run_values(NULL, "greet", words_in, 1, out, 1, NULL, &error), "session");
  CHECK_BAD(ge_session_run_values(s, "nobody", words_in, 1, out, 1, NULL, &error), "no entry");
  /* A sequence without elements may be one of any. */
  CHECK_OK(ge_session_run_values(s, "turn", empty_in, 1, out, 2, NULL, &error));
  ge_any_release(out[0]);
  ge_any_release(out[1]);
  ge_any_release(numbers);
  ge_any_release(texts);
  ge_any_release(empty);
}

/* ---- DLPack -----------------------------------------------------------------------------------
 */

static int deleted;
static void Delete(struct DLManagedTensor* self) {
  (void)self;
  ++deleted;
}
static DLManagedTensor Managed(float* data, int64_t* shape, int64_t* strides, int ndim) {
  DLManagedTensor m = {.dl_tensor = {.data = data, .device = {kDLCPU, 0}, .ndim = ndim}};
  m.dl_tensor.dtype = (DLDataType){kDLFloat, 32, 1};
  m.dl_tensor.shape = shape;
  m.dl_tensor.strides = strides;
  m.deleter = Delete;
  return m;
}

static void FromDlpack(ge_session* s) {
  float x[8] = {0, 0, 1, 2, 3, 4, 5, 6}, y[6];
  int64_t shape[2] = {2, 3}, dense[2] = {3, 1}, turned[2] = {1, 2}, flat = 6;
  DLManagedTensor m = Managed(x, shape, dense, 2), f = Managed(x + 2, &flat, NULL, 1);
  ge_tensor t = {.size = sizeof t}, in = t, out = Vector(y, 6);
  ge_any* v = NULL;
  m.dl_tensor.byte_offset = 8;
  CHECK_OK(ge_tensor_from_dlpack(&m, NULL, &t, &error));
  CHECK(t.dtype == 1 && t.rank == 2 && t.dims[1] == 3 && t.bytes == 24 && t.data == x + 2);
  CHECK_OK(ge_tensor_from_dlpack(&f, NULL, &in, &error));
  CHECK_OK(ge_session_run(s, "twice", &in, 1, &out, 1, &error));
  CHECK(y[0] == 2 && y[5] == 12 && deleted == 0);
  CHECK_OK(ge_any_from_dlpack(&m, NULL, &v, &error));
  CHECK_OK(ge_any_tensor(v, &t, &error));
  CHECK(t.data == x + 2 && deleted == 0);
  ge_any_release(v);
  CHECK(deleted == 1);
  m.dl_tensor.strides = turned;
  CHECK_BAD(ge_tensor_from_dlpack(&m, NULL, &t, &error), "axis 1 has stride 2, wanted 1");
  CHECK_BAD(ge_any_from_dlpack(&m, NULL, &v, &error), "not dense");
  CHECK(v == NULL && deleted == 1); /* it is the caller's */
  shape[1] = 1;                     /* strides of axes of one element say nothing */
  turned[0] = 1;
  CHECK_OK(ge_tensor_from_dlpack(&m, NULL, &t, &error));
  shape[1] = 0;
  CHECK_OK(ge_tensor_from_dlpack(&m, NULL, &t, &error));
  CHECK(t.bytes == 0);
}

static void DlpackRefused(void) {
  float x[2] = {1, 2};
  int64_t flat = 2, minus = -2;
  ge_tensor t = {.size = sizeof t}, brief = {.size = 8};
  DLManagedTensor m = Managed(x, &flat, NULL, 1);
  ge_any* v = NULL;
  m.dl_tensor.device.device_type = kDLCUDA;
  m.dl_tensor.device.device_id = 3;
  CHECK_IS(ge_tensor_from_dlpack(&m, NULL, &t, &error), GE_STATUS_UNSUPPORTED, "CUDA device 3");
  CHECK_IS(ge_any_from_dlpack(&m, NULL, &v, &error), GE_STATUS_UNSUPPORTED, "CUDA device 3");
  m.dl_tensor.device.device_type = (DLDeviceType)77;
  CHECK_IS(ge_tensor_from_dlpack(&m, NULL, &t, &error), GE_STATUS_UNSUPPORTED, "of type 77");
  m.dl_tensor.device.device_type = kDLCUDAHost; /* pinned memory of the host */
  CHECK_OK(ge_tensor_from_dlpack(&m, NULL, &t, &error));
  CHECK_BAD(ge_tensor_from_dlpack(&m, x, &t, &error), "no stream");
  m.dl_tensor.dtype.lanes = 4;
  CHECK_IS(ge_tensor_from_dlpack(&m, NULL, &t, &error), GE_STATUS_UNSUPPORTED, "4 lanes");
  m.dl_tensor.dtype = (DLDataType){kDLOpaqueHandle, 64, 1};
  CHECK_IS(ge_tensor_from_dlpack(&m, NULL, &t, &error), GE_STATUS_UNSUPPORTED, "type code 3");
  m = Managed(x, &minus, NULL, 1);
  CHECK_BAD(ge_tensor_from_dlpack(&m, NULL, &t, &error), "negative dim");
  m = Managed(NULL, &flat, NULL, 1);
  CHECK_BAD(ge_tensor_from_dlpack(&m, NULL, &t, &error), "data is NULL");
  m = Managed(x, NULL, NULL, 1);
  CHECK_BAD(ge_tensor_from_dlpack(&m, NULL, &t, &error), "rank 1");
  m = Managed(x, &flat, NULL, 17);
  CHECK_BAD(ge_tensor_from_dlpack(&m, NULL, &t, &error), "rank 17");
  m = Managed(x, &flat, NULL, 1);
  CHECK_BAD(ge_tensor_from_dlpack(&m, NULL, &brief, &error), "ge_tensor");
  CHECK_BAD(ge_tensor_from_dlpack(NULL, NULL, &t, &error), "managed is NULL");
}

static void ToDlpack(ge_session* s) {
  float x[6] = {1, 2, 3, 4, 5, 6}, y[6];
  int held = 1;
  ge_tensor in = Vector(x, 6), out = {.size = sizeof out}, own = Vector(y, 6);
  DLManagedTensor* m = NULL;
  const char* const words[] = {"bee"};
  ge_any *v = NULL, *texts = Texts(words, 1);
  CHECK_OK(ge_session_run(s, "twice", &in, 1, &out, 1, &error));
  const void* where = out.data;
  CHECK_BAD(ge_tensor_to_dlpack(&out, x, &m, &error), "no stream");
  CHECK(out.data == where);
  CHECK_OK(ge_tensor_to_dlpack(&out, NULL, &m, &error));
  CHECK(out.data == NULL && out.flags == 0 && m->dl_tensor.data == where);
  CHECK(m->dl_tensor.ndim == 1 && m->dl_tensor.shape[0] == 6 && m->dl_tensor.dtype.bits == 32);
  CHECK(m->dl_tensor.device.device_type == kDLCPU && ((float*)m->dl_tensor.data)[5] == 12);
  m->deleter(m);
  CHECK_OK(ge_session_run(s, "twice", &in, 1, &own, 1, &error));
  CHECK_BAD(ge_tensor_to_dlpack(&own, NULL, &m, &error), "not allocated by a run");
  CHECK_OK(ge_any_of_tensor(&in, CountDown, &held, &v, &error));
  CHECK_OK(ge_any_to_dlpack(v, NULL, &m, &error));
  ge_any_release(v);
  CHECK(held == 1 && m->dl_tensor.data == x);
  m->deleter(m);
  CHECK(held == 0);
  CHECK_BAD(ge_any_to_dlpack(texts, NULL, &m, &error), "wanted a tensor of numbers");
  CHECK(m == NULL);
  ge_any_release(texts);
}

int main(int argc, char** argv) {
  ge_session_options options;
  ge_session* s = NULL;
  if (argc != 3) {
    fprintf(stderr, "usage: values_client MODEL ENGINES\n");
    return 2;
  }
  ge_session_options_init(&options);
  options.engines = argv[2];
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, argv[1], GE_FORMAT_AUTO, &error));
  Making();
  TextsAndMaps();
  BadValues();
  if (!failed) {
    RunTexts(s);
    RunSequences(s);
    RunMaps(s);
    RunMade(s);
    RunOptionals(s);
    RunStates(s);
    BadRuns(s);
  }
  if (!failed) {
    FromDlpack(s);
    ToDlpack(s);
    DlpackRefused();
  }
  ge_session_destroy(s);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
