/* ge_plugin_pass.h: passes of a plugin. C11 and C++17; needs ge_plugin.h and
 * ge_plugin_op.h.
 *
 * A plugin with GE_KIND_PASSES points ge_plugin_desc.pass to an array of ge_pass_def. A pass looks
 * at pictures of the model and changes it through the calls of ge_edit. When it has returned, the
 * host puts the nodes in order, infers all types anew and verifies the model; if the pass failed,
 * or the model is illegal, the host undoes all its edits.
 *
 * Rules, beside those of ge_plugin.h
 *  1. run keeps none of its arguments, and no data of its own from call to call. Several threads
 *     may call it at once, each with a model of its own.
 *  2. Functions, values and states are named by index, 0 = absent: the same numbers in pictures and
 *     in calls, for as long as run lasts. Added ones get the next numbers. Nodes are named by
 *     ge_node.id, unique in its function and never given again.
 *  3. `model` and `graph` answer a picture: it stays unchanged and valid until the same call is
 *     made again (`graph`: for the same function) or run returns. So a pass may walk a picture and
 *     edit; erased nodes are still in it, added ones are not.
 *  4. The first failing edit fails the pass, with the host's text, even if run answers GE_OK. Later
 *     edits do nothing and answer 0 for added values. So a pass need not check. Failures of price,
 *     rule, work and shard do not fail the pass.
 *  5. A pass repeated until nothing changes has to settle: on its own result it makes no edit.
 *     After 8 rounds it has failed. A node added and erased in one run is no change.
 */
#ifndef GE_PLUGIN_PASS_H_
#define GE_PLUGIN_PASS_H_

#include "ge/ge_plugin.h"
#include "ge/ge_plugin_op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the model */

enum { GE_FUNCTION_RECURSIVE = 1, GE_FUNCTION_INLINE_NEVER = 2, GE_FUNCTION_INLINE_ALWAYS = 4 };
typedef struct ge_function { /* its nodes and values: ge_edit.graph */
  ge_hdr h;
  ge_str name, overload;    /* unique together */
  const ge_str* attr_param; /* attributes given by a call; see GE_ATTR_PARAM */
  const ge_effect* effect;  /* of its nodes and their callees; the host keeps it up to date */
  uint32_t n_attr_param, n_effect;
  uint32_t flags;                  /* GE_FUNCTION_* */
  uint32_t derived_of;             /* function index, with derived_kind */
  ge_str derived_kind;             /* kind of derivation: "FWD", "LIN", "BWD" ...; empty = none */
  uint32_t custom_jvp, custom_vjp; /* function indices, 0 = none */
} ge_function;

enum {
  GE_STATE_PARAM = 0,
  GE_STATE_BUFFER = 1,
  GE_STATE_OPT = 2,
  GE_STATE_RNG = 3,
  GE_STATE_METRIC = 4,
  GE_STATE_STEP = 5
};
enum { GE_STATE_TRAINABLE = 1 };
typedef struct ge_state { /* a value kept from run to run, by all entries */
  ge_hdr h;
  ge_str name; /* unique */
  ge_type type;
  /* Its first content; NULL = `fill` repeated, or the result of init_fn, or zeros where there is
   * neither. */
  const void* data;
  uint64_t data_bytes;
  uint32_t kind, flags; /* GE_STATE_* */
  uint32_t init_fn;     /* function index, 0 = none */
  uint32_t reserved;
  /* With `data` NULL: the one element (dtypes of 8 bits and more) that its first content repeats.
   * Since 1.1. */
  const void* fill;
} ge_state;

enum {
  GE_ROLE_INFER = 0,
  GE_ROLE_TRAIN_STEP = 1,
  GE_ROLE_EVAL = 2,
  GE_ROLE_INIT = 3,
  GE_ROLE_DATA = 4
};
typedef struct ge_entry { /* a function for users to run */
  ge_hdr h;
  ge_str name;
  uint32_t fn;
  uint32_t role; /* GE_ROLE_* */
} ge_entry;

typedef struct ge_model {
  ge_hdr h;
  const ge_function* fn; /* [0] is absent; walk with GE_FUNCTION */
  const ge_state* state; /* [0] is absent; walk with GE_STATE */
  const ge_entry* entry; /* walk with GE_ENTRY */
  uint32_t n_fn, n_state, n_entry;
  uint32_t fn_stride, state_stride, entry_stride;
} ge_model;
#define GE_FUNCTION(m, i) \
  ((const ge_function*)((const char*)(m)->fn + (uint64_t)(i) * (m)->fn_stride))
