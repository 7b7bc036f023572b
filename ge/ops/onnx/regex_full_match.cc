#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferRegexFullMatch(InferContext& c) {
  Type t = c.input_type(0);
  t.dtype = DType::kBool;
  c.SetOutput(0, std::move(t));
  return {};
}

}  // namespace

// Whether the whole of each string matches a pattern (RE2's syntax).
GE_OP(regex_full_match) = {"",
                           "RegexFullMatch",
                           20,
                           {{"X", Bit(DType::kString)}},
                           {{"Y", Bit(DType::kBool)}},
                           {{"pattern", AttrKind::kString}},
                           InferRegexFullMatch,
                           PerOutput<100>};

}  // namespace ge
