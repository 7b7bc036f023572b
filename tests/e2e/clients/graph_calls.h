/* Short forms of the calls that make a graph, for the clients of the tests. Functions answer the
 * number of what they made, 0 on failure. */
#ifndef GE_TESTS_E2E_GRAPH_CALLS_H_
#define GE_TESTS_E2E_GRAPH_CALLS_H_

#include <ge/ge.h>
#include <ge/ge_plugin_pass.h>
#include <string.h>

static inline uint32_t AddFunction(const ge_edit* e, const char* name, uint32_t flags) {
  ge_function f;
  uint32_t fn = 0;
  memset(&f, 0, sizeof f);
  f.h.size = sizeof f;
  f.h.tag = GE_TAG_FUNCTION;
  f.name = ge_text(name);
  f.flags = flags;
  e->function(e->host, &f, &fn);
  return fn;
}

/* Sizes: NULL in `names`, or at its place, = the number in `dims`. */
static inline void FillParam(ge_param* p, ge_dim* sizes, const char* name, int32_t dtype,
                             int32_t rank, const int64_t* dims, const char* const* names) {
  memset(p, 0, sizeof *p);
  memset(sizes, 0, (uint32_t)(rank > 0 ? rank : 0) * sizeof *sizes);
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i].value = names && names[i] ? -1 : dims[i];
    if (names && names[i]) sizes[i].name = ge_text(names[i]);
  }
  p->name = ge_text(name);
  p->dtype = dtype;
  p->rank = rank;
  p->dims = sizes;
}

static inline uint32_t AddParam(const ge_edit* e, uint32_t fn, const char* name, int32_t dtype,
                                int32_t rank, const int64_t* dims, const char* const* names) {
  ge_param p;
  ge_dim sizes[4];
  uint32_t value = 0;
  FillParam(&p, sizes, name, dtype, rank, dims, names);
  e->param(e->host, fn, &p, &value);
  return value;
}

static inline uint32_t AddConstant(const ge_edit* e, uint32_t fn, int32_t dtype, int32_t rank,
                                   const int64_t* dims, const void* data, uint64_t bytes) {
  ge_type t;
  uint32_t value = 0;
  memset(&t, 0, sizeof t);
  t.dtype = dtype;
  t.rank = rank;
  t.dims = dims;
  e->constant(e->host, fn, &t, data, bytes, &value);
  return value;
}

/* All that a node has. Unused members are 0. */
typedef struct {
  const char* domain;
  const char* op;
  const char* name;
  uint32_t in[4];
  uint32_t n_in;
  const ge_attr* attr;
  uint32_t n_attr;
  uint32_t n_out; /* GE_NO_OUTPUT: none */
  uint32_t body[2];
  const char* role[2];
  uint32_t n_body;
  uint32_t state; /* its effect */
  uint32_t before;
} NodeOf;

/* out: n_out values, two at most. Answers the code of the call. */
static inline ge_rc AddNode(const ge_edit* e, uint32_t fn, const NodeOf* of, uint32_t* id,
                            uint32_t* out) {
  const ge_effect effect = {GE_EFFECT_STATE, of->state, 0, 0};
  ge_str roles[2];
  ge_links links;
  ge_new_node n;
  memset(&links, 0, sizeof links);
  memset(&n, 0, sizeof n);
  links.h.size = sizeof links;
  links.h.tag = GE_TAG_LINKS;
  for (uint32_t i = 0; i < of->n_body; ++i) roles[i] = ge_text(of->role[i]);
  links.body = of->body;
  links.body_role = roles;
  links.n_body = of->n_body;
  links.effect = &effect;
  links.n_effect = of->state ? 1u : 0u;
  n.h.size = sizeof n;
  n.h.tag = GE_TAG_NEW_NODE;
  n.h.next = of->n_body || of->state ? &links.h : 0;
  n.domain = ge_text(of->domain ? of->domain : "");
  n.op = ge_text(of->op);
  n.name = ge_text(of->name ? of->name : "");
  n.in = of->in;
  n.n_in = of->n_in;
  n.attr = of->attr;
  n.n_attr = of->n_attr;
  n.n_out = of->n_out;
  return e->node(e->host, fn, of->before, &n, id, out);
}

/* One output. */
static inline uint32_t Make(const ge_edit* e, uint32_t fn, const NodeOf* of) {
  uint32_t out[2] = {0, 0};
  AddNode(e, fn, of, 0, out);
  return out[0];
}

static inline uint32_t Plain(const ge_edit* e, uint32_t fn, const char* op, const char* name,
                             uint32_t x, uint32_t y) {
  NodeOf n;
  memset(&n, 0, sizeof n);
  n.op = op;
  n.name = name;
  n.in[0] = x;
  n.in[1] = y;
  n.n_in = y ? 2u : 1u;
  return Make(e, fn, &n);
}

static inline ge_rc SetResult(const ge_edit* e, uint32_t fn, uint32_t value, const char* name) {
  const ge_str text = ge_text(name);
  return e->results(e->host, fn, &value, &text, 1);
}

static inline ge_rc AddEntry(const ge_edit* e, const char* name, uint32_t fn) {
  return e->entry(e->host, ge_text(name), fn, GE_ROLE_INFER);
}

/* Of float32. data NULL: it begins with zeros. */
static inline uint32_t AddState(const ge_edit* e, const char* name, const int64_t* dims,
                                int32_t rank, const void* data, uint64_t bytes, uint32_t kind,
                                uint32_t flags) {
  ge_state s;
  uint32_t state = 0;
  memset(&s, 0, sizeof s);
  s.h.size = sizeof s;
  s.h.tag = GE_TAG_STATE;
  s.name = ge_text(name);
  s.type.dtype = GE_F32;
  s.type.rank = rank;
  s.type.dims = dims;
  s.data = data;
  s.data_bytes = bytes;
  s.kind = kind;
  s.flags = flags;
  e->state(e->host, &s, &state);
  return state;
}

#endif /* GE_TESTS_E2E_GRAPH_CALLS_H_ */
