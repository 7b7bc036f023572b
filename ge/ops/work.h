// Work: the effort of operators at static shapes, the base of prices. Pure functions of types; a
// type that is not static counts as nothing. Not a price: engines and calibration make that. Any
// thread may call.
#pragma once

#include "ge/ops/op.h"

namespace ge {

double ElementsOf(const Type& type);
// Bytes of all inputs and outputs, each once.
double BytesOf(std::span<const Type> in, std::span<const Type> out);
// flops = n per element of output 0.
template <int kFlops>
Work PerOutput(const Node&, std::span<const Type> in, std::span<const Type> out) {
  return {out.empty() ? 0 : kFlops * ElementsOf(out[0]), BytesOf(in, out)};
}
// flops = n per element of input 0: reductions.
template <int kFlops>
Work PerInput(const Node&, std::span<const Type> in, std::span<const Type> out) {
  return {in.empty() ? 0 : kFlops * ElementsOf(in[0]), BytesOf(in, out)};
}

}  // namespace ge
