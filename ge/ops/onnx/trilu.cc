#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferTrilu(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRank(x, 2, "Trilu: input 'input'"));
  if (c.input_count() > 1 && c.has_input(1)) {
    const Type& k = c.input_type(1);
    const auto count = ElementCount(k);
    if (k.ranked && (k.rank() > 1 || (count && *count != 1))) {
      return Bad(c.node(), "input 'k' has shape " + Show(c.dims(), k.dims) + ", wanted a scalar");
    }
  }
  return InferSame(c);
}

}  // namespace

// The upper (or lower) triangle of matrices from the k-th diagonal on, zeros elsewhere.
GE_OP(trilu) = {"",
                "Trilu",
                14,
                {{"input", kClassic, "T"}, {"k", Bit(DType::kInt64), "", Arity::kOptional}},
                {{"output", kClassic, "T"}},
                {{"upper", AttrKind::kInt, 1}},
                InferTrilu,
                PerOutput<0>};

}  // namespace ge
