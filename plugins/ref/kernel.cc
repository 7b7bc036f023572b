#include "plugins/ref/kernel.h"

#include <cstdarg>
#include <cstdio>

#include "plugins/ref/scalar.h"

namespace ref {

#define GE_REF_ENTRY(stem) extern const Kernel kernel_##stem;
#include "plugins/ref/ref_table.inc"
#undef GE_REF_ENTRY

namespace {

// "Relu" is that of ONNX's domain, "ai.onnx.ml.Scaler" of another.
bool IsNamed(std::string_view name, std::string_view domain, std::string_view op) {
  if (domain.empty()) return name == op;
  return name.size() == domain.size() + 1 + op.size() && name.starts_with(domain) &&
         name[domain.size()] == '.' && name.ends_with(op);
}

}  // namespace

const Kernel* FindKernel(const ge_node& node) {
  const std::string_view op = ge::plugin::View(node.op);
  std::string_view domain = ge::plugin::View(node.domain);
  if (domain == "ai.onnx") domain = {};
  static constexpr const Kernel* kTable[] = {
#define GE_REF_ENTRY(stem) &kernel_##stem,
#include "plugins/ref/ref_table.inc"
#undef GE_REF_ENTRY
  };
  for (const Kernel* k : kTable) {
    if (IsNamed(k->op, domain, op)) return k;
  }
  return nullptr;
}

bool Why::Say(uint32_t why_code, const char* format, ...) {
  code = why_code;
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return false;
}

namespace {

TensorType TypeOf(const ge_value& v) {
  TensorType t;
  t.dtype = v.type.dtype;
  t.rank = v.type.rank;
  t.dims = v.type.dims;
  ge::plugin::ElementCount(v.type, &t.count);
  ge::plugin::TensorBytes(v.type, &t.bytes);
  return t;
}

bool CheckType(const ge_type& t, const char* role, uint32_t i, Why* why) {
  if (ge::plugin::ElementBits(t.dtype) == 0) {
    return why->Say(GE_WHY_DTYPE, "%s %u is %s, which has no fixed size", role, i,
                    ge::plugin::DTypeName(t.dtype));
  }
  if (t.rank < 0) return why->Say(GE_WHY_DYNAMIC, "%s %u has no known rank", role, i);
  if (t.rank > kMaxRank) {
    return why->Say(GE_WHY_SHAPE, "%s %u has rank %d, at most %d is taken", role, i, t.rank,
                    kMaxRank);
  }
  if (t.sharding != 0) return why->Say(GE_WHY_LAYOUT, "%s %u is sharded", role, i);
  // Zero dims do not count: products of the other dims are computed too and must fit.
  int64_t product = 1;
  for (int64_t d : ge::plugin::Dims(t)) {
    if (d < 0) return why->Say(GE_WHY_DYNAMIC, "%s %u has an unknown dim", role, i);
    if (d == 0) continue;
    if (product > (INT64_MAX / 128) / d) {
      return why->Say(GE_WHY_SHAPE, "%s %u has more elements than can be addressed", role, i);
    }
    product *= d;
  }
  return true;
}

}  // namespace

bool NodeView::Open(const ge_graph& graph, uint32_t index, NodeView* out, Why* why) {
  const ge_node* node = GE_NODE(&graph, index);
  out->graph_ = &graph;
  out->node_ = node;
  if (node->n_body != 0) return why->Say(GE_WHY_OP, "it has nested graphs");
  if (node->n_in > 4096 || node->n_out > 4096) {
    return why->Say(GE_WHY_SHAPE, "it has more than 4096 inputs or outputs");
  }
  for (uint32_t i = 0; i < node->n_in; ++i) {
    if (out->has_in(i) && !CheckType(ge::plugin::Input(graph, *node, i)->type, "input", i, why)) {
      return false;
    }
  }
  bool any = false;
  for (uint32_t i = 0; i < node->n_out; ++i) {
    if (!out->has_out(i)) continue;
    any = true;
    if (!CheckType(ge::plugin::Output(graph, *node, i)->type, "output", i, why)) return false;
  }
  return any || why->Say(GE_WHY_OP, "it has no output");
}

TensorType NodeView::in(uint32_t i) const { return TypeOf(*ge::plugin::Input(*graph_, *node_, i)); }
TensorType NodeView::out(uint32_t i) const {
  return TypeOf(*ge::plugin::Output(*graph_, *node_, i));
}
const void* NodeView::constant(uint32_t i) const {
  const ge_value* v = ge::plugin::Input(*graph_, *node_, i);
  return v != nullptr && (v->flags & GE_VALUE_CONSTANT) != 0 ? v->data : nullptr;
}
bool NodeView::Has(std::string_view name) const {
  for (uint32_t i = 0; i < node_->n_attr; ++i) {
    if (ge::plugin::View(node_->attr[i].name) == name) return true;
  }
  return false;
}

}  // namespace ref
