#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void MaxPoolCase(CaseMaker& m) {
  AddPool(m, "storage_order");
  if (m.r.Chance(0.4)) m.c.outputs = 2;
}

bool PlainMaxPool(const RandomCase& c, HostTensor* out) {
  return PlainGreatest(c, IntsOr(c, "kernel_shape", {}), out);
}

// Where the greatest elements lie in the whole tensor; in storage order 1 the places of a plane
// are counted with the first axis fastest.
bool PlainMaxPoolPlaces(const RandomCase& c, size_t, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims size = SpatialOf(x.dims);
  const int64_t area = ProductOf(size);
  const auto place = [&](int64_t i, const std::vector<int64_t>& inside, int64_t) {
    int64_t best = GreatestOf(x, inside);
    if (best >= 0 && IntOr(c, "storage_order", 0) != 0) {
      int64_t left = best % area, step = area, turned = 0;
      for (size_t d = size.size(); d-- > 0;) {
        step /= size[d];
        turned += left % size[d] * step;
        left /= size[d];
      }
      best = best / area * area + turned;
    }
    SetIntElement(out, i, best);
  };
  return PlainPool(c, IntsOr(c, "kernel_shape", {}), out, place);
}

}  // namespace

GE_RANDOM_OP(max_pool) = {"MaxPool",         MaxPoolCase,  0,
                          Error::kOfElement, PlainMaxPool, PlainMaxPoolPlaces};

}  // namespace ge::test
