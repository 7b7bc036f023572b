// Values that ONNX's node tests store beside a model: tensors, strings, sequences, optionals.
// Reading and comparing only. One thread.
#pragma once

#include <string>

#include "ge/control/value.h"
#include "tools/ge_test/tensor.h"

namespace ge::test {

// Bytes of a TensorProto, SequenceProto or OptionalProto, by `type`. DATA_CORRUPT when they are
// none.
Result<FlowValue> ReadNodeValue(const std::string& bytes, const Type& type);
// "" when they are equal; strings exactly, sequences element by element.
std::string NodeValuesDiffer(const FlowValue& found, const FlowValue& wanted,
                             const Tolerance& tolerance);

}  // namespace ge::test
