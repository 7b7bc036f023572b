// ge.h: tensors by DLPack, where they lie. Memory of the host alone.
#include <dlpack/dlpack.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>

#include "ge/api/capi.h"
#include "ge/base/aligned.h"
#include "ge/base/checked.h"

using ge::Code;
using ge::DType;
using ge::Status;
using ge::TensorView;

namespace ge::capi {
namespace {

// Codes that DLPack got after 0.6, whose numbers are those of its later versions.
constexpr uint8_t kBool = 6, kFloat8E4m3Fn = 10, kFloat8E4m3Fnuz = 11, kFloat8E5m2 = 12,
                  kFloat8E5m2Fnuz = 13, kFloat8E8m0Fnu = 14;
struct DlpackElement {
  DType dtype;
  uint8_t code, bits;
};
// Those of whole bytes; of smaller ones DLPack leaves open which bits come first.
constexpr DlpackElement kElements[] = {
    {DType::kFloat, kDLFloat, 32},
    {DType::kUint8, kDLUInt, 8},
    {DType::kInt8, kDLInt, 8},
    {DType::kUint16, kDLUInt, 16},
    {DType::kInt16, kDLInt, 16},
    {DType::kInt32, kDLInt, 32},
    {DType::kInt64, kDLInt, 64},
    {DType::kBool, kBool, 8},
    {DType::kFloat16, kDLFloat, 16},
    {DType::kDouble, kDLFloat, 64},
    {DType::kUint32, kDLUInt, 32},
    {DType::kUint64, kDLUInt, 64},
    {DType::kComplex64, kDLComplex, 64},
    {DType::kComplex128, kDLComplex, 128},
    {DType::kBfloat16, kDLBfloat, 16},
    {DType::kFloat8e4m3fn, kFloat8E4m3Fn, 8},
    {DType::kFloat8e4m3fnuz, kFloat8E4m3Fnuz, 8},
    {DType::kFloat8e5m2, kFloat8E5m2, 8},
    {DType::kFloat8e5m2fnuz, kFloat8E5m2Fnuz, 8},
    {DType::kFloat8e8m0, kFloat8E8m0Fnu, 8},
};

std::string DeviceName(int32_t type, int id) {
  static constexpr struct {
    int32_t type;
    const char* name;
  } kNames[] = {{kDLCUDA, "CUDA"},        {kDLOpenCL, "OpenCL"},
                {kDLVulkan, "Vulkan"},    {kDLMetal, "Metal"},
                {kDLVPI, "VPI"},          {kDLROCM, "ROCm"},
                {kDLExtDev, "extension"}, {kDLCUDAManaged, "managed CUDA"}};
  for (const auto& n : kNames) {
    if (n.type == type) return fmt::format("{} device {}", n.name, id);
  }
  return fmt::format("device {} of type {}", id, type);
}

Status CheckDevice(const DLDevice& device) {
  const auto type = static_cast<int32_t>(device.device_type);
  if (type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost) return {};
  return Status(Code::kUnsupported,
                fmt::format("the tensor lies on {}; this version takes memory of the host alone, "
                            "copy it there",
                            DeviceName(type, device.device_id)));
}

Status CheckStream(const void* stream) {
  if (stream == nullptr) return {};
  return Status(Code::kInvalidArgument,
                "memory of the host has no stream; wait for what fills it, and pass NULL");
}

Status CheckDense(const DLTensor& t) {
  if (t.strides == nullptr) return {};
  for (int i = 0; i < t.ndim; ++i) {
    if (t.shape[i] == 0) return {};
  }
  int64_t wanted = 1;
  for (int i = t.ndim; i-- > 0;) {
    if (t.shape[i] != 1 && t.strides[i] != wanted) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the tensor is not dense in row-major order: axis {} has stride "
                                "{}, wanted {}; copy it into one that is",
                                i, t.strides[i], wanted));
    }
    wanted *= t.shape[i];  // its product was checked
  }
  return {};
}

Result<DType> ReadType(const DLDataType& type) {
  for (const DlpackElement& e : kElements) {
    if (e.code == type.code && e.bits == type.bits && type.lanes == 1) return e.dtype;
  }
  return Status(Code::kUnsupported,
                fmt::format("the tensor's elements have DLPack's type code {}, {} bits and {} "
                            "lanes, which is no type of a tensor here; convert it",
                            type.code, type.bits, type.lanes));
}

