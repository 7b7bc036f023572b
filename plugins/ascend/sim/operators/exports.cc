// The simulated libopapi.so: both functions of every operator of operators.def.
#include "plugins/ascend/api/operators.h"
#include "plugins/ascend/sim/operators/phases.h"

#define GE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace ge_engines::ascend::sim {
namespace {

#define GE_ACLNN(name, parameters, names) \
  constexpr Entry k##name = {#name, "aclnn" #name "GetWorkspaceSize", "aclnn" #name, #names};
#include "plugins/ascend/api/operators.def"

}  // namespace
}  // namespace ge_engines::ascend::sim

using namespace ge_engines::ascend::sim;  // NOLINT: this file is that interface
using namespace ge_engines::ascend::acl;  // NOLINT

#define GE_SIM_LIST(...) __VA_ARGS__
#define GE_ACLNN(name, parameters, names)                                                         \
  GE_SIM_EXPORT Status aclnn##name##GetWorkspaceSize(GE_SIM_LIST parameters, uint64_t* workspace, \
                                                     Executor** executor) {                       \
    return FirstPhase(k##name, Given names, workspace, executor);                                 \
  }                                                                                               \
  GE_SIM_EXPORT Status aclnn##name(void* workspace, uint64_t bytes, Executor* executor,           \
                                   Stream stream) {                                               \
    return SecondPhase(k##name, workspace, bytes, executor, stream);                              \
  }
#include "plugins/ascend/api/operators.def"
