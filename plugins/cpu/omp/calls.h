// The OpenMP calls of libge_omp.so, by name. Inside that library alone.
#pragma once

#include <span>

namespace ge_omp {

struct OmpCall {
  const char* name;
  void* ours;
};
std::span<const OmpCall> Calls();

}  // namespace ge_omp
