#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void CompressCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const bool flat = m.r.Chance(0.3);
  const int64_t axis = m.r.Int(0, Rank(dims) - 1);
  int64_t length = flat ? 1 : dims[static_cast<size_t>(axis)];
  for (size_t d = 0; flat && d < dims.size(); ++d) length *= dims[d];
  m.Add(Anything(m, dims));
  m.Add(m.Numbers(DType::kBool, {m.r.Int(0, length)}, 0, 1));
  if (!flat) m.Set("axis", m.Axis(axis, Rank(dims)));
}

bool PlainCompress(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &keep = *c.inputs[1].tensor;
  const bool flat = FindAttr(c, "axis") == nullptr;
  int64_t axis = IntOr(c, "axis", 0), to = 0;
  if (axis < 0) axis += Rank(x.dims);
  Index at(x.dims);
  Dims dims = flat ? Dims{0} : x.dims;
  int64_t& kept = dims[static_cast<size_t>(flat ? 0 : axis)];
  kept = 0;
  const int64_t length = flat ? x.count() : x.dims[static_cast<size_t>(axis)];
  for (int64_t k = 0; k < std::min(length, keep.count()); ++k) kept += ElementAsInt(keep, k);
  if (dims != out->dims) return false;
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t k = flat ? i : at.at[static_cast<size_t>(axis)];
    if (k < keep.count() && ElementAsInt(keep, k) != 0) Copy(x, i, out, to++);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(compress) = {"Compress", CompressCase, 0, Error::kOfElement, PlainCompress};

}  // namespace ge::test
