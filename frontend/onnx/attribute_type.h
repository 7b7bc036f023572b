// ONNX's numbers of attribute types. Not the types of our attributes (ge/ops/op.h).
#pragma once

#include <cstdint>

namespace ge {

enum AttributeType : int32_t {
  kUndefinedAttr = 0,
  kFloatAttr = 1,
  kIntAttr = 2,
  kStringAttr = 3,
  kTensorAttr = 4,
  kGraphAttr = 5,
  kFloatsAttr = 6,
  kIntsAttr = 7,
  kStringsAttr = 8,
  kTensorsAttr = 9,
  kGraphsAttr = 10,
  kSparseAttr = 11,
  kSparsesAttr = 12,
  kTypeAttr = 13,
  kTypesAttr = 14,
};

}  // namespace ge
