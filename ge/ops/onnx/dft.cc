#include <algorithm>

#include "ge/ops/scalar_inputs.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// The last axis: 1 for real numbers, 2 for complex ones; which of them onesided leaves open.
Status CheckDftParts(InferContext& c, bool inverse, bool onesided) {
  const Type& x = c.input_type(0);
  const Dim parts = x.dims.back();
  if (!parts.known()) return {};
  const bool fits = parts.value == 1 || parts.value == 2;
  const int64_t wanted = inverse ? 2 : 1;
  if (fits && (!onesided || parts.value == wanted)) return {};
  const char* why = !onesided ? "1 (real) or 2 (complex)"
                    : inverse ? "2: the inverse of a onesided spectrum takes complex numbers"
                              : "1: only a real signal has a onesided spectrum";
  return Bad(c.node(), fmt::format("input 'input' has last size {}, wanted {}", parts.value, why));
}

// Where the transform goes; nullopt when only the data say.
Result<std::optional<int64_t>> DftAxis(InferContext& c) {
  const auto rank = static_cast<int64_t>(c.input_type(0).rank());
  int64_t axis = -2;
  if (c.input_count() > 2 && c.has_input(2)) {
    GE_RETURN_IF_ERROR(WantScalar(c, 2, "axis"));
    const auto given = Numbers(c, 2);
    if (!given || given->size() != 1) return std::optional<int64_t>();
    axis = given->front();
  }
  const auto normal = NormalizeAxis(axis, rank, "input 'axis'");
  if (!normal.ok()) return Bad(c.node(), normal.status().message());
  if (*normal == rank - 1) {
    return Bad(c.node(), fmt::format("input 'axis' is {}, wanted another than the last: that one "
                                     "holds the parts of complex numbers",
                                     axis));
  }
  return std::optional<int64_t>(*normal);
}

// The length of the transform along an axis of size `in`.
Result<Dim> DftLength(InferContext& c, Dim in, bool mirrored) {
  if (c.input_count() > 1 && c.has_input(1)) return ScalarSize(c, 1, "dft_length", 1);
  std::optional<Dim> length = in;
  if (mirrored) {
    length = c.dims().Sub(in, KnownDim(1));
    if (length) length = c.dims().Mul(*length, KnownDim(2));
  }
  GE_ASSIGN_OR_RETURN(const Dim found, Checked(c.node(), length, "the length of the transform"));
  if (found.known() && found.value < 1) {
    return Bad(c.node(), fmt::format("the transform of an axis of size {} has length {}, wanted at "
                                     "least 1",
                                     c.dims().ToString(in), found.value));
  }
  return found;
}

Status InferDft(InferContext& c) {
  const Type& x = c.input_type(0);
  const bool inverse = AttrInt(c.node(), "inverse") != 0;
  const bool onesided = AttrInt(c.node(), "onesided") != 0;
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 2, "DFT: input 'input'"));
  GE_RETURN_IF_ERROR(CheckDftParts(c, inverse, onesided));
  GE_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, DftAxis(c));
  std::vector<Dim> dims = x.dims;
  dims.back() = KnownDim(inverse && onesided ? 1 : 2);
  for (size_t d = 0; !axis && d + 1 < dims.size(); ++d) dims[d] = c.FreshDim("dft", true);
  if (axis) {
    Dim& size = dims[static_cast<size_t>(*axis)];
    GE_ASSIGN_OR_RETURN(size, DftLength(c, size, inverse && onesided));
    if (onesided && !inverse) {
      auto half = c.dims().FloorDiv(size, KnownDim(2));
      if (half) half = c.dims().Add(*half, KnownDim(1));
      GE_ASSIGN_OR_RETURN(size, Checked(c.node(), half, "the size of the spectrum"));
    }
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

// Eight flops for each element of the axis, padding too, and each frequency. The axis is an input:
// the longest is taken for it; half a spectrum is that of twice as many elements.
Work EffortDft(const Node& n, std::span<const Type> in, std::span<const Type> out) {
  if (in.empty() || out.empty()) return {};
  double longest = 1;
  for (const Type* t : {&in[0], &out[0]}) {
    for (size_t d = 0; d + 1 < t->dims.size(); ++d) {
      if (t->dims[d].known()) longest = std::max(longest, static_cast<double>(t->dims[d].value));
    }
  }
  if (AttrInt(n, "onesided") != 0) longest *= 2;
  return {4 * longest * ElementsOf(out[0]), BytesOf(in, out)};  // a frequency is two elements
}

OpDef DftRecord() {
  OpDef op{"", "DFT", 20, {}, {}, {}, InferDft, EffortDft};
  op.inputs = {{"input", kFloats, "T1"},
               {"dft_length", kIndex, "T2", Arity::kOptional},
               {"axis", Bit(DType::kInt64), "", Arity::kOptional}};
  op.outputs = {{"output", kFloats, "T1"}};
  op.attrs = {{"inverse", AttrKind::kInt, 0}, {"onesided", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// The discrete Fourier transform along one axis, or its inverse; complex numbers are pairs in the
// last axis.
GE_OP(dft) = DftRecord();

}  // namespace ge
