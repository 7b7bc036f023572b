// RuleText: what the names in rules.def stand for: the factors of one node, as a text that
// factors.h explains, where a line cannot say them. One file a family. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "passes/parallel/factors.h"

namespace ge::parallel {

struct RuleNode {
  const ge_graph* g;
  const ge_node& n;
  const Operands& o;
  int64_t Int(const char* name, int64_t otherwise) const;
  std::string Text(const char* name) const;
  // An attribute that counts from the end, too.
  size_t Axis(const char* name, int64_t otherwise, size_t rank) const;
  bool Has(size_t input) const { return input < o.in.size() && !o.omitted[input]; }
  const std::vector<int64_t>& in(size_t i) const { return o.in[i]; }
  const std::vector<int64_t>& out(size_t i = 0) const { return o.out[i]; }
  // Whole numbers of an input; nothing where they are not known.
  std::optional<std::vector<int64_t>> Ints(size_t input) const;
  // Whether an input is zeros, as a gradient begins with.
  bool IsZero(size_t input) const;
};

// The text; empty: this node has no way to split.
using RuleText = std::string (*)(const RuleNode&);

// Letters for so many dims, which leave z to w and S for others.
inline constexpr size_t kMostDims = 18;
inline char Letter(size_t dim) { return static_cast<char>('a' + dim); }
// A letter for each of so many dims, from that of `first` on.
std::string Letters(size_t n, size_t first = 0);
// The letters of the dims of y for an operand that is broadcast to it.
std::string Broadcast(const std::vector<int64_t>& x, const std::vector<int64_t>& y);

// elementwise.cc
std::string Elementwise(const RuleNode& node);
std::string Alike(const RuleNode& node);    // by the first input; the others are settings
std::string Dropout(const RuleNode& node);  // what draws is made whole
// product.cc
std::string Gemm(const RuleNode& node);
std::string MatMul(const RuleNode& node);
std::string Einsum(const RuleNode& node);
std::string Attention(const RuleNode& node);
std::string Conv(const RuleNode& node);
std::string ConvGradInput(const RuleNode& node);
std::string ConvGradWeight(const RuleNode& node);
// reduce.cc
std::string Reduced(const RuleNode& node);   // axes that are reduced stay whole
std::string Summed(const RuleNode& node);    // they give terms of a sum
std::string Greatest(const RuleNode& node);  // of the greatest
std::string Least(const RuleNode& node);     // of the least
std::string AlongAxis(const RuleNode& node);
std::string BehindAxis(const RuleNode& node);  // the axis and all behind it stay whole
std::string SumToShape(const RuleNode& node);
std::string ClassLoss(const RuleNode& node);
std::string BatchNorm(const RuleNode& node);
// move.cc
std::string Reshape(const RuleNode& node);
std::string Squeeze(const RuleNode& node);
std::string Transpose(const RuleNode& node);
std::string Expand(const RuleNode& node);
std::string SameSizes(const RuleNode& node);  // dims that the first output has unchanged
std::string Slice(const RuleNode& node);
std::string Pad(const RuleNode& node);
std::string Concat(const RuleNode& node);
std::string Matrices(const RuleNode& node);  // all dims but the last two
std::string OfBox(const RuleNode& node);     // made of the shape alone
// index.cc
std::string Gather(const RuleNode& node);
std::string GatherElements(const RuleNode& node);
std::string GatherND(const RuleNode& node);
std::string ScatterElements(const RuleNode& node);
std::string ScatterND(const RuleNode& node);
std::string AddRows(const RuleNode& node);
std::string OneHot(const RuleNode& node);

}  // namespace ge::parallel
