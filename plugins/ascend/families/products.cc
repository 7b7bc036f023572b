// Products of matrices.
#include "plugins/ascend/families/family.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/matmul/matmul_transposes.h"

namespace ge_engines::ascend {
namespace {

// A matrix, or its transpose: the same storage by other strides. A constant one on the right is
// packed in blocks where the engine has private formats; no caller shows that of bfloat16.
Operand MatrixOf(uint32_t value, bool right, bool transposed, Calls* c) {
  const Parser& p = c->parser();
  if (right && c->formats() && p.constant(value) && p.dims(value).size() == 2 &&
      p.dtype(value) != GE_BF16) {
    return c->FractalPack(value, transposed);
  }
  Form form = c->FormOf(value);
  const size_t rank = form.dims.size();
  if (transposed) {
    std::swap(form.dims[rank - 1], form.dims[rank - 2]);
    std::swap(form.strides[rank - 1], form.strides[rank - 2]);
  }
  return c->In(value, form);
}

// A Gemm's own C and alpha: alpha * a * b + beta * C, rounded once.
struct Own {
  float alpha = 1, beta = 1;
  uint32_t c = 0;                   // 0: none, and then the rest is not its own either
  size_t biases = 0, post_ops = 0;  // of the unit's, that are in it
};

Own OwnOf(const Unit& u, const Parser& p) {
  Own own;
  if (u.dims.size() != 2 || p.dims(u.in[0]).size() != 2 || p.dims(u.in[1]).size() != 2) return own;
  if (!u.bias.empty()) {
    own.c = u.bias[0];
    own.beta = u.bias_factor;
    own.biases = 1;
    return own;
  }
  if (As<ProductSpec>(u)->alpha != 1) {
    own.alpha = As<ProductSpec>(u)->alpha;
    own.post_ops = 1;
  }
  if (own.post_ops < u.post_ops.size()) {
    const PostOp& q = u.post_ops[own.post_ops];
    if (q.fn == Fn::kAdd && q.operand != 0 && p.dims(q.operand).size() <= 2) {
      own.c = q.operand;
      ++own.post_ops;
    }
  }
  return own.c == 0 ? Own() : own;
}

void RecordProduct(const Unit& u, Calls* c) {
  constexpr size_t kMostAxes = 6;
  const auto& spec = *As<ProductSpec>(u);
  if (u.dims.size() > kMostAxes) Calls::Refuse(GE_WHY_SHAPE, "more than six axes");
  const Own own = OwnOf(u, c->parser());
  const Operand left = MatrixOf(u.in[0], false, spec.trans_a, c),
                right = MatrixOf(u.in[1], true, spec.trans_b, c), y = c->Out(u.out[0]);
  if (own.c != 0) {
    c->Add(c->op().Addmm, c->In(own.c), left, right, Real(own.beta), Real(own.alpha), y,
           acl::kKeepDtype);
  } else {
    c->Add(c->op().Matmul, left, right, y, acl::kKeepDtype);
  }
  RecordSteps(u, y, c, own.biases, own.post_ops);
}

constexpr AscendKind kProducts[] = {
    {&ProductSpec::kKind, RecordProduct}, {&kMatMulTransposes, RecordProduct},  // makes those above
};

}  // namespace

std::span<const AscendKind> ProductKinds() { return kProducts; }

}  // namespace ge_engines::ascend
