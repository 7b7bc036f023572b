#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Parts of equal size, the last one smaller when it does not divide.
Result<std::vector<Dim>> EqualParts(InferContext& c, Dim size) {
  const int64_t parts = AttrInt(c.node(), "num_outputs");
  const auto outputs = static_cast<int64_t>(c.output_count());
  if (parts != outputs) {
    return Bad(c.node(), fmt::format("attribute 'num_outputs' is {}, wanted {}: the node has so "
                                     "many outputs",
                                     parts, outputs));
  }
  DimTable& d = c.dims();
  GE_ASSIGN_OR_RETURN(Dim part,
                      Checked(c.node(), d.CeilDiv(size, KnownDim(parts)), "a split size"));
  std::vector<Dim> sizes(c.output_count(), part);
  auto rest = d.Mul(part, KnownDim(parts - 1));
  if (rest) rest = d.Sub(size, *rest);
  GE_ASSIGN_OR_RETURN(sizes.back(), Checked(c.node(), rest, "a split size"));
  if (sizes.back().known() && sizes.back().value < 0) {
    return Bad(c.node(),
               fmt::format("an axis of size {} gives {} parts of {} and a rest of {}, "
                           "wanted fewer parts",
                           d.ToString(size), parts - 1, d.ToString(part), sizes.back().value));
  }
  return sizes;
}

// The sizes of input 'split', checked against the axis.
Result<std::vector<Dim>> GivenParts(InferContext& c, Dim size) {
  if (HasAttr(c.node(), "num_outputs")) {
    return Bad(c.node(), "both input 'split' and attribute 'num_outputs' are given, wanted one");
  }
  const auto given = Content(c, 1);
  if (!given) {
    std::vector<Dim> sizes;
    for (size_t i = 0; i < c.output_count(); ++i) sizes.push_back(c.FreshDim("split", true));
    return sizes;
  }
  if (given->size() != c.output_count()) {
    return Bad(c.node(), fmt::format("input 'split' has {} entries, wanted {}: one per output",
                                     given->size(), c.output_count()));
  }
  Dim sum = KnownDim(0);
  for (const Dim& d : *given) {
    if (d.known() && d.value < 0) {
      return Bad(c.node(), fmt::format("input 'split' holds {}, wanted no negative size",
                                       Show(c.dims(), *given)));
    }
    GE_ASSIGN_OR_RETURN(sum, Checked(c.node(), c.dims().Add(sum, d), "the sum of 'split'"));
  }
  if (sum.known() && size.known() && sum != size) {
    return Bad(c.node(), fmt::format("input 'split' holds {} with the sum {}, wanted {}: the size "
                                     "of the axis",
                                     Show(c.dims(), *given), sum.value, size.value));
  }
  return *given;
}

void SplitContent(InferContext& c, std::span<const Dim> sizes) {
  const auto content = Content(c, 0);
  if (!content) return;
  size_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].known()) return;
    const auto count = static_cast<size_t>(sizes[i].value);
    if (count > content->size() - at) return;
    if (c.has_output(i)) {
      const auto begin = content->begin() + static_cast<ptrdiff_t>(at);
      SetContent(c, i, c.input_type(0).dtype, {begin, begin + static_cast<ptrdiff_t>(count)});
    }
    at += count;
  }
}

Status InferSplit(InferContext& c) {
  const Type& x = c.input_type(0);
  const bool given = c.input_count() > 1 && c.has_input(1);
  if (!given && !HasAttr(c.node(), "num_outputs")) {
    return Bad(c.node(), fmt::format("found neither input 'split' nor attribute 'num_outputs', "
                                     "wanted one: num_outputs={} gives equal parts",
                                     c.output_count()));
  }
  if (!x.ranked) {
    for (size_t i = 0; i < c.output_count(); ++i) {
      if (c.has_output(i)) c.SetOutput(i, UnrankedTensor(x.dtype));
    }
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 1, "Split: input 'input'"));
  const auto axis =
      NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()), "attribute 'axis'");
  if (!axis.ok()) return Bad(c.node(), axis.status().message());
  const auto at = static_cast<size_t>(*axis);
  GE_ASSIGN_OR_RETURN(std::vector<Dim> sizes,
                      given ? GivenParts(c, x.dims[at]) : EqualParts(c, x.dims[at]));
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (!c.has_output(i)) continue;
    std::vector<Dim> dims = x.dims;
    dims[at] = sizes[i];
    GE_RETURN_IF_ERROR(SetTensor(c, i, x.dtype, std::move(dims)));
  }
  if (x.rank() == 1) SplitContent(c, sizes);
  return {};
}

Work EffortSplit(const Node&, std::span<const Type> in, std::span<const Type> out) {
  return {0, BytesOf(in, out)};
}

}  // namespace

// Cuts one axis into parts: of given sizes, or num_outputs of equal size.
GE_OP(split) = {"",
                "Split",
                18,
                {{"input", kClassic, "T"}, {"split", Bit(DType::kInt64), "", Arity::kOptional}},
                {{"outputs", kClassic, "T", Arity::kVariadic}},
                {{"axis", AttrKind::kInt, 0}, {"num_outputs", AttrKind::kInt}},
                InferSplit,
                EffortSplit};

}  // namespace ge
