#include "tools/ge_test/node_value.h"

#include <fmt/format.h>

#include <cstring>

#include "frontend/onnx/import.h"
#include "ge/wire/onnx.pb.h"

namespace ge::test {
namespace {

namespace wire = ::graphengine::onnx_wire;

// A tensor is read by the importer, as the value of a Constant node.
Result<FlowValue> ReadTensor(const wire::Tensor& tensor) {
  wire::Model model;
  model.set_ir_version(13);
  model.add_opset_import()->set_version(kCanonicalOpset);
  model.mutable_graph()->set_name("data");
  wire::Node* node = model.mutable_graph()->add_node();
  node->set_op_type("Constant");
  node->add_output("data");
  wire::Attribute* attr = node->add_attribute();
  attr->set_name("value");
  attr->set_type(4);
  *attr->mutable_t() = tensor;
  attr->mutable_t()->clear_name();
  model.mutable_graph()->add_output()->set_name("data");
  const std::string whole = model.SerializeAsString();
  GE_ASSIGN_OR_RETURN(
      const Graph graph,
      ImportOnnxBytes(std::as_bytes(std::span(whole.data(), whole.size())), nullptr, {}));
  if (graph.consts.size() != 2) {
    return Status(Code::kInternal, "the tensor was not read as one constant");
  }
  const Const& c = graph.consts[1];
  if (c.type.dtype == DType::kString) return StringsOf(c.type.static_dims(), c.strings);
  GE_ASSIGN_OR_RETURN(const HostTensor t, FromConst(c));
  FlowPool pool;
  FlowValue v;
  std::byte* data = nullptr;
  GE_RETURN_IF_ERROR(pool.NewTensor(t.dtype, t.dims, &v, &data));
  if (t.bytes > 0) std::memcpy(data, t.data.get(), t.bytes);
  return v;
}

Result<FlowValue> ReadSequence(const wire::Sequence& sequence, DType dtype) {
  std::vector<FlowValue> elements;
  for (const wire::Tensor& t : sequence.tensor_values()) {
    GE_ASSIGN_OR_RETURN(FlowValue v, ReadTensor(t));
    elements.push_back(std::move(v));
  }
  return SequenceOf(dtype, std::move(elements));
}

Result<FlowValue> ReadOptional(const wire::Optional& optional, DType dtype) {
  if (optional.has_tensor_value()) return ReadTensor(optional.tensor_value());
  if (optional.has_sequence_value()) return ReadSequence(optional.sequence_value(), dtype);
  return FlowValue();
}

Status Corrupt(const char* what) {
  return Status(Code::kDataCorrupt, fmt::format("the bytes are no {}", what));
}

// The element type of what is wrapped.
DType Innermost(const Type& type) {
  const Type* t = &type;
  while (!t->elems.empty()) t = &t->elems[0];
  return t->dtype;
}

}  // namespace

Result<FlowValue> ReadNodeValue(const std::string& bytes, const Type& type) {
  if (type.kind == TypeKind::kSequence) {
    wire::Sequence sequence;
    if (!sequence.ParseFromString(bytes)) return Corrupt("sequence");
    return ReadSequence(sequence, Innermost(type));
  }
  if (type.kind == TypeKind::kOptional) {
    wire::Optional optional;
    if (!optional.ParseFromString(bytes)) return Corrupt("optional");
    return ReadOptional(optional, Innermost(type));
  }
  wire::Tensor tensor;
  if (!tensor.ParseFromString(bytes)) return Corrupt("tensor");
  GE_ASSIGN_OR_RETURN(FlowValue v, ReadTensor(tensor));
  // Before onnx 1.13 the tests stored bfloat16 as its bits.
  if (type.dtype == DType::kBfloat16 && v.dtype == DType::kUint16) v.dtype = DType::kBfloat16;
  return v;
}

std::string NodeValuesDiffer(const FlowValue& found, const FlowValue& wanted,
                             const Tolerance& tolerance) {
  const std::string types = fmt::format("found {}, wanted {}", Describe(found), Describe(wanted));
  if (found.kind != wanted.kind) return types;
  if (wanted.kind == FlowValue::Kind::kNone) return "";
  if (wanted.kind == FlowValue::Kind::kSequence) {
    if (found.elements->size() != wanted.elements->size()) return types;
    for (size_t i = 0; i < wanted.elements->size(); ++i) {
      const std::string why =
          NodeValuesDiffer((*found.elements)[i], (*wanted.elements)[i], tolerance);
      if (!why.empty()) return fmt::format("element {} of the sequence: {}", i, why);
    }
    return "";
  }
  if (found.dtype != wanted.dtype || !(found.dims == wanted.dims)) return types;
  if (wanted.dtype == DType::kString) {
    for (size_t i = 0; i < wanted.strings->size(); ++i) {
      const std::string &f = (*found.strings)[i], &w = (*wanted.strings)[i];
      if (f != w) return fmt::format("element {} is '{:.64}', wanted '{:.64}'", i, f, w);
    }
    return "";
  }
  HostTensor tensors[2];
  const FlowValue* values[2] = {&found, &wanted};
  for (int i = 0; i < 2; ++i) {
    auto t = MakeTensor(values[i]->dtype, values[i]->dims.vector());
    if (!t.ok()) return t.status().ToString();
    tensors[i] = *std::move(t);
    if (tensors[i].bytes > 0) std::memcpy(tensors[i].data.get(), values[i]->data, tensors[i].bytes);
  }
  Tolerance own = tolerance;
  // Two units in the last place, as ONNX's runner allows.
  if (wanted.dtype == DType::kBfloat16) own.rtol = std::max(own.rtol, 0x1p-6);
  return Differs(tensors[0], tensors[1], own);
}

}  // namespace ge::test