#define GE_STATE(m, i) \
  ((const ge_state*)((const char*)(m)->state + (uint64_t)(i) * (m)->state_stride))
#define GE_ENTRY(m, i) \
  ((const ge_entry*)((const char*)(m)->entry + (uint64_t)(i) * (m)->entry_stride))

/* ---- edits */

#define GE_NO_OUTPUT UINT32_MAX /* ge_new_node.n_out of a node that has none */

/* Links of a node beside inputs and attributes: for an existing one (ge_edit.links), or in
 * ge_new_node.h.next. */
typedef struct ge_links {
  ge_hdr h;
  const uint32_t* body; /* as in ge_node */
  const ge_str* body_role;
  const ge_effect* effect;
  const uint32_t* after;
  uint32_t n_body, n_effect, n_after;
  /* Of a new node: ids of the nodes it replaces, so messages go on to name the user's own. 0 = the
   * node before which it is put. */
  uint32_t n_replaces;
  const uint32_t* replaces;
} ge_links;

typedef struct { /* complete but for the spare words */
  ge_str name;
  int32_t dtype, rank; /* rank -1: not known; dtype 0: of_value gives the type */
  /* Those of a picture, {size} alone, or a free size by its name: {-1} with `name` and id 0. The
   * same name is the same size. */
  const ge_dim* dims;
  /* With dtype 0: the type of this value of that function, maybe not a tensor. */
  uint32_t of_fn, of_value;
  uint64_t spare;
} ge_param;

/* A rule of a node's operator, from any plugin or the host. The rule adds its nodes to to_fn, which
 * may be another function than the node's: then in_value gives the replacements for the node's
 * inputs, and out_value for its outputs, 0 (or NULL) where the rule does not read them. */
enum { GE_RULE_DECOMPOSE = 1, GE_RULE_GRAD = 2, GE_RULE_JVP = 3 };
typedef struct ge_rule {
  ge_hdr h;
  uint32_t fn, node; /* the node with the rule */
  uint32_t kind;     /* GE_RULE_* */
  uint32_t to_fn;    /* 0 = fn */
  uint32_t before;   /* node of to_fn, 0 = at its end */
  uint32_t n_given;
  const uint32_t* in_value; /* values of to_fn by input and output; NULL = the node's own */
  const uint32_t* out_value;
  const uint32_t* given; /* GRAD: by output, JVP: by input: values of to_fn, 0 = zero */
  /* The results, written by the host: DECOMPOSE, JVP: by output; GRAD: by input, 0 = zero. NULL:
   * only asks whether there is such a rule. */
  uint32_t* made;
  uint32_t n_made, reserved;
} ge_rule;

