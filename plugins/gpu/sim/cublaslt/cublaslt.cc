// The simulated libcublasLt.so.13: the functions of vendor/cublaslt.h. Products run as work of the
// simulated device; a wrong argument is answered as the vendor documents it, and more strictly
// where that leaves memory to be overwritten.
#include "plugins/gpu/vendor/cublaslt.h"

#include <memory>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>

#include "plugins/gpu/sim/cublaslt/matmul.h"
#include "plugins/gpu/sim/door.h"

#define GE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace ge_engines::gpu::sim {
namespace {

using namespace cublaslt;  // NOLINT: this file is that interface

struct Handles {
  std::mutex mutex;
  std::set<Handle> known;
};
Handles& AllHandles() {
  static Handles handles;
  return handles;
}

Status PlantedFor(const char* function) {
  Door* door = FindDoor();
  return door == nullptr ? kNotInitialized : static_cast<Status>(door->Planted(function));
}

bool Known(Handle handle) {
  Handles& all = AllHandles();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.known.count(handle) != 0;
}

// Writes an attribute's value where the size is right.
template <class T>
Status Set(const void* value, size_t bytes, T* to) {
  if (value == nullptr || bytes != sizeof *to) return kInvalidValue;
  *to = *static_cast<const T*>(value);
  return kSuccess;
}

template <class T, class Opaque>
Status Init(Opaque* opaque, size_t bytes, const T& value) {
  if (opaque == nullptr) return kInvalidValue;
  if (bytes < sizeof(T)) return kAllocFailed;
  *reinterpret_cast<T*>(opaque) = value;
  return kSuccess;
}

Status OfDriver(cuda::Status status) {
  switch (status) {
    case cuda::kSuccess:
      return kSuccess;
    case cuda::kOutOfMemory:
      return kAllocFailed;
    case cuda::kInvalidValue:
    case cuda::kInvalidContext:
      return kInvalidValue;
    default:
      return kExecutionFailed;
  }
}

}  // namespace
}  // namespace ge_engines::gpu::sim

using namespace ge_engines::gpu::sim;       // NOLINT
using namespace ge_engines::gpu::cublaslt;  // NOLINT
namespace cuda = ge_engines::gpu::cuda;

// ---- handles. One is a device's number, in memory of its own
// -------------------------------------

GE_SIM_EXPORT Status cublasLtCreate(Handle* handle) {
  if (const Status s = PlantedFor("cublasLtCreate"); s != kSuccess) return s;
  Door* door = FindDoor();
  if (handle == nullptr) return kInvalidValue;
  if (door == nullptr || door->Device() < 0) return kNotInitialized;
  Handles& all = AllHandles();
  const std::lock_guard<std::mutex> lock(all.mutex);
  *handle = reinterpret_cast<Handle>(new int(door->Device()));
  all.known.insert(*handle);
  return kSuccess;
}
GE_SIM_EXPORT Status cublasLtDestroy(Handle handle) {
  Handles& all = AllHandles();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.known.erase(handle) == 0) return kInvalidValue;
  delete reinterpret_cast<int*>(handle);
  return kSuccess;
}

// ---- descriptors
// ---------------------------------------------------------------------------------

