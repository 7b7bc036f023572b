#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Beyond this an end means "to the end" of an axis of unknown size: exporters write INT32_MAX or
// INT64_MAX there, and no axis of that size fits into memory beside another one.
constexpr int64_t kFar = INT32_MAX;

// A start or end brought into [0, size]; when going down, a start into [0, size - 1] and an end
// into [-1, size - 1]. nullopt when the sign of a symbolic position is open, or on overflow.
std::optional<Dim> Position(DimTable& d, Dim at, Dim size, bool down, bool is_start) {
  const Dim low = KnownDim(down && !is_start ? -1 : 0);
  const auto high = d.Add(size, KnownDim(down ? -1 : 0));
  if (!high) return std::nullopt;
  const bool before_end = at.known() ? at.value < 0 : UpperBound(d, at).value_or(0) < 0;
  const bool from_start = at.known() ? at.value >= 0 : LowerBound(d, at).value_or(-1) >= 0;
  if (!size.known() && at.known() && at.value >= kFar) return high;
  if (before_end) {
    // Far before the start is the low end, unless the axis is empty.
    const bool far = !size.known() && at.known() && at.value <= -kFar;
    auto p = far ? low : d.Add(size, at);
    if (p == high) return high;
    if (p && !far) p = d.Max(*p, low);
    return p && down ? d.Min(*p, *high) : p;
  }
  return from_start ? d.Min(at, *high) : std::nullopt;
}

struct Cut {
  std::optional<Dim> start;  // position in the axis
  Dim length;
};

Result<Cut> CutAxis(InferContext& c, Dim size, Dim start, Dim end, int64_t step) {
  DimTable& d = c.dims();
  const bool down = step < 0;
  const auto from = Position(d, start, size, down, true);
  const auto to = Position(d, end, size, down, false);
  const auto stride = down ? d.Sub(KnownDim(0), KnownDim(step)) : KnownDim(step);
  if (!from || !to || !stride) return Cut{std::nullopt, c.FreshDim("slice", false)};
  const auto span = down ? d.Sub(*from, *to) : d.Sub(*to, *from);
  const auto count = span ? d.CeilDiv(*span, *stride) : std::nullopt;
  const auto length = count ? d.Max(*count, KnownDim(0)) : std::nullopt;
  GE_ASSIGN_OR_RETURN(Dim checked, Checked(c.node(), length, "a sliced size"));
  return Cut{from, checked};
}

struct Arguments {
  std::optional<std::vector<Dim>> starts, ends;
  std::vector<int64_t> axes;  // normalized
  std::optional<std::vector<int64_t>> steps;
};

// The axes that are cut; nullopt when only the data decide.
Result<std::optional<std::vector<int64_t>>> ReadAxes(InferContext& c, std::optional<size_t> count) {
  const auto rank = static_cast<int64_t>(c.input_type(0).rank());
  const bool given = c.input_count() > 3 && c.has_input(3);
  if (given) {
    const auto numbers = Numbers(c, 3);
    if (!numbers) return std::optional<std::vector<int64_t>>();
    GE_ASSIGN_OR_RETURN(auto axes, NormalizeAxes(c.node(), *numbers, rank));
    return std::optional(std::move(axes));
  }
  if (!count) return std::optional<std::vector<int64_t>>();
  if (*count > static_cast<size_t>(rank)) {
    return Bad(c.node(), fmt::format("input 'starts' has {} entries, wanted at most the rank {}",
                                     *count, rank));
  }
  std::vector<int64_t> axes(*count);
  for (size_t i = 0; i < *count; ++i) axes[i] = static_cast<int64_t>(i);
  return std::optional(std::move(axes));
}

// How many entries input `i` has: by what it holds where that is known, else by its shape.
template <typename T>
std::optional<size_t> CountOf(InferContext& c, size_t i,
                              const std::optional<std::vector<T>>& content) {
  if (content) return content->size();
  const auto count = ElementCount(c.input_type(i));
  return count ? std::optional(static_cast<size_t>(*count)) : std::nullopt;
}

