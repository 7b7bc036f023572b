#include "plugins/gpu/cublaslt_product.h"

#include <utility>

namespace ge_engines::gpu {
namespace {

// Of addresses: what the library takes for granted where a preference says nothing. The host's
// blocks have it, and values begin where blocks' parts do.
constexpr uintptr_t kAddressAlign = 256;

// A setter of the library's, for one value.
template <class Set, class Of, class Attribute, class T>
cublaslt::Status SetAttribute(Set set, Of* of, Attribute attribute, const T& value) {
  return set(of, attribute, &value, sizeof value);
}

}  // namespace

std::unique_ptr<CublasLtProduct> CublasLtProduct::Make(const CublasLtLibrary& library, int device,
                                                       const CublasLtShape& shape,
                                                       uint64_t most_workspace, std::string* why) {
  std::unique_ptr<CublasLtProduct> made(new CublasLtProduct(library, device, shape));
  const Result result = library.WithHandle(device, [&](cublaslt::Handle handle) {
    const cublaslt::Status s = made->LayAll();
    return s == cublaslt::kSuccess ? made->Choose(handle, most_workspace) : s;
  });
  if (result.ok()) return made;
  *why = IsCublasLtStatus(result.vendor_code) ? CublasLtErrorText(result.vendor_code)
                                              : "the device's context cannot be made current";
  return nullptr;
}

cublaslt::Status CublasLtProduct::Describe(const void* bias, cublaslt::MatmulDesc* desc) const {
  const cublaslt::Functions& f = library_.f();
  const auto set = [&](cublaslt::MatmulAttribute attribute, const auto& value) {
    return SetAttribute(f.cublasLtMatmulDescSetAttribute, desc, attribute, value);
  };
  const auto operation = [](bool transposed) {
    return static_cast<int32_t>(transposed ? cublaslt::kTransposed : cublaslt::kPlain);
  };
  uint32_t epilogue = 0;
  if (shape_.biased) epilogue |= cublaslt::kEpilogueBias;
  if (shape_.activation != cublaslt::kEpilogueDefault) epilogue |= shape_.activation;
  if (epilogue == 0) epilogue = cublaslt::kEpilogueDefault;
  cublaslt::Status s = f.cublasLtMatmulDescInit_internal(
      desc, sizeof *desc, shape_.tf32 ? cublaslt::kComputeFastTf32 : cublaslt::kComputeF32,
      cublaslt::kF32);
  if (s == cublaslt::kSuccess) s = set(cublaslt::kMatmulTransA, operation(shape_.trans_a));
  if (s == cublaslt::kSuccess) s = set(cublaslt::kMatmulTransB, operation(shape_.trans_b));
  if (s == cublaslt::kSuccess) s = set(cublaslt::kMatmulEpilogue, epilogue);
  if (s == cublaslt::kSuccess && shape_.biased) s = set(cublaslt::kMatmulBiasPointer, bias);
  return s;
}

cublaslt::Status CublasLtProduct::Lay(cublaslt::DataType type, int64_t rows, int64_t columns,
                                      bool repeats, cublaslt::MatrixLayout* layout) const {
  const cublaslt::Functions& f = library_.f();
  cublaslt::Status s =
      f.cublasLtMatrixLayoutInit_internal(layout, sizeof *layout, type, static_cast<uint64_t>(rows),
                                          static_cast<uint64_t>(columns), rows);
  if (shape_.batch == 1 || s != cublaslt::kSuccess) return s;
  const auto set = f.cublasLtMatrixLayoutSetAttribute;
  s = SetAttribute(set, layout, cublaslt::kLayoutBatchCount, static_cast<int32_t>(shape_.batch));
  const int64_t stride = repeats ? 0 : rows * columns;
  return s == cublaslt::kSuccess ? SetAttribute(set, layout, cublaslt::kLayoutBatchStride, stride)
                                 : s;
}

cublaslt::Status CublasLtProduct::LayAll() {
  const auto [rows, columns, depth] = std::tuple(shape_.rows, shape_.columns, shape_.depth);
  cublaslt::Status s = shape_.trans_a ? Lay(shape_.type, depth, rows, shape_.a_repeats, &a_)
                                      : Lay(shape_.type, rows, depth, shape_.a_repeats, &a_);
  if (s != cublaslt::kSuccess) return s;
  s = shape_.trans_b ? Lay(shape_.type, columns, depth, shape_.b_repeats, &b_)
                     : Lay(shape_.type, depth, columns, shape_.b_repeats, &b_);
  return s == cublaslt::kSuccess ? Lay(shape_.result, rows, columns, false, &d_) : s;
}

cublaslt::Status CublasLtProduct::Choose(cublaslt::Handle handle, uint64_t most_workspace) {
  const cublaslt::Functions& f = library_.f();
  cublaslt::MatmulDesc desc;
  cublaslt::MatmulPreference preference;
  // Heuristics look at the alignment of the bias, and at no element of it.
  cublaslt::Status s = Describe(reinterpret_cast<const void*>(kAddressAlign), &desc);
  if (s == cublaslt::kSuccess)
    s = f.cublasLtMatmulPreferenceInit_internal(&preference, sizeof preference);
  const auto set = f.cublasLtMatmulPreferenceSetAttribute;
  if (s == cublaslt::kSuccess) {
    s = SetAttribute(set, &preference, cublaslt::kPreferWorkspaceBytes, most_workspace);
  }
  // Parts of a sum meet in float32, not in the result's 16 bits.
  const uint32_t schemes = cublaslt::kReductionNone | cublaslt::kReductionComputeType;
  if (s == cublaslt::kSuccess)
    s = SetAttribute(set, &preference, cublaslt::kPreferReductionMask, schemes);
  cublaslt::HeuristicResult found = {};
  int count = 0;
  if (s == cublaslt::kSuccess) {
    s = f.cublasLtMatmulAlgoGetHeuristic(handle, &desc, &a_, &b_, &d_, &d_, &preference, 1, &found,
                                         &count);
  }
  if (s != cublaslt::kSuccess) return s;
  if (count < 1) return cublaslt::kNotSupported;
  if (found.state != cublaslt::kSuccess) return found.state;
  if (found.workspace_size > most_workspace) return cublaslt::kInternalError;
  algo_ = found.algo;
  workspace_ = found.workspace_size;
  return cublaslt::kSuccess;
}

Result CublasLtProduct::Queue(cuda::Stream stream, std::span<const device::Buffer> at) const {
  for (const device::Buffer& buffer : at) {
    if (reinterpret_cast<uintptr_t>(buffer.data) % kAddressAlign != 0) {
      return CublasLtLibrary::ResultOf(cublaslt::kInvalidValue);
    }
  }
  size_t next = 3;
  void* const d = at[0].data;
  const void* const c = shape_.adds ? at[next++].data : d;
  const void* const bias = shape_.biased ? at[next++].data : nullptr;
  void* const workspace = workspace_ > 0 ? at[next].data : nullptr;
  return library_.WithHandle(device_, [&](cublaslt::Handle handle) {
    const float beta = shape_.adds ? 1 : 0;
    cublaslt::MatmulDesc desc;  // a bias's address stands in it
    const cublaslt::Status s = Describe(bias, &desc);
    if (s != cublaslt::kSuccess) return s;
    return library_.f().cublasLtMatmul(handle, &desc, &shape_.alpha, at[1].data, &a_, at[2].data,
                                       &b_, &beta, c, &d_, d, &d_, &algo_, workspace, workspace_,
                                       stream);
  });
}

}  // namespace ge_engines::gpu
