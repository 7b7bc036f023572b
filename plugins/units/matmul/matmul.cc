#include "plugins/units/matmul/matmul.h"

#include <algorithm>

namespace ge_engines {

bool ParseMatMul(const Parser& parser, uint32_t i, Unit* unit, Why* why) {
  const ge_node& n = parser.node(i);
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  unit->spec = ProductSpec();
  unit->in.push_back(n.in[1]);
  const Dims a = parser.dims(n.in[0]), b = parser.dims(n.in[1]);
  if (a.size() < 2 || b.size() < 2) return why->Say(GE_WHY_SHAPE, "a vector operand");
  if (b.size() == 2) return true;
  // Batches must agree, or one operand must have none.
  const auto batch = [](const Dims& d) {  // 1s in front say nothing
    const auto first = std::find_if(d.begin(), d.end() - 2, [](int64_t n) { return n != 1; });
    return Dims(first, d.end() - 2);
  };
  const Dims batch_a = batch(a), batch_b = batch(b);
  if (Product(batch_a) != 1 && Product(batch_b) != 1 && batch_a != batch_b) {
    return why->Say(GE_WHY_SHAPE, "batches " + ToText(batch_a) + " and " + ToText(batch_b) +
                                      " need broadcasting");
  }
  return true;
}

GemmTerms TermsOf(const Unit& unit, const Parser& parser) {
  GemmTerms terms;
  if (unit.dims.size() != 2 || parser.dims(unit.in[0]).size() != 2 ||
      parser.dims(unit.in[1]).size() != 2) {
    return terms;
  }
  if (!unit.bias.empty()) {
    terms.c = unit.bias[0];
    terms.beta = unit.bias_factor;
    terms.biases = 1;
    return terms;
  }
  if (unit.spec.get<ProductSpec>().alpha != 1) {
    terms.alpha = unit.spec.get<ProductSpec>().alpha;
    terms.post_ops = 1;
  }
  if (terms.post_ops < unit.post_ops.size()) {
    const PostOp& q = unit.post_ops[terms.post_ops];
    if (q.fn == Fn::kAdd && q.operand != 0 && parser.dims(q.operand).size() <= 2) {
      terms.c = q.operand;
      ++terms.post_ops;
    }
  }
  return terms.c == 0 ? GemmTerms() : terms;
}

namespace {

bool ParseGemm(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  for (const Dims& d : {u->dims, g.dims(n.in[0]), g.dims(n.in[1])}) {
    if (d.size() != 2) return why->Say(GE_WHY_SHAPE, "matrices are wanted");
  }
  auto& s = u->spec.emplace<ProductSpec>();
  u->in.push_back(n.in[1]);
  s.trans_a = gp::AttrInt(n, "transA") != 0;
  s.trans_b = gp::AttrInt(n, "transB") != 0;
  s.alpha = static_cast<float>(gp::AttrFloat(n, "alpha"));
  u->bias_factor = static_cast<float>(gp::AttrFloat(n, "beta"));
  if (s.alpha != 1) {
    u->post_ops.push_back({Fn::kLinear, s.alpha, -0.0f, 0, nullptr});
  }
  if (n.n_in < 3 || n.in[2] == 0) return true;
  const uint32_t c = n.in[2];
  if (s.alpha == 1 && g.constant(c) &&
      (g.dims(c) == Dims{u->dims[1]} || g.dims(c) == Dims{1, u->dims[1]})) {
    u->bias.push_back(c);
  } else if (u->bias_factor == 1) {
    PostOp p;
    p.fn = Fn::kAdd;
    p.operand = c;
    u->post_ops.push_back(p);
  } else {
    return why->Say(GE_WHY_ATTRIBUTE, "beta is not 1 and C is no constant row");
  }
  return true;
}

constexpr Operator kMatmulOperators[] = {
    {.op = "MatMul", .parse = ParseMatMul, .data = 0},
    {"Gemm", ParseGemm, Types::kFloat, 0},
};
}  // namespace

const UnitKind ProductSpec::kKind = {
    .name = "matmul", .operators = kMatmulOperators, .post_ops = PostOps::kColumns};

}  // namespace ge_engines
