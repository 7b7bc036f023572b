/* A C11 client of graphs by calls: graph_client ENGINES FOLDER PLUGIN. Makes models by calls, runs
 * them, and compares them with the same models from files, which it writes into FOLDER. PLUGIN has
 * sample.Swish. Prints what fails and, last, its counts. */
#define _GNU_SOURCE
#include <math.h>

#include "tests/e2e/clients/graph_made.h"

/* y = Relu(x W + b) of any number of rows. */
static uint32_t Layer(const Made* m, uint32_t* y) {
  static const float kW[6] = {1, 2, 3, 4, 5, 6}, kB[3] = {-20, 0, 20};
  static const int64_t kWide[2] = {2, 3}, kX[2] = {0, 2};
  static const char* const kNames[2] = {"rows", NULL};
  const uint32_t fn = AddFunction(m->e, "main", 0);
  const uint32_t x = AddParam(m->e, fn, "x", GE_F32, 2, kX, kNames);
  const uint32_t w = AddConstant(m->e, fn, GE_F32, 2, kWide, kW, sizeof kW);
  const uint32_t b = AddConstant(m->e, fn, GE_F32, 1, kWide + 1, kB, sizeof kB);
  const uint32_t h = Plain(m->e, fn, "MatMul", "net.py:3 Net.fc", x, w);
  const uint32_t s = Plain(m->e, fn, "Add", "net.py:3 Net.fc", h, b);
  *y = Plain(m->e, fn, "Relu", "net.py:4 Net", s, 0);
  CHECK(fn && x && w && b && h && s && *y);
  return fn;
}

static void RunLayer(ge_session* s) {
  float x[4] = {1, 2, 3, -4}, y[6] = {0};
  static const float kWant[6] = {0, 12, 35, 0, 0, 5};
  const ge_tensor in = TensorOf(GE_F32, 2, 2, 2, x, sizeof x);
  ge_tensor out = TensorOf(0, 0, 0, 0, y, sizeof y);
  CHECK(ge_session_run(s, NULL, &in, 1, &out, 1, &error) == GE_STATUS_OK);
  CHECK(out.rank == 2 && out.dims[0] == 2 && out.dims[1] == 3);
  for (int i = 0; i < 6; ++i) CHECK(fabsf(y[i] - kWant[i]) < 1e-5f);
}

/* Types as they are inferred: a size by its name, and which sizes are equal. */
static void Types(const Made* m, uint32_t fn, uint32_t y) {
  const ge_value* v = m->e->value(m->e->host, fn, y);
  CHECK(v->type.dtype == GE_F32 && v->type.rank == 2 && v->type.dims[0] == -1);
  CHECK(v->type.dims[1] == 3 && ge_is(v->dim[0].name, "rows") && v->dim[0].id != 0);
  const uint32_t rows = v->dim[0].id;
  const ge_attr axis = {.name = {"axis", 4}, .kind = GE_ATTR_INT, .i = 0};
  NodeOf twice = {.op = "Concat", .in = {y, y}, .n_in = 2, .attr = &axis, .n_attr = 1};
  const uint32_t z = Make(m->e, fn, &twice), sum = Plain(m->e, fn, "Add", "", y, y);
  v = m->e->value(m->e->host, fn, z);
  CHECK(v->type.rank == 2 && v->dim[0].id != 0 && v->dim[0].id != rows);
  CHECK(m->e->value(m->e->host, fn, sum)->dim[0].id == rows);
}

/* A model of one layer: run, written, read, exported. */
static void OneLayer(void) {
  const Made m = NewGraph();
  ge_session *s = NewSession(), *exported = NewSession(), *again = NewSession();
  char path[512];
  uint32_t y = 0;
  const uint32_t fn = Layer(&m, &y);
  Types(&m, fn, y);
  CHECK(SetResult(m.e, fn, y, "y") == GE_OK && AddEntry(m.e, "main", fn) == GE_OK);
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  char* text = Dump(s, "load");
  CHECK(text && strstr(text, "\"net.py:3 Net.fc\"") && strstr(text, "\"net.py:3 Net.fc #2\""));
  ge_text_release(text);
  RunLayer(s);
  SameFromFiles(&m, s, "layer", __LINE__);
  snprintf(path, sizeof path, "%s/layer.onnx", folder);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_ONNX, &error) == GE_STATUS_OK);
  CHECK(ge_session_load_file(exported, path, GE_FORMAT_ONNX, &error) == GE_STATUS_OK);
  RunLayer(exported);
  /* The graph is in use after that, and a session keeps what it has loaded. */
  CHECK(SetResult(m.e, fn, Plain(m.e, fn, "Neg", "", y, 0), "minus") == GE_OK);
  CHECK(ge_session_load_graph(again, m.graph, &error) == GE_STATUS_OK);
  CHECK(ge_session_load_graph(again, m.graph, &error) == GE_STATUS_FAILED_PRECONDITION);
  ge_graph_release(m.graph);
  RunLayer(s);
  ge_session_destroy(s);
  ge_session_destroy(exported);
  ge_session_destroy(again);
}

