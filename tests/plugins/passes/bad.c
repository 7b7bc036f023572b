/* Pass plugins that the host refuses or rolls back, each for one fault: -DFAULT=name of the enum
 * below. The pass is called `bad`; its model has one function with a node that reads the input. */
#include <stddef.h>

#include "ge/ge_plugin_pass.h"

enum {
  /* the record */
  no_run,
  bad_kind,
  no_phase,
  derive_at_bind,
  bad_name,
  short_record, /* fewer bytes than were published */
  no_passes,
  option_kind,
  /* among other passes */
  own_circle,     /* before and behind another one */
  takes_our_name, /* of a pass of the host's */
  twice_named,    /* two of one name */
  /* edits that name what is not there */
  bad_function,
  bad_value,
  bad_node,
  bad_input,
  bad_attr,
  bad_effect,
  /* what is left behind */
  dangling,    /* a reader of what an erased node gave */
  cycle,       /* a node that reads what comes of it */
  wrong_dtype, /* a new node whose inputs do not go together */
  wrong_type,  /* a value in the place of one of another dtype */
  other_shape, /* a result of another shape */
  never_settles,
  says_no,    /* run answers a code and a text */
  adds_entry, /* though it is to keep values */
  replaces_entry,
  replaces_state,
  adds_metadata,
  adds_param, /* of a function that was there before */
  changes_values,
  tries_alone /* no fault: what it adds it takes back, each time */
};

static void edit_wrongly(const ge_edit* e, const ge_graph* g) {
  const ge_node* n = g->node;
  const ge_attr odd = {.name = {"axis", 4}, .kind = 99};
  const ge_effect effect = {GE_EFFECT_STATE, 7, 0, 0};
  const ge_links links = {GE_HDR(ge_links, GE_TAG_LINKS), .effect = &effect, .n_effect = 1};
  const ge_param param = {.name = {"more", 4}, .dtype = GE_F32, .rank = 0};
  const ge_state state = {.h = GE_HDR(ge_state, GE_TAG_STATE)};
  uint32_t made = 0;
  if (FAULT == bad_function) e->erase(e->host, 9, n->id);
  if (FAULT == bad_value) e->replace_uses(e->host, 1, n->out[0], 1000);
  if (FAULT == bad_node) e->erase(e->host, 1, 1000);
  if (FAULT == bad_input) e->set_input(e->host, 1, n->id, 7, n->in[0]);
  if (FAULT == bad_attr) e->set_attr(e->host, 1, n->id, &odd);
  if (FAULT == bad_effect) e->links(e->host, 1, n->id, &links);
  if (FAULT == dangling) e->erase(e->host, 1, n->id);
  if (FAULT == adds_entry) e->entry(e->host, ge_text("more"), 1, GE_ROLE_INFER);
  if (FAULT == replaces_entry) e->replace_entry(e->host, ge_text("main"), 1);
  if (FAULT == replaces_state) e->replace_state(e->host, 1, &state);
  if (FAULT == adds_metadata) e->metadata(e->host, ge_text("more"), ge_text("{}"));
  if (FAULT == adds_param) e->param(e->host, 1, &param, &made);
  if (FAULT == never_settles) ge_edit_node(e, 1, 0, "Neg", n->in[0], 0, NULL);
}

/* A node of its own in the place of the first one's output, or instead of its input. */
static void put_wrongly(const ge_edit* e, const ge_graph* g) {
  const ge_node* n = g->node;
  const ge_type two = {.dtype = GE_F64, .bits = 64};
  const ge_attr keep = {.name = {"keepdims", 8}, .kind = GE_ATTR_INT};
  const double number = 2;
  uint32_t made = 0, id = 0;
  if (ge_is(n->op, "Exp")) return; /* done before */
  if (FAULT == cycle) {
    made = ge_edit_node(e, 1, 0, "Exp", n->out[0], 0, NULL);
    e->set_input(e->host, 1, n->id, 0, made);
  }
  if (FAULT == wrong_dtype || FAULT == wrong_type) {
    e->constant(e->host, 1, &two, &number, sizeof number, &made);
    if (FAULT == wrong_dtype) ge_edit_node(e, 1, 0, "Add", n->in[0], made, NULL);
    if (FAULT == wrong_type) e->replace_uses(e->host, 1, n->out[0], made);
  }
  if (FAULT == other_shape) {
    made = ge_edit_node(e, 1, n->id, "ReduceSum", n->in[0], 0, &id);
    e->set_attr(e->host, 1, id, &keep);
    e->set_input(e->host, 1, n->id, 0, made);
  }
  if (FAULT == changes_values) {
    made = ge_edit_node(e, 1, n->id, "Exp", n->in[0], 0, NULL);
    e->set_input(e->host, 1, n->id, 0, made);
  }
  if (FAULT == tries_alone) {
    ge_edit_node(e, 1, n->id, "Exp", n->in[0], 0, &id);
    e->erase(e->host, 1, id);
  }
}

static ge_rc run(const ge_edit* e, ge_err* err) {
  const ge_graph* g = e->graph(e->host, 1);
  if (FAULT == says_no) return ge_fail(err, GE_INTERNAL, "not today");
  edit_wrongly(e, g);
  put_wrongly(e, g);
  /* Pictures are there after a failure, too, so that no pass has to look for one. */
  g = e->graph(e->host, 1);
  return GE_VALUE(g, g->in[0])->type.rank == e->value(e->host, 1, g->in[0])->type.rank
             ? GE_OK
             : GE_INTERNAL;
}

static const ge_str fold = {"fold-constants", 14};
static const ge_attr_def option = {.value = {.name = {"x", 1}, .kind = GE_ATTR_TENSOR}};
#define BAD(name_)                                                                       \
  {                                                                                      \
    .h = {FAULT == short_record ? 40 : sizeof(ge_pass_def), GE_TAG_PASS_DEF, 0, NULL},   \
    .name = {name_, sizeof(name_) - 1}, .summary = {"does harm", 9},                     \
    .kind = FAULT == bad_kind         ? 7                                                \
            : FAULT == derive_at_bind ? GE_PASS_DERIVE                                   \
                                      : GE_PASS_CANONICALISE,                            \
    .phases = FAULT == no_phase         ? GE_PHASE_ASKED                                 \
              : FAULT == derive_at_bind ? GE_PHASE_LOAD | GE_PHASE_BIND                  \
                                        : GE_PHASE_LOAD,                                 \
    .before = &fold, .after = &fold, .n_before = FAULT == own_circle,                    \
    .n_after = FAULT == own_circle, .option = &option, .n_option = FAULT == option_kind, \
    .run = FAULT == no_run ? NULL : run                                                  \
  }
static const ge_pass_def ours = BAD("fold-constants");
static const ge_pass_def named = BAD("Bad Pass");
static const ge_pass_def passes[] = {BAD("bad"), BAD("bad")};

static const ge_plugin_desc desc = {GE_PLUGIN_HEAD,
                                    .name = {"bad", 3},
                                    .version = {"1.0", 3},
                                    .vendor = {"acme", 4},
                                    .kinds = GE_KIND_PASSES,
                                    .sanitizer = GE_SANITIZER_HERE,
                                    .pass = FAULT == takes_our_name ? &ours
                                            : FAULT == bad_name     ? &named
                                                                    : passes,
                                    .n_pass = FAULT == no_passes     ? 0
                                              : FAULT == twice_named ? 2
                                                                     : 1,
                                    .pass_stride = sizeof *passes};

const ge_plugin_desc* ge_plugin_query(ge_query_args* args) { return &desc; }
