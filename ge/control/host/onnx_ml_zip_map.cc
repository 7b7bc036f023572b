#include <algorithm>
#include <cstring>

#include "ge/control/maps.h"

namespace ge {
namespace {

Status RunZipMap(HostCall& c) {
  const FlowValue& x = c.in(0);
  const auto& texts = TextList(c.node, "classlabels_strings");
  const auto& ints = AttrInts(c.node, "classlabels_int64s");
  const auto count = static_cast<int64_t>(texts.size() + ints.size());
  const size_t rank = x.dims.size();
  if (x.dtype != DType::kFloat || rank < 1 || rank > 2 || x.dims[rank - 1] != count) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input 'X' is {}, wanted f32[N,{}], one column for each class label",
                              Describe(x), count));
  }
  FlowValue keys;
  if (texts.empty()) {
    GE_RETURN_IF_ERROR(IntVector(c, ints, &keys));
  } else {
    keys = StringsOf({count}, texts);
  }
  std::vector<FlowValue> maps;
  const int64_t rows = rank == 2 ? x.dims[0] : 1;
  // A map is two values behind a pointer.
  GE_RETURN_IF_ERROR(c.pool->Room(static_cast<uint64_t>(rows) * 3 * sizeof(FlowValue)));
  for (int64_t r = 0; r < rows; ++r) {
    FlowValue values;
    std::byte* to = nullptr;
    GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kFloat, {count}, &values, &to));
    std::memcpy(to, x.data + static_cast<uint64_t>(r) * values.bytes, values.bytes);
    maps.push_back(MapOf(keys, std::move(values)));
  }
  return c.pool->NewSequence(keys.dtype, std::move(maps), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(onnx_ml_zip_map) = {"ai.onnx.ml", "ZipMap", RunZipMap};

}  // namespace ge