/* n! by a function that calls itself in a branch: closed functions, what they read is given. */
static uint32_t Factorial(const Made* m) {
  static const int64_t kOne = 1, kTwo = 2;
  const ge_edit* e = m->e;
  const uint32_t f = AddFunction(e, "factorial", GE_FUNCTION_RECURSIVE);
  const uint32_t n = AddParam(e, f, "n", GE_I64, 0, NULL, NULL);
  ge_param p;
  ge_dim none[1];
  uint32_t declared = 0;
  FillParam(&p, none, "", GE_I64, 0, NULL, NULL);
  CHECK(ge_graph_placeholder(m->graph, f, &p, &declared, &error) == GE_STATUS_OK);
  CHECK(SetResult(e, f, declared, "f") == GE_OK);
  const uint32_t done = AddFunction(e, "done", GE_FUNCTION_RECURSIVE);
  AddParam(e, done, "n", GE_I64, 0, NULL, NULL);
  const uint32_t one = AddConstant(e, done, GE_I64, 0, NULL, &kOne, sizeof kOne);
  SetResult(e, done, Plain(e, done, "Identity", "f.py:2", one, 0), "r");
  const uint32_t more = AddFunction(e, "more", GE_FUNCTION_RECURSIVE);
  const uint32_t k = AddParam(e, more, "n", GE_I64, 0, NULL, NULL);
  const uint32_t less =
      Plain(e, more, "Sub", "f.py:3", k, AddConstant(e, more, GE_I64, 0, NULL, &kOne, sizeof kOne));
  NodeOf call = {.domain = "ge",
                 .op = "Call",
                 .name = "f.py:3",
                 .in = {less},
                 .n_in = 1,
                 .body = {f},
                 .role = {"fn"},
                 .n_body = 1};
  const uint32_t g = Make(e, more, &call);
  CHECK(e->value(e->host, more, g)->type.dtype == GE_I64);
  SetResult(e, more, Plain(e, more, "Mul", "f.py:3", k, g), "r");
  const uint32_t small =
      Plain(e, f, "Less", "f.py:1", n, AddConstant(e, f, GE_I64, 0, NULL, &kTwo, sizeof kTwo));
  NodeOf branch = {.op = "If",
                   .name = "f.py:1",
                   .in = {small, n},
                   .n_in = 2,
                   .body = {done, more},
                   .role = {"then_branch", "else_branch"},
                   .n_body = 2};
  const uint32_t r = Make(e, f, &branch);
  CHECK(r && SetResult(e, f, r, "f") == GE_OK);
  return f;
}

/* x doubled n times by a Loop, whose body takes what it reads. */
static uint32_t Doubled(const Made* m, uint32_t fn, uint32_t n, uint32_t x) {
  static const int64_t kThree = 3;
  const ge_edit* e = m->e;
  const uint32_t body = AddFunction(e, "body", 0);
  AddParam(e, body, "i", GE_I64, 0, NULL, NULL);
  const uint32_t go = AddParam(e, body, "go", GE_BOOL, 0, NULL, NULL);
  const uint32_t v = AddParam(e, body, "v", GE_F32, 1, &kThree, NULL);
  const uint32_t results[2] = {Plain(e, body, "Identity", "", go, 0),
                               Plain(e, body, "Add", "l.py:2", v, v)};
  CHECK(e->results(e->host, body, results, NULL, 2) == GE_OK);
  NodeOf loop = {.op = "Loop",
                 .name = "l.py:1",
                 .in = {n, 0, x},
                 .n_in = 3,
                 .body = {body},
                 .role = {"body"},
                 .n_body = 1};
  const uint32_t out = Make(e, fn, &loop);
  const ge_value* t = e->value(e->host, fn, out);
  CHECK(t->type.dtype == GE_F32 && t->type.rank == 1 && t->type.dims[0] == 3);
  return out;
}

