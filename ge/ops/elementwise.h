// Records of operators of one input, element by element. Not an inference rule of its own:
// see infer_shapes.h. Any thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {

// kFlops: operations per element, the base of prices; an exponential counts as 10.
template <int kFlops = 1>
OpDef Unary(const char* name, int32_t since, DTypeSet types = kFloats, const char* in = "X",
            const char* out = "Y") {
  OpDef op{"", name, since, {{in, types, "T"}}, {{out, types, "T"}}, {}};
  op.infer = InferSame;
  op.work = PerOutput<kFlops>;
  return op;
}

// Two inputs that broadcast, both of one dtype; `infer` answers the output.
inline OpDef Binary(const char* name, int32_t since, DTypeSet types, Status (*infer)(InferContext&),
                    DTypeSet out_types = 0) {
  OpDef op{"", name, since, {{"A", types, "T"}, {"B", types, "T"}}, {}, {}};
  op.outputs = {out_types ? Port{"C", out_types} : Port{"C", types, "T"}};
  op.infer = infer;
  return op;
}

// Effort of one operation per output element and input: Max, Min, Sum, Mean.
inline Work PerOutputAndInput(const Node&, std::span<const Type> in, std::span<const Type> out) {
  return {out.empty() ? 0 : static_cast<double>(in.size()) * ElementsOf(out[0]), BytesOf(in, out)};
}

}  // namespace ge
