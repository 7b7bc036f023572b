#include "ge/control/maps.h"
#include "ge/control/strings.h"

namespace ge {
namespace {

// Of texts; numbers are the engines'.
Status RunArrayFeatureExtractor(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  const std::vector<int64_t> indices = IntsOf(c.in(1));
  std::vector<int64_t> dims = c.in(0).dims.vector();
  if (dims.empty()) return Status(Code::kInvalidArgument, "input 'X' is a scalar, wanted an axis");
  const int64_t size = dims.back();
  for (const int64_t i : indices) {
    if (i >= 0 && i < size) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("input 'Y' holds {}, wanted 0 to {}: the last axis has size {}", i,
                              size - 1, size));
  }
  std::vector<std::string> z;
  const uint64_t rows = size > 0 ? x->size() / static_cast<uint64_t>(size) : 0;
  GE_RETURN_IF_ERROR(c.pool->Room(rows * indices.size() * sizeof(std::string)));
  for (size_t begin = 0; begin < x->size(); begin += static_cast<size_t>(size)) {
    for (const int64_t i : indices) z.push_back((*x)[begin + static_cast<size_t>(i)]);
  }
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  dims.back() = static_cast<int64_t>(indices.size());
  return c.pool->NewStrings(dims, std::move(z), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(onnx_ml_array_feature_extractor) = {"ai.onnx.ml", "ArrayFeatureExtractor",
                                               RunArrayFeatureExtractor, true};

}  // namespace ge
