// A whole LSTM layer as one step: the inputs' product for all steps at once, then for each step the
// state's thin product and the gates on vectors. Source: ONNX LSTM with its default activations.
// It owns no tensors; immutable, any number of threads may run it, each with scratch of its own.
#pragma once

#include <memory>

#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/unit.h"

namespace ge_native {

using namespace ge_cpu;

struct LstmHas {
  bool bias = false, h = false, c = false, y_h = false, y_c = false;
  bool by_columns = false;  // w and r lie as ONNX has them, [directions][4 hidden][...]
};
// Places: y [steps, directions, batch, hidden], x, w [directions][inputs][4 hidden],
// r [directions][hidden][4 hidden], scratch, then bias [directions][8 hidden], h, c, y_h, y_c
// [directions, batch, hidden], each any place where `has` says no. Gates lie in ONNX's order.
std::unique_ptr<Loop> LstmLoop(const Simd& simd, const LstmSpec& spec, const LstmHas& has);
// Floats of scratch.
int64_t LstmScratch(const LstmSpec& spec);

}  // namespace ge_native
