#include "tools/ge_test/random/gradients.h"

namespace ge::test {
namespace {

void MaxPoolGradCase(CaseMaker& m) {
  Window w = m.large ? LargePoolWindow(m) : MakeWindow(m, true);
  if (m.r.Chance(0.3)) {  // pairs of pairs
    w = {};
    w.kernel = w.strides = {2, 2};
    w.dilations = {1, 1};
    w.pads = {0, 0, 0, 0};
    w.size = {m.large ? m.r.Int(2, 130) : m.r.Int(2, 9), m.r.Int(2, m.large ? 130 : 70)};
  }
  for (size_t i = 0; w.automatic && i < w.size.size(); ++i) {
    w.size[i] = std::max(w.size[i], Reach(w, i));
  }
  m.Set("kernel_shape", w.kernel);
  SetWindow(m, w, true);
  SetAllPads(m, w);
  if (!w.automatic && m.r.Chance(0.3)) m.Set("ceil_mode", int64_t{1});
  if (m.r.Chance(0.3)) m.Set("storage_order", int64_t{1});
  Dims head = {m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), m.Size(4, 40)};
  while (m.large && head[1] > 1 && head[1] * CountOf(w.size) * CountOf(w.kernel) > 4'000'000) {
    head[1] = (head[1] + 1) / 2;
  }
  m.Add(Signal(m, Cat(head, PlainWindows(m.c, w.size, w.kernel).out)));
  m.Add(m.Numbers(m.dtype(), Cat(head, w.size), -2, 2));
}

bool PlainMaxPoolGrad(const RandomCase& c, HostTensor* out) {
  const HostTensor& dy = *c.inputs[0].tensor;
  RandomCase pool = c;
  pool.inputs.erase(pool.inputs.begin());
  const std::shared_ptr<HostTensor> windows = Convert(dy, DType::kDouble);  // of that shape
  std::vector<double> sums(static_cast<size_t>(out->count()));
  const auto add = [&](int64_t i, const std::vector<int64_t>& inside, int64_t) {
    const int64_t best = GreatestOf(*c.inputs[1].tensor, inside);
    if (best >= 0) sums[static_cast<size_t>(best)] += ElementAsDouble(dy, i);
  };
  if (!PlainPool(pool, IntsOr(c, "kernel_shape", {}), windows.get(), add)) return false;
  SetElements(sums, out);
  return true;
}

}  // namespace

GE_RANDOM_OP(max_pool_grad) = {"ge.MaxPoolGrad", MaxPoolGradCase, 4e-6, Error::kOfOutput,
                               PlainMaxPoolGrad};

}  // namespace ge::test