// A view of it, as ge.h has tensors.
Status ReadManaged(const DLManagedTensor* managed, const void* stream, ge_tensor* out) {
  if (!managed) return Null("managed");
  const DLTensor& t = managed->dl_tensor;
  GE_RETURN_IF_ERROR(CheckDevice(t.device));
  GE_RETURN_IF_ERROR(CheckStream(stream));
  GE_ASSIGN_OR_RETURN(const DType dtype, ReadType(t.dtype));
  if (t.ndim < 0 || t.ndim > GE_MAX_RANK || (t.ndim > 0 && !t.shape)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("the tensor has rank {}, wanted 0 to {} and its shape", t.ndim, GE_MAX_RANK));
  }
  const auto count = CheckedProduct(std::span(t.shape, static_cast<size_t>(t.ndim)));
  const auto bytes = count ? DTypeBytes(dtype, *count) : std::nullopt;
  if (!bytes) {
    return Status(Code::kInvalidArgument,
                  "the tensor has a negative dim, or more bytes than 63 bits count");
  }
  GE_RETURN_IF_ERROR(CheckDense(t));
  if (*bytes > 0 && !t.data) return Null("the tensor's data");
  out->dtype = static_cast<int32_t>(dtype);
  out->rank = t.ndim;
  out->flags = 0;
  std::copy_n(t.shape, t.ndim, out->dims);
  out->data = t.data ? static_cast<char*>(t.data) + t.byte_offset : nullptr;
  out->bytes = static_cast<uint64_t>(*bytes);
  return {};
}

// What a DLManagedTensor of ours is, with all that it points to.
struct Exported {
  DLManagedTensor managed{};
  int64_t shape[GE_MAX_RANK];
  std::shared_ptr<const void> owner;
};

Result<std::unique_ptr<Exported>> Export(DType dtype, std::span<const int64_t> dims, void* data,
                                         const void* stream) {
  GE_RETURN_IF_ERROR(CheckStream(stream));
  const auto* e = std::find_if(std::begin(kElements), std::end(kElements),
                               [&](const DlpackElement& x) { return x.dtype == dtype; });
  if (e == std::end(kElements)) {
    return Status(
        Code::kUnsupported,
        fmt::format("DLPack has no type for {}; read the bytes instead", DTypeName(dtype)));
  }
  auto x = std::make_unique<Exported>();
  std::copy(dims.begin(), dims.end(), x->shape);
  DLTensor& t = x->managed.dl_tensor;
  t.data = data;
  t.device = {kDLCPU, 0};
  t.ndim = static_cast<int>(dims.size());
  t.dtype = {e->code, e->bits, 1};
  t.shape = x->shape;
  x->managed.manager_ctx = x.get();
  x->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return x;
}

Status GiveManaged(std::unique_ptr<Exported> x, DLManagedTensor** out) {
  *out = &x.release()->managed;
  return {};
}

Status TensorToDlpack(ge_tensor* tensor, void* stream, DLManagedTensor** out) {
  if (!tensor) return Null("tensor");
  GE_RETURN_IF_ERROR(CheckArray("tensor", tensor, 1));
  if (!tensor->data || tensor->flags != GE_TENSOR_ALLOCATED) {
    return Status(
        Code::kInvalidArgument,
        "the tensor's memory was not allocated by a run, so that it cannot be given away; "
        "give the run an output with data = NULL and flags = 0");
  }
  std::vector<TensorView> views;
  GE_RETURN_IF_ERROR(ReadTensors("tensor", tensor, 1, true, &views));
  GE_ASSIGN_OR_RETURN(auto x, Export(views[0].dtype, views[0].dims, tensor->data, stream));
  x->owner = std::shared_ptr<const void>(
      tensor->data, [](void* p) { FreeAligned()(static_cast<std::byte*>(p)); });
  tensor->data = nullptr;
  tensor->bytes = 0;
  tensor->flags = 0;
  return GiveManaged(std::move(x), out);
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

ge_status ge_tensor_from_dlpack(struct DLManagedTensor* managed, void* stream, ge_tensor* out,
                                ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    GE_RETURN_IF_ERROR(CheckArray("out", out, 1));
    return ReadManaged(managed, stream, out);
  });
}

ge_status ge_tensor_to_dlpack(ge_tensor* tensor, void* stream, struct DLManagedTensor** out,
                              ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    return TensorToDlpack(tensor, stream, out);
  });
}

ge_status ge_any_from_dlpack(struct DLManagedTensor* managed, void* stream, ge_any** out,
                             ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    ge_tensor view{};
    view.size = sizeof view;
    GE_RETURN_IF_ERROR(ReadManaged(managed, stream, &view));
    const auto release = [](void* p) {
      auto* m = static_cast<DLManagedTensor*>(p);
      if (m->deleter) m->deleter(m);
    };
    ge_error why{};
    why.size = sizeof why;
    const ge_status made = ge_any_of_tensor(&view, release, managed, out, &why);
    if (made == GE_STATUS_OK) return {};
    return Status(static_cast<Code>(made), why.message);
  });
}

ge_status ge_any_to_dlpack(const ge_any* value, void* stream, struct DLManagedTensor** out,
                           ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!value) return Null("value");
    if (!out) return Null("out");
    ge_tensor view{};
    view.size = sizeof view;
    ge_error why{};
    why.size = sizeof why;
    const ge_status is_tensor = ge_any_tensor(value, &view, &why);
    if (is_tensor != GE_STATUS_OK) return Status(static_cast<Code>(is_tensor), why.message);
    const std::span dims(view.dims, static_cast<size_t>(view.rank));
    GE_ASSIGN_OR_RETURN(auto x, Export(value->value.dtype, dims, view.data, stream));
    x->owner = value->value.owner;
    return GiveManaged(std::move(x), out);
  });
}

}  // extern "C"
