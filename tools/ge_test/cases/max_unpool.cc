#include <numeric>

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void MaxUnpoolCase(CaseMaker& m) {
  const Window w = MakeWindow(m, false);
  Dims dims = {m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), m.r.Int(1, 3)}, whole = dims;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    // At least one element more than the pads take away.
    const int64_t pads = w.pads[i] + w.pads[i + w.kernel.size()];
    dims.push_back(m.r.Int(1, 3) + (w.kernel[i] <= pads ? pads : 0));
    whole.push_back((dims.back() - 1) * w.strides[i] + w.kernel[i] - pads);
  }
  const auto x = Signal(m, dims);
  const int64_t count =
      std::accumulate(whole.begin(), whole.end(), int64_t{1}, std::multiplies<>());
  m.Add(x);
  // Two elements may meet: the later one stays.
  std::vector<int64_t> index(static_cast<size_t>(x->count()));
  for (int64_t& i : index) i = m.r.Int(0, count - 1);
  m.Add(m.Ints(DType::kInt64, dims, index));
  if (m.r.Chance(0.4)) {
    for (size_t i = 2; i < whole.size(); ++i) whole[i] += m.r.Int(0, 2);
    m.AddConstant(m.Ints(DType::kInt64, {static_cast<int64_t>(whole.size())}, whole));
  }
  m.Set("kernel_shape", w.kernel);
  m.Set("strides", w.strides);
  m.Set("pads", w.pads);
}

bool PlainMaxUnpool(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &index = *c.inputs[1].tensor;
  const Dims kernel = IntsOr(c, "kernel_shape", {}), strides = IntsOr(c, "strides", {}),
             pads = IntsOr(c, "pads", {});
  Dims inner = x.dims;
  for (size_t i = 0; i < kernel.size(); ++i) {
    inner[i + 2] = (x.dims[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + kernel.size()];
  }
  const HostTensor* shape = Maybe(c, 2);
  if (out->dims != (shape ? Values(*shape) : inner)) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) SetElement(out, i, 0);
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    Index at(inner);
    for (int64_t k = ElementAsInt(index, i); k > 0; --k) at.Next();
    Copy(x, i, out, Flat(out->dims, at.at));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(max_unpool) = {"MaxUnpool", MaxUnpoolCase, 0, Error::kOfElement, PlainMaxUnpool};

}  // namespace ge::test
