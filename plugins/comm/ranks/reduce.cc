#include "plugins/comm/ranks/reduce.h"

#include <algorithm>

namespace ge_engines::ranks {
namespace {

template <typename T>
T Both(comm::Reduction reduction, T a, T b) {
  switch (reduction) {
    case comm::Reduction::kMax:
      return std::max(a, b);
    case comm::Reduction::kMin:
      return std::min(a, b);
    case comm::Reduction::kSum:
      break;
  }
  return static_cast<T>(a + b);
}

template <typename T>
void ReduceAs(comm::Reduction reduction, uint64_t bytes, const std::vector<const void*>& from,
              const std::vector<void*>& to) {
  for (uint64_t i = 0; i < bytes / sizeof(T); ++i) {
    T all = static_cast<const T*>(from[0])[i];
    for (size_t r = 1; r < from.size(); ++r) {
      all = Both(reduction, all, static_cast<const T*>(from[r])[i]);
    }
    for (void* each : to) static_cast<T*>(each)[i] = all;
  }
}

}  // namespace

bool CanReduce(int32_t dtype) {
  return dtype == GE_F32 || dtype == GE_F64 || dtype == GE_I32 || dtype == GE_I64;
}

void Reduce(comm::Reduction reduction, int32_t dtype, uint64_t bytes,
            const std::vector<const void*>& from, const std::vector<void*>& to) {
  switch (dtype) {
    case GE_F32:
      return ReduceAs<float>(reduction, bytes, from, to);
    case GE_F64:
      return ReduceAs<double>(reduction, bytes, from, to);
    case GE_I32:
      return ReduceAs<int32_t>(reduction, bytes, from, to);
    case GE_I64:
      return ReduceAs<int64_t>(reduction, bytes, from, to);
    case GE_U64:  // what ranks compare
      return ReduceAs<uint64_t>(reduction, bytes, from, to);
    default:
      return;
  }
}

}  // namespace ge_engines::ranks
