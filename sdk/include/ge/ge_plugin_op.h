/* ge_plugin_op.h: operators of a plugin. C11 and C++17; needs ge_plugin.h alone.
 *
 * A plugin with GE_KIND_OPS points ge_plugin_desc.op to an array of ge_op_def. An operator needs
 * `infer`, and beside it `decompose` or `kernel`: with `decompose` it runs on every engine, with
 * `kernel` the host runs it itself, at a price based on `work`. With both the cheaper way is taken.
 * Every other slot may be NULL for the whole major version.
 *
 * Rules, beside those of ge_plugin.h
 *  1. All functions but open and close are pure and may be called by several threads at once. They
 *     keep none of their arguments.
 *  2. infer, decompose and the rules see ONE node as a graph of its own: node 0, whose input at
 *     position i is value i + 1 (0 where it is omitted), followed by the outputs. Values of known
 *     rank carry `dim`, constants their payload.
 *  3. Attributes with defaults are always there.
 */
#ifndef GE_PLUGIN_OP_H_
#define GE_PLUGIN_OP_H_

#include "ge/ge_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- signature */

enum {
  GE_PORT_OPTIONAL = 1, /* may be omitted */
  GE_PORT_VARIADIC = 2, /* the last port: any number of values, `min_count` at least */
  /* A state of the node, the last ports: models do not name it. When a model is loaded the host
   * makes one state for each node and port, reads it before the node and assigns the output port of
   * the same name behind it. */
  GE_PORT_STATE = 4
};
typedef struct { /* complete but for the spare words */
  ge_str name;
  uint64_t dtypes; /* bits 1 << GE_F32 ...; 0 = any tensor */
  ge_str type_var; /* ports with the same one have the same dtype; may be empty */
  uint32_t flags;  /* GE_PORT_* */
  uint32_t min_count;
  uint64_t spare[2];
} ge_port;

enum { GE_ATTR_REQUIRED = 1, GE_ATTR_HAS_DEFAULT = 2 };
typedef struct {
  ge_attr value; /* name and kind; with HAS_DEFAULT the default: INT, FLOAT, STRING, INTS */
  uint32_t flags, reserved;
  uint64_t spare[2];
} ge_attr_def;

/* ---- infer */

enum {
  GE_DIM_ADD = 1,
  GE_DIM_SUB = 2,
  GE_DIM_MUL = 3,
  GE_DIM_FLOOR_DIV = 4,
  GE_DIM_CEIL_DIV = 5,
  GE_DIM_MOD = 6,
  GE_DIM_MIN = 7,
  GE_DIM_MAX = 8
};
typedef struct ge_infer {
  ge_hdr h;
  const ge_graph* graph; /* the one node; outputs' types are not known yet */
  void* host;
  /* Sets the type of output i. `dims` may be those of an input's value, results of `dim` and
   * `new_dim`, or {size} alone for a known number. rank -1: not known. */
  ge_rc (*output)(void* host, uint32_t i, int32_t dtype, int32_t rank, const ge_dim* dims);
  /* The known elements of input i, of whole numbers and at most 1,024 elements; NULL when they are
   * not known. */
  const ge_dim* (*ints)(void* host, uint32_t i, uint32_t* n);
  /* Sets the elements of such an output. */
  ge_rc (*output_ints)(void* host, uint32_t i, const ge_dim* values, uint32_t n);
  /* GE_DIM_*; GE_OUT_OF_RANGE on overflow and division by zero. */
  ge_rc (*dim)(void* host, uint32_t op, const ge_dim* a, const ge_dim* b, ge_dim* out);
  /* A size not known before the run (GE_OP_DATA_SIZED). */
  ge_rc (*data_dim)(void* host, ge_str stem, ge_dim* out);
} ge_infer;

/* ---- building nodes */

typedef struct ge_new_node {
  ge_hdr h;
  ge_str domain, op, name; /* name may be empty */
  const uint32_t* in;      /* value indices, 0 = omitted */
  const ge_attr* attr;
  uint32_t n_in, n_attr;
  uint32_t n_out, reserved; /* outputs from the first on; 0 = 1 */
} ge_new_node;

