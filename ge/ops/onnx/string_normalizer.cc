#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferStringNormalizer(InferContext& c) {
  const std::string_view action = AttrString(c.node(), "case_change_action");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return Bad(c.node(), fmt::format("attribute 'case_change_action' is '{:.64}', wanted NONE, "
                                     "LOWER or UPPER",
                                     action));
  }
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(DType::kString));
    return {};
  }
  if (x.rank() != 1 && x.rank() != 2) {
    return Bad(c.node(),
               fmt::format("input 'X' has shape {}, wanted [C] or [1,C]", Show(c.dims(), x.dims)));
  }
  std::vector<Dim> dims = x.dims;
  dims.back() = c.FreshDim("kept", true);
  return SetTensor(c, 0, DType::kString, std::move(dims));
}

}  // namespace

// Strings without stop words, in lower or upper case if wanted.
GE_OP(string_normalizer) = {"",
                            "StringNormalizer",
                            10,
                            {{"X", Bit(DType::kString)}},
                            {{"Y", Bit(DType::kString)}},
                            {{"case_change_action", AttrKind::kString, "NONE"},
                             {"is_case_sensitive", AttrKind::kInt, 0},
                             {"locale", AttrKind::kString},
                             {"stopwords", AttrKind::kStrings}},
                            InferStringNormalizer,
                            PerOutput<0>};

}  // namespace ge
