#include <fmt/format.h>

#include "frontend/onnx/export_graph.h"

namespace ge {

Status ExportTensor(const Const& constant, const std::string& name, bool with_payload,
                    wire::Tensor* out) {
  if (!constant.type.is_static()) {
    return Status(Code::kUnsupported,
                  fmt::format("the constant '{}' is no tensor of known shape", name));
  }
  if (!name.empty()) out->set_name(name);
  for (const int64_t d : constant.type.static_dims()) out->add_dims(d);
  out->set_data_type(static_cast<int32_t>(constant.type.dtype));
  if (constant.type.dtype == DType::kString) {
    for (const std::string& s : constant.strings) out->add_string_data(s);
    return {};
  }
  if (!constant.data && constant.splat.empty() && constant.bytes > 0) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the data of the constant '{}' in '{}' were not loaded", name,
                              constant.external.file));
  }
  if (!with_payload) return {};
  ConstScratch scratch;
  constexpr uint64_t kMost = uint64_t{2} << 30;  // of a protobuf message
  const std::byte* data = ConstBytes(constant, &scratch, kMost);
  const auto size = static_cast<size_t>(ByteCount(constant.type).value_or(0));
  if (size > 0 && !data) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no room for the {} bytes of the constant '{}'", size, name));
  }
  out->set_raw_data(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  return {};
}

namespace {

void ExportShape(const Type& t, const DimTable& dims, wire::TensorShape* out) {
  for (const Dim d : t.dims) {
    auto* to = out->add_dim();
    if (d.known()) {
      to->set_dim_value(d.value);
    } else if (const auto& e = dims.expr(d.expr); e.op == DimOp::kSymbol) {
      to->set_dim_param(dims.symbol(e.symbol).name);
    }  // an expression has no form in ONNX: the size stays open
  }
}

}  // namespace

bool ExportType(const Type& type, const DimTable& dims, wire::Type* out) {
  switch (type.kind) {
    case TypeKind::kTensor: {
      if (!IsKnown(type.dtype)) return false;
      auto* tensor = out->mutable_tensor_type();
      tensor->set_elem_type(static_cast<int32_t>(type.dtype));
      if (type.ranked) ExportShape(type, dims, tensor->mutable_shape());
      return true;
    }
    case TypeKind::kSequence:
      return ExportType(type.elems[0], dims, out->mutable_sequence_type()->mutable_elem_type());
    case TypeKind::kOptional:
      return ExportType(type.elems[0], dims, out->mutable_optional_type()->mutable_elem_type());
    case TypeKind::kMap:
      out->mutable_map_type()->set_key_type(static_cast<int32_t>(type.dtype));
      return ExportType(type.elems[0], dims, out->mutable_map_type()->mutable_value_type());
    default:
      return false;
  }
}

}  // namespace ge
