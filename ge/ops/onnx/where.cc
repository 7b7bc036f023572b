#include "ge/ops/elementwise.h"

namespace ge {
namespace {

using WhereContent = std::optional<std::vector<Dim>>;

// What is known of element `i` of `count`; a scalar holds for all of them.
std::optional<Dim> ElementAt(const WhereContent& content, size_t i, size_t count) {
  if (!content || (content->size() != 1 && content->size() != count)) return std::nullopt;
  return (*content)[content->size() == 1 ? 0 : i];
}

// Contents of vectors and scalars, which is what sizes are chosen among.
void TellContent(InferContext& c, const std::vector<Dim>& dims) {
  if (dims.size() > 1 || (dims.size() == 1 && !dims[0].known())) return;
  const int64_t count = dims.empty() ? 1 : dims[0].value;
  if (count > static_cast<int64_t>(kMaxKnownInts)) return;
  const WhereContent truth = Content(c, 0), x = Content(c, 1), y = Content(c, 2);
  std::vector<Dim> values;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto n = static_cast<size_t>(count);
    const auto which = ElementAt(truth, i, n);
    if (!which || !which->known()) return;
    const auto v = ElementAt(which->value != 0 ? x : y, i, n);
    if (!v) return;
    values.push_back(*v);
  }
  SetContent(c, 0, c.input_type(1).dtype, std::move(values));
}

Status InferWhere(InferContext& c) {
  GE_RETURN_IF_ERROR(InferBroadcast(c, c.input_type(1).dtype));
  std::vector<std::vector<Dim>> shapes;
  for (size_t i = 0; i < 3; ++i) {
    if (!c.input_type(i).is_static()) return {};
    shapes.push_back(c.input_type(i).dims);
  }
  GE_ASSIGN_OR_RETURN(const std::vector<Dim> dims, BroadcastDims(c, shapes));
  TellContent(c, dims);
  return {};
}

}  // namespace

// X where the condition is true, else Y, with broadcasting.
GE_OP(where) = {"",
                "Where",
                16,
                {{"condition", Bit(DType::kBool), "B"}, {"X", kClassic, "T"}, {"Y", kClassic, "T"}},
                {{"output", kClassic, "T"}},
                {},
                InferWhere,
                PerOutput<1>};

}  // namespace ge
