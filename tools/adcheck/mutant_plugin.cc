// The plugin `grad` with one node of one rule broken, as a Mutation says: its pass is that of the
// product, which is handed a table of edits whose `node` is ours. For ge-adcheck --mutate alone.
#include <algorithm>
#include <cstring>
#include <string>

#include "passes/grad/grad_pass.h"
#include "passes/grad/rule.h"
#include "tools/adcheck/mutation.h"

extern "C" __attribute__((visibility("default"))) ge::adcheck::Mutation ge_adcheck_mutation;
ge::adcheck::Mutation ge_adcheck_mutation{};

namespace ge::adcheck {
namespace {

using plugin::View;

Mutation& Now() { return ge_adcheck_mutation; }

// While a pass runs: the host's own table, the rule that is watched, and what one call of it has
// emitted so far.
struct Watch {
  const ge_edit* edit = nullptr;
  grad::Rule rule{};
  bool inside = false;
  std::string emitted;
};
thread_local Watch watch;

// One call of the watched rule.
class Inside {
 public:
  Inside() {
    watch.inside = true;
    watch.emitted.clear();
  }
  ~Inside() {
    watch.inside = false;
    Mutation& m = Now();
    if (m.calls++ == 0) {
      std::strncpy(m.emitted, watch.emitted.c_str(), sizeof m.emitted - 1);
    }
  }
};

void WatchedBack(grad::Back& b) {
  const Inside inside;
  watch.rule.back(b);
}
std::vector<grad::Val> WatchedApart(grad::Back& b) {
  const Inside inside;
  return watch.rule.apart(b);
}

// What is broken in a way that its operator admits.
bool OneOf(std::string_view op, std::initializer_list<const char*> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const char* o) { return op == o; });
}

// Whether a constant's numbers are all zero: floats or integers, whose zeros are zero bytes.
bool IsZero(uint32_t fn, uint32_t value) {
  const ge_value* v = watch.edit->value(watch.edit->host, fn, value);
  if (v == nullptr || v->data == nullptr) return false;
  const auto* bytes = static_cast<const char*>(v->data);
  return std::all_of(bytes, bytes + v->data_bytes, [](char c) { return c == 0; });
}

uint32_t BreaksOf(uint32_t fn, const ge_new_node& n) {
  const std::string_view op = View(n.op);
  uint32_t breaks = 0;
  const auto add = [&](Break b) { breaks |= 1u << static_cast<int>(b); };
  if (n.n_out > 1 && n.n_out != GE_NO_OUTPUT) return 0;
  // The other sign of zero is zero.
  const bool zeros = OneOf(op, {"Expand", "Unsqueeze", "Identity"}) && IsZero(fn, n.in[0]);
  if (!zeros && !OneOf(op, {"Shape", "Size"})) add(Break::kSign);
  const bool two = n.n_in == 2 && n.in[0] != n.in[1];
  if (two && OneOf(op, {"Sub", "Div", "Pow", "MatMul", "Less", "Greater", "LessOrEqual",
                        "GreaterOrEqual", "Mod"})) {
    add(Break::kSwap);
  }
  if (OneOf(op, {"Where", "Gemm"}) && n.n_in >= 2) add(Break::kSwap);
  if (OneOf(op, {"Add", "Sub", "Mul", "Div", "Pow", "Sum", "Neg", "Exp", "Log", "Sqrt", "Sin",
                 "Cos", "Tanh", "Sigmoid", "Reciprocal", "Abs", "Sign"})) {
    add(Break::kFirst);
  }
  if (op == "Where") {
    add(Break::kFirst);
    add(Break::kSecond);
  }
  if (two && OneOf(op, {"Add", "Mul", "Sub"})) add(Break::kSecond);
  return breaks;
}

