#include "passes/parallel/rules.h"

#include <algorithm>
#include <set>
#include <string>

#include "ge/ge_plugin.hpp"
#include "ge/ge_plugin_op.h"
#include "passes/kit/fn.h"

namespace ge::parallel {
namespace {

constexpr size_t kMostDims = 20;  // letters for them

struct Node {
  const ge_graph* g;
  const ge_node& n;
  const Operands& o;
  int64_t shares;
  int64_t Int(const char* name, int64_t otherwise) const {
    return plugin::AttrInt(n, name, otherwise);
  }
};

char Letter(size_t dim) { return static_cast<char>('a' + dim); }

// The factors as a text; empty: this node has none.
using Code = std::string (*)(const Node&);

std::string Elementwise(const Node& node) {
  const std::vector<int64_t>& y = node.o.out[0];
  if (y.size() > kMostDims) return {};
  std::string text;
  for (size_t i = 0; i < node.o.in.size(); ++i) {
    const std::vector<int64_t>& x = node.o.in[i];
    if (i > 0) text += ',';
    for (size_t d = 0; d < x.size(); ++d) {
      const size_t at = y.size() - x.size() + d;
      text += x[d] == y[at] ? Letter(at) : '.';
    }
  }
  text += "->";
  for (size_t d = 0; d < y.size(); ++d) text += Letter(d);
  return text;
}

std::string Gemm(const Node& node) {
  std::string text = node.Int("transA", 0) != 0 ? "ki" : "ik";
  text += node.Int("transB", 0) != 0 ? ",jk," : ",kj,";
  if (node.o.in.size() > 2 && !node.o.omitted[2]) {
    const std::vector<int64_t>&c = node.o.in[2], &y = node.o.out[0];
    for (size_t d = 0; d < c.size(); ++d) {
      const size_t at = y.size() - c.size() + d;
      text += c[d] == y[at] ? (at == 0 ? 'i' : 'j') : '.';
    }
  }
  return text + "->ij";
}

std::string MatMul(const Node& node) {
  const std::vector<int64_t>&a = node.o.in[0], &b = node.o.in[1], &y = node.o.out[0];
  if (a.size() < 2 || b.size() < 2 || y.size() > kMostDims) return {};
  const auto outer = [&](const std::vector<int64_t>& x) {
    std::string text;
    for (size_t d = 0; d + 2 < x.size(); ++d) {
      const size_t at = y.size() - x.size() + d;
      text += x[d] == y[at] ? Letter(at) : '.';
    }
    return text;
  };
  return outer(a) + "xz," + outer(b) + "zy->" + outer(y) + "xy";
}

// The axes that a node reduces; false where they are not known.
bool ReducedAxes(const Node& node, std::set<int64_t>* axes) {
  const auto rank = static_cast<int64_t>(node.o.in[0].size());
  std::vector<int64_t> given;
  const ge_attr* axis = ge_find_attr(&node.n, "axis");
  if (axis != nullptr) {
    given = {axis->i};
  } else if (node.n.n_in > 1 && node.n.in[1] != 0) {
    if (!passes::KnownInts(*GE_VALUE(node.g, node.n.in[1]), &given)) return false;
  }
  if (given.empty() && node.Int("noop_with_empty_axes", 0) != 0) return false;
  for (const int64_t a : given) axes->insert(a < 0 ? a + rank : a);
  for (int64_t a = 0; given.empty() && a < rank; ++a) axes->insert(a);
  return true;
}

// summed: split axes give terms of a sum; else those that are reduced stay whole.
std::string Reduction(const Node& node, bool summed) {
  const size_t rank = node.o.in[0].size();
  std::set<int64_t> axes;
  if (rank > kMostDims || !ReducedAxes(node, &axes)) return {};
  std::string in, out;
  for (size_t d = 0; d < rank; ++d) {
    const bool reduced = axes.count(static_cast<int64_t>(d)) != 0;
    in += reduced && !summed ? '.' : Letter(d);
    if (!reduced) out += Letter(d);
    if (reduced && node.o.out[0].size() == rank) out += '.';
  }
  return in + ",- ->" + out;
}

std::string Reduced(const Node& node) { return Reduction(node, false); }
std::string Summed(const Node& node) { return Reduction(node, true); }

std::string AlongAxis(const Node& node) {
  const size_t rank = node.o.in[0].size();
  if (rank > kMostDims) return {};
  int64_t axis = node.Int("axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(rank);
  std::string text;
  for (size_t d = 0; d < rank; ++d) text += static_cast<int64_t>(d) == axis ? '.' : Letter(d);
  return text + "->" + text;
}

std::string Transpose(const Node& node) {
  const size_t rank = node.o.in[0].size();
  const ge_attr* perm = ge_find_attr(&node.n, "perm");
  if (rank > kMostDims || (perm != nullptr && perm->n != rank)) return {};
  std::string in, out;
  for (size_t d = 0; d < rank; ++d) {
    in += Letter(d);
    out += Letter(perm == nullptr ? rank - 1 - d : static_cast<size_t>(perm->ints[d]));
  }
  return in + "->" + out;
}

std::string Expand(const Node& node) {
  const std::vector<int64_t>&x = node.o.in[0], &y = node.o.out[0];
  if (y.size() > kMostDims) return {};
  std::string in, out;
  for (size_t d = 0; d < y.size(); ++d) {
    const bool there = d + x.size() >= y.size();
    if (there) in += x[d + x.size() - y.size()] == y[d] ? Letter(d) : '.';
    out += Letter(d);
  }
  return in + ",S->" + out;
}

// Dims are taken in groups of equal products. The major dim of a group may be split where it stays
// as it is, or where all shares are whole rows of the rest on both sides.
std::string Reshape(const Node& node) {
  const std::vector<int64_t>&x = node.o.in[0], &y = node.o.out[0];
  if (x.size() > kMostDims || y.size() > kMostDims) return {};
  std::string in, out;
  size_t i = 0, k = 0;
  const auto take = [](const std::vector<int64_t>& dims, size_t* at, std::string* signs) {
    *signs += '.';
    return dims[(*at)++];
  };
  while (i < x.size() && k < y.size()) {
    const size_t from = in.size(), to = out.size();
    const int64_t lead_x = x[i], lead_y = y[k];
    int64_t px = take(x, &i, &in), py = take(y, &k, &out);
    while (px != py && (px < py ? i < x.size() : k < y.size())) {
      if (px < py)
        px *= take(x, &i, &in);
      else
        py *= take(y, &k, &out);
    }
    if (px != py || px == 0) return {};
    const bool rows = lead_x % node.shares == 0 && lead_y % node.shares == 0;
    if (lead_x == lead_y || rows) in[from] = out[to] = Letter(from);
  }
  in.append(x.size() - i, '.');
  out.append(y.size() - k, '.');
  const bool shape = plugin::View(node.n.op) == "Reshape";
  return in + (shape ? ",S->" : ",- ->") + out;
}

std::string OfShape(const Node&) { return {}; }

struct Rule {
  // By one of both.
  Rule(const char* said) : text(said) {}
  Rule(Code found) : code(found) {}
  const char* text = nullptr;
  Code code = nullptr;
};

struct Line {
  const char* domain;
  const char* op;
  Rule rule;
  Terms terms;
};

const Line kLines[] = {
#define GE_SPLIT(domain, op, rule, terms) {domain, #op, rule, Terms::terms},
#include "passes/parallel/rules.def"
#undef GE_SPLIT
};

Operands OperandsOf(const ge_graph* graph, const ge_node& n) {
  Operands o;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    o.in.push_back(DimsOf(graph, n.in[i]));
    o.omitted.push_back(n.in[i] == 0);
  }
  for (uint32_t i = 0; i < n.n_out; ++i) o.out.push_back(DimsOf(graph, n.out[i]));
  return o;
}

}  // namespace

std::vector<int64_t> DimsOf(const ge_graph* graph, uint32_t value) {
  if (value == 0) return {};
  const ge_type& t = GE_VALUE(graph, value)->type;
  return {t.dims, t.dims + std::max(0, t.rank)};
}

Split SplitOf(const ge_graph* graph, const ge_node& node, int64_t shares) {
  Split split;
  const auto* line = std::find_if(std::begin(kLines), std::end(kLines), [&](const Line& l) {
    return plugin::View(node.domain) == l.domain && plugin::View(node.op) == l.op;
  });
  if (line == std::end(kLines) || node.n_body > 0 || node.n_effect > 0) return split;
  split.known = true;
  split.terms = line->terms;
  if (line->rule.code == Code{OfShape}) {
    split.of_shape = true;
    return split;
  }
  const Operands o = OperandsOf(graph, node);
  const std::string text =
      line->rule.code != nullptr ? line->rule.code({graph, node, o, shares}) : line->rule.text;
  if (!text.empty()) split.ways = WaysOf(text, o, shares);
  return split;
}

}  // namespace ge::parallel
