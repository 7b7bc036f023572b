// What random cases of operators that move or reshape data share.
#pragma once

#include <algorithm>
#include <numeric>

#include "tools/ge_test/random_case.h"

namespace ge::test {

inline std::shared_ptr<HostTensor> Anything(CaseMaker& m, const Dims& dims) {
  return m.Numbers(m.dtype(), dims, -100, 100);
}

inline void AddShape(CaseMaker& m, const std::vector<int64_t>& v) {
  m.AddConstant(m.Ints(DType::kInt64, {static_cast<int64_t>(v.size())}, v));
}

inline int64_t Rank(const Dims& dims) { return static_cast<int64_t>(dims.size()); }

// Axes of `rank`, each kept with probability p, counted from either end.
inline std::vector<int64_t> SomeAxes(CaseMaker& m, int64_t rank, double p) {
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < rank; ++a) {
    if (m.r.Chance(p)) axes.push_back(m.Axis(a, rank));
  }
  return axes;
}

inline void Shuffle(CaseMaker& m, std::vector<int64_t>* v) {
  for (size_t i = v->size(); i > 1; --i) {
    std::swap((*v)[i - 1], (*v)[static_cast<size_t>(m.r.Int(0, static_cast<int64_t>(i) - 1))]);
  }
}

}  // namespace ge::test