static void ControlFlow(void) {
  static const int64_t kThree = 3;
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  const uint32_t factorial = Factorial(&m);
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t n = AddParam(e, fn, "n", GE_I64, 0, NULL, NULL);
  const uint32_t x = AddParam(e, fn, "x", GE_F32, 1, &kThree, NULL);
  NodeOf call = {.domain = "ge",
                 .op = "Call",
                 .name = "m.py:1",
                 .in = {n},
                 .n_in = 1,
                 .body = {factorial},
                 .role = {"fn"},
                 .n_body = 1};
  const uint32_t values[2] = {Make(e, fn, &call), Doubled(&m, fn, n, x)};
  const ge_str names[2] = {ge_text("f"), ge_text("y")};
  CHECK(e->results(e->host, fn, values, names, 2) == GE_OK && AddEntry(e, "main", fn) == GE_OK);
  ge_session* s = NewSession();
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  int64_t count = 5, product = 0;
  float given[3] = {1, 2, 3}, got[3] = {0};
  const ge_tensor in[2] = {TensorOf(GE_I64, 0, 0, 0, &count, sizeof count),
                           TensorOf(GE_F32, 1, 3, 0, given, sizeof given)};
  ge_tensor out[2] = {TensorOf(0, 0, 0, 0, &product, sizeof product),
                      TensorOf(0, 0, 0, 0, got, sizeof got)};
  CHECK(ge_session_run(s, NULL, in, 2, out, 2, &error) == GE_STATUS_OK);
  CHECK(product == 120 && got[0] == 32 && got[1] == 64 && got[2] == 96);
  SameFromFiles(&m, s, "flow", __LINE__);
  ge_session_destroy(s);
  ge_graph_release(m.graph);
}

/* total = total + x, and the total: two entries over one state with a first value. */
static void States(void) {
  static const int64_t kTwo = 2;
  static const float kFirst[2] = {10, 20};
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  const uint32_t state =
      AddState(e, "total", &kTwo, 1, kFirst, sizeof kFirst, GE_STATE_PARAM, GE_STATE_TRAINABLE);
  CHECK(state && AddState(e, "zeros", &kTwo, 1, NULL, 0, GE_STATE_BUFFER, 0));
  const uint32_t add = AddFunction(e, "add", 0), get = AddFunction(e, "get", 0);
  const uint32_t x = AddParam(e, add, "x", GE_F32, 1, &kTwo, NULL);
  const uint32_t old = ge_edit_state(e, add, 0, state, 0);
  const uint32_t sum = Plain(e, add, "Add", "t.py:1", old, x);
  ge_edit_state(e, add, 0, state, sum);
  SetResult(e, add, sum, "sum");
  SetResult(e, get, Plain(e, get, "Identity", "", ge_edit_state(e, get, 0, state, 0), 0), "now");
  CHECK(e->entry(e->host, ge_text("add"), add, GE_ROLE_TRAIN_STEP) == GE_OK);
  CHECK(AddEntry(e, "get", get) == GE_OK);
  ge_session* s = NewSession();
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  float given[2] = {1, 2}, got[2] = {0};
  const ge_tensor in = TensorOf(GE_F32, 1, 2, 0, given, sizeof given);
  ge_tensor out = TensorOf(0, 0, 0, 0, got, sizeof got);
  for (int i = 0; i < 2; ++i) {
    CHECK(ge_session_run(s, "add", &in, 1, &out, 1, &error) == GE_STATUS_OK);
  }
  CHECK(ge_session_run(s, "get", NULL, 0, &out, 1, &error) == GE_STATUS_OK);
  CHECK(got[0] == 12 && got[1] == 24);
  SameFromFiles(&m, s, "states", __LINE__);
  char path[512];
  snprintf(path, sizeof path, "%s/states.onnx", folder);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_ONNX, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(strstr(error.message, "holds one entry, the graph has 2: 'add', 'get'"));
  FILE* file = fopen(path, "rb");
  CHECK(file == NULL);
  ge_session_destroy(s);
  ge_graph_release(m.graph);
}

