// The simulated libnnopbase.so: tensors, scalars, arrays and lists of them, and executors that are
// not launched.
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "plugins/ascend/sim/objects/registry.h"

#define GE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace ge_engines::ascend::sim {
namespace {

using acl::Status;

template <class T>
class Registry {
 public:
  T* Add(T object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // An odd number is no address of an object.
    const uintptr_t handle = (++made_ << 4) + 1;
    objects_[handle] = std::make_shared<const T>(std::move(object));
    return reinterpret_cast<T*>(handle);
  }
  std::shared_ptr<const T> Find(const T* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return it == objects_.end() ? nullptr : it->second;
  }
  bool Remove(const T* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return objects_.erase(reinterpret_cast<uintptr_t>(handle)) != 0;
  }

 private:
  std::mutex mutex_;
  std::map<uintptr_t, std::shared_ptr<const T>> objects_;
  uintptr_t made_ = 0;
};

// They live as long as the process.
template <class T>
Registry<T>& All() {
  static auto* registry = new Registry<T>;
  return *registry;
}

// nullptr where the call is refused.
template <class T>
T* Make(const char* function, const char* kind, T object) {
  if (EnterFunction(function, true) != acl::kSuccess) return nullptr;
  CountObject(kind, 1);
  return All<T>().Add(std::move(object));
}

template <class T>
Status Destroy(const char* function, const char* kind, const T* handle) {
  const Status s = EnterFunction(function, false);
  if (s != acl::kSuccess) return s;
  if (All<T>().Remove(handle)) {
    CountObject(kind, -1);
    return acl::kSuccess;
  }
  return BreakRule(Rule::kObjectDestroyed,
                   std::string(function) + ": it is destroyed or was never made");
}

}  // namespace

std::shared_ptr<const acl::Tensor> Find(const acl::Tensor* handle) {
  return All<acl::Tensor>().Find(handle);
}
std::shared_ptr<const acl::TensorList> Find(const acl::TensorList* handle) {
  return All<acl::TensorList>().Find(handle);
}
std::shared_ptr<const acl::Scalar> Find(const acl::Scalar* handle) {
  return All<acl::Scalar>().Find(handle);
}
std::shared_ptr<const acl::IntArray> Find(const acl::IntArray* handle) {
  return All<acl::IntArray>().Find(handle);
}
std::shared_ptr<const acl::Executor> Find(const acl::Executor* handle) {
  return All<acl::Executor>().Find(handle);
}

acl::Executor* AddExecutor(acl::Executor executor) {
  CountObject("executors", 1);
  return All<acl::Executor>().Add(std::move(executor));
}
bool RemoveExecutor(const acl::Executor* handle) {
  const bool there = All<acl::Executor>().Remove(handle);
  if (there) CountObject("executors", -1);
  return there;
}

}  // namespace ge_engines::ascend::sim

using namespace ge_engines::ascend::sim;  // NOLINT: this file is that interface
using namespace ge_engines::ascend::acl;  // NOLINT

GE_SIM_EXPORT Tensor* aclCreateTensor(const int64_t* dims, uint64_t rank, DataType type,
                                      const int64_t* strides, int64_t offset, Format format,
                                      const int64_t* storage_dims, uint64_t storage_rank,
                                      void* data) {
  Tensor tensor;
  if (rank > 0) tensor.dims.assign(dims, dims + rank);
  if (strides != nullptr) {
    tensor.strides.assign(strides, strides + rank);
  } else {  // dense
    tensor.strides.assign(rank, 1);
    for (size_t k = rank; k > 1; --k) {
      tensor.strides[k - 2] = tensor.strides[k - 1] * tensor.dims[k - 1];
    }
  }
  if (storage_rank > 0) tensor.storage.assign(storage_dims, storage_dims + storage_rank);
  tensor.offset = offset;
  tensor.type = type;
  tensor.format = format;
  tensor.data = data;
  return Make("aclCreateTensor", "tensors", std::move(tensor));
}
GE_SIM_EXPORT Status aclDestroyTensor(const Tensor* tensor) {
  return Destroy("aclDestroyTensor", "tensors", tensor);
}
GE_SIM_EXPORT Scalar* aclCreateScalar(void* value, DataType type) {
  size_t bytes = 4;
  if (type == kF64 || type == kI64) bytes = 8;
  if (type == kF16 || type == kBf16) bytes = 2;
  if (type == kBool || type == kI8 || type == kU8) bytes = 1;
  Scalar scalar;
  scalar.type = type;
  std::copy_n(static_cast<const unsigned char*>(value), bytes, scalar.bytes);
  return Make("aclCreateScalar", "scalars", scalar);
}
GE_SIM_EXPORT Status aclDestroyScalar(const Scalar* scalar) {
  return Destroy("aclDestroyScalar", "scalars", scalar);
}
GE_SIM_EXPORT IntArray* aclCreateIntArray(const int64_t* values, uint64_t count) {
  IntArray array;
  if (count > 0) array.values.assign(values, values + count);
  return Make("aclCreateIntArray", "arrays", std::move(array));
}
GE_SIM_EXPORT Status aclDestroyIntArray(const IntArray* array) {
  return Destroy("aclDestroyIntArray", "arrays", array);
}
GE_SIM_EXPORT TensorList* aclCreateTensorList(const Tensor* const* tensors, uint64_t count) {
  TensorList list;
  if (count > 0) list.tensors.assign(tensors, tensors + count);
  return Make("aclCreateTensorList", "lists", std::move(list));
}
GE_SIM_EXPORT Status aclDestroyTensorList(const TensorList* list) {
  const auto found = Find(list);
  const Status s = Destroy("aclDestroyTensorList", "lists", list);
  if (found == nullptr) return s;
  for (const Tensor* tensor : found->tensors) {  // they are the list's
    const Status one = Destroy("aclDestroyTensorList", "tensors", tensor);
    if (one != kSuccess) return one;
  }
  return s;
}
GE_SIM_EXPORT Status aclDestroyAclOpExecutor(Executor* executor) {
  const Status s = EnterFunction("aclDestroyAclOpExecutor", false);
  if (s != kSuccess || RemoveExecutor(executor)) return s;
  return BreakRule(Rule::kExecutorOnce,
                   "aclDestroyAclOpExecutor: it was launched, destroyed or never made");
}
