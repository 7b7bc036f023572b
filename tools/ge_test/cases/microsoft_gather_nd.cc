#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void GatherNDMsCase(CaseMaker& m) {
  Dims dims(static_cast<size_t>(m.r.Int(1, 3)));
  for (int64_t& d : dims) d = m.r.Int(2, m.large ? 6 : 4);
  m.Add(Signal(m, dims));
  const Dims places = Cat(m.Shape(0, 2, false), {m.r.Int(1, static_cast<int64_t>(dims.size()))});
  m.Add(m.Numbers(m.r.Chance(0.5) ? DType::kInt32 : DType::kInt64, places, -2, 1));
}

bool PlainGatherNDMs(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &index = *c.inputs[1].tensor;
  const auto length = static_cast<size_t>(index.dims.back());
  Dims wanted(index.dims.begin(), index.dims.end() - 1);
  wanted.insert(wanted.end(), x.dims.begin() + static_cast<ptrdiff_t>(length), x.dims.end());
  if (out->dims != wanted) return false;
  int64_t slice = 1;
  for (size_t d = length; d < x.dims.size(); ++d) slice *= x.dims[d];
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < length; ++d) {
      const int64_t k =
          ElementAsInt(index, i / slice * index.dims.back() + static_cast<int64_t>(d));
      from = from * x.dims[d] + (k < 0 ? k + x.dims[d] : k);
    }
    Copy(x, from * slice + i % slice, out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_gather_nd) = {"com.microsoft.GatherND", GatherNDMsCase, 0, Error::kOfElement,
                                     PlainGatherNDMs};

}  // namespace ge::test
