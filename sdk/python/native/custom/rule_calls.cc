#include "rule_calls.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "dtype.h"
#include "graph_attributes.h"
#include "graph_builder.h"
#include "raise.h"
#include "tensor.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

[[noreturn]] void RefuseEnded(const char* what) {
  Raise(GE_STATUS_FAILED_PRECONDITION,
        std::string(what) + " of a rule is used when the rule's call has ended");
}

}  // namespace

nb::object SizeFrom(const ge_dim& dim) {
  return dim.id == 0 ? nb::object(nb::int_(dim.value)) : nb::cast(InferredSize{dim});
}

ge_dim SizeOf(nb::handle size) {
  const InferredSize* free = nullptr;
  if (nb::try_cast(size, free) && free) return free->dim;
  ge_dim out{};
  out.value = out.min = out.max = nb::cast<int64_t>(size);
  return out;
}

nb::object InferCall::Calculate(uint32_t op, nb::handle a, nb::handle b) {
  if (!call_) RefuseEnded("a size");
  const ge_dim x = SizeOf(a), y = SizeOf(b);
  ge_dim out{};
  if (call_->dim(call_->host, op, &x, &y, &out) != GE_OK) {
    PyErr_SetString(PyExc_ArithmeticError,
                    "this arithmetic on sizes overflows or divides by zero; sizes are whole "
                    "numbers from 0 to 2^63 - 1");
    nb::raise_python_error();
  }
  return SizeFrom(out);
}

nb::object InferCall::DataSize() {
  if (!call_) RefuseEnded("a size");
  ge_dim out{};
  if (call_->data_dim(call_->host, {"n", 1}, &out) != GE_OK) {
    Raise(GE_STATUS_INTERNAL, "a size that the data decide was refused");
  }
  return SizeFrom(out);
}

const ge_builder& BuilderCall::Call() const {
  if (!call_) RefuseEnded("a tensor");
  return *call_;
}

std::vector<uint32_t> BuilderCall::Node(uint32_t, std::string_view domain, std::string_view op,
                                        const std::vector<uint32_t>& inputs, nb::dict attributes,
                                        uint32_t outputs, std::string_view name, nb::dict bodies) {
  const ge_builder& b = Call();
  if (bodies.size() > 0) {
    Raise(GE_STATUS_UNSUPPORTED, "a gradient rule of an operator has no nodes with functions");
  }
  const GraphAttributes attrs(op, attributes);
  ge_new_node node{};
  node.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  node.domain = {domain.data(), domain.size()};
  node.op = {op.data(), op.size()};
  node.name = {name.data(), name.size()};
  node.in = inputs.data();
  node.n_in = static_cast<uint32_t>(inputs.size());
  node.attr = attrs.data();
  node.n_attr = attrs.size();
  node.n_out = outputs;
  std::vector<uint32_t> out(outputs);
  if (b.node(b.host, &node, out.data()) != GE_OK) {
    Raise(GE_STATUS_INVALID_ARGUMENT, std::string(op) + " is refused here");
  }
  return out;
}

uint32_t BuilderCall::Constant(uint32_t, nb::handle object) {
  const ge_builder& b = Call();
  const Tensor* tensor = TensorOf(object);
  if (!tensor || tensor->symbol) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          "a constant is a " + TypeName(object) + ", wanted a Tensor with numbers");
  }
  ge_type type{};
  type.dtype = tensor->dtype;
  type.rank = tensor->rank;
  type.dims = tensor->dims;
  type.bits = ElementOf(tensor->dtype)->bits;
  uint32_t value = 0;
  if (b.constant(b.host, &type, tensor->memory->data, tensor->bytes, &value) != GE_OK) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "a constant is refused here");
  }
  return value;
}

nb::tuple BuilderCall::ValueType(uint32_t, uint32_t value) {
  const ge_builder& b = Call();
  return TypeOfValue(*b.value(b.host, value));
}

void AddRuleCalls(nb::module_& m) {
  nb::class_<InferredSize>(m, "InferredSize", "A size that is not known while types are inferred.")
      .def_prop_ro("dim", [](const InferredSize& s) { return DimOf(s.dim); });
  nb::class_<InferCall>(m, "InferCall", "What a rule for types may ask; it ends with the rule.")
      .def("calculate", &InferCall::Calculate, nb::arg("op"), nb::arg("a"), nb::arg("b"))
      .def("data_size", &InferCall::DataSize);
  nb::class_<BuilderCall>(m, "BuilderCall",
                          "The graph that a gradient rule adds to; it ends with the rule.")
      .def("node", &BuilderCall::Node, nb::arg("function"), nb::arg("domain"), nb::arg("op"),
           nb::arg("inputs"), nb::arg("attributes"), nb::arg("outputs") = 1, nb::arg("name") = "",
           nb::arg("bodies") = nb::dict())
      .def("constant", &BuilderCall::Constant, nb::arg("function"), nb::arg("tensor"))
      .def("value_type", &BuilderCall::ValueType, nb::arg("function"), nb::arg("value"));
}

}  // namespace graphengine
