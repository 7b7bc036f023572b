// Reductions, and what looks along an axis.
#include <set>

#include "passes/parallel/rules/rule_text.h"

namespace ge::parallel {
namespace {

// The axes that a node reduces; nothing where they are not known.
std::optional<std::set<size_t>> ReducedAxes(const RuleNode& node) {
  const auto rank = static_cast<int64_t>(node.in(0).size());
  std::vector<int64_t> given;
  if (plugin::FindAttr(node.n, "axis", GE_ATTR_INT) != nullptr) {
    given = {node.Int("axis", 0)};
  } else if (node.Has(1)) {
    const auto known = node.Ints(1);
    if (!known) return std::nullopt;
    given = *known;
  }
  std::set<size_t> axes;
  for (const int64_t a : given) axes.insert(static_cast<size_t>(a < 0 ? a + rank : a));
  if (given.empty() && node.Int("noop_with_empty_axes", 0) != 0) return axes;
  for (int64_t a = 0; given.empty() && a < rank; ++a) axes.insert(static_cast<size_t>(a));
  return axes;
}

// made: what stands behind the arrow of terms; null: axes that are reduced stay whole.
std::string Reduction(const RuleNode& node, const char* made) {
  const size_t rank = node.in(0).size();
  const auto axes = ReducedAxes(node);
  if (rank > kMostDims || !axes) return {};
  std::string in, out;
  for (size_t d = 0; d < rank; ++d) {
    const bool reduced = axes->count(d) != 0;
    in += reduced && made == nullptr ? '.' : Letter(d);
    if (!reduced) out += Letter(d);
    if (reduced && node.out().size() == rank) out += '.';
  }
  return in + ",- ->" + (made == nullptr ? "" : made) + out;
}

}  // namespace

std::string Reduced(const RuleNode& node) { return Reduction(node, nullptr); }
std::string Summed(const RuleNode& node) { return Reduction(node, ""); }
std::string Greatest(const RuleNode& node) { return Reduction(node, " max: "); }
std::string Least(const RuleNode& node) { return Reduction(node, " min: "); }

// All outputs look like the input but for that axis; inputs beside the first are settings.
std::string AlongAxis(const RuleNode& node) {
  const size_t rank = node.in(0).size();
  size_t axis = node.Axis("axis", -1, rank);
  if (plugin::View(node.n.op) == "CumSum") {  // its axis is an input
    const auto known = node.Ints(1);
    if (!known || known->size() != 1) return {};
    const int64_t a = known->front();
    axis = static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(rank) : a);
  }
  if (rank > kMostDims || axis >= rank) return {};
  std::string dims = Letters(rank);
  dims[axis] = '.';
  std::string text = dims;
  for (size_t i = 1; i < node.o.in.size(); ++i) text += ",-";
  text += " ->" + dims;
  for (size_t i = 1; i < node.o.out.size(); ++i) text += "," + dims;
  return text;
}

// As LayerNormalization: scale and bias lie along the axes that stay whole.
std::string BehindAxis(const RuleNode& node) {
  const size_t rank = node.in(0).size(), axis = node.Axis("axis", -1, rank);
  if (axis >= rank || axis > kMostDims) return {};
  for (size_t i = 1; i < node.o.in.size(); ++i) {
    if (node.in(i).size() > rank - axis) return {};
  }
  std::string text = Letters(axis) + "*";
  for (size_t i = 1; i < node.o.in.size(); ++i) text += ",-";
  text += " ->" + Letters(axis) + "*";
  for (size_t i = 1; i < node.o.out.size(); ++i) text += "," + Letters(axis) + "*";
  return text;
}

std::string SumToShape(const RuleNode& node) {
  const std::vector<int64_t>&x = node.in(0), &y = node.out();
  if (x.size() > kMostDims || y.size() > x.size()) return {};
  const size_t extra = x.size() - y.size();
  std::string out;
  for (size_t d = 0; d < y.size(); ++d) out += y[d] == x[extra + d] ? Letter(extra + d) : '.';
  return Letters(x.size()) + ",S->" + out;
}

// Each sample has a loss of its own, or they are added up. Weights of classes are settings; a mean
// divides by all samples.
std::string ClassLoss(const RuleNode& node) {
  const std::string how = node.Text("reduction");
  if (how == "none") return "n*,n*,- -> n*,n*";
  return how == "sum" && node.o.out.size() == 1 ? "n*,n*,- -> " : std::string();
}

// By its own statistics it is the same for each sample.
std::string BatchNorm(const RuleNode& node) {
  if (node.Int("training_mode", 0) != 0) return ".c*,c,c,c,c->.c*,c,c";
  return "nc*,c,c,c,c->nc*";
}

}  // namespace ge::parallel