/* Attributes of every kind, in the text that comes of them. */
static void Attributes(void) {
  static const int64_t kShape[2] = {4, 6}, kPerm[2] = {1, 0}, kOne = 1, kThree = 3;
  static const float kFill = 2.5f;
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t x = AddParam(e, fn, "x", GE_F32, 2, kShape, NULL);
  const uint32_t t = AddParam(e, fn, "t", GE_STRING, 1, &kThree, NULL);
  const ge_attr perm = {.name = {"perm", 4}, .kind = GE_ATTR_INTS, .n = 2, .ints = kPerm};
  const ge_attr alpha = {.name = {"alpha", 5}, .kind = GE_ATTR_FLOAT, .f = 0.25};
  const ge_attr approximate = {
      .name = {"approximate", 11}, .kind = GE_ATTR_STRING, .s = {"tanh", 4}};
  const ge_attr value = {.name = {"value", 5},
                         .kind = GE_ATTR_TENSOR,
                         .tensor_type = {.dtype = GE_F32, .rank = 1, .dims = &kOne},
                         .tensor = &kFill,
                         .tensor_bytes = sizeof kFill};
  const ge_str words[2] = {ge_text("a"), ge_text("b c")};
  const ge_attr stop = {
      .name = {"stopwords", 9}, .kind = GE_ATTR_STRINGS, .n = 2, .strings = words};
  NodeOf n = {.op = "Transpose", .in = {x}, .n_in = 1, .attr = &perm, .n_attr = 1};
  uint32_t y = Make(e, fn, &n);
  n = (NodeOf){.op = "LeakyRelu", .in = {y}, .n_in = 1, .attr = &alpha, .n_attr = 1};
  y = Make(e, fn, &n);
  n = (NodeOf){.op = "Gelu", .in = {y}, .n_in = 1, .attr = &approximate, .n_attr = 1};
  y = Make(e, fn, &n);
  const int64_t like[2] = {6, 4}, two = 2;
  n = (NodeOf){.op = "ConstantOfShape",
               .in = {AddConstant(e, fn, GE_I64, 1, &two, like, sizeof like)},
               .n_in = 1,
               .attr = &value,
               .n_attr = 1};
  const uint32_t filled = Make(e, fn, &n);
  n = (NodeOf){.op = "StringNormalizer", .in = {t}, .n_in = 1, .attr = &stop, .n_attr = 1};
  const uint32_t texts = Make(e, fn, &n);
  const uint32_t values[2] = {Plain(e, fn, "Add", "", y, filled), texts};
  const ge_str names[2] = {ge_text("y"), ge_text("words")};
  CHECK(e->results(e->host, fn, values, names, 2) == GE_OK && AddEntry(e, "main", fn) == GE_OK);
  ge_session* s = NewSession();
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  char* text = Dump(s, "load");
  static const char* const kWords[] = {"perm=[1, 0]", "alpha=0.25", "approximate=\"tanh\"", "2.5",
                                       "stopwords=[\"a\", \"b c\"]"};
  for (int i = 0; i < 5; ++i)
    Check(text && strstr(text, kWords[i]) != NULL, kWords[i], __LINE__, NULL);
  ge_text_release(text);
  SameFromFiles(&m, s, "attributes", __LINE__);
  ge_session_destroy(s);
  ge_graph_release(m.graph);
}

static void Count(void* context) { ++*(int*)context; }

/* Memory of the caller's as a constant: read in place, given back once. */
static void Shared(void) {
  static const int64_t kTwo = 2;
  float w[2] = {3, 4}, x[2] = {1, 2}, got[2] = {0};
  int released = 0;
  uint32_t value = 7;
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t p = AddParam(e, fn, "x", GE_F32, 1, &kTwo, NULL);
  ge_tensor t = TensorOf(GE_F32, 1, 2, 0, w, sizeof w);
  CHECK(ge_graph_constant(m.graph, 9, &t, Count, &released, &value, &error) ==
        GE_STATUS_INVALID_ARGUMENT);
  CHECK(value == 0 && strstr(error.message, "there is no function 9"));
  t.bytes = 4;
  CHECK(ge_graph_constant(m.graph, fn, &t, Count, &released, &value, &error) ==
        GE_STATUS_INVALID_ARGUMENT);
  t.bytes = sizeof w;
  CHECK(released == 0);
  CHECK(ge_graph_constant(m.graph, fn, &t, Count, &released, &value, &error) == GE_STATUS_OK);
  CHECK(e->value(e->host, fn, value)->data == w);
  uint32_t copied = 0;
  CHECK(ge_graph_constant(m.graph, fn, &t, NULL, NULL, &copied, &error) == GE_STATUS_OK);
  CHECK(e->value(e->host, fn, copied)->data != w);
  SetResult(e, fn, Plain(e, fn, "Mul", "", Plain(e, fn, "Mul", "", p, value), copied), "y");
  AddEntry(e, "main", fn);
  ge_session* s = NewSession();
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  ge_graph_release(m.graph);
  CHECK(released == 0);
  const ge_tensor in = TensorOf(GE_F32, 1, 2, 0, x, sizeof x);
  ge_tensor out = TensorOf(0, 0, 0, 0, got, sizeof got);
  CHECK(ge_session_run(s, NULL, &in, 1, &out, 1, &error) == GE_STATUS_OK);
  CHECK(got[0] == 9 && got[1] == 32);
  ge_session_destroy(s);
  CHECK(released == 1);
}

