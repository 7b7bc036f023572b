/* my_plugin: the operator my_plugin.Squash(x), limit * x / (1 + |x|). Make it yours from here:
 * `port` and `attr` say what it takes, `infer` what comes out, `decompose` what it is made of: with
 * that every engine runs it. ge/ge_plugin_op.h is the whole contract; a kernel of its own,
 * derivatives and the rest stay NULL until you need them. */
#include <stdio.h>

#include "ge/ge_plugin_op.h"

static const char kName[] = "my_plugin"; /* of the plugin and of the operator's domain */

/* The result has the input's type. */
static ge_rc infer(const ge_infer* c, ge_err* err) {
  (void)err;
  return ge_infer_like(c, 0, 0);
}

static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  (void)err;
  const ge_node* node = b->graph->node;
  const uint32_t x = node->in[0];
  const uint32_t limit = ge_build_scalar(b, x, ge_find_attr(node, "limit")->f);
  const uint32_t one = ge_build_scalar(b, x, 1);
  const uint32_t below = ge_build(b, "Add", one, ge_build(b, "Abs", x, 0, 0), 0);
  out[0] = ge_build(b, "Mul", limit, ge_build(b, "Div", x, below, 0), 0);
  return GE_OK;
}

static const ge_port port = {
    .name = {"x", 1}, .dtypes = 1u << GE_F32 | 1u << GE_F64, .type_var = {"T", 1}};
static const ge_attr_def attr = {.value = {.name = {"limit", 5}, .kind = GE_ATTR_FLOAT, .f = 1},
                                 .flags = GE_ATTR_HAS_DEFAULT};
static const ge_op_def op = {
    .h = GE_HDR(ge_op_def, GE_TAG_OP_DEF),
    .domain = {kName, sizeof kName - 1},
    .name = {"Squash", 6},
    .version = 1,
    .input = &port,
    .output = &port,
    .attr = &attr,
    .n_input = 1,
    .n_output = 1,
    .n_attr = 1,
    .infer = infer,
    .decompose = decompose,
};

static const ge_plugin_desc desc = {
    GE_PLUGIN_HEAD,
    .name = {kName, sizeof kName - 1},
    .version = {"0.1", 3},
    .vendor = {"me", 2},
    .kinds = GE_KIND_OPS,
    .sanitizer = GE_SANITIZER_HERE,
    .op = &op,
    .n_op = 1,
    .op_stride = sizeof op,
};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) {
  if (args->host_major == GE_ABI_MAJOR) return &desc;
  snprintf(args->refusal, sizeof args->refusal, "%s speaks plugin ABI %u, the host %u", kName,
           GE_ABI_MAJOR, args->host_major);
  return NULL;
}
