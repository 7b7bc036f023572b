#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// stride * (in - 1) - pads + kernel: the size that MaxPool made X of, as far as one can tell.
Result<Dim> UnpooledSize(InferContext& c, Dim in, const Window& w, size_t i) {
  DimTable& d = c.dims();
  auto out = d.Sub(in, KnownDim(1));
  if (out) out = d.Mul(*out, KnownDim(w.strides[i]));
  if (out) out = d.Add(*out, KnownDim(w.kernel[i]));
  for (int64_t pad : {w.pads[i], w.pads[w.kernel.size() + i]}) {
    if (out) out = d.Sub(*out, KnownDim(pad));
  }
  GE_ASSIGN_OR_RETURN(Dim size, Checked(c.node(), out, "an output size"));
  if (size.known() && size.value < 0) {
    return Bad(c.node(), fmt::format("spatial axis {} would have output size {}, wanted at least "
                                     "0: less padding or a larger kernel",
                                     i, size.value));
  }
  return size;
}

// What the input output_shape says, no less than what the attributes give.
Status GivenShape(InferContext& c, std::vector<Dim>* dims) {
  const auto given = Content(c, 2);
  if (!given) {
    for (Dim& d : *dims) d = c.FreshDim("unpool", true);
    return {};
  }
  if (given->size() != dims->size()) {
    return Bad(c.node(), fmt::format("input 'output_shape' has {} entries, wanted {}: the rank of "
                                     "X",
                                     given->size(), dims->size()));
  }
  for (size_t i = 0; i < dims->size(); ++i) {
    const Dim have = (*given)[i], least = (*dims)[i];
    const bool exact = i < 2;
    if (have.known() && least.known() && (exact ? have != least : have.value < least.value)) {
      return Bad(c.node(),
                 fmt::format("input 'output_shape' is {}, wanted {} {}", Show(c.dims(), *given),
                             exact ? "N and C of" : "at least", Show(c.dims(), *dims)));
    }
  }
  *dims = *given;
  return {};
}

Status InferMaxUnpool(InferContext& c) {
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 3, "MaxUnpool: input 'X' (N x C x spatial)"));
  GE_RETURN_IF_ERROR(WantShape(c, 1, "I", x.dims));
  std::vector<Dim> dims = x.dims;
  const std::vector<Dim> spatial(dims.begin() + 2, dims.end());
  GE_ASSIGN_OR_RETURN(Window w, ReadWindow(c.node(), spatial, AttrInts(c.node(), "kernel_shape")));
  for (size_t i = 0; i < spatial.size(); ++i) {
    GE_ASSIGN_OR_RETURN(dims[2 + i], UnpooledSize(c, spatial[i], w, i));
  }
  if (c.input_count() > 2 && c.has_input(2)) GE_RETURN_IF_ERROR(GivenShape(c, &dims));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

OpDef MaxUnpoolRecord() {
  OpDef op{"", "MaxUnpool", 22, {}, {{"output", kFloats, "T1"}}, {}, InferMaxUnpool, PerInput<1>};
  op.inputs = {{"X", kFloats, "T1"},
               {"I", Bit(DType::kInt64), "T2"},
               {"output_shape", Bit(DType::kInt64), "T2", Arity::kOptional}};
  op.attrs = {{"kernel_shape", AttrKind::kInts, true},
              {"pads", AttrKind::kInts},
              {"strides", AttrKind::kInts}};
  return op;
}

}  // namespace

// Puts every element where MaxPool took it from; zeros elsewhere.
GE_OP(max_unpool) = MaxUnpoolRecord();

}  // namespace ge
