#include <algorithm>

#include "ge/control/maps.h"
#include "ge/control/strings.h"

namespace ge {
namespace {

// Of texts; numbers are the engines'.
Status RunOneHotEncoder(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  const auto& texts = TextList(c.node, "cats_strings");
  std::unordered_map<std::string_view, size_t> known;
  for (size_t i = 0; i < texts.size(); ++i) known.insert_or_assign(texts[i], i);
  std::vector<int64_t> dims = c.in(0).dims.vector();
  dims.push_back(static_cast<int64_t>(texts.size()));
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kFloat, dims, &c.outputs[0], &to));
  auto* y = reinterpret_cast<float*>(to);
  std::fill_n(y, c.outputs[0].count(), 0.0f);
  const bool zeros = AttrInt(c.node, "zeros") != 0;
  for (size_t i = 0; i < x->size(); ++i) {
    const auto found = known.find((*x)[i]);
    if (found != known.end()) {
      y[i * texts.size() + found->second] = 1;
    } else if (!zeros) {
      return Status(Code::kInvalidArgument,
                    fmt::format("element {} of input 'X' is '{:.64}', wanted one of the {} entries "
                                "of 'cats_strings', as 'zeros' is 0",
                                i, (*x)[i], texts.size()));
    }
  }
  return {};
}

}  // namespace

GE_HOST_OP(onnx_ml_one_hot_encoder) = {"ai.onnx.ml", "OneHotEncoder", RunOneHotEncoder, true};

}  // namespace ge
