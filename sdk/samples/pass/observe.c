/* A pass in plain C that derives: beside the first entry it adds the entry `observe`, which takes
 * the same inputs and answers the mean of an output over all its runs, and how many there were.
 *   ge run MODEL --plugins ./observe.so --pass observe:output=0 --entry observe */
#include "ge/ge_plugin_pass.h"

static ge_rc run(const ge_edit* e, ge_err* err) {
  const ge_str names[2] = {{"mean", 4}, {"runs", 4}};
  const ge_type scalar = {.dtype = GE_F32, .bits = 32};
  const float one = 1;
  uint32_t fn = 0, step = 0;
  e->copy(e->host, GE_ENTRY(e->model(e->host), 0)->fn, ge_text("observe"), &fn);
  const ge_graph* g = e->graph(e->host, fn);
  if (g == 0 || e->option[0].i < 0 || e->option[0].i >= g->n_out)
    return ge_fail(err, GE_INVALID_ARGUMENT, "the first entry has no such output");
  const uint32_t y = g->out[e->option[0].i];
  const ge_type type = GE_VALUE(g, y)->type;
  int known = type.dtype == GE_F32 && type.rank >= 0;
  for (int32_t i = 0; i < type.rank; ++i) known &= type.dims[i] >= 0;
  if (!known) return ge_fail(err, GE_UNIMPLEMENTED, "wanted a float32 output of known sizes");
  const uint32_t mean = ge_edit_new_state(e, "observe.mean", type, GE_STATE_METRIC);
  const uint32_t runs = ge_edit_new_state(e, "observe.runs", scalar, GE_STATE_METRIC);
  const uint32_t before = ge_edit_state(e, fn, 0, runs, 0), old = ge_edit_state(e, fn, 0, mean, 0);
  e->constant(e->host, fn, &scalar, &one, sizeof one, &step);
  const uint32_t n = ge_edit_node(e, fn, 0, "Add", before, step, 0);
  const uint32_t off = ge_edit_node(e, fn, 0, "Sub", y, old, 0);
  const uint32_t part = ge_edit_node(e, fn, 0, "Div", off, n, 0);
  const uint32_t results[2] = {ge_edit_node(e, fn, 0, "Add", old, part, 0), n};
  ge_edit_state(e, fn, 0, mean, results[0]);
  ge_edit_state(e, fn, 0, runs, n);
  e->results(e->host, fn, results, names, 2);
  return e->entry(e->host, ge_text("observe"), fn, GE_ROLE_INFER);
}

static const ge_attr_def output = {.value = {.name = {"output", 6}, .kind = GE_ATTR_INT},
                                   .flags = GE_ATTR_HAS_DEFAULT};
static const ge_pass_def pass = {GE_HDR(ge_pass_def, GE_TAG_PASS_DEF),
                                 {"observe", 7},
                                 {"adds an entry that keeps the mean of an output", 46},
                                 GE_PASS_DERIVE,
                                 GE_PHASE_LOAD | GE_PHASE_ASKED,
                                 .option = &output,
                                 .n_option = 1,
                                 .run = run};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"observe", 7},
                                    .version = {"1.0", 3},
                                    .vendor = {"sample", 6},
                                    .kinds = GE_KIND_PASSES,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .pass = &pass,
                                    .n_pass = 1,
                                    .pass_stride = sizeof pass};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
