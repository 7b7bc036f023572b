/* A pass that replaces what was there before: of tests/e2e/models/kept.gt it keeps the second half
 * of both states, and entries that work on it. The option `wrong` has it break a rule. */
#include <stddef.h>

#include "ge/ge_plugin_pass.h"

static uint32_t wrong(const ge_edit* e, const char* how) { return ge_is(e->option[0].s, how); }

static uint32_t new_function(const ge_edit* e, const char* name) {
  const ge_function record = {.h = GE_HDR(ge_function, GE_TAG_FUNCTION), .name = ge_text(name)};
  uint32_t fn = 0;
  e->function(e->host, &record, &fn);
  return fn;
}

static void make_look(const ge_edit* e) {
  const uint32_t fn = new_function(e, "halves.look");
  const ge_str name = ge_text("now");
  uint32_t now = ge_edit_state(e, fn, 0, 1, 0), id = 0;
  if (wrong(e, "other_dtype")) {
    const ge_attr to = {.name = {"to", 2}, .kind = GE_ATTR_INT, .i = GE_F64};
    now = ge_edit_node(e, fn, 0, "Identity", now, 0, &id);
    ge_new_node cast = {GE_HDR(ge_new_node, GE_TAG_NEW_NODE),
                        .op = ge_text("Cast"),
                        .in = &now,
                        .n_in = 1,
                        .attr = &to,
                        .n_attr = 1,
                        .n_out = 1};
    uint32_t wide = 0;
    e->node(e->host, fn, 0, &cast, &id, &wide);
    now = wide;
  }
  e->results(e->host, fn, &now, &name, 1);
  e->replace_entry(e->host, ge_text(wrong(e, "unknown_entry") ? "watch" : "look"), fn);
}

static void make_step(const ge_edit* e) {
  const uint32_t fn = new_function(e, "halves.step");
  const ge_dim two[2] = {{.value = 2}, {.value = 2}};
  const ge_param param = {.name = ge_text(wrong(e, "other_name") ? "z" : "x"),
                          .dtype = GE_F32,
                          .rank = wrong(e, "other_rank") ? 2 : 1,
                          .dims = two};
  const ge_str name = ge_text("y");
  uint32_t x = 0, y = ge_edit_state(e, fn, 0, 1, 0);
  if (!wrong(e, "fewer_inputs")) {
    e->param(e->host, fn, &param, &x);
    y = ge_edit_node(e, fn, 0, "Add", y, x, NULL);
  }
  y = ge_edit_node(e, fn, 0, "Mul", y, ge_edit_state(e, fn, 0, 2, 0), NULL);
  if (!wrong(e, "other_rank")) ge_edit_state(e, fn, 0, 1, y);
  e->results(e->host, fn, &y, &name, 1);
  e->replace_entry(e->host, ge_text("step"), fn);
}

static void halve_states(const ge_edit* e) {
  const ge_model* m = e->model(e->host);
  const int64_t two[2] = {2, 1};
  ge_state half = {.h = GE_HDR(ge_state, GE_TAG_STATE)};
  half.type.dtype = wrong(e, "other_state_dtype") ? GE_I32 : GE_F32;
  half.type.rank = wrong(e, "other_state_rank") ? 2 : 1;
  half.type.dims = two;
  half.data = (const float*)GE_STATE(m, 1)->data + 2;
  half.data_bytes = wrong(e, "short_content") ? 4 : 8;
  e->replace_state(e->host, wrong(e, "no_state") ? 9 : 1, &half);
  half.data = NULL;
  half.data_bytes = 0;
  half.fill = GE_STATE(m, 2)->fill;
  e->replace_state(e->host, 2, &half);
}

static ge_rc run(const ge_edit* e, ge_err* err) {
  const char* json = wrong(e, "bad_json") ? "{\"first\": 2" : "{\"first\": 2, \"size\": 2}";
  const ge_model* m = e->model(e->host);
  if (m->n_state != 3 || !GE_STATE(m, 1)->data || !GE_STATE(m, 2)->fill)
    return ge_fail(err, GE_UNIMPLEMENTED, "wanted the states of kept.gt");
  if (wrong(e, "made_before")) make_look(e);
  halve_states(e);
  make_step(e);
  if (!wrong(e, "made_before") && !wrong(e, "old_reader")) make_look(e);
  if (wrong(e, "old_writer")) e->replace_entry(e->host, ge_text("step"), 1);
  const char* name = wrong(e, "taken") ? "note" : wrong(e, "own_key") ? "ge.model.x" : "halves";
  e->metadata(e->host, ge_text(name), ge_text(json));
  if (wrong(e, "twice")) e->metadata(e->host, ge_text(name), ge_text(json));
  return GE_OK;
}

static const ge_attr_def option = {.value = {.name = {"wrong", 5}, .kind = GE_ATTR_STRING},
                                   .flags = GE_ATTR_HAS_DEFAULT};
static const ge_pass_def pass = {GE_HDR(ge_pass_def, GE_TAG_PASS_DEF),
                                 {"halves", 6},
                                 {"keeps the second half of the states", 35},
                                 GE_PASS_DERIVE,
                                 GE_PHASE_LOAD | GE_PHASE_ASKED,
                                 .option = &option,
                                 .n_option = 1,
                                 .run = run};
static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"replaces", 8},
                                    .version = {"1.0", 3},
                                    .vendor = {"acme", 4},
                                    .kinds = GE_KIND_PASSES,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .pass = &pass,
                                    .n_pass = 1,
                                    .pass_stride = sizeof pass};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
