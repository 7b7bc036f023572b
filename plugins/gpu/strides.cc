#include "plugins/gpu/strides.h"

#include <algorithm>
#include <stdexcept>

namespace ge_engines::gpu {

Dims BroadcastStrides(const Dims& x, const Dims& y) {
  const Dims dense = StridesOf(x);
  Dims s(y.size(), 0);
  const size_t missing = y.size() - x.size();
  for (size_t k = 0; k < x.size(); ++k) s[missing + k] = x[k] == 1 ? 0 : dense[k];
  return s;
}

void MergeAxes(Dims* dims, std::vector<Dims>* strides) {
  Dims merged;
  std::vector<Dims> kept(strides->size());
  for (size_t k = 0; k < dims->size(); ++k) {
    const int64_t size = (*dims)[k];
    if (size == 1) continue;
    bool joins = !merged.empty();
    for (size_t t = 0; joins && t < kept.size(); ++t) {
      joins = kept[t].back() == (*strides)[t][k] * size;
    }
    if (joins) {
      merged.back() *= size;
    } else {
      merged.push_back(size);
    }
    for (size_t t = 0; t < kept.size(); ++t) {
      if (joins) {
        kept[t].back() = (*strides)[t][k];
      } else {
        kept[t].push_back((*strides)[t][k]);
      }
    }
  }
  *dims = merged;
  *strides = std::move(kept);
}

AxesApart::AxesApart(const Dims& x, const Dims& reduced) {
  const Dims strides = StridesOf(x);
  Dims out, in;
  std::vector<Dims> of_out(1), of_in(1);
  for (size_t k = 0; k < x.size(); ++k) {
    const bool inner =
        std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(k)) != reduced.end();
    (inner ? in : out).push_back(x[k]);
    (inner ? of_in : of_out)[0].push_back(strides[k]);
  }
  rows = Product(out);
  length = Product(in);
  MergeAxes(&out, &of_out);
  MergeAxes(&in, &of_in);
  outside = AxesOf(out);
  inside = AxesOf(in);
  out_strides = StridesFor(of_out[0]);
  in_strides = StridesFor(of_in[0]);
  beside = of_in[0].empty() || of_in[0].back() == 1;
  rows_apart = of_in[0] == Dims{1} && std::all_of(of_out[0].begin(), of_out[0].end(),
                                                  [&](int64_t s) { return s % length == 0; });
  rows_dense = rows_apart && (of_out[0].empty() || of_out[0] == Dims{length});
}

AxesApart AxesApart::Rows(int64_t rows, int64_t length) { return {Dims{rows, length}, Dims{1}}; }

int64_t AxesApart::Parts() const {
  constexpr int64_t kManyRows = 128, kLeastPart = 4096, kMostParts = 1024;
  int64_t parts = 1;
  if (!rows_dense || rows >= kManyRows) return parts;
  while (parts < kMostParts && length % (2 * parts) == 0 && length / (2 * parts) >= kLeastPart) {
    parts *= 2;
  }
  return parts;
}

Axes AxesOf(const Dims& dims) {
  if (dims.size() > kMostAxes) throw std::runtime_error("a tensor of more than 8 axes");
  Axes axes;
  axes.count = static_cast<int32_t>(dims.size());
  for (size_t k = 0; k < dims.size(); ++k) {
    axes.size[k] = Divider::By(static_cast<uint64_t>(dims[k]));
  }
  return axes;
}

Strides StridesFor(const Dims& strides) {
  if (strides.size() > kMostAxes) throw std::runtime_error("a tensor of more than 8 axes");
  Strides s;
  for (size_t k = 0; k < strides.size(); ++k) s.at[k] = strides[k];
  return s;
}

}  // namespace ge_engines::gpu
