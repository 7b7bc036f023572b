#include "plugins/units/matmul/double_product.h"

#include <algorithm>

#include "plugins/units/parser.h"

namespace ge_engines {

ProductShape ShapeOfProduct(Dims a, Dims b, const DoubleProductSpec& spec) {
  if (a.size() == 1) a.insert(a.begin(), 1, 1);
  if (b.size() == 1) b.push_back(1);
  if (spec.trans_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (spec.trans_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  ProductShape s;
  s.m = a[a.size() - 2];
  s.k = a[a.size() - 1];
  s.n = b[b.size() - 1];
  const size_t rank = std::max(a.size(), b.size()) - 2;
  s.of_a = Dims(rank + 2 - a.size(), 1);
  s.of_a.insert(s.of_a.end(), a.begin(), a.end() - 2);
  s.of_b = Dims(rank + 2 - b.size(), 1);
  s.of_b.insert(s.of_b.end(), b.begin(), b.end() - 2);
  for (size_t d = 0; d < rank; ++d) s.batch.push_back(std::max(s.of_a[d], s.of_b[d]));
  return s;
}

namespace {

bool ParseDoubleMatMul(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  if (g.dims(n.in[0]).empty() || g.dims(n.in[1]).empty()) return why->Say(GE_WHY_SHAPE, "a scalar");
  u->spec = DoubleProductSpec();
  u->in.push_back(n.in[1]);
  return true;
}

bool ParseDoubleGemm(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  for (const Dims& d : {u->dims, g.dims(n.in[0]), g.dims(n.in[1])}) {
    if (d.size() != 2) return why->Say(GE_WHY_SHAPE, "matrices are wanted");
  }
  auto& s = u->spec.emplace<DoubleProductSpec>();
  s.trans_a = gp::AttrInt(n, "transA") != 0;
  s.trans_b = gp::AttrInt(n, "transB") != 0;
  s.alpha = gp::AttrFloat(n, "alpha");
  s.beta = gp::AttrFloat(n, "beta");
  u->in.push_back(n.in[1]);
  if (n.n_in < 3 || n.in[2] == 0) return true;
  u->in.push_back(n.in[2]);
  return Broadcasts(g.dims(n.in[2]), u->dims) ||
         why->Say(GE_WHY_SHAPE, "C does not broadcast to the output");
}

constexpr Operator kDoubleProductOperators[] = {
    {"MatMul", ParseDoubleMatMul, Types::kDouble, 0},
    {"Gemm", ParseDoubleGemm, Types::kDouble, 0},
};
}  // namespace

const UnitKind DoubleProductSpec::kKind = {.name = "double_product",
                                           .operators = kDoubleProductOperators};

}  // namespace ge_engines
