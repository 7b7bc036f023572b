#include "tools/ge_test/oracle/channels_last.h"
#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void NhwcMaxPoolCase(CaseMaker& m) {
  const Window w = m.large ? LargePoolWindow(m) : MakeWindow(m, true);
  Dims size = w.size;
  for (size_t i = 0; w.automatic && i < size.size(); ++i) size[i] = std::max(size[i], Reach(w, i));
  m.Add(m.Numbers(m.dtype(), Cat(Cat({m.r.Int(1, 2)}, size), {m.r.Int(1, m.large ? 16 : 4)}), -50,
                  50));
  m.Set("kernel_shape", w.kernel);
  SetWindow(m, w, true);
  SetAllPads(m, w);
  if (!w.automatic && m.r.Chance(0.3)) m.Set("ceil_mode", int64_t{1});
}

bool PlainNhwcMaxPool(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims size(x.dims.begin() + 1, x.dims.end() - 1);
  const PlainWindows windows(c, size, IntsOr(c, "kernel_shape", {}));
  if (out->dims != Cat(Cat({x.dims[0]}, windows.out), {x.dims.back()})) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    int64_t most = x.dtype == DType::kInt8 ? -128 : 0;
    Index tap(windows.kernel);
    for (int64_t k = ProductOf(windows.kernel); k > 0; --k, tap.Next()) {
      const Dims from = windows.At(Dims(at.at.begin() + 1, at.at.end() - 1), tap.at);
      if (!windows.IsInside(from)) continue;
      const Dims place = Cat(Cat({at.at[0]}, from), {at.at.back()});
      most = std::max(most, ElementAsInt(x, Flat(x.dims, place)));
    }
    SetIntElement(out, i, most);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_nhwc_max_pool) = {"com.microsoft.NhwcMaxPool", NhwcMaxPoolCase, 0,
                                         Error::kOfElement, PlainNhwcMaxPool};

}  // namespace ge::test
