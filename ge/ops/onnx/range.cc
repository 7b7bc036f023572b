#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status CheckScalars(InferContext& c) {
  const char* names[] = {"start", "limit", "delta"};
  for (size_t i = 0; i < 3; ++i) {
    const Type& t = c.input_type(i);
    // Exporters also write one-element vectors for these scalars.
    const bool scalar = !t.ranked || t.rank() == 0 ||
                        (t.rank() == 1 && (!t.dims[0].known() || t.dims[0].value == 1));
    if (!scalar) {
      return Bad(c.node(), std::string("input '") + names[i] + "' has shape " +
                               Show(c.dims(), t.dims) + ", wanted a scalar");
    }
  }
  return {};
}

Status ZeroStep(InferContext& c) {
  return Bad(c.node(), "input 'delta' is 0, wanted a step other than 0");
}

// max(ceil((limit - start) / delta), 0) of known or symbolic integers.
Status InferInts(InferContext& c, Dim start, Dim limit, Dim delta) {
  DimTable& d = c.dims();
  const DType dtype = c.input_type(0).dtype;
  if (delta == KnownDim(0)) return ZeroStep(c);
  if (!delta.known()) return SetTensor(c, 0, dtype, {c.FreshDim("range", false)});
  const bool down = delta.value < 0;
  const auto step = d.Sub(KnownDim(0), delta);
  auto span = down ? d.Sub(start, limit) : d.Sub(limit, start);
  if (span && step) span = d.CeilDiv(*span, down ? *step : delta);
  GE_ASSIGN_OR_RETURN(Dim count, Checked(c.node(), step ? span : std::nullopt, "the range"));
  if (count.known() || LowerBound(d, count).value_or(-1) < 0) {
    GE_ASSIGN_OR_RETURN(count, Checked(c.node(), d.Max(count, KnownDim(0)), "the range"));
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, {count}));
  if (!count.known() || count.value > static_cast<int64_t>(kMaxKnownInts)) return {};
  std::vector<Dim> content;
  for (int64_t i = 0; i < count.value; ++i) {
    const auto offset = d.Mul(delta, KnownDim(i));
    const auto v = offset ? d.Add(start, *offset) : std::nullopt;
    if (!v) return {};
    content.push_back(*v);
  }
  SetContent(c, 0, dtype, std::move(content));
  return {};
}

Status InferFloats(InferContext& c, double start, double limit, double delta) {
  if (delta == 0) return ZeroStep(c);
  // The difference is rounded as the dtype rounds it.
  double span = limit - start;
  if (c.input_type(0).dtype == DType::kFloat) span = static_cast<float>(span);
  const double count = std::ceil(span / delta);
  if (!(count < 9e18)) {
    return Bad(c.node(),
               "the number of elements is not finite, wanted finite start, limit and "
               "delta");
  }
  const int64_t n = count < 0 ? 0 : static_cast<int64_t>(count);
  return SetTensor(c, 0, c.input_type(0).dtype, {KnownDim(n)});
}

Status InferRange(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckScalars(c));
  const auto start = Content(c, 0), limit = Content(c, 1), delta = Content(c, 2);
  if (start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1) {
    return InferInts(c, start->front(), limit->front(), delta->front());
  }
  const auto a = ConstFloats(c, 0), b = ConstFloats(c, 1), s = ConstFloats(c, 2);
  if (a && b && s && a->size() == 1 && b->size() == 1 && s->size() == 1) {
    return InferFloats(c, a->front(), b->front(), s->front());
  }
  if ((delta && *delta == std::vector<Dim>{KnownDim(0)}) || (s && *s == std::vector<double>{0})) {
    return ZeroStep(c);
  }
  return SetTensor(c, 0, c.input_type(0).dtype, {c.FreshDim("range", true)});
}

constexpr DTypeSet kTypesRange = kFloats | kIndex | Bit(DType::kInt16);

}  // namespace

// start, start + delta, ... up to limit, exclusive.
GE_OP(range) = {
    "",
    "Range",
    27,
    {{"start", kTypesRange, "T"}, {"limit", kTypesRange, "T"}, {"delta", kTypesRange, "T"}},
    {{"output", kTypesRange, "T"}},
    {{"stash_type", AttrKind::kInt, 1}},
    InferRange,
    PerOutput<1>};

}  // namespace ge
