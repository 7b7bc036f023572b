#include "passes/grad/shape_needs.h"

#include "passes/grad/kit.h"

namespace ge::grad {
namespace {

void Join(Needs* to, const Needs& from) {
  to->params.insert(from.params.begin(), from.params.end());
  to->data = to->data || from.data;
}

// Operators whose results are as large as whole numbers that they are given say.
bool TakesSizes(std::string_view op) {
  static const std::set<std::string_view> ops = {
      "Reshape",         "Expand",        "Slice",         "Tile",          "Range",
      "ConstantOfShape", "Pad",           "Resize",        "TopK",          "Split",
      "OneHot",          "Squeeze",       "Unsqueeze",     "SumToShape",    "Trilu",
      "AffineGrid",      "CenterCropPad", "ConvGradInput", "ConvGradWeight"};
  return ops.count(op) != 0 || op.substr(0, 6) == "Reduce";
}

// Results whose sizes the data decide.
bool SizedByData(const ge_node& n) {
  static const std::set<std::string_view> ops = {"NonZero", "Unique", "Compress",
                                                 "NonMaxSuppression", "SequenceAt"};
  return n.n_body > 0 || ops.count(plugin::View(n.op)) != 0;
}

bool IsWhole(const ge_value& v) { return !IsFloat(v.type.dtype); }

}  // namespace

ShapeNeeds::ShapeNeeds(const ge_graph* graph, const std::vector<uint32_t>& params)
    : g_(graph), sizes_(graph->n_value), content_(graph->n_value) {
  for (size_t i = 0; i < params.size(); ++i) {
    sizes_[params[i]].params = {i};
    if (IsWhole(*GE_VALUE(graph, params[i]))) content_[params[i]].params = {i};
  }
  for (uint32_t i = 0; i < graph->n_node; ++i) Through(*GE_NODE(graph, i));
}

void ShapeNeeds::Through(const ge_node& n) {
  const std::string_view op = plugin::View(n.op);
  const bool shape = op == "Shape" || op == "Size";
  Needs sizes, content;
  sizes.data = SizedByData(n);
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const uint32_t v = n.in[i];
    if (v == 0) continue;
    const bool whole = IsWhole(*GE_VALUE(g_, v));
    Join(shape ? &content : &sizes, sizes_[v]);
    if (whole && !shape) Join(&content, content_[v]);
    if (whole && TakesSizes(op)) Join(&sizes, content_[v]);
    content.data = content.data || (!whole && !shape);
  }
  content.data = content.data || n.n_body > 0;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    if (n.out[k] == 0) continue;
    sizes_[n.out[k]] = sizes;
    if (IsWhole(*GE_VALUE(g_, n.out[k]))) content_[n.out[k]] = content;
  }
}

}  // namespace ge::grad