enum { GE_PHASE_LOAD = 1, GE_PHASE_BIND = 2, GE_PHASE_ASKED = 4 };
typedef struct ge_edit { /* valid while run lasts, for its thread */
  ge_hdr h;
  void* host;
  const ge_host_api* api;
  const ge_attr* option; /* by position of ge_pass_def.option: the user's value, else the default;
                          * kind 0 where there is neither */
  uint32_t n_option;
  uint32_t phase; /* GE_PHASE_LOAD or GE_PHASE_BIND */

  /* Pictures (rule 3). NULL where there is no such function (0, after a failed edit), or no memory
   * for it. Payloads of constants above 64 MiB made of one repeated number are left out (data
   * NULL). */
  const ge_model* (*model)(void* host);
  const ge_graph* (*graph)(void* host, uint32_t fn);
  /* A value as it is now, also an added one; valid until the next edit. Never NULL. */
  const ge_value* (*value)(void* host, uint32_t fn, uint32_t value);

  /* A node before the node `before`, 0 = at the end. Types of its outputs are inferred at once; of
   * a node with bodies as far as these are finished. *id (may be NULL): its id. out: its outputs'
   * values. */
  ge_rc (*node)(void* host, uint32_t fn, uint32_t before, const ge_new_node*, uint32_t* id,
                uint32_t* out);
  /* A constant; the payload is copied. */
  ge_rc (*constant)(void* host, uint32_t fn, const ge_type*, const void* data, uint64_t bytes,
                    uint32_t* out);
  /* Readers of `from`, the function's results included, read `to`, which has the same dtype and
   * shape. Names of the function's results stay. */
  ge_rc (*replace_uses)(void* host, uint32_t fn, uint32_t from, uint32_t to);
  ge_rc (*set_input)(void* host, uint32_t fn, uint32_t node, uint32_t i, uint32_t value);
  ge_rc (*set_attr)(void* host, uint32_t fn, uint32_t node, const ge_attr*);
  /* Sets bodies, effects and `after` of a node, all three. */
  ge_rc (*links)(void* host, uint32_t fn, uint32_t node, const ge_links*);
  /* Nobody may read its outputs when run returns. */
  ge_rc (*erase)(void* host, uint32_t fn, uint32_t node);

  /* A function without parameters, nodes and results; without a reference when run returns
   * it goes. Reads name, overload, attr_param, flags, derived_* and custom_* of the record.
   * */
  ge_rc (*function)(void* host, const ge_function*, uint32_t* fn);
  /* A copy of a function under another name: its nodes and values have the same numbers. */
  ge_rc (*copy)(void* host, uint32_t of, ge_str name, uint32_t* fn);
  /* One more parameter. Not for a function with callers, nor for an entry. */
  ge_rc (*param)(void* host, uint32_t fn, const ge_param*, uint32_t* value);
  /* All results anew; values of an entry's results need names: name NULL = the present ones. */
  ge_rc (*results)(void* host, uint32_t fn, const uint32_t* value, const ge_str* name, uint32_t n);
  /* Both of a DERIVE pass alone, at load. */
  ge_rc (*state)(void* host, const ge_state*, uint32_t* state);
  ge_rc (*entry)(void* host, ge_str name, uint32_t fn, uint32_t role);

  /* The price of the cheapest plan for these nodes by themselves now, inputs and results in host
   * memory: asks the session's engines, transfers count. n_node 0 = the whole function. The nodes
   * must be fit for one plan: GE_UNIMPLEMENTED where sizes are not known (before GE_PHASE_BIND as a
   * rule), a node has a body, no engine takes a node, or there is nobody to ask.
   */
  ge_rc (*price)(void* host, uint32_t fn, const uint32_t* node, uint32_t n_node, double* ns);
  /* GE_NOT_FOUND: the operator has no such rule. GE_UNIMPLEMENTED: not for this node. A failed
   * rule's nodes are taken out again when run returns. */
  ge_rc (*rule)(void* host, const ge_rule*);
  /* Effort of a node with known sizes, else GE_UNIMPLEMENTED. */
  ge_rc (*work)(void* host, uint32_t fn, uint32_t node, double* flops, double* bytes);
  /* Calls `way` with `to` for each legal split of the node over devices. GE_NOT_FOUND: none is
   * known. */
  ge_rc (*shard)(void* host, uint32_t fn, uint32_t node, void* to,
                 ge_rc (*way)(void* to, const ge_shard*));
  /* As ge_launch.stop: not 0 = return soon, with any code; NULL: nobody can stop it. For a pass
   * that reads files or computes for long. */
  const uint32_t* stop;

  /* Since 1.1; all of a DERIVE pass alone, at load. */

  /* The entry runs another function from now on. Its parameters and results keep their number,
   * names, dtypes and ranks; sizes may be others. The former function goes when nothing else names
   * it. */
  ge_rc (*replace_entry)(void* host, ge_str name, uint32_t fn);
  /* The state has another type from now on, of the same dtype and rank, and begins with other
   * content: reads type, data, fill and init_fn of the record. Functions that use it are made
   * behind this call: one that an entry still runs and that was made for the former type fails the
   * pass, by the entry's name. */
  ge_rc (*replace_state)(void* host, uint32_t state, const ge_state*);
  /* Text for users of the model, which ge_session_metadata of ge.h answers: a JSON value under a
   * name that the model's metadata has not. */
  ge_rc (*metadata)(void* host, ge_str name, ge_str json);
} ge_edit;

/* ---- the record */

