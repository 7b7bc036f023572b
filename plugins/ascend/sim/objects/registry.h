// The objects that the process has made and not yet destroyed. Handles are numbers that are never
// used twice, so that one of a destroyed object is known. Any thread may call.
#pragma once

#include <memory>
#include <string>

#include "plugins/ascend/sim/door.h"
#include "plugins/ascend/sim/objects/objects.h"

namespace ge_engines::ascend::acl {

// What stands behind the vendor's opaque executor, from phase one to phase two.
struct Executor {
  const void* operation = nullptr;        // that made it
  std::shared_ptr<const void> arguments;  // a copy
  uint64_t context = 0, workspace = 0;    // where it was made; bytes, exactly
};

}  // namespace ge_engines::ascend::acl

namespace ge_engines::ascend::sim {

// The object of a handle; nullptr: it is destroyed or was never made. It stays whole while it is
// held.
GE_SIM_SHARED std::shared_ptr<const acl::Tensor> Find(const acl::Tensor* handle);
GE_SIM_SHARED std::shared_ptr<const acl::TensorList> Find(const acl::TensorList* handle);
GE_SIM_SHARED std::shared_ptr<const acl::Scalar> Find(const acl::Scalar* handle);
GE_SIM_SHARED std::shared_ptr<const acl::IntArray> Find(const acl::IntArray* handle);
GE_SIM_SHARED std::shared_ptr<const acl::Executor> Find(const acl::Executor* handle);

GE_SIM_SHARED acl::Executor* AddExecutor(acl::Executor executor);
// False: it was gone before.
GE_SIM_SHARED bool RemoveExecutor(const acl::Executor* handle);

}  // namespace ge_engines::ascend::sim
