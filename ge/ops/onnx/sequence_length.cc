#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSequenceLength(InferContext& c) {
  GE_RETURN_IF_ERROR(ElementOfSequence(c, 0).status());
  return SetTensor(c, 0, DType::kInt64, {});
}

}  // namespace

// How many elements a sequence has.
GE_OP(sequence_length) = {"",
                          "SequenceLength",
                          11,
                          {{"input_sequence", kAnyType}},
                          {{"length", Bit(DType::kInt64)}},
                          {},
                          InferSequenceLength,
                          PerOutput<0>};

}  // namespace ge
