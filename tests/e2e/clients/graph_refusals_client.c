/* A C11 client of graphs by calls: graph_refusals_client ENGINES FOLDER. What each call refuses,
 * that it leaves the graph as it was, and edits of what is there. Prints what fails and, last, its
 * counts. */
#include "tests/e2e/clients/graph_made.h"

/* What each call refuses. The graph is used on after each. */
static void Refusals(void) {
  static const int64_t kTwo = 2, kThree = 3;
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t x = AddParam(e, fn, "x", GE_F32, 1, &kTwo, NULL);
  const uint32_t z = AddParam(e, fn, "z", GE_F32, 1, &kThree, NULL);
  CHECK(ge_graph_error(m.graph, &error) == GE_STATUS_OK);
  REFUSED(&m, Plain(e, fn, "Add", "a.py:7", x, z), "2", "a.py:7");
  REFUSED(&m, Plain(e, fn, "Rellu", "a.py:8", x, 0), "did you mean Relu", "a.py:8");
  REFUSED(&m, Plain(e, fn, "Relu", "a.py:9", 99, 0), "has no value 99", "");
  REFUSED(&m, Plain(e, 5, "Relu", "a.py:9", x, 0), "there is no function 5", "");
  REFUSED(&m, AddFunction(e, "main", 0), "there is a function 'main' already", "");
  REFUSED(&m, AddFunction(e, "", 0), "a function has no name", "");
  REFUSED(&m, AddParam(e, fn, "w", 99, 0, NULL, NULL), "dtype 99", "");
  REFUSED(&m, AddConstant(e, fn, GE_F32, 1, &kTwo, &kTwo, 3), "a constant of 8 bytes is given 3",
          "");
  /* A name that failed is free again. */
  const uint32_t y = Plain(e, fn, "Relu", "a.py:8", x, 0);
  REFUSED(&m, SetResult(e, fn, x, "y") == GE_OK, "is its parameter 'x' and would rename it to 'y'",
          "");
  const uint32_t two[2] = {y, y};
  const ge_str names[2] = {ge_text("a"), ge_text("b")};
  REFUSED(&m, e->results(e->host, fn, two, names, 2) == GE_OK, "are one value, named 'a' and 'b'",
          "");
  REFUSED(&m, AddEntry(e, "main", 8) == GE_OK, "there is no function 8", "");
  CHECK(SetResult(e, fn, y, "y") == GE_OK && AddEntry(e, "main", fn) == GE_OK);
  REFUSED(&m, AddEntry(e, "main", fn) == GE_OK, "there is an entry 'main' already", "");
  REFUSED(&m, e->node(e->host, fn, 0, NULL, NULL, NULL) == GE_OK, "is given as NULL", "");
  double ns = 1;
  REFUSED(&m, e->price(e->host, fn, NULL, 0, &ns) == GE_OK, "no engine is there to be asked", "");
  ge_session* s = NewSession();
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  char* text = Dump(s, "load");
  CHECK(text && strstr(text, "Relu(x) \"a.py:8\"") && !strstr(text, "Add("));
  ge_text_release(text);
  ge_session_destroy(s);
  ge_graph_release(m.graph);
}

