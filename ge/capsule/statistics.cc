#include "ge/capsule/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ge/base/half.h"
#include "ge/capsule/json_fields.h"
#include "ge/capsule/store/zip_directory.h"

namespace ge {
namespace {

template <typename T>
T At(std::span<const std::byte> bytes, uint64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

// Calls run(a value of the stored type, its widening); not for types that are no numbers.
template <typename Do>
void WithReader(DType dtype, Do run) {
  const auto plain = [](auto v) { return v; };
  switch (dtype) {
    case DType::kFloat:
      return run(float{}, plain);
    case DType::kDouble:
      return run(double{}, plain);
    case DType::kFloat16:
      return run(uint16_t{}, FloatOfHalf);
    case DType::kBfloat16:
      return run(uint16_t{}, FloatOfBrain);
    case DType::kInt8:
      return run(int8_t{}, plain);
    case DType::kUint8:
    case DType::kBool:
      return run(uint8_t{}, plain);
    case DType::kInt16:
      return run(int16_t{}, plain);
    case DType::kUint16:
      return run(uint16_t{}, plain);
    case DType::kInt32:
      return run(int32_t{}, plain);
    case DType::kUint32:
      return run(uint32_t{}, plain);
    case DType::kInt64:
      return run(int64_t{}, plain);
    case DType::kUint64:
      return run(uint64_t{}, plain);
    default:
      return;
  }
}

template <typename T, typename Widen>
void Count(std::span<const std::byte> bytes, Widen widen, TensorStatistics* s) {
  s->elements = bytes.size() / sizeof(T);
  double sum = 0, min = std::numeric_limits<double>::infinity(), max = -min;
  for (uint64_t i = 0; i < s->elements; ++i) {
    const double v = static_cast<double>(widen(At<T>(bytes, i)));
    if (std::isfinite(v)) {
      min = std::min(min, v);
      max = std::max(max, v);
      sum += v;
    } else {
      ++(std::isnan(v) ? s->nan : s->inf);
    }
  }
  const uint64_t finite = s->elements - s->nan - s->inf;
  if (finite == 0) return;
  s->min = min;
  s->max = max;
  s->mean = sum / static_cast<double>(finite);
}

void ReadOne(JsonFields* f, TensorStatistics* s) {
  f->Whole("value", &s->value).Whole("crc32", &s->crc32).Whole("elements", &s->elements);
  f->Whole("nan", &s->nan).Whole("inf", &s->inf);
  f->Real("min", &s->min).Real("max", &s->max).Real("mean", &s->mean);
}

}  // namespace

TensorStatistics StatisticsOf(DType dtype, std::span<const std::byte> bytes) {
  TensorStatistics s;
  s.crc32 = Crc32(bytes);
  WithReader(dtype, [&](auto type, auto widen) { Count<decltype(type)>(bytes, widen, &s); });
  return s;
}

double NumberAt(DType dtype, std::span<const std::byte> bytes, uint64_t i) {
  double out = 0;
  WithReader(dtype, [&](auto type, auto widen) {
    out = static_cast<double>(widen(At<decltype(type)>(bytes, i)));
  });
  return out;
}

Status WriteStatistics(std::span<const TensorStatistics> statistics, CapsuleWriter* writer,
                       const std::string& member) {
  nlohmann::json list = nlohmann::json::array();
  for (const TensorStatistics& s : statistics) {
    list.push_back({{"value", s.value},
                    {"crc32", s.crc32},
                    {"elements", s.elements},
                    {"nan", s.nan},
                    {"inf", s.inf},
                    {"min", s.min},
                    {"max", s.max},
                    {"mean", s.mean}});
  }
  return writer->Add(member, nlohmann::json{{"values", std::move(list)}}.dump(1) + "\n");
}

Result<std::vector<TensorStatistics>> ReadStatistics(const CapsuleReader& capsule,
                                                     const std::string& member) {
  std::vector<TensorStatistics> out;
  if (!capsule.Has(member)) return out;
  GE_ASSIGN_OR_RETURN(const nlohmann::json j, ReadJsonMember(capsule, member));
  JsonFields f(j, "");
  f.List("values", &out, ReadOne);
  GE_RETURN_IF_ERROR(OfJsonMember(capsule, member, f.status()));
  return out;
}

}  // namespace ge
