/* What a session tells and is told: engines and devices, why a plan is as it is, pins and policy,
 * the log, names of free sizes and of nodes at fault, states in the caller's memory. inspect_client
 * MODEL ENGINES DEVSIM, MODEL being inspect.gt, DEVSIM a path with options. */
#define _POSIX_C_SOURCE 200809L
#include <ge/ge.h>
#include <stddef.h>
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

static ge_session* Make(const char* engines, const char* pins, uint32_t policy) {
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.engines = engines;
  options.pins = pins;
  options.policy = policy;
  options.prices = GE_PRICES_ANALYTIC;
  CHECK_OK(ge_session_create(&options, &s, &error));
  return s;
}

static ge_session* Open(const char* model, const char* engines, const char* pins, uint32_t policy) {
  ge_session* s = Make(engines, pins, policy);
  if (s) CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  return s;
}

static ge_tensor Rows(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 2, .dims = {n, 4}};
  t.data = data;
  t.bytes = (uint64_t)n * 4 * sizeof(float);
  return t;
}

/* ---- engines ----------------------------------------------------------------------------------
 */

static void Engines(const char* devsim) {
  char engines[1024];
  snprintf(engines, sizeof engines, "ref,%s", devsim);
  ge_session* s = Make(engines, NULL, 0);
  ge_engine_info e = {.size = sizeof e};
  ge_device_info d = {.size = sizeof d};
  uint32_t n = 0;
  CHECK_OK(ge_session_engine_count(s, &n)); /* it needs no model */
  CHECK(n == 2);
  CHECK_OK(ge_session_engine_info(s, 0, &e));
  CHECK(!strcmp(e.name, "ref") && e.devices == 1 && e.version[0] && strstr(e.path, "ref.so"));
  CHECK(e.vendor != NULL && !strcmp(e.options, ""));
  CHECK_OK(ge_session_device_info(s, 0, 0, &d));
  CHECK(!strcmp(d.name, "ref/cpu") && d.flags == 0 && d.memory_bytes == 0 && d.max_streams >= 1);
  CHECK_OK(ge_session_engine_info(s, 1, &e));
  CHECK(!strcmp(e.name, "devsim") && strstr(e.path, "devsim.so") && strstr(e.options, "price=1"));
  CHECK_OK(ge_session_device_info(s, 1, 0, &d));
  CHECK(!strncmp(d.name, "devsim/", 7));
  CHECK(d.flags == (GE_DEVICE_INFO_ASYNC | GE_DEVICE_INFO_OWN_MEMORY));
  e.size = 8;
  d.size = 8;
  CHECK(ge_session_engine_info(s, 0, &e) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_device_info(s, 0, 0, &d) == GE_STATUS_INVALID_ARGUMENT);
  e.size = sizeof e;
  d.size = sizeof d;
  CHECK(ge_session_engine_info(s, 2, &e) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_engine_info(s, 0, NULL) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_device_info(s, 0, 9, &d) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_device_info(s, 0, 0, NULL) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_engine_count(s, NULL) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_engine_count(NULL, &n) == GE_STATUS_INVALID_ARGUMENT);
  ge_session_destroy(s);
}

/* ---- placement --------------------------------------------------------------------------------
 */

/* The report of a run of "main"; free it. */
static char* Explained(ge_session* s) {
  static float x[8], y[8];
  ge_tensor in = Rows(x, 2), out = Rows(y, 2);
  char* text = NULL;
  CHECK_OK(ge_session_run(s, "main", &in, 1, &out, 1, &error));
  CHECK_OK(ge_session_explain(s, "main", &text, &error));
  return text;
}

static int Says(const char* text, const char* words) { return text && strstr(text, words) != NULL; }

static void Precisions(void) {
  ge_session_options o;
  ge_session* s = NULL;
  ge_session_options_init(&o);
  o.precision = 2;
  CHECK_BAD(ge_session_create(&o, &s, &error), "GE_BF16_PRECISION");
  o.precision = GE_BF16_PRECISION;
  o.numerics = GE_EXACT_NUMERICS;
  CHECK_BAD(ge_session_create(&o, &s, &error), "exact numerics");
}

