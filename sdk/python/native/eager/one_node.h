// OneNode: an operator with its attributes and the types of its inputs, what a session of eager
// mode is made of. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tensor.h"

namespace graphengine {

struct OneNode {
  std::string_view domain, op;
  PyObject* attributes;             // a dict, or null
  std::span<Tensor* const> inputs;  // eager ones, null for those that are omitted
  uint32_t outputs;
  uint32_t shape_inputs;  // as ShapeInputsOf
};

// By bits, the inputs of the operator whose numbers decide shapes, or axes that are worked on.
uint32_t ShapeInputsOf(std::string_view domain, std::string_view op);

// Whether the numbers of input i are part of the node: few that decide shapes.
bool IsConstant(const OneNode& node, size_t i);

// What two nodes of one session have in common, as bytes: operator, attributes, types, ranks and
// constants. Throws graphengine.Error for an attribute of another type.
void AppendKey(const OneNode& node, std::string* key);

// The model in the text form. `sizes`: with the sizes of the inputs, else these are free.
std::string ModelText(const OneNode& node, bool sizes);

}  // namespace graphengine
