// TensorStatistics: what a tensor says of itself without its bytes: extremes, mean, how many are
// not numbers, and a checksum. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/ir/dtype.h"

namespace ge {

struct TensorStatistics {
  uint32_t value = 0;  // index into CapsuleManifest::values
  uint32_t crc32 = 0;  // of the dense bytes
  uint64_t elements = 0, nan = 0, inf = 0;
  double min = 0, max = 0, mean = 0;  // of finite elements; 0 where there is none
};

// Of floats, integers and bools; of other types the checksum alone.
TensorStatistics StatisticsOf(DType dtype, std::span<const std::byte> bytes);

// The element at `i`, widened; 0 of types that StatisticsOf does not count.
double NumberAt(DType dtype, std::span<const std::byte> bytes, uint64_t i);

inline constexpr char kStatisticsMember[] = "value/statistics.json";
Status WriteStatistics(std::span<const TensorStatistics> statistics, CapsuleWriter* writer,
                       const std::string& member = kStatisticsMember);
// None where the capsule has no such member. DATA_CORRUPT naming member and field.
Result<std::vector<TensorStatistics>> ReadStatistics(const CapsuleReader& capsule,
                                                     const std::string& member = kStatisticsMember);

}  // namespace ge
