#include "ge/ops/families/reduction.h"

#include "ge/ops/known_ints.h"

namespace ge {
namespace {

// The axes are known only at run time: their number may still be known.
Status InferUnknownAxes(InferContext& c, bool keep) {
  const Type& x = c.input_type(0);
  const Type& axes = c.input_type(1);
  size_t rank = x.rank();
  if (!x.ranked || (!keep && !axes.is_static())) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (!keep) {
    const int64_t count = ElementCount(axes).value_or(0);
    if (count > static_cast<int64_t>(rank)) {
      return Bad(c.node(), "input 'axes' has " + std::to_string(count) +
                               " entries, wanted at most the rank " + std::to_string(rank));
    }
    rank -= static_cast<size_t>(count);
    // No axes at all: everything is reduced, or nothing when noop_with_empty_axes is set.
    if (count == 0 && AttrInt(c.node(), "noop_with_empty_axes") == 0) rank = 0;
  }
  std::vector<Dim> dims;
  for (size_t i = 0; i < rank; ++i) dims.push_back(c.FreshDim("reduced", true));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

}  // namespace

Status InferReduce(InferContext& context) {
  const Type& x = context.input_type(0);
  const bool keep = AttrInt(context.node(), "keepdims") != 0;
  const bool given = context.input_count() > 1 && context.has_input(1);
  std::vector<int64_t> axes;
  if (given) {
    if (context.input_type(1).ranked && context.input_type(1).rank() != 1) {
      return Bad(context.node(), "input 'axes' has shape " +
                                     Show(context.dims(), context.input_type(1).dims) +
                                     ", wanted rank 1");
    }
    auto numbers = Numbers(context, 1);
    if (!numbers) return InferUnknownAxes(context, keep);
    axes = std::move(*numbers);
  }
  if (axes.empty() && AttrInt(context.node(), "noop_with_empty_axes") != 0)
    return InferSame(context);
  if (!x.ranked) {
    if (axes.empty() && !keep) return SetTensor(context, 0, x.dtype, {});
    context.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const auto rank = static_cast<int64_t>(x.rank());
  if (axes.empty()) {
    for (int64_t a = 0; a < rank; ++a) axes.push_back(a);
  }
  GE_ASSIGN_OR_RETURN(axes, NormalizeAxes(context.node(), axes, rank));
  std::vector<bool> reduced(x.rank());
  for (int64_t a : axes) reduced[static_cast<size_t>(a)] = true;
  std::vector<Dim> dims;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) dims.push_back(x.dims[i]);
    if (reduced[i] && keep) dims.push_back(KnownDim(1));
  }
  return SetTensor(context, 0, x.dtype, std::move(dims));
}

OpDef Reduction(const char* name, int32_t since, DTypeSet types) {
  OpDef op{"", name, since, {}, {{"reduced", types, "T"}}, {}};
  op.inputs = {{"data", types, "T"}, {"axes", Bit(DType::kInt64), "", Arity::kOptional}};
  op.attrs = {{"keepdims", AttrKind::kInt, 1}, {"noop_with_empty_axes", AttrKind::kInt, 0}};
  op.infer = InferReduce;
  op.work = PerInput<1>;
  return op;
}

}  // namespace ge