/* Adds nodes and constants beside the node being taken apart or derived. The host infers types at
 * once. A failure fails the whole rule with the host's text, so a rule may go on without checks;
 * values of the failed call are 0. */
typedef struct ge_builder {
  ge_hdr h;
  const ge_graph* graph; /* the one node */
  void* host;
  /* out: n_out value indices. */
  ge_rc (*node)(void* host, const ge_new_node*, uint32_t* out);
  /* A constant; the payload is copied. */
  ge_rc (*constant)(void* host, const ge_type*, const void* data, uint64_t bytes, uint32_t* out);
  /* The type of any value, added ones too; dims as ge_dim, valid for the call. */
  const ge_value* (*value)(void* host, uint32_t value);
} ge_builder;

/* ---- kernels */

typedef struct ge_kernel_call {
  ge_hdr h;
  const ge_node* node; /* domain, op, name and attributes; valid while the call lasts */
  const ge_buf* in;    /* by position, dense in host memory; ptr NULL = omitted */
  ge_buf* out;
  uint32_t n_in, n_out;
  void* host;
  /* With GE_OP_DATA_SIZED: gives output i its dims and memory, and fills in out[i]; once for each
   * output. GE_OUT_OF_MEMORY where memory is short. */
  ge_rc (*resize)(void* host, uint32_t i, int32_t rank, const int64_t* dims);
  const ge_host_api* api; /* parallel_for and the machine */
  const uint32_t* stop;   /* as ge_launch.stop */
  void* kept;             /* what ge_op_def.open made for this node; NULL where there is none */
} ge_kernel_call;

/* ---- the record */

/* In the place of a split axis: all of it everywhere; or a term on each device, which `partial`
 * tells of what (since 1.1). */
enum { GE_SHARD_WHOLE = -1, GE_SHARD_TERM = -2 };
enum { GE_SHARD_SUM = 1, GE_SHARD_MAX = 2, GE_SHARD_MIN = 3 }; /* the last two since 1.1 */
/* One way to split the operator over the devices along one axis of their mesh: the split axis of
 * each input and output, or GE_SHARD_*. Ways along several axes combine. */
typedef struct ge_shard {
  ge_hdr h;
  const int32_t* in_axis;
  const int32_t* out_axis;
  uint32_t n_in, n_out;
  uint32_t partial; /* GE_SHARD_SUM, MAX, MIN: all outputs are terms over the devices; 0: none */
  uint32_t reserved;
} ge_shard;

enum {
  GE_OP_RANDOM = 1, /* two calls with the same inputs may differ: never folded, never merged */
  /* Sizes of outputs are known only after the kernel has run; it sets them by
   * ge_kernel_call.resize, and infer answers them by ge_infer.data_dim. The host runs it. */
  GE_OP_DATA_SIZED = 2
};
typedef struct ge_op_def { /* array of the plugin's, walked by a stride; static */
  ge_hdr h;
  ge_str domain, name; /* domain: the plugin's own, never "" or one of the host's */
  uint32_t version;    /* of the domain's opset */
  uint32_t flags;      /* GE_OP_* */
  const ge_port* input;
  const ge_port* output;
  const ge_attr_def* attr;
  uint32_t n_input, n_output, n_attr, reserved;
  ge_rc (*infer)(const ge_infer*, ge_err*);
  /* Builds an equivalent of other operators; out: a value for each output of the node.
   * GE_UNIMPLEMENTED where this node's attributes or types have none. */
  ge_rc (*decompose)(const ge_builder*, uint32_t* out, ge_err*);
  ge_rc (*kernel)(const ge_kernel_call*, ge_err*);
  /* Effort: a multiply-add counts two flops; bytes are read and written once. NULL: one flop for
   * each element of the outputs. */
  ge_rc (*work)(const ge_graph*, double* flops, double* bytes, ge_err*);
  /* Sets the type of each state port, by position of the ports among the inputs, through
   * ge_infer.output; only attributes are known then, and all sizes must be. Its first content is
   * zero. NULL: no port is a state. */
  ge_rc (*states)(const ge_infer*, ge_err*);
  /* Derivative rules, for passes that derive functions. grad: from the values of `out_grad` (by
   * output, 0 = zero) those of `in_grad` (by input, 0 = zero). jvp: from tangents of the inputs
   * those of the outputs, 0 = zero. NULL: that of `decompose`. */
  ge_rc (*grad)(const ge_builder*, const uint32_t* out_grad, uint32_t* in_grad, ge_err*);
  ge_rc (*jvp)(const ge_builder*, const uint32_t* in_tangent, uint32_t* out_tangent, ge_err*);
  /* Calls `way` with each legal split. NULL: none is known. */
  ge_rc (*shard)(const ge_graph*, void* host, ge_rc (*way)(void* host, const ge_shard*), ge_err*);
  /* Makes what the node's kernel keeps between calls (a table, an open file) when the node is
   * compiled, ahead of its first call. Of the node names and attributes are there, as in
   * ge_kernel_call; it is valid until `close`. *kept is shared by calls on several threads; `close`
   * gives it back once none can follow. A node that is compiled again, for other shapes or by
   * another session, has a `kept` of its own. Both or neither; not with GE_OP_DATA_SIZED. */
  ge_rc (*open)(const ge_node*, const ge_host_api*, void** kept, ge_err*);
  void (*close)(void* kept);
} ge_op_def;