// One more node that reads `value` alone.
ge_rc Follow(void* host, uint32_t fn, uint32_t before, const char* op, uint32_t value,
             uint32_t* out) {
  ge_new_node n{};
  n.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  n.op = ge_text(op);
  n.in = &value;
  n.n_in = 1;
  n.n_out = 1;
  return watch.edit->node(host, fn, before, &n, nullptr, out);
}

ge_rc Broken(void* host, uint32_t fn, uint32_t before, const ge_new_node& n, uint32_t* id,
             uint32_t* out) {
  const bool where = View(n.op) == "Where";
  std::vector<uint32_t> in(n.in, n.in + n.n_in);
  ge_new_node other = n;
  other.in = in.data();
  switch (Now().how) {
    case Break::kSwap:
      std::swap(in[where ? 1 : 0], in[where ? 2 : 1]);
      return watch.edit->node(host, fn, before, &other, id, out);
    case Break::kFirst:
      return Follow(host, fn, before, "Identity", in[where ? 1 : 0], out);
    case Break::kSecond:
      return Follow(host, fn, before, "Identity", in[where ? 2 : 1], out);
    default:
      break;
  }
  const ge_rc rc = watch.edit->node(host, fn, before, &n, id, out);
  if (rc != GE_OK || out == nullptr) return rc;
  const int32_t dtype = watch.edit->value(host, fn, out[0])->type.dtype;
  return Follow(host, fn, before, dtype == GE_BOOL ? "Not" : "Neg", out[0], out);
}

ge_rc PutNode(void* host, uint32_t fn, uint32_t before, const ge_new_node* n, uint32_t* id,
              uint32_t* out) {
  if (!watch.inside) return watch.edit->node(host, fn, before, n, id, out);
  Mutation& m = Now();
  watch.emitted += std::string(View(n->op)) + " ";
  if (m.calls == 0 && ++m.nodes <= kMostNodes) m.breaks[m.nodes - 1] = BreaksOf(fn, *n);
  if (m.how == Break::kNone || watch.emitted != m.node) {
    return watch.edit->node(host, fn, before, n, id, out);
  }
  m.applied = true;
  return Broken(host, fn, before, *n, id, out);
}

// The elements of the table are no constants: the table alone is.
grad::Rule* WatchedRule() {
  const std::string name = Now().op;
  const size_t dot = name.rfind('.');
  const std::string domain = dot == std::string::npos ? "" : name.substr(0, dot);
  return const_cast<grad::Rule*>(
      grad::FindRule(domain, dot == std::string::npos ? name : name.substr(dot + 1)));
}

ge_rc Run(const ge_edit* e, ge_err* err) {
  static const ge_pass_def product = grad::GradPass();
  ge_edit ours = *e;
  ours.node = PutNode;
  watch = {};
  watch.edit = e;
  Now().calls = Now().nodes = 0;
  Now().applied = false;
  std::memset(Now().emitted, 0, sizeof Now().emitted);
  grad::Rule* rule = WatchedRule();
  if (rule != nullptr) {
    watch.rule = *rule;
    if (rule->back != nullptr) rule->back = WatchedBack;
    if (rule->apart != nullptr) rule->apart = WatchedApart;
  }
  const ge_rc rc = product.run(&ours, err);
  if (rule != nullptr) *rule = watch.rule;
  return rc;
}

}  // namespace
}  // namespace ge::adcheck

extern "C" __attribute__((visibility("default"))) const ge_plugin_desc* ge_plugin_query(
    ge_query_args*) {
  static const ge_pass_def pass = [] {
    ge_pass_def p = ge::grad::GradPass();
    p.run = ge::adcheck::Run;
    return p;
  }();
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {GE_PLUGIN_HEAD};
    d.name = ge_text("grad");
    d.version = ge_text("1.0");
    d.vendor = ge_text("GraphEngine");
    d.kinds = GE_KIND_PASSES;
    d.sanitizer = GE_SANITIZER_HERE;
    d.pass = &pass;
    d.n_pass = 1;
    d.pass_stride = sizeof pass;
    return d;
  }();
  return &desc;
}