static void Explain(const char* model, const char* engines) {
  ge_session* s = Open(model, engines, NULL, 0);
  float x[4] = {0, 1, 2, 0};
  char* text = NULL;
  ge_tensor in = {.size = sizeof in, .dtype = 1, .rank = 1, .dims = {4}},
            out = {.size = sizeof out};
  CHECK_IS(ge_session_explain(s, "main", &text, &error), GE_STATUS_FAILED_PRECONDITION,
           "compile or run it first");
  CHECK_BAD(ge_session_explain(s, "nobody", &text, &error), "no entry");
  CHECK_BAD(ge_session_report(s, "nobody", &text, &error), "no entry");
  CHECK_BAD(ge_session_explain(s, NULL, NULL, &error), "out is NULL");
  text = Explained(s);
  CHECK(Says(text, "\"nodes\":[") && Says(text, "\"node\":\"layer/scale\"") &&
        Says(text, "\"runner_up\"") && Says(text, "\"price_source\"") &&
        Says(text, "\"refusals\""));
  ge_text_release(text);
  in.data = x;
  in.bytes = sizeof x;
  CHECK_OK(ge_session_run(s, "pick", &in, 1, &out, 1, &error));
  ge_tensor_release(&out);
  CHECK_OK(ge_session_explain(s, "pick", &text, &error));
  CHECK(Says(text, "\"pieces\":[{") && Says(text, "\"function\""));
  ge_text_release(text);
  ge_session_destroy(s);
}

