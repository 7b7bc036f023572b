// Bytes as protobuf framing: the scanners that take weights out of ONNX models and of our own form.
#include <cstddef>
#include <span>

#include "frontend/onnx/weight_scanner.h"
#include "frontend/proto/module_scanner.h"
#include "tests/fuzz/require.h"

namespace {

constexpr uint64_t kMostSkeletonBytes = 1 << 20;

// Every payload lies within the bytes; reads its two ends.
void Touch(std::span<const std::byte> bytes, const std::byte* data, uint64_t length) {
  const auto offset = static_cast<uint64_t>(data - bytes.data());
  REQUIRE(offset <= bytes.size() && length <= bytes.size() - offset, "a payload is outside");
  if (length == 0) return;
  [[maybe_unused]] const volatile std::byte first = data[0], last = data[length - 1];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  ge::ScanLimits limits;
  limits.max_skeleton_bytes = kMostSkeletonBytes;
  if (auto model = ge::ScanWeights(bytes, limits); model.ok()) {
    for (const auto& p : model->payloads) Touch(bytes, bytes.data() + p.offset, p.length);
  } else {
    REQUIRE(!model.status().ToString().empty(), "refused without words");
  }
  if (auto module = ge::proto::ScanModule(bytes, kMostSkeletonBytes, 1 << 16); module.ok()) {
    for (const auto& c : module->consts) {
      if (c.has_payload && !c.payload.empty()) Touch(bytes, c.payload.data(), c.payload.size());
    }
  }
  return 0;
}
