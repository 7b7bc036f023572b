// What a rule of a Python operator may ask of the engine: ge_infer and ge_builder as objects. They
// end with the rule's call; later uses are refused. With the GIL held, in the call's thread.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin_op.h"

namespace graphengine {

// A size that is not known yet.
struct InferredSize {
  ge_dim dim;
};

class InferCall {
 public:
  explicit InferCall(const ge_infer* call) : call_(call) {}
  void End() { call_ = nullptr; }
  // An int or an InferredSize; `op`: GE_DIM_*.
  nanobind::object Calculate(uint32_t op, nanobind::handle a, nanobind::handle b);
  nanobind::object DataSize();  // known when the kernel has run

 private:
  const ge_infer* call_;
};

class BuilderCall {
 public:
  explicit BuilderCall(const ge_builder* call) : call_(call) {}
  void End() { call_ = nullptr; }
  // As those of GraphBuilder; there is one function, whose number is not looked at.
  std::vector<uint32_t> Node(uint32_t fn, std::string_view domain, std::string_view op,
                             const std::vector<uint32_t>& inputs, nanobind::dict attributes,
                             uint32_t outputs, std::string_view name, nanobind::dict bodies);
  uint32_t Constant(uint32_t fn, nanobind::handle tensor);
  nanobind::tuple ValueType(uint32_t fn, uint32_t value);

 private:
  const ge_builder& Call() const;

  const ge_builder* call_;
};

nanobind::object SizeFrom(const ge_dim& dim);  // an int, or an InferredSize
ge_dim SizeOf(nanobind::handle size);

void AddRuleCalls(nanobind::module_& m);

}  // namespace graphengine
