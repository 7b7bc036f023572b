// Products: matrices, convolutions, Einsum, Attention.
#include <map>

#include "passes/parallel/rules/rule_text.h"

namespace ge::parallel {

std::string Gemm(const RuleNode& node) {
  std::string text = node.Int("transA", 0) != 0 ? "ki" : "ik";
  text += node.Int("transB", 0) != 0 ? ",jk," : ",kj,";
  if (node.Has(2)) {
    text += "+";
    for (const char c : Broadcast(node.in(2), node.out()))
      text += c == 'a' ? 'i' : c == 'b' ? 'j' : c;
  }
  return text + "->ij";
}

// A vector is a matrix of one row ahead of the product, of one column behind it.
std::string MatMul(const RuleNode& node) {
  const std::vector<int64_t>&a = node.in(0), &b = node.in(1), &y = node.out();
  const bool rows = a.size() > 1, columns = b.size() > 1;
  if (y.size() > kMostDims || a.empty() || b.empty()) return {};
  const std::vector<int64_t> outer(y.begin(), y.end() - (rows ? 1 : 0) - (columns ? 1 : 0));
  const auto front = [&](const std::vector<int64_t>& x) {
    if (x.size() < 3) return std::string();
    return Broadcast({x.begin(), x.end() - 2}, outer);
  };
  return front(a) + (rows ? "xz," : "z,") + front(b) + (columns ? "zy->" : "z->") +
         Letters(outer.size()) + (rows ? "x" : "") + (columns ? "y" : "");
}

// Its own letters, which may be capitals there, made ours.
std::string Einsum(const RuleNode& node) {
  std::map<char, char> ours;
  std::string text;
  bool arrow = false;
  for (const char c : node.Text("equation")) {
    if (c == ' ') continue;
    if (c == '.') return {};
    arrow = arrow || c == '>';
    if (c == ',' || c == '-' || c == '>') {
      text += c;
      continue;
    }
    const auto [at, fresh] = ours.insert({c, Letter(ours.size())});
    if (fresh && ours.size() > 25) return {};
    text += at->second;
  }
  return arrow ? text : std::string();  // without one the letters' own order counts
}

// Of [batch, heads, rows, size]. Queries share keys in blocks of heads; with a causal mask a row's
// place counts. A past, lengths and results beside the first are split by batch alone.
std::string Attention(const RuleNode& node) {
  const bool plain = node.o.in.size() <= 4 && node.o.out.size() == 1;
  const bool heads = plain && node.in(0).size() == 4;
  const int64_t batch = node.in(0)[0];
  const std::string q = node.Int("is_causal", 0) != 0 ? "." : "q";
  std::string text;
  for (size_t i = 0; i < node.o.in.size(); ++i) {
    if (i > 0) text += ",";
    if (!node.Has(i)) continue;
    const std::vector<int64_t>& x = node.in(i);
    if (i == 3) {
      std::string mask(x.size(), '.');
      const auto put = [&](size_t from_end, int64_t size, const char* sign) {
        if (x.size() >= from_end && x[x.size() - from_end] == size)
          mask[x.size() - from_end] = *sign;
      };
      put(4, batch, "b");
      if (heads) put(3, node.in(0)[1], "H");
      if (heads) put(2, node.in(0)[2], q.c_str());
      text += mask;
    } else if (heads) {
      text += i == 0 ? "bH" + q + "." : i == 1 ? "bH.." : "bH.v";
    } else {
      text += "b*";
    }
  }
  text += heads ? "->bH" + q + "v" : "->b*";
  for (size_t i = 1; i < node.o.out.size(); ++i) text += ",b*";
  return text;
}

namespace {
bool OneGroup(const RuleNode& node) { return node.Int("group", 1) == 1; }
}  // namespace

std::string Conv(const RuleNode& node) {
  return OneGroup(node) ? "nc*,oc*,+o->no*" : "n.*,.*,.->n.*";
}

std::string ConvGradInput(const RuleNode& node) {
  return OneGroup(node) ? "no*,oc*,S->nc*" : "n.*,.*,S->n.*";
}

std::string ConvGradWeight(const RuleNode& node) {
  return OneGroup(node) ? "nc*,no*,S->oc*" : "n.*,n.*,S->*";
}

}  // namespace ge::parallel
