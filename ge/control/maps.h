// Code shared by host operators on maps and on tables of text.
#pragma once

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {

// INVALID_ARGUMENT when input 0 is no map with keys of this type.
inline Result<const std::vector<FlowValue>*> KeysAndValues(const HostCall& call, DType keys) {
  const bool map =
      call.has(0) && call.in(0).kind == FlowValue::Kind::kMap && call.in(0).dtype == keys;
  if (map) return call.in(0).elements.get();
  return Status(Code::kInvalidArgument,
                fmt::format("input 'X' is {}, wanted a map with keys of {}",
                            call.has(0) ? Describe(call.in(0)) : "nothing", DTypeName(keys)));
}

// The list that an attribute holds; empty when it is absent.
inline const std::vector<std::string>& TextList(const Node& n, std::string_view name) {
  static const std::vector<std::string> kNone;
  const Attr* a = n.attr(name);
  const auto* v = a ? std::get_if<std::vector<std::string>>(&a->value) : nullptr;
  return v ? *v : kNone;
}

// A vector of int64, for the keys of a map.
inline Status IntVector(HostCall& call, const std::vector<int64_t>& values, FlowValue* out) {
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(
      call.pool->NewTensor(DType::kInt64, {static_cast<int64_t>(values.size())}, out, &to));
  std::copy(values.begin(), values.end(), reinterpret_cast<int64_t*>(to));
  return {};
}

}  // namespace ge
