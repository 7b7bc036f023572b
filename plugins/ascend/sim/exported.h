// What files of the vendor's functions begin with: their mark, and their handles as numbers.
#pragma once

#include <cstdint>

#include "plugins/ascend/sim/machine.h"

#define GE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace ge_engines::ascend::sim {

template <class To, class From>
To Handle(From from) {
  return reinterpret_cast<To>(static_cast<uintptr_t>(from));
}
inline uint64_t IdOf(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

inline acl::Status NoResult(Machine* machine, const char* function) {
  return machine->Break(Rule::kNullArgument,
                        std::string(function) + ": the place of its result is null");
}

}  // namespace ge_engines::ascend::sim
