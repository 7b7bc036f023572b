// Products of matrices.
#include "plugins/ascend/families/steps.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/matmul/matmul_transposes.h"

namespace ge_engines::ascend {
namespace {

bool TakesProduct(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  for (const uint32_t v : u.in) {
    if (p.dtype(v) != p.dtype(u.out[0])) {
      return why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
    }
  }
  if (u.dims.size() > 6) return why->Say(GE_WHY_SHAPE, "more than six axes");
  return Has(op.Matmul, "Matmul", why) && Has(op.Addmm, "Addmm", why) &&
         TakesSteps(u, u.dims, p, op, why);
}

// A matrix, or its transpose: the same storage by other strides.
Form MatrixOf(const Parser& parser, uint32_t value, bool transposed, const Calls& c) {
  Form form = c.FormOf(value);
  (void)parser;
  if (transposed) {
    const size_t rank = form.dims.size();
    std::swap(form.dims[rank - 1], form.dims[rank - 2]);
    std::swap(form.strides[rank - 1], form.strides[rank - 2]);
  }
  return form;
}

// A Gemm's own C and alpha: alpha * a * b + beta * C, rounded once.
struct Own {
  float alpha = 1, beta = 1;
  uint32_t c = 0;
  size_t biases = 0, post_ops = 0;  // of the unit's, that are in it
};

Own OwnOf(const Unit& u, const Parser& p) {
  Own own;
  if (u.dims.size() != 2 || p.dims(u.in[0]).size() != 2 || p.dims(u.in[1]).size() != 2) return own;
  const float alpha = As<ProductSpec>(u)->alpha;
  if (!u.bias.empty()) {
    own.c = u.bias[0];
    own.beta = u.bias_factor;
    own.biases = 1;
    return own;
  }
  if (alpha != 1) {
    own.alpha = alpha;
    own.post_ops = 1;
  }
  if (own.post_ops < u.post_ops.size()) {
    const PostOp& q = u.post_ops[own.post_ops];
    if (q.fn == Fn::kAdd && q.operand != 0 && p.dims(q.operand).size() <= 2) {
      own.c = q.operand;
      ++own.post_ops;
    }
  }
  if (own.c == 0) return Own();  // Addmm wants a C
  return own;
}

void RecordProduct(const Unit& u, Calls* c) {
  const auto& spec = *As<ProductSpec>(u);
  const Parser& p = c->parser();
  const Own own = OwnOf(u, p);
  const device::Ref a = c->recorder().Read(u.in[0]), b = c->recorder().Read(u.in[1]);
  for (const PostOp& q : u.post_ops) {
    if (q.operand != 0) (void)c->recorder().Read(q.operand);
  }
  if (own.c != 0) (void)c->recorder().Read(own.c);
  const device::Ref y = c->recorder().Write(u.out[0]);
  const Form result = c->FormOf(u.out[0]);
  TensorAt added;
  if (own.c != 0) added = c->In(own.c);
  const TensorAt left = c->In(a, MatrixOf(p, u.in[0], spec.trans_a, *c)),
                 right = c->In(b, MatrixOf(p, u.in[1], spec.trans_b, *c)), out = c->Out(y, result);
  if (own.c != 0) {
    c->Add(c->op().Addmm, added, left, right, ScalarOf{own.beta, acl::kF32},
           ScalarOf{own.alpha, acl::kF32}, out, acl::kKeepDtype);
  } else {
    c->Add(c->op().Matmul, left, right, out, acl::kKeepDtype);
  }
  RecordSteps(u, y, u.dims, y, c, own.biases, own.post_ops);
}

uint32_t ProductOperators(const Unit& u) { return 1 + OperatorsOfSteps(u); }

constexpr AscendKind kProducts[] = {
    {&ProductSpec::kKind, TakesProduct, RecordProduct, ProductOperators},
    {&kMatMulTransposes, TakesProduct, RecordProduct, ProductOperators},  // makes those above
};

}  // namespace

std::span<const AscendKind> ProductKinds() { return kProducts; }

}  // namespace ge_engines::ascend
