// The simulated libcudnn.so.9: the functions of vendor/cudnn.h over descriptors, graphs and the
// devices behind the simulated libcuda.so.1. One lock for all of it.
#include "plugins/gpu/vendor/cudnn.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/gpu/sim/cudnn/descriptor.h"
#include "plugins/gpu/sim/cudnn/graph.h"
#include "plugins/gpu/sim/cudnn/loops.h"
#include "plugins/gpu/sim/door.h"

#define GE_SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace ge_engines::gpu::sim::dnn {
namespace {

using namespace cudnn;  // NOLINT: this file is that interface
using device::sim::Range;

struct Context {  // behind a cudnnHandle_t
  int device;
  cuda::Stream stream = nullptr;
};

std::mutex g_mutex;
std::set<Context*>& Contexts() {
  static std::set<Context*> contexts;
  return contexts;
}
std::string& LastError() {
  static thread_local std::string text;
  return text;
}

Context& At(Handle handle) {
  auto* context = reinterpret_cast<Context*>(handle);
  if (Contexts().count(context) == 0) throw Fault{kBadParam, "a handle that is gone"};
  return *context;
}

// Calls use() unless the function is to fail, and answers its fault.
template <class Use>
Status Do(const char* function, const Use& use) {
  Door* door = FindDoor();
  if (door == nullptr) return kNotInitialized;
  if (const int planted = door->Planted(function)) {
    LastError() = "a simulated failure";
    return static_cast<Status>(planted);
  }
  const std::lock_guard<std::mutex> lock(g_mutex);
  try {
    use(door);
    return kSuccess;
  } catch (const Fault& fault) {
    LastError() = fault.text;
    return fault.status;
  } catch (const std::bad_alloc&) {
    return kInternalError;
  }
}

// Where the tensors of a graph lie, by a variant pack.
std::vector<void*> PlacesOf(const Graph& graph, const Descriptor& pack) {
  const auto uids = pack.All<int64_t>(kVariantPackUniqueIds);
  const auto given = pack.All<void*>(kVariantPackDataPointers);
  std::vector<void*> at;
  for (const TensorValues& t : graph.tensors) {
    at.push_back(nullptr);
    if (t.is_virtual) continue;
    const auto found = std::find(uids.begin(), uids.end(), t.uid);
    if (found == uids.end()) {
      throw Fault{kBadParam, "the pack lacks tensor " + std::to_string(t.uid)};
    }
    at.back() = given[static_cast<size_t>(found - uids.begin())];
    if (at.back() == nullptr) throw Fault{kNullPointer, "a tensor without an address"};
    if (reinterpret_cast<uintptr_t>(at.back()) % static_cast<uintptr_t>(t.alignment) != 0) {
      throw Fault{kMisalignedPointer, "a tensor is not aligned as it was said"};
    }
  }
  return at;
}

void Execute(Door* door, Context* context, const Descriptor& plan, const Descriptor& pack) {
  const auto graph = plan.graph();
  const int engine = plan.engine();
  const std::vector<void*> at = PlacesOf(*graph, pack);
  if (door->Device() != context->device) {
    throw Fault{kBadParam, "another device's context is current than that of the handle"};
  }
  std::vector<Range> reads, writes;
  std::vector<bool> made(at.size(), false);
  for (const OperationValues& o : graph->operations) made[o.result()] = true;
  for (size_t k = 0; k < at.size(); ++k) {
    if (at[k] != nullptr) (made[k] ? writes : reads).push_back({at[k], graph->tensors[k].bytes()});
  }
  void* const workspace = pack.One<void*>(kVariantPackWorkspace);
  const uint64_t bytes = plan.workspace();
  if (bytes != 0 && workspace == nullptr) throw Fault{kNullPointer, "there is no workspace"};
  if (bytes != 0) writes.push_back({workspace, bytes});
  const cuda::Status status =
      door->Launch(context->stream, "cudnn", std::move(reads), std::move(writes),
                   [graph, engine, at, workspace, bytes] {
                     // Whoever keeps something there loses it.
                     if (bytes != 0) std::memset(workspace, 0xA5, bytes);
                     Run(*graph, engine, at);
                   });
  if (status != cuda::kSuccess) {
    throw Fault{kExecutionFailed, "the driver answers " + std::to_string(status)};
  }
}

}  // namespace
}  // namespace ge_engines::gpu::sim::dnn