/* Functions that do not fit who names them. */
static void RefusedCalls(void) {
  static const int64_t kTwo = 2;
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  const uint32_t f = AddFunction(e, "f", GE_FUNCTION_RECURSIVE), g = AddFunction(e, "g", 0);
  const uint32_t x = AddParam(e, f, "x", GE_F32, 1, &kTwo, NULL);
  const uint32_t k = AddParam(e, g, "k", GE_I64, 0, NULL, NULL);
  NodeOf call = {.domain = "ge",
                 .op = "Call",
                 .name = "c.py:1",
                 .in = {x},
                 .n_in = 1,
                 .body = {f},
                 .role = {"fn"},
                 .n_body = 1};
  REFUSED(&m, Make(e, f, &call), "'f', which has no results yet", "c.py:1");
  ge_param p;
  ge_dim sizes[4];
  uint32_t declared = 0;
  FillParam(&p, sizes, "", GE_F32, 1, &kTwo, NULL);
  CHECK(ge_graph_placeholder(m.graph, f, &p, &declared, &error) == GE_STATUS_OK);
  CHECK(SetResult(e, f, declared, "y") == GE_OK);
  const uint32_t y = Make(e, f, &call);
  CHECK(y != 0);
  const uint32_t cast_to = Plain(e, f, "Greater", "", y, x);
  REFUSED(&m, SetResult(e, f, cast_to, "y") == GE_OK, "is bool[2], and its placeholder f32[2]", "");
  CHECK(SetResult(e, f, y, "y") == GE_OK);
  call.in[0] = k;
  call.name = "c.py:2";
  REFUSED(&m, Make(e, g, &call), "wants f32 for its input 0 but is given i64", "c.py:2");
  call.n_in = 0;
  REFUSED(&m, Make(e, g, &call), "takes 1 inputs but is given 0", "c.py:2");
  const uint32_t c = Plain(e, g, "Greater", "", k, k);
  NodeOf branch = {.op = "If",
                   .name = "c.py:3",
                   .in = {c, k},
                   .n_in = 2,
                   .body = {f, f},
                   .role = {"then_branch", "else_branch"},
                   .n_body = 2};
  REFUSED(&m, Make(e, g, &branch), "wants f32 for its input 0", "c.py:3");
  ge_graph_release(m.graph);
}

/* Edits of what is there: types follow, and what cannot be is undone. */
static void Edits(void) {
  static const int64_t kShape[2] = {2, 3}, kPerm[2] = {1, 0}, kBad[2] = {1, 1};
  const Made m = NewGraph();
  const ge_edit* e = m.e;
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t x = AddParam(e, fn, "x", GE_F32, 2, kShape, NULL);
  uint32_t id = 0, out[2] = {0, 0}, last = 0, more[2] = {0, 0};
  const ge_attr same = {.name = {"perm", 4}, .kind = GE_ATTR_INTS, .n = 2, .ints = kPerm};
  NodeOf n = {.op = "Transpose", .name = "t", .in = {x}, .n_in = 1, .attr = &same, .n_attr = 1};
  CHECK(AddNode(e, fn, &n, &id, out) == GE_OK);
  NodeOf relu = {.op = "Relu", .name = "r", .in = {out[0]}, .n_in = 1};
  CHECK(AddNode(e, fn, &relu, &last, more) == GE_OK);
  const ge_attr bad = {.name = {"perm", 4}, .kind = GE_ATTR_INTS, .n = 2, .ints = kBad};
  REFUSED(&m, e->set_attr(e->host, fn, id, &bad) == GE_OK, "perm", "t");
  REFUSED(&m, e->set_input(e->host, fn, id, 0, more[0]) == GE_OK, "r", "");
  CHECK(e->value(e->host, fn, more[0])->type.dims[0] == 3);
  static const int64_t kStay[2] = {0, 1};
  const ge_attr stay = {.name = {"perm", 4}, .kind = GE_ATTR_INTS, .n = 2, .ints = kStay};
  CHECK(e->set_attr(e->host, fn, id, &stay) == GE_OK);
  CHECK(e->value(e->host, fn, more[0])->type.dims[0] == 2);
  NodeOf neg = {.op = "Neg", .name = "n", .in = {x}, .n_in = 1, .before = id};
  uint32_t negated[2] = {0, 0}, neg_id = 0;
  CHECK(AddNode(e, fn, &neg, &neg_id, negated) == GE_OK);
  CHECK(e->set_input(e->host, fn, id, 0, negated[0]) == GE_OK);
  CHECK(e->replace_uses(e->host, fn, out[0], negated[0]) == GE_OK);
  CHECK(e->erase(e->host, fn, id) == GE_OK);
  CHECK(SetResult(e, fn, more[0], "y") == GE_OK && AddEntry(e, "main", fn) == GE_OK);
  const ge_graph* g = e->graph(e->host, fn);
  CHECK(g && g->n_node == 2 && ge_is(GE_NODE(g, 0)->op, "Neg") && ge_is(GE_NODE(g, 1)->op, "Relu"));
  ge_session* s = NewSession();
  CHECK(ge_session_load_graph(s, m.graph, &error) == GE_STATUS_OK);
  SameFromFiles(&m, s, "edits", __LINE__);
  ge_session_destroy(s);
  ge_graph_release(m.graph);
}

