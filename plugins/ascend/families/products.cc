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

void RecordProduct(const Unit& u, Calls* c) {
  constexpr size_t kMostAxes = 6;
  const auto& spec = *As<ProductSpec>(u);
  if (u.dims.size() > kMostAxes) Calls::Refuse(GE_WHY_SHAPE, "more than six axes");
  const GemmTerms own = TermsOf(u, c->parser());
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