static void Pins(const char* model, const char* devsim) {
  char engines[1024];
  snprintf(engines, sizeof engines, "ref,%s", devsim);
  float x[8] = {0}, y[8], v[4] = {0, 1, 0, 2};
  ge_tensor in = Rows(x, 2), out = Rows(y, 2), picked = {.size = sizeof picked};
  ge_tensor vec = {.size = sizeof vec, .dtype = 1, .rank = 1, .dims = {4}, .bytes = sizeof v};
  vec.data = v;
  ge_session_options o;
  ge_session* s = Open(model, engines, "*=devsim;layer/scale=ref/cpu", 0);
  char* text = Explained(s);
  CHECK(Says(text, "\"chosen\":{") && Says(text, "ref/cpu") && Says(text, "devsim/"));
  ge_text_release(text);
  ge_session_destroy(s);
  /* Of pieces each need not have the node. */
  s = Open(model, engines, "GatherND=ref", 0);
  CHECK_OK(ge_session_run(s, "pick", &vec, 1, &picked, 1, &error));
  ge_tensor_release(&picked);
  CHECK_BAD(ge_session_run(s, "main", &in, 1, &out, 1, &error), "names the node 'GatherND'");
  ge_session_destroy(s);
  s = Open(model, engines, "Gather?D*=ref;NoSuchOp=ref", 0);
  CHECK_BAD(ge_session_run(s, "pick", &vec, 1, &picked, 1, &error), "names 'NoSuchOp'");
  ge_session_destroy(s);
  /* By priority the first one takes what it offers. */
  s = Open(model, engines, NULL, GE_PLACE_BY_PRIORITY);
  text = Explained(s);
  CHECK(Says(text, "ref/cpu") && Says(text, "\"method\":\"priority"));
  ge_text_release(text);
  ge_session_destroy(s);
  ge_session_options_init(&o);
  o.engines = "ref";
  o.pins = "Neg";
  CHECK_BAD(ge_session_create(&o, &s, &error), "is not NODE=ENGINE");
  o.pins = NULL;
  o.policy = 2;
  CHECK_BAD(ge_session_create(&o, &s, &error), "GE_PLACE_BY_PRIORITY");
  s = Open(model, "ref", "layer/scale=gpu", 0);
  CHECK_BAD(ge_session_run(s, "main", &in, 1, &out, 1, &error), "names the engine 'gpu'");
  ge_session_destroy(s);
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void Names(const char* model, const char* engines) {
  ge_session* s = Open(model, engines, NULL, 0);
  ge_tensor_info info = {.size = sizeof info};
  CHECK_OK(ge_session_input_info(s, "main", 0, &info));
  CHECK(info.dims[0] == -1 && info.dim_names[0] && !strcmp(info.dim_names[0], "batch"));
  CHECK(info.dims[1] == 4 && info.dim_names[1] == NULL && info.dim_names[2] == NULL);
  CHECK(info.kind == GE_ANY_TENSOR && info.optional == 0 && info.value_dtype == 0);
  CHECK(info.model_dims[0] && !strcmp(info.model_dims[0], "batch") && info.model_dims[1] == NULL);
  CHECK(info.denotations[0] == NULL && !strcmp(info.type, "tensor(float)"));
  CHECK_OK(ge_session_output_info(s, "joined", 0, &info));
  CHECK(info.dim_names[0] && !strcmp(info.dim_names[0], "2*batch"));
  CHECK_OK(ge_session_state_info(s, 0, &info));
  CHECK(info.dim_names[0] == NULL && info.kind == GE_ANY_TENSOR);
  CHECK_OK(ge_session_input_info(s, "odd", 0, &info));
  CHECK(info.dim_names[0] && !strcmp(info.dim_names[0], "Dim.0"));
  CHECK_OK(ge_session_output_info(s, "odd", 0, &info));
  CHECK(info.dim_names[0] && !strcmp(info.dim_names[0], "2*\"Dim.0\""));
  info.size = offsetof(ge_tensor_info, model_dims);
  info.value_dtype = 99; /* as it was before it had words of the model */
  CHECK_OK(ge_session_input_info(s, "main", 0, &info));
  CHECK(info.value_dtype == 99 && info.dim_names[0] != NULL);
  info.size = 152;
  info.kind = 99; /* as it was first published */
  CHECK_OK(ge_session_input_info(s, "main", 0, &info));
  CHECK(info.kind == 99);
  ge_session_destroy(s);
}

static void ModelInfo(void) {
  static const char text[] =
      "ge 1\nmodule \"net\" producer \"tool\"\nopset \"\" 28\nmeta \"b\" = \"2\"\n"
      "meta \"a\" = \"\"\nmeta \"ge.model.version\" = \"-7\"\nmeta \"ge.source_opset\" = \"17\"\n"
      "meta \"ge.model.domain\" = \"org.example\"\nmeta \"ge.model.doc_string\" = \"of the "
      "model\"\n"
      "meta \"ge.model.producer_version\" = \"1.2\"\n"
      "fn main(x: f32[4]) -> (y) doc \"of the graph\" {\n  y = Neg(x)\n}\nentry infer \"main\" = "
      "main\n";
  struct {
    ge_model_info x;
    unsigned char tail[64];
  } info;
  const char *key = "", *value = "";
  ge_session* s = Make("ref", NULL, 0);
  memset(&info, 0xab, sizeof info);
  info.x.size = sizeof info;
  CHECK(ge_session_model_info(s, &info.x) == GE_STATUS_FAILED_PRECONDITION);
  CHECK(ge_session_metadata_pair(s, 0, &key, &value) == GE_STATUS_FAILED_PRECONDITION);
  CHECK(key == NULL && value == NULL);
  CHECK_OK(ge_session_load_bytes(s, text, sizeof text - 1, GE_FORMAT_TEXT, &error));
  CHECK_OK(ge_session_model_info(s, &info.x));
  CHECK(!strcmp(info.x.name, "net") && !strcmp(info.x.producer, "tool"));
  CHECK(!strcmp(info.x.producer_version, "1.2") && !strcmp(info.x.domain, "org.example"));
  CHECK(!strcmp(info.x.description, "of the model"));
  CHECK(!strcmp(info.x.graph_description, "of the graph"));
  CHECK(info.x.has_version == 1 && info.x.version == -7 && info.x.metadata_count == 2);
  CHECK(info.tail[0] == 0xab); /* the caller's struct is longer than the library's */
  CHECK_OK(ge_session_metadata_pair(s, 0, &key, &value));
  CHECK(!strcmp(key, "a") && !strcmp(value, ""));
  CHECK_OK(ge_session_metadata_pair(s, 1, &key, &value));
  CHECK(!strcmp(key, "b") && !strcmp(value, "2"));
  CHECK(ge_session_metadata_pair(s, 2, &key, &value) == GE_STATUS_INVALID_ARGUMENT && !key);
  CHECK(ge_session_metadata_pair(s, 0, NULL, &value) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_metadata_pair(s, 0, &key, NULL) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_metadata_pair(NULL, 0, &key, &value) == GE_STATUS_INVALID_ARGUMENT);
  info.x.size = 71;
  CHECK(ge_session_model_info(s, &info.x) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_model_info(s, NULL) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_model_info(NULL, &info.x) == GE_STATUS_INVALID_ARGUMENT);
  ge_session_destroy(s);
}

/* Text models have no initializers that are inputs too; what reads ONNX is tested from Python. */
static void Defaults(void) {
  static const char text[] =
      "ge 1\nopset \"\" 28\nfn main(x: f32[N,N]) -> (y) {\n  y = Neg(x)\n}\nentry infer \"main\" = "
      "main\n";
  const char* names[] = {"w", NULL};
  ge_tensor_info info = {.size = sizeof info};
  float x[6] = {1, 2, 3, 4, 5, 6};
  ge_tensor in = {.size = sizeof in, .dtype = 1, .rank = 2, .dims = {2, 3}, .data = x},
            out = {.size = sizeof out};
  ge_session_options o;
  ge_session* s = Make("ref", NULL, 0);
  uint32_t n = 7;
  in.bytes = sizeof x;
  CHECK(ge_session_default_count(s, &n) == GE_STATUS_FAILED_PRECONDITION && n == 0);
  CHECK_OK(ge_session_load_bytes(s, text, sizeof text - 1, GE_FORMAT_TEXT, &error));
  CHECK_OK(ge_session_default_count(s, &n));
  CHECK(n == 0);
  CHECK(ge_session_default_count(s, NULL) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_default_info(s, 0, &info) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_session_default_info(s, 0, NULL) == GE_STATUS_INVALID_ARGUMENT);
  /* One name, two sizes: each axis has its own from then on. */
  CHECK_OK(ge_session_run(s, NULL, &in, 1, &out, 1, &error));
  CHECK(out.rank == 2 && out.dims[0] == 2 && out.dims[1] == 3 && ((float*)out.data)[5] == -6);
  ge_tensor_release(&out);
  in.dims[0] = 1;
  in.bytes = 3 * sizeof *x;
  CHECK_OK(ge_session_run(s, NULL, &in, 1, &out, 1, &error));
  CHECK(out.dims[0] == 1 && out.dims[1] == 3);
  ge_tensor_release(&out);
  ge_session_destroy(s);
  ge_session_options_init(&o);
  o.engines = "ref";
  o.strict_dims = 1;
  s = NULL;
  CHECK_OK(ge_session_create(&o, &s, &error));
  CHECK_OK(ge_session_load_bytes(s, text, sizeof text - 1, GE_FORMAT_TEXT, &error));
  CHECK_BAD(ge_session_run(s, NULL, &in, 1, &out, 1, &error), "dim 'N' is 1 by input 'x' axis 0");
  ge_session_destroy(s);
  o.strict_dims = 0;
  o.initializer_inputs = names;
  o.initializer_input_count = 2;
  CHECK_BAD(ge_session_create(&o, &s, &error), "initializer_inputs");
  o.initializer_input_count = 1;
  o.data_roots = "/nowhere::/tmp";
  CHECK_OK(ge_session_create(&o, &s, &error));
  CHECK_BAD(ge_session_load_bytes(s, text, sizeof text - 1, GE_FORMAT_TEXT, &error),
            "no initializer 'w' that is an input too");
  ge_session_destroy(s);
  o.initializer_inputs = NULL;
  CHECK_BAD(ge_session_create(&o, &s, &error), "initializer_inputs");
}

static void NodeAtFault(const char* model, const char* engines) {
  ge_session* s = Open(model, engines, NULL, 0);
  ge_error brief = {.size = 1024};
  int64_t at = 7;
  float x[4] = {0}, y[4];
  ge_tensor in[2] = {{.size = sizeof *in, .dtype = 1, .rank = 1, .dims = {4}},
                     {.size = sizeof *in, .dtype = 7, .rank = 1, .dims = {1}}};
  ge_tensor out = {.size = sizeof out};
  in[0].data = x;
  in[0].bytes = sizeof x;
  in[1].data = &at;
  in[1].bytes = sizeof at;
  out.data = y;
  out.bytes = sizeof y;
  CHECK(ge_session_run(s, "take", in, 2, &out, 1, &error) != GE_STATUS_OK);
  CHECK(!strcmp(error.node, "lookup/gather") && strstr(error.message, "lookup/gather"));
  memset(brief.node, 'z', sizeof brief.node); /* of a caller that has no such field */
  CHECK(ge_session_run(s, "take", in, 2, &out, 1, &brief) != GE_STATUS_OK);
  CHECK(brief.node[0] == 'z' && brief.message[0]);
  CHECK(ge_session_run(s, "nobody", in, 2, &out, 1, &error) != GE_STATUS_OK);
  CHECK(error.node[0] == 0); /* no node has a part in it */
  ge_session_destroy(s);
}

/* ---- the log ----------------------------------------------------------------------------------
 */

struct Log {
  int lines, named, again;
  uint32_t highest;
};
static void OnLine(void* context, uint32_t level, const char* text) {
  struct Log* log = context;
  ++log->lines;
  log->named += strstr(text, "no_such_engine_file") != NULL;
  if (level > log->highest) log->highest = level;
  log->again = ge_set_log(NULL, NULL, 0, NULL);
}

static void Logs(const char* folder) {
  struct Log log = {0, 0, 0, 0};
  ge_session* s = NULL;
  ge_session_options o;
  char path[1024];
  CHECK_BAD(ge_set_log(OnLine, &log, 9, &error), "level is 9");
  CHECK_OK(ge_set_log(OnLine, &log, GE_LOG_INFO, &error));
  /* An engine by a name that no file has: others are opened to look for it, and that is told. */
  snprintf(path, sizeof path, "%s/logged.so", folder);
  setenv("GE_PLUGIN_EXTRA", path, 1);
  ge_session_options_init(&o);
  o.engines = "minimal";
  CHECK_OK(ge_session_create(&o, &s, &error));
  ge_session_destroy(s);
  unsetenv("GE_PLUGIN_EXTRA");
  CHECK(log.lines > 0 && log.highest == GE_LOG_INFO);
  CHECK(log.again == GE_STATUS_FAILED_PRECONDITION);
  CHECK_OK(ge_set_log(NULL, NULL, 0, &error));
}

/* ---- states in the caller's memory -------------------------------------------------------------
 */

static void Release(void* context) { ++*(int*)context; }

static void Donated(const char* model, const char* engines) {
  ge_session* s = Open(model, engines, NULL, 0);
  int released = 0, second = 0;
  float* mine = aligned_alloc(64, 64);
  float* other = aligned_alloc(64, 64);
  float x[8] = {1, 1, 1, 1, 1, 1, 1, 1}, y[8];
  ge_tensor in = {.size = sizeof in, .dtype = 1, .rank = 1, .dims = {8}}, out = in, state = in, odd;
  in.data = x;
  out.data = y;
  state.data = mine;
  in.bytes = out.bytes = state.bytes = sizeof x;
  for (int i = 0; i < 8; ++i) {
    mine[i] = 5;
    other[i] = 7;
  }
  odd = state;
  odd.data = mine + 1;
  CHECK_BAD(ge_session_donate_state(s, "total", &odd, Release, &released, &error),
            "multiple of 64");
  odd = state;
  odd.dims[0] = 4;
  odd.bytes = 16;
  CHECK_BAD(ge_session_donate_state(s, "total", &odd, Release, &released, &error), "state 'total'");
  CHECK_BAD(ge_session_donate_state(s, "total", &state, NULL, NULL, &error), "release is NULL");
  CHECK_BAD(ge_session_donate_state(s, "total", NULL, Release, &released, &error), "value is NULL");
  CHECK_BAD(ge_session_donate_state(s, "nobody", &state, Release, &released, &error), "'nobody'");
  CHECK(released == 0);
  CHECK_OK(ge_session_donate_state(s, "total", &state, Release, &released, &error));
  mine[0] = 6; /* it is the state */
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK(y[0] == 7 && y[7] == 6 && released == 0);
  for (int i = 0; i < 5; ++i) CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK(y[0] == 12 && y[7] == 11 && released == 0);
  state.data = other;
  CHECK_OK(ge_session_donate_state(s, "total", &state, Release, &second, &error));
  CHECK(released == 1 && second == 0);
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK(y[0] == 8);
  CHECK_OK(ge_session_set_state(s, "total", &in, &error));
  CHECK_OK(ge_session_run(s, "add", &in, 1, &out, 1, &error));
  CHECK(y[0] == 2);
  ge_session_destroy(s);
  CHECK(released == 1 && second == 1);
  free(mine);
  free(other);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: inspect_client MODEL ENGINES DEVSIM FOLDER\n");
    return 2;
  }
  Engines(argv[3]);
  Precisions();
  Defaults();
  Explain(argv[1], argv[2]);
  Pins(argv[1], argv[3]);
  Names(argv[1], argv[2]);
  NodeAtFault(argv[1], argv[2]);
  Donated(argv[1], argv[2]);
  ModelInfo();
  Logs(argv[4]);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