/* What cannot be saved, and arguments of nobody. */
static void Bad(void) {
  static const int64_t kTwo = 2;
  const Made m = NewGraph();
  const ge_edit *e = m.e, *other = e;
  uint32_t value = 1;
  ge_tensor t = TensorOf(GE_STRING, 1, 2, 0, &value, 0);
  ge_graph_options o = {.size = 4};
  ge_graph_builder* none = m.graph;
  char path[512];
  snprintf(path, sizeof path, "%s/bad.onnx", folder);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_AUTO, &error) == GE_STATUS_INVALID_GRAPH);
  CHECK(strstr(error.message, "at least one entry"));
  const uint32_t fn = AddFunction(e, "main", 0);
  const uint32_t state = AddState(e, "s", &kTwo, 1, NULL, 0, GE_STATE_BUFFER, 0);
  SetResult(e, fn, Plain(e, fn, "Neg", "", ge_edit_state(e, fn, 0, state, 0), 0), "y");
  AddEntry(e, "main", fn);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_AUTO, &error) == GE_STATUS_UNSUPPORTED);
  CHECK(strstr(error.message, "the state 's' has no form in ONNX"));
  CHECK(ge_graph_save(m.graph, "model.txt", GE_FORMAT_AUTO, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_graph_save(m.graph, path, GE_FORMAT_CAPSULE, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_graph_save(m.graph, "/nowhere/x.gt", 0, &error) == GE_STATUS_IO_ERROR);
  CHECK(ge_graph_save(m.graph, NULL, 0, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_graph_save(NULL, path, 0, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_graph_constant(m.graph, fn, &t, NULL, NULL, &value, &error) != GE_STATUS_OK);
  CHECK(ge_graph_constant(m.graph, fn, NULL, NULL, NULL, &value, &error) != GE_STATUS_OK);
  CHECK(ge_graph_constant(m.graph, fn, &t, NULL, NULL, NULL, &error) != GE_STATUS_OK);
  CHECK(ge_graph_constant(NULL, fn, &t, NULL, NULL, &value, &error) != GE_STATUS_OK);
  CHECK(ge_graph_placeholder(m.graph, fn, NULL, &value, &error) != GE_STATUS_OK && value == 0);
  CHECK(ge_graph_edit(NULL, &other, &error) != GE_STATUS_OK && other == NULL);
  CHECK(ge_graph_edit(m.graph, NULL, &error) != GE_STATUS_OK);
  CHECK(ge_graph_error(NULL, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_graph_create(NULL, NULL, &error) == GE_STATUS_INVALID_ARGUMENT);
  CHECK(ge_graph_create(&o, &none, &error) == GE_STATUS_INVALID_ARGUMENT && none == NULL);
  o = (ge_graph_options){.size = sizeof o, .plugins = "./no-such-plugin.so"};
  CHECK(ge_graph_create(&o, &none, &error) != GE_STATUS_OK && none == NULL);
  CHECK(strstr(error.message, "no-such-plugin"));
  CHECK(ge_session_load_graph(NULL, m.graph, &error) == GE_STATUS_INVALID_ARGUMENT);
  ge_session* s = NewSession();
  CHECK(ge_session_load_graph(s, NULL, &error) == GE_STATUS_INVALID_ARGUMENT);
  ge_session_destroy(s);
  ge_graph_release(m.graph);
  ge_graph_release(NULL);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  engines = argv[1];
  folder = argv[2];
  Refusals();
  RefusedCalls();
  Edits();
  Bad();
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