enum {
  /* Both give the same values for the same inputs and states; with $GE_CHECK_PASSES=1 the host
   * tests it on random inputs. */
  GE_PASS_CANONICALISE = 1, /* from fewer or simpler nodes */
  GE_PASS_LOWER = 2,        /* from other operators */
  /* Adds functions, entries, states. Present ones change by replace_* of ge_edit, and where a node
   * that asks for what is derived (ge.Gradient) gives way to its answer. */
  GE_PASS_DERIVE = 3
};
typedef struct ge_pass_def { /* array of the plugin's, walked by a stride; static */
  ge_hdr h;
  ge_str name;    /* unique in the process's passes, [a-z0-9-]+; named by --pass and --skip */
  ge_str summary; /* one line */
  uint32_t kind;  /* GE_PASS_* */
  /* GE_PHASE_*: LOAD: when a model is loaded, DERIVE once, others in rounds with all passes until
   * nothing changes. BIND: the same rounds again for each set of input shapes; not for DERIVE. With
   * ASKED beside these it runs only if requested by name. */
  uint32_t phases;
  /* It runs ahead of the passes in `before` and behind those in `after`, the host's too; absent
   * names do not count. A DERIVE pass runs on the result of the rounds at load, and the rounds run
   * again after it; with one of their passes in `before` it runs ahead of them. */
  const ge_str* before;
  const ge_str* after;
  uint32_t n_before, n_after;
  const ge_attr_def* option; /* --pass NAME:option=value; INT, FLOAT and STRING */
  uint32_t n_option, reserved;
  ge_rc (*run)(const ge_edit*, ge_err*);
} ge_pass_def;

/* ---- sugar */

static inline uint32_t ge_is(ge_str s, const char* text) {
  uint64_t k = 0;
  while (k < s.n && text[k] != 0 && s.p[k] == text[k]) ++k;
  return k == s.n && text[k] == 0;
}
/* An ONNX node with inputs x and y (0 = none) and one output before the node `before`. Answers the
 * output's value; *id (may be NULL): the node. */
static inline uint32_t ge_edit_node(const ge_edit* e, uint32_t fn, uint32_t before, const char* op,
                                    uint32_t x, uint32_t y, uint32_t* id) {
  const uint32_t in[2] = {x, y};
  uint32_t out = 0;
  ge_new_node n = {GE_HDR(ge_new_node, GE_TAG_NEW_NODE), {0, 0}, {0, 0}, {0, 0}, 0, 0, 0, 0, 0, 0};
  n.op = ge_text(op);
  n.in = in;
  n.n_in = y ? 2u : x ? 1u : 0u;
  n.n_out = 1;
  e->node(e->host, fn, before, &n, id, &out);
  return out;
}
/* A state beginning with zeros. */
static inline uint32_t ge_edit_new_state(const ge_edit* e, const char* name, ge_type type,
                                         uint32_t kind) {
  ge_state s = {GE_HDR(ge_state, GE_TAG_STATE), {0, 0}, type, 0, 0, 0, 0, 0, 0, 0};
  uint32_t state = 0;
  s.name = ge_text(name);
  s.kind = kind;
  e->state(e->host, &s, &state);
  return state;
}
/* ge.Read of a state (`value` 0), or ge.Assign of `value` to it. */
static inline uint32_t ge_edit_state(const ge_edit* e, uint32_t fn, uint32_t before, uint32_t state,
                                     uint32_t value) {
  const ge_effect effect = {GE_EFFECT_STATE, state, 0, 0};
  ge_links links = {GE_HDR(ge_links, GE_TAG_LINKS), 0, 0, 0, 0, 0, 0, 0, 0, 0};
  ge_new_node n = {GE_HDR(ge_new_node, GE_TAG_NEW_NODE), {0, 0}, {0, 0}, {0, 0}, 0, 0, 0, 0, 0, 0};
  uint32_t out = 0;
  links.effect = &effect;
  links.n_effect = 1;
  n.h.next = &links.h;
  n.domain = ge_text("ge");
  n.op = ge_text(value ? "Assign" : "Read");
  n.in = &value;
  n.n_in = value ? 1u : 0u;
  n.n_out = value ? GE_NO_OUTPUT : 1u;
  e->node(e->host, fn, before, &n, 0, &out);
  return out;
}

#ifdef __cplusplus
}
#endif
#endif /* GE_PLUGIN_PASS_H_ */