/* Operators of our own in ONNX: as their parts, or not at all. */
static void Parts(void) {
  static const int64_t kShape[2] = {2, 3};
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  char path[512];
  snprintf(path, sizeof path, "%s/parts.onnx", folder);
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t x = AddParam(e, fn, "x", GE_F32, 2, kShape, NULL);
  NodeOf stop = {.domain = "ge", .op = "StopGradient", .name = "s.py:1", .in = {x}, .n_in = 1};
  const uint32_t y = Make(e, fn, &stop);
  CHECK(SetResult(e, fn, y, "y") == GE_OK && AddEntry(e, "main", fn) == GE_OK);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
  ge_session* s = NewSession();
  CHECK(ge_session_load_file(s, path, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
  char* text = Dump(s, "load");
  CHECK(text && strstr(text, "y: f32[2,3] = Identity(x)") && !strstr(text, "StopGradient"));
  ge_text_release(text);
  ge_session_destroy(s);
  NodeOf own = {
      .domain = "ge", .op = "ChannelMoments", .name = "s.py:2", .in = {x}, .n_in = 1, .n_out = 2};
  uint32_t out[2] = {0, 0};
  CHECK(AddNode(e, fn, &own, NULL, out) == GE_OK);
  CHECK(SetResult(e, fn, out[0], "mean") == GE_OK);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_AUTO, &error) == GE_STATUS_UNSUPPORTED);
  CHECK(strstr(error.message, "ChannelMoments") && strcmp(error.node, "s.py:2") == 0);
  ge_graph_release(m.graph);
}

/* Operators of a plugin: known to the graph, and to sessions that have the plugin, too. */
static void Plugins(const char* plugin) {
  static const int64_t kTwo = 2;
  const ge_graph_options o = {.size = sizeof o, .plugins = plugin};
  const ge_attr beta = {.name = {"beta", 4}, .kind = GE_ATTR_FLOAT, .f = 0};
  NodeOf swish = {
      .domain = "sample", .op = "Swish", .name = "p.py:1", .n_in = 1, .attr = &beta, .n_attr = 1};
  const Made none = NewGraph();
  Made m = {NULL, NULL};
  CHECK(ge_graph_create(&o, &m.graph, &error) == GE_STATUS_OK);
  CHECK(ge_graph_edit(m.graph, &m.e, &error) == GE_STATUS_OK);
  const Made* both[2] = {&none, &m};
  for (int i = 0; i < 2; ++i) {
    const ge_edit* e = both[i]->e;
    const uint32_t fn = AddFunction(e, "main", 0);
    swish.in[0] = AddParam(e, fn, "x", GE_F32, 1, &kTwo, NULL);
    const uint32_t y = Make(e, fn, &swish);
    CHECK((y != 0) == (i == 1));
    if (i == 0) Refused(both[i], "no loaded plugin brings operators of this domain", "p.py:1", 0);
    if (i == 1) CHECK(SetResult(e, fn, y, "y") == GE_OK && AddEntry(e, "main", fn) == GE_OK);
  }
  ge_session_options with;
  ge_session_options_init(&with);
  with.engines = "ref";
  with.plugins = plugin;
  ge_session *s = NULL, *without = NewSession();
  CHECK(ge_session_create(&with, &s, &error) == GE_STATUS_OK);
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  CHECK(ge_session_load_graph(without, m.graph, &error) == GE_STATUS_UNSUPPORTED);
  CHECK(strstr(error.message, "no loaded plugin") && strcmp(error.node, "p.py:1") == 0);
  float x[2] = {4, -6}, y[2] = {0};
  const ge_tensor in = TensorOf(GE_F32, 1, 2, 0, x, sizeof x);
  ge_tensor out = TensorOf(0, 0, 0, 0, y, sizeof y);
  CHECK(ge_session_run(s, NULL, &in, 1, &out, 1, &error) == GE_STATUS_OK);
  CHECK(y[0] == 2 && y[1] == -3); /* x sigmoid(0) */
  char path[512];
  snprintf(path, sizeof path, "%s/swish.onnx", folder);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
  CHECK(ge_session_load_file(without, path, GE_FORMAT_AUTO, &error) == GE_STATUS_OK);
  ge_session_destroy(s);
  ge_session_destroy(without);
  ge_graph_release(m.graph);
  ge_graph_release(none.graph);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  engines = argv[1];
  folder = argv[2];
  OneLayer();
  ControlFlow();
  States();
  Attributes();
  Shared();
  Parts();
  Plugins(argv[3]);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
