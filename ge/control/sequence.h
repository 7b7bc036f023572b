// Code shared by host operators on sequences.
#pragma once

#include <fmt/format.h>

#include "ge/control/host_op.h"

namespace ge {

// INVALID_ARGUMENT when input 0 is no sequence.
inline Result<const std::vector<FlowValue>*> ElementsOf(const HostCall& call) {
  if (call.has(0) && call.in(0).kind == FlowValue::Kind::kSequence)
    return call.in(0).elements.get();
  return Status(Code::kInvalidArgument,
                fmt::format("the input is {}, wanted a sequence",
                            call.has(0) ? Describe(call.in(0)) : "nothing"));
}

// Input `i`, a position in [-size, most]; `absent` where it is omitted.
inline Result<size_t> PositionOf(const HostCall& call, size_t i, size_t size, size_t most,
                                 size_t absent) {
  if (!call.has(i)) return absent;
  GE_ASSIGN_OR_RETURN(int64_t at, OnlyInt(call.in(i), "input 'position'"));
  const auto n = static_cast<int64_t>(size);
  if (at < -n || at > static_cast<int64_t>(most) || (most == absent && size == 0 && at != 0)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("input 'position' is {}, wanted {} to {}: the sequence has {} elements", at, -n,
                    static_cast<int64_t>(most), size));
  }
  return static_cast<size_t>(at < 0 ? at + n : at);
}

}  // namespace ge