GE_SIM_EXPORT Status cublasLtMatrixLayoutInit_internal(MatrixLayout* layout, size_t bytes,
                                                       DataType type, uint64_t rows,
                                                       uint64_t columns, int64_t lead) {
  if (const Status s = PlantedFor("cublasLtMatrixLayoutInit_internal"); s != kSuccess) return s;
  return Init(layout, bytes, Layout{Layout::kMark, type, 1, rows, columns, lead, 0});
}
GE_SIM_EXPORT Status cublasLtMatrixLayoutSetAttribute(MatrixLayout* layout,
                                                      LayoutAttribute attribute, const void* value,
                                                      size_t bytes) {
  if (const Status s = PlantedFor("cublasLtMatrixLayoutSetAttribute"); s != kSuccess) return s;
  Layout* to = As<Layout>(layout);
  if (to == nullptr) return kInvalidValue;
  switch (attribute) {
    case kLayoutBatchCount:
      return Set(value, bytes, &to->batch);
    case kLayoutBatchStride:
      return Set(value, bytes, &to->stride);
  }
  return kInvalidValue;
}
GE_SIM_EXPORT Status cublasLtMatmulDescInit_internal(MatmulDesc* desc, size_t bytes,
                                                     ComputeType compute, DataType scale) {
  if (const Status s = PlantedFor("cublasLtMatmulDescInit_internal"); s != kSuccess) return s;
  return Init(desc, bytes,
              Desc{Desc::kMark, compute, scale, kPlain, kPlain, kEpilogueDefault, nullptr});
}
GE_SIM_EXPORT Status cublasLtMatmulDescSetAttribute(MatmulDesc* desc, MatmulAttribute attribute,
                                                    const void* value, size_t bytes) {
  if (const Status s = PlantedFor("cublasLtMatmulDescSetAttribute"); s != kSuccess) return s;
  Desc* to = As<Desc>(desc);
  if (to == nullptr) return kInvalidValue;
  switch (attribute) {
    case kMatmulTransA:
      return Set(value, bytes, &to->trans_a);
    case kMatmulTransB:
      return Set(value, bytes, &to->trans_b);
    case kMatmulEpilogue:
      return Set(value, bytes, &to->epilogue);
    case kMatmulBiasPointer:
      return Set(value, bytes, &to->bias);
  }
  return kInvalidValue;
}
GE_SIM_EXPORT Status cublasLtMatmulPreferenceInit_internal(MatmulPreference* preference,
                                                           size_t bytes) {
  const Status s = PlantedFor("cublasLtMatmulPreferenceInit_internal");
  if (s != kSuccess) return s;
  return Init(preference, bytes, Preference{Preference::kMark, 0, kReductionComputeType});
}
GE_SIM_EXPORT Status cublasLtMatmulPreferenceSetAttribute(MatmulPreference* preference,
                                                          PreferenceAttribute attribute,
                                                          const void* value, size_t bytes) {
  const Status s = PlantedFor("cublasLtMatmulPreferenceSetAttribute");
  if (s != kSuccess) return s;
  Preference* to = As<Preference>(preference);
  if (to == nullptr) return kInvalidValue;
  switch (attribute) {
    case kPreferWorkspaceBytes:
      return Set(value, bytes, &to->workspace);
    case kPreferReductionMask:
      return Set(value, bytes, &to->schemes);
  }
  return kInvalidValue;
}

// ---- products
// ------------------------------------------------------------------------------------

GE_SIM_EXPORT Status cublasLtMatmulAlgoGetHeuristic(Handle handle, MatmulDesc* desc,
                                                    MatrixLayout* a, MatrixLayout* b,
                                                    MatrixLayout* c, MatrixLayout* d,
                                                    MatmulPreference* preference, int wanted,
                                                    HeuristicResult* results, int* count) {
  const Status planted = PlantedFor("cublasLtMatmulAlgoGetHeuristic");
  if (planted != kSuccess) return planted;
  const Preference* preferred = As<Preference>(preference);
  if (!Known(handle) || preferred == nullptr || wanted < 1 || results == nullptr ||
      count == nullptr) {
    return kInvalidValue;
  }
  Matmul product;
  if (const Status s = product.Read(desc, a, b, c, d); s != kSuccess) return s;
  const Algo algo = product.Choose(*preferred);
  results[0] = {};
  (void)Init(&results[0].algo, sizeof results[0].algo, algo);
  results[0].workspace_size = algo.workspace;
  results[0].state = kSuccess;
  results[0].waves_count = 1;
  *count = 1;
  return kSuccess;
}

GE_SIM_EXPORT Status cublasLtMatmul(Handle handle, MatmulDesc* desc, const void* alpha,
                                    const void* a, MatrixLayout* a_layout, const void* b,
                                    MatrixLayout* b_layout, const void* beta, const void* c,
                                    MatrixLayout* c_layout, void* d, MatrixLayout* d_layout,
                                    const MatmulAlgo* algo, void* workspace, size_t bytes,
                                    cuda::Stream stream) {
  if (const Status s = PlantedFor("cublasLtMatmul"); s != kSuccess) return s;
  const Algo* chosen = As<const Algo>(algo);
  if (!Known(handle) || chosen == nullptr || alpha == nullptr || beta == nullptr) {
    return kInvalidValue;
  }
  Door* door = FindDoor();
  if (door->Device() != *reinterpret_cast<const int*>(handle)) return kInvalidValue;
  auto product = std::make_shared<Matmul>();
  Status s = product->Read(desc, a_layout, b_layout, c_layout, d_layout);
  if (s == kSuccess) {
    s = product->Bind({a, b, c, d, workspace, bytes}, *chosen, *static_cast<const float*>(alpha),
                      *static_cast<const float*>(beta));
  }
  if (s != kSuccess) return s;
  return OfDriver(door->Launch(stream, "cublasLtMatmul", product->Reads(), product->Writes(),
                               [product] { product->Run(); }));
}

// Each is what the table of functions takes it for.
#define GE_CUBLASLT_SAME(name, ...) \
  static_assert(std::is_same_v<decltype(&name), Status (*)(__VA_ARGS__)>);
GE_CUBLASLT_FUNCTIONS(GE_CUBLASLT_SAME)