/* ---- sugar */

/* A NUL-terminated text as ge_str. */
static inline ge_str ge_text(const char* text) {
  ge_str s;
  s.p = text;
  s.n = 0;
  while (text[s.n] != 0) ++s.n;
  return s;
}
/* Puts the text into *err, which may be NULL, and answers rc. */
static inline ge_rc ge_fail(ge_err* err, ge_rc rc, const char* text) {
  const ge_str s = ge_text(text);
  if (err == 0) return rc;
  err->code = rc;
  err->msg_len = 0;
  while (err->msg_len < s.n && err->msg_len < sizeof err->msg) {
    err->msg[err->msg_len] = s.p[err->msg_len];
    ++err->msg_len;
  }
  return rc;
}
static inline const ge_value* ge_input(const ge_graph* g, uint32_t i) {
  return GE_VALUE(g, i < g->node->n_in ? g->node->in[i] : 0);
}
/* The node's attribute of this name; NULL when it has none. */
static inline const ge_attr* ge_find_attr(const ge_node* n, const char* name) {
  const ge_str wanted = ge_text(name);
  for (uint32_t i = 0; i < n->n_attr; ++i) {
    uint64_t k = 0;
    if (n->attr[i].name.n != wanted.n) continue;
    while (k < wanted.n && n->attr[i].name.p[k] == wanted.p[k]) ++k;
    if (k == wanted.n) return &n->attr[i];
  }
  return 0;
}
/* Output i has the type of input `of`. */
static inline ge_rc ge_infer_like(const ge_infer* c, uint32_t i, uint32_t of) {
  const ge_value* v = ge_input(c->graph, of);
  return c->output(c->host, i, v->type.dtype, v->type.rank, v->dim);
}
/* A node of an ONNX operator with one output and up to three inputs (0 = none) and no attributes of
 * its own. */
static inline uint32_t ge_build(const ge_builder* b, const char* op, uint32_t x, uint32_t y,
                                uint32_t z) {
  const uint32_t in[3] = {x, y, z};
  const ge_new_node n = {GE_HDR(ge_new_node, GE_TAG_NEW_NODE),
                         {0, 0},
                         ge_text(op),
                         {0, 0},
                         in,
                         0,
                         z   ? 3u
                         : y ? 2u
                             : 1u,
                         0,
                         1,
                         0};
  uint32_t out = 0;
  b->node(b->host, &n, &out);
  return out;
}
/* A scalar constant of the dtype of value `like`, float32 or float64. */
static inline uint32_t ge_build_scalar(const ge_builder* b, uint32_t like, double number) {
  const int wide = b->value(b->host, like)->type.dtype == GE_F64;
  const ge_type t = {wide ? GE_F64 : GE_F32, 0, 0, wide ? 64u : 32u, 0, {0, 0}};
  const float narrow = (float)number;
  uint32_t out = 0;
  b->constant(b->host, &t, wide ? (const void*)&number : (const void*)&narrow, t.bits / 8, &out);
  return out;
}

#ifdef __cplusplus
}
#endif
#endif /* GE_PLUGIN_OP_H_ */
