// Shared by random cases of operators that move or reshape data.
#pragma once

#include <algorithm>
#include <numeric>

#include "tools/ge_test/random_case.h"

namespace ge::test {

inline std::shared_ptr<HostTensor> Anything(CaseMaker& maker, const Dims& dims) {
  return maker.Numbers(maker.dtype(), dims, -100, 100);
}

inline void AddShape(CaseMaker& maker, const std::vector<int64_t>& values) {
  maker.AddConstant(maker.Ints(DType::kInt64, {static_cast<int64_t>(values.size())}, values));
}

inline int64_t Rank(const Dims& dims) { return static_cast<int64_t>(dims.size()); }

// Axes of `rank`, each kept with probability `probability`, counted from either end.
inline std::vector<int64_t> SomeAxes(CaseMaker& maker, int64_t rank, double probability) {
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < rank; ++a) {
    if (maker.r.Chance(probability)) axes.push_back(maker.Axis(a, rank));
  }
  return axes;
}

inline void Shuffle(CaseMaker& maker, std::vector<int64_t>* values) {
  for (size_t i = values->size(); i > 1; --i) {
    std::swap((*values)[i - 1],
              (*values)[static_cast<size_t>(maker.r.Int(0, static_cast<int64_t>(i) - 1))]);
  }
}

}  // namespace ge::test
