#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "ge/control/maps.h"

namespace ge {
namespace {

// A value of the map as what is asked for: text as C's strtod and strtoll read the whole of it.
Status CastMapFloat(const FlowValue& values, size_t i, float* out) {
  if (values.strings == nullptr) {
    std::memcpy(out, values.data + i * sizeof(float), sizeof(float));
    return {};
  }
  const std::string& text = (*values.strings)[i];
  char* end = nullptr;
  *out = std::strtof(text.c_str(), &end);
  if (!text.empty() && end == text.c_str() + text.size()) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("a value of the map is '{:.64}', wanted a number", text));
}

Status CastMapInt(const FlowValue& values, size_t i, int64_t* out) {
  if (values.strings != nullptr) {
    const std::string& text = (*values.strings)[i];
    const auto got = std::from_chars(text.data(), text.data() + text.size(), *out);
    if (got.ec == std::errc() && got.ptr == text.data() + text.size()) return {};
    return Status(Code::kInvalidArgument,
                  fmt::format("a value of the map is '{:.64}', wanted an integer", text));
  }
  float f = 0;
  GE_RETURN_IF_ERROR(CastMapFloat(values, i, &f));
  if (!(f >= -0x1p63f && f < 0x1p63f)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a value of the map is {}, wanted what fits into 64 bits", f));
  }
  *out = static_cast<int64_t>(f);
  return {};
}

// Numbers as C's "%f" writes them.
std::string CastMapText(const FlowValue& values, size_t i) {
  if (values.strings != nullptr) return (*values.strings)[i];
  float f = 0;
  std::memcpy(&f, values.data + i * sizeof(float), sizeof(float));
  return fmt::format("{:f}", f);
}

// By place in the row: which entry of the map stands there; -1 for none.
Result<std::vector<int64_t>> CastMapPlaces(const HostCall& c, const std::vector<int64_t>& keys) {
  std::map<int64_t, int64_t> sorted;
  for (size_t i = 0; i < keys.size(); ++i) sorted.emplace(keys[i], static_cast<int64_t>(i));
  std::vector<int64_t> places;
  if (AttrString(c.node, "map_form") == "DENSE") {
    for (const auto& [key, at] : sorted) places.push_back(at);
    return places;
  }
  const int64_t width = AttrInt(c.node, "max_map");
  const auto columns = static_cast<uint64_t>(std::max<int64_t>(width, 0));
  // A place and a text for each column.
  constexpr uint64_t kEach = sizeof(int64_t) + sizeof(std::string);
  GE_RETURN_IF_ERROR(c.pool->Room(columns > UINT64_MAX / kEach ? UINT64_MAX : columns * kEach));
  places.assign(columns, -1);
  for (const auto& [key, at] : sorted) {
    if (key < 0 || key >= width) {
      return Status(Code::kInvalidArgument,
                    fmt::format("a key of the map is {}, wanted 0 to {}: 'max_map' is {}", key,
                                width - 1, width));
    }
    places[static_cast<size_t>(key)] = at;
  }
  return places;
}

Status RunCastMap(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* map, KeysAndValues(c, DType::kInt64));
  const FlowValue& values = (*map)[1];
  GE_ASSIGN_OR_RETURN(const auto places, CastMapPlaces(c, IntsOf((*map)[0])));
  const FlowDims dims = {1, static_cast<int64_t>(places.size())};
  const std::string_view to = AttrString(c.node, "cast_to");
  if (to == "TO_STRING") {
    std::vector<std::string> out;
    for (const int64_t at : places) {
      out.push_back(at < 0 ? "0.f" : CastMapText(values, static_cast<size_t>(at)));
    }
    return c.pool->NewStrings(dims, std::move(out), &c.outputs[0]);
  }
  const bool whole = to == "TO_INT64";
  std::byte* data = nullptr;
  GE_RETURN_IF_ERROR(
      c.pool->NewTensor(whole ? DType::kInt64 : DType::kFloat, dims, &c.outputs[0], &data));
  std::memset(data, 0, c.outputs[0].bytes);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    const auto at = static_cast<size_t>(places[i]);
    const Status cast = whole ? CastMapInt(values, at, reinterpret_cast<int64_t*>(data) + i)
                              : CastMapFloat(values, at, reinterpret_cast<float*>(data) + i);
    GE_RETURN_IF_ERROR(cast);
  }
  return {};
}

}  // namespace

GE_HOST_OP(onnx_ml_cast_map) = {"ai.onnx.ml", "CastMap", RunCastMap};

}  // namespace ge
