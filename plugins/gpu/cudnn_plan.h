// CudnnPlan: how cuDNN runs a graph on one device: the first engine of its heuristics that keeps to
// our rules and finalizes. Made at compile; a launch hands over addresses alone, and may be
// captured. Any thread may queue it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plugins/device/program.h"
#include "plugins/gpu/cudnn_graph.h"
#include "plugins/gpu/cudnn_library.h"

namespace ge_engines::gpu {

// A descriptor of the library's. Calls throw CudnnRefusal where they fail.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const CudnnLibrary& library, cudnn::DescriptorType type);
  ~CudnnDescriptor();
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  cudnn::Descriptor get() const { return made_; }
  void Set(cudnn::Attribute attribute, cudnn::AttributeType type, int64_t count,
           const void* values);
  template <class T>
  void SetOne(cudnn::Attribute attribute, cudnn::AttributeType type, T value) {
    Set(attribute, type, 1, &value);
  }
  void SetDims(cudnn::Attribute attribute, const Dims& dims);
  void SetPart(cudnn::Attribute attribute, const CudnnDescriptor& part);
  void Finalize();
  // How many values there are; at most `room` are written.
  int64_t Get(cudnn::Attribute attribute, cudnn::AttributeType type, int64_t room,
              void* values) const;

 private:
  const CudnnLibrary& library_;
  cudnn::Descriptor made_ = nullptr;
};

class CudnnPlan {
 public:
  // Throws CudnnRefusal where no engine of the library runs the graph.
  CudnnPlan(const CudnnLibrary& library, int device, const CudnnGraph& graph);
  ~CudnnPlan();
  CudnnPlan(const CudnnPlan&) = delete;
  uint64_t workspace() const { return workspace_; }
  // `at`: where the tensors that are not virtual lie, in their order, then the workspace.
  Result Queue(cuda::Stream stream, std::span<const device::Buffer> at) const;

 private:
  class Builder;
  void PackAddresses(std::span<const device::Buffer> at) const;

  const CudnnLibrary& library_;
  CudnnDevice& device_;
  std::vector<std::unique_ptr<CudnnDescriptor>> parts_;  // those behind build on those before
  CudnnDescriptor* plan_ = nullptr;                      // of parts_
  std::vector<int64_t> uids_;
  uint64_t workspace_ = 0;
  // Of the newest launch; most launches have its addresses. Used with the device's handle alone.
  mutable std::vector<void*> packed_;
  mutable std::unique_ptr<CudnnDescriptor> pack_;
};

// Plans that an engine's execs share: networks repeat their convolutions. A plan lives as long as
// somebody has it. One thread at a time.
class CudnnPlans {
 public:
  explicit CudnnPlans(const CudnnLibrary& library) : library_(library) {}
  // nullptr where no engine of the library runs the graph; *why says so.
  std::shared_ptr<const CudnnPlan> For(int device, const CudnnGraph& graph, std::string* why);

 private:
  struct Known {
    std::weak_ptr<const CudnnPlan> plan;
    std::string refused;  // why there is none
  };
  const CudnnLibrary& library_;
  std::map<std::pair<int, CudnnGraph>, Known> plans_;
};

}  // namespace ge_engines::gpu