using namespace ge_engines::gpu::sim::dnn;  // NOLINT
using namespace ge_engines::gpu::cudnn;     // NOLINT
namespace cuda = ge_engines::gpu::cuda;
using BackendDescriptor = ge_engines::gpu::cudnn::Descriptor;
using Object = ge_engines::gpu::sim::dnn::Descriptor;

GE_SIM_EXPORT size_t cudnnGetVersion() { return 91000; }

GE_SIM_EXPORT const char* cudnnGetErrorString(Status status) {
  return status == kSuccess ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_SIMULATED";
}

GE_SIM_EXPORT void cudnnGetLastErrorString(char* text, size_t bytes) {
  if (bytes != 0) (void)std::snprintf(text, bytes, "%s", LastError().c_str());
}

GE_SIM_EXPORT Status cudnnCreate(Handle* handle) {
  return Do("cudnnCreate", [&](auto* door) {
    const int device = door->Device();
    if (device < 0) throw Fault{kNotInitialized, "no context is current"};
    auto* made = new Context{device};
    Contexts().insert(made);
    *handle = reinterpret_cast<Handle>(made);
  });
}

GE_SIM_EXPORT Status cudnnDestroy(Handle handle) {
  return Do("cudnnDestroy", [&](auto*) {
    Context* context = &At(handle);
    Contexts().erase(context);
    delete context;
  });
}

GE_SIM_EXPORT Status cudnnSetStream(Handle handle, cuda::Stream stream) {
  return Do("cudnnSetStream", [&](auto*) { At(handle).stream = stream; });
}

GE_SIM_EXPORT Status cudnnBackendCreateDescriptor(DescriptorType type, BackendDescriptor* made) {
  return Do("cudnnBackendCreateDescriptor", [&](auto*) { *made = Object::Make(type); });
}

GE_SIM_EXPORT Status cudnnBackendDestroyDescriptor(BackendDescriptor given) {
  return Do("cudnnBackendDestroyDescriptor", [&](auto*) { Object::Destroy(given); });
}

GE_SIM_EXPORT Status cudnnBackendSetAttribute(BackendDescriptor given, Attribute attribute,
                                              AttributeType type, int64_t count,
                                              const void* values) {
  return Do("cudnnBackendSetAttribute",
            [&](auto*) { Object::At(given).Set(attribute, type, count, values); });
}

GE_SIM_EXPORT Status cudnnBackendGetAttribute(BackendDescriptor given, Attribute attribute,
                                              AttributeType type, int64_t room, int64_t* count,
                                              void* values) {
  return Do("cudnnBackendGetAttribute",
            [&](auto*) { Object::At(given).Get(attribute, type, room, count, values); });
}

GE_SIM_EXPORT Status cudnnBackendFinalize(BackendDescriptor given) {
  return Do("cudnnBackendFinalize", [&](auto*) { Object::At(given).Finalize(); });
}

GE_SIM_EXPORT Status cudnnBackendExecute(Handle handle, BackendDescriptor plan,
                                         BackendDescriptor pack) {
  return Do("cudnnBackendExecute", [&](auto* door) {
    Execute(door, &At(handle), Object::Finished(plan, kExecutionPlan),
            Object::Finished(pack, kVariantPack));
  });
}

// Each is what the table of functions takes it for.
namespace ge_engines::gpu::cudnn {
#define GE_CUDNN_SAME(result, name, ...) \
  static_assert(std::is_same_v<decltype(&::name), result (*)(__VA_ARGS__)>);
GE_CUDNN_FUNCTIONS(GE_CUDNN_SAME)
}  // namespace ge_engines::gpu::cudnn
