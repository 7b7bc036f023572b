#include "passes/fold/floats.h"

#include <cstring>

namespace ge {
namespace {

// More than any convolution has; numbers of this many are copied to be looked at.
constexpr int64_t kMaxChannels = 1 << 20;

}  // namespace

std::optional<std::vector<float>> FloatsOf(const Graph& graph, const Function& function,
                                           ValueId value) {
  if (!value || !function.value(value).constant) return std::nullopt;
  const Const& c = graph.consts[function.value(value).constant];
  const auto count = ElementCount(c.type);
  if (c.type.dtype != DType::kFloat || !count) return std::nullopt;
  if (*count > kMaxChannels) return std::nullopt;
  ConstScratch scratch;
  const std::byte* data = ConstBytes(c, &scratch);
  if (!data && *count) return std::nullopt;
  std::vector<float> out(static_cast<size_t>(*count));
  if (*count) std::memcpy(out.data(), data, out.size() * sizeof(float));
  return out;
}

}  // namespace ge