Status CheckCountSlice(InferContext& c, const char* name, size_t found, size_t wanted) {
  if (found == wanted) return {};
  return Bad(c.node(), fmt::format("input '{}' has {} entries, wanted {}: one for each axis that "
                                   "is sliced",
                                   name, found, wanted));
}

// The content of a list that is sliced.
void CutContent(InferContext& c, const Cut& cut, int64_t step) {
  const auto content = Content(c, 0);
  if (!content || !cut.start || !cut.start->known() || !cut.length.known()) return;
  std::vector<Dim> picked;
  int64_t at = cut.start->value;
  for (int64_t i = 0; i < cut.length.value; ++i, at += step) {
    if (at < 0 || at >= static_cast<int64_t>(content->size())) return;
    picked.push_back((*content)[static_cast<size_t>(at)]);
  }
  SetContent(c, 0, c.input_type(0).dtype, std::move(picked));
}

Status CutAll(InferContext& c, const Arguments& a) {
  const Type& x = c.input_type(0);
  std::vector<Dim> dims = x.dims;
  Cut cut{KnownDim(0), KnownDim(0)};
  for (size_t i = 0; i < a.axes.size(); ++i) {
    Dim& size = dims[static_cast<size_t>(a.axes[i])];
    const bool open = !a.starts || !a.ends || !a.steps;
    if (!open && (*a.steps)[i] == 0) {
      return Bad(c.node(), "input 'steps' holds 0, wanted no step of 0");
    }
    if (open) {
      size = c.FreshDim("slice", true);
      continue;
    }
    GE_ASSIGN_OR_RETURN(cut, CutAxis(c, size, (*a.starts)[i], (*a.ends)[i], (*a.steps)[i]));
    size = cut.length;
  }
  const bool list = x.rank() == 1 && a.axes.size() == 1 && a.starts && a.ends && a.steps;
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  if (list) CutContent(c, cut, (*a.steps)[0]);
  return {};
}

Status InferSlice(InferContext& c) {
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 1, "Slice: input 'data'"));
  Arguments a;
  a.starts = Content(c, 1);
  a.ends = Content(c, 2);
  const std::optional<size_t> count = CountOf(c, 1, a.starts);
  GE_ASSIGN_OR_RETURN(auto axes, ReadAxes(c, count));
  if (!axes) {
    std::vector<Dim> dims;
    for (size_t i = 0; i < x.rank(); ++i) dims.push_back(c.FreshDim("slice", true));
    return SetTensor(c, 0, x.dtype, std::move(dims));
  }
  a.axes = std::move(*axes);
  const bool stepped = c.input_count() > 4 && c.has_input(4);
  if (stepped) a.steps = Numbers(c, 4);
  if (!stepped) a.steps.emplace(a.axes.size(), 1);
  if (count) GE_RETURN_IF_ERROR(CheckCountSlice(c, "starts", *count, a.axes.size()));
  if (const auto ends = CountOf(c, 2, a.ends)) {
    GE_RETURN_IF_ERROR(CheckCountSlice(c, "ends", *ends, a.axes.size()));
  }
  if (const auto steps = stepped ? CountOf(c, 4, a.steps) : std::nullopt) {
    GE_RETURN_IF_ERROR(CheckCountSlice(c, "steps", *steps, a.axes.size()));
  }
  return CutAll(c, a);
}

}  // namespace

// Every step-th element from start to end (exclusive) of some axes; positions are clamped.
GE_OP(slice) = {"",
                "Slice",
                13,
                {{"data", kClassic, "T"},
                 {"starts", kIndex, "Tind"},
                 {"ends", kIndex, "Tind"},
                 {"axes", kIndex, "Tind", Arity::kOptional},
                 {"steps", kIndex, "Tind", Arity::kOptional}},
                {{"output", kClassic, "T"}},
                {},
                InferSlice,
                PerOutput<0>};

}  // namespace ge
