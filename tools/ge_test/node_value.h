// Values stored beside a model by ONNX's node tests: tensors, strings, sequences, optionals.
// Reading and comparing only. One thread.
#pragma once

#include <string>

#include "ge/control/value.h"
#include "tools/ge_test/tensor.h"

namespace ge::test {

// Reads the bytes of a TensorProto, SequenceProto or OptionalProto, by `type`, or returns
// DATA_CORRUPT.
Result<FlowValue> ReadNodeValue(const std::string& bytes, const Type& type);
// "" if equal; strings exactly, sequences element by element.
std::string NodeValuesDiffer(const FlowValue& found, const FlowValue& wanted,
                             const Tolerance& tolerance);

}  // namespace ge::test
