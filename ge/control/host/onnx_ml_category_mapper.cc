#include "ge/control/maps.h"
#include "ge/control/strings.h"

namespace ge {
namespace {

Status RunCategoryMapper(HostCall& c) {
  const auto& texts = TextList(c.node, "cats_strings");
  const auto& ints = AttrInts(c.node, "cats_int64s");
  const FlowValue& x = c.in(0);
  if (x.strings != nullptr) {
    std::unordered_map<std::string_view, int64_t> known;
    for (size_t i = 0; i < texts.size(); ++i) known.insert_or_assign(texts[i], ints[i]);
    const int64_t absent = AttrInt(c.node, "default_int64");
    std::byte* to = nullptr;
    GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kInt64, x.dims, &c.outputs[0], &to));
    for (size_t i = 0; i < x.strings->size(); ++i) {
      const auto found = known.find((*x.strings)[i]);
      reinterpret_cast<int64_t*>(to)[i] = found == known.end() ? absent : found->second;
    }
    return {};
  }
  std::unordered_map<int64_t, std::string_view> known;
  for (size_t i = 0; i < ints.size(); ++i) known.insert_or_assign(ints[i], texts[i]);
  const std::string_view absent = AttrString(c.node, "default_string");
  GE_RETURN_IF_ERROR(
      c.pool->Room(static_cast<uint64_t>(x.count()) * (sizeof(std::string) + absent.size())));
  std::vector<std::string> out;
  for (const int64_t v : IntsOf(x)) {
    const auto found = known.find(v);
    out.emplace_back(found == known.end() ? absent : found->second);
  }
  return c.pool->NewStrings(x.dims, std::move(out), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(onnx_ml_category_mapper) = {"ai.onnx.ml", "CategoryMapper", RunCategoryMapper};

}  // namespace ge
