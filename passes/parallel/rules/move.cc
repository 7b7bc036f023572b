// Operators that move elements.
#include <algorithm>

#include "passes/parallel/rules/rule_text.h"

namespace ge::parallel {
namespace {

// Dims from *at on whose product is that of a group; the place of the first above 1 in *lead.
struct Side {
  const std::vector<int64_t>& dims;
  std::string signs;
  size_t at = 0, lead = 0;
  int64_t product = 1;
  bool done() const { return at == dims.size(); }
  void Begin() {
    lead = at;
    product = 1;
  }
  void Take() {
    if (product == 1) lead = at;
    product *= dims[at++];
    signs += '.';
  }
};

}  // namespace

// Dims are taken in groups of equal products. The major dim of a group may be split in blocks of
// the rows that it has on each side.
std::string Reshape(const RuleNode& node) {
  if (node.in(0).size() > kMostDims || node.out().size() > kMostDims) return {};
  Side x{node.in(0), {}}, y{node.out(), {}};
  for (char letter = 'A'; !x.done() && !y.done(); ++letter) {
    x.Begin();
    y.Begin();
    x.Take();
    y.Take();
    while (x.product != y.product) {
      Side& less = x.product < y.product ? x : y;
      if (less.done()) return {};
      less.Take();
    }
    if (x.product == 0) return {};
    x.signs[x.lead] = y.signs[y.lead] = letter;
  }
  x.signs.append(x.dims.size() - x.at, '.');
  y.signs.append(y.dims.size() - y.at, '.');
  const bool shape = plugin::View(node.n.op) == "Reshape";
  return x.signs + (shape ? ",S->" : ",- ->") + y.signs;
}

// Without axes it looks for sizes of 1, which a share may have.
std::string Squeeze(const RuleNode& node) { return node.Has(1) ? Reshape(node) : std::string(); }

std::string Transpose(const RuleNode& node) {
  const size_t rank = node.in(0).size();
  const plugin::Span<int64_t> perm = plugin::AttrInts(node.n, "perm");
  if (rank > kMostDims || (!perm.empty() && perm.size() != rank)) return {};
  std::string out;
  for (size_t d = 0; d < rank; ++d) {
    out += Letter(perm.empty() ? rank - 1 - d : static_cast<size_t>(perm[d]));
  }
  return Letters(rank) + "->" + out;
}

std::string Expand(const RuleNode& node) {
  const std::vector<int64_t>& y = node.out();
  if (y.size() > kMostDims) return {};
  return Broadcast(node.in(0), y) + ",S->" + Letters(y.size());
}

std::string SameSizes(const RuleNode& node) {
  const std::vector<int64_t>&x = node.in(0), &y = node.out();
  if (x.size() > kMostDims || x.size() != y.size()) return {};
  const std::string dims = Broadcast(x, y);
  return dims + ",- ->" + dims;
}

// Dims that it does not look at.
std::string Slice(const RuleNode& node) {
  const size_t rank = node.in(0).size();
  std::string dims = Letters(rank);
  if (rank > kMostDims || !node.Has(1) || node.in(1).size() != 1) return {};
  if (node.Has(3)) {
    const auto axes = node.Ints(3);
    if (!axes) return {};
    for (const int64_t a : *axes)
      dims[static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(rank) : a)] = '.';
  } else {
    std::fill_n(dims.begin(), std::min<int64_t>(node.in(1)[0], static_cast<int64_t>(rank)), '.');
  }
  return dims + ",-,-,-,- ->" + dims;
}

// Dims that get nothing.
std::string Pad(const RuleNode& node) {
  const size_t rank = node.in(0).size();
  const auto pads = node.Ints(1);
  std::vector<int64_t> axes;
  if (rank > kMostDims || !pads) return {};
  if (node.Has(3)) {
    const auto given = node.Ints(3);
    if (!given) return {};
    axes = *given;
  } else {
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  }
  if (pads->size() != 2 * axes.size()) return {};
  std::string dims = Letters(rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    if ((*pads)[i] == 0 && (*pads)[axes.size() + i] == 0) continue;
    dims[static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i])] = '.';
  }
  return dims + ",-,-,- ->" + dims;
}

std::string Concat(const RuleNode& node) {
  const size_t rank = node.out().size(), axis = node.Axis("axis", 0, rank);
  if (rank > kMostDims || axis >= rank) return {};
  std::string dims = Letters(rank), text = dims;
  text[axis] = dims[axis] = '.';
  for (size_t i = 1; i < node.o.in.size(); ++i) text += "," + dims;
  return text + "->" + dims;
}

std::string Matrices(const RuleNode& node) {
  const size_t rank = node.in(0).size();
  if (rank < 2 || rank - 2 > kMostDims) return {};
  return Letters(rank - 2) + "..,- ->" + Letters(rank - 2) + "..";
}

std::string OfBox(const RuleNode& node) {
  if (node.out().size() > kMostDims) return {};
  return "S->" + Letters(node.out().size());
}

}  // namespace ge::parallel
