/* Operator plugins that the host refuses, each for one fault: -DFAULT=name of the enum below. */
#include "tests/plugins/ops/plugin.h"

enum {
  no_infer,       /* a required rule is missing */
  no_way,         /* neither parts nor a kernel */
  our_domain,     /* an operator of ONNX's */
  no_name,        /* of no name at all */
  variadic_first, /* a port behind a variadic one */
  state_apart,    /* a state that no output writes */
  no_states,      /* a state whose type nobody tells */
  data_and_parts, /* sizes by the data, and parts */
  no_version,     /* of opset 0 */
  attr_kind,      /* an attribute of no known kind */
  dtype_bit,      /* GE_F32 in the place of 1u << GE_F32 */
  high_bit,       /* a dtype that there is not */
  short_record,   /* fewer bytes than were published */
  no_ops,         /* no operator */
  twice           /* no fault: an operator that another plugin brings, too */
};

static ge_rc infer(const ge_infer* c, ge_err* err) { return ge_infer_like(c, 0, 0); }

static ge_rc decompose(const ge_builder* b, uint32_t* out, ge_err* err) {
  out[0] = ge_build(b, "Abs", b->graph->node->in[0], 0, 0);
  return GE_OK;
}

static ge_rc kernel(const ge_kernel_call* c, ge_err* err) { return GE_INTERNAL; }

static const ge_port one[] = {ACME_PORT("x", ACME_F32)};
static const ge_port variadic[] = {{{"x", 1}, ACME_F32, {"", 0}, GE_PORT_VARIADIC, 1, {0, 0}},
                                   ACME_PORT("y", ACME_F32)};
static const ge_port strange[] = {ACME_PORT("x", FAULT == dtype_bit ? GE_F32 : UINT64_C(1) << 40)};
static const ge_port state[] = {ACME_PORT("x", ACME_F32), ACME_STATE("s", ACME_F32)};
static const ge_attr_def attr = {{{"a", 1}, FAULT == attr_kind ? 99 : GE_ATTR_INT}, 0};
static const ge_op_def ops[] = {
    {{FAULT == short_record ? 48 : sizeof(ge_op_def), GE_TAG_OP_DEF, 0, 0},
     .domain = {FAULT == our_domain ? "com.microsoft" : "acme", FAULT == our_domain ? 13 : 4},
     .name = {"Mish", FAULT == no_name ? 0 : 4},
     .version = FAULT == no_version ? 0 : 1,
     .flags = FAULT == data_and_parts ? GE_OP_DATA_SIZED : 0,
     .input = FAULT == variadic_first                      ? variadic
              : FAULT == dtype_bit || FAULT == high_bit    ? strange
              : FAULT == state_apart || FAULT == no_states ? state
                                                           : one,
     .output = FAULT == no_states ? state : one,
     .attr = &attr,
     .n_input = FAULT == variadic_first || FAULT == state_apart || FAULT == no_states ? 2 : 1,
     .n_output = FAULT == no_states ? 2 : 1,
     .n_attr = 1,
     .infer = FAULT == no_infer ? NULL : infer,
     .decompose = FAULT == no_way ? NULL : decompose,
     .kernel = FAULT == data_and_parts ? kernel : NULL}};

static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"bad", 3},
                                    .version = {"1.0", 3},
                                    .vendor = {"acme", 4},
                                    .kinds = GE_KIND_OPS,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .op = ops,
                                    .n_op = FAULT == no_ops ? 0 : 1,
                                    .op_stride = sizeof *ops};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
