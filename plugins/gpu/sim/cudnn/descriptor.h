// Descriptor: what a cudnnBackendDescriptor_t of the simulated library points to: attributes, which
// are arrays of one type, checked as the library's documentation says. One thread at a time: the
// library has one lock. Calls throw Fault.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugins/gpu/vendor/cudnn.h"

namespace ge_engines::gpu::sim::dnn {

// The status that a call answers, and what cudnnGetLastErrorString says of it.
struct Fault {
  cudnn::Status status;
  std::string text;
};

struct Graph;

class Descriptor {
 public:
  static Descriptor* Make(cudnn::DescriptorType type);
  static void Destroy(cudnn::Descriptor given);
  // The one of a handle; a fault where it is gone, or never was.
  static Descriptor& At(cudnn::Descriptor given);
  // The same, of this type and finalized.
  static Descriptor& Finished(cudnn::Descriptor given, cudnn::DescriptorType type);

  cudnn::DescriptorType type() const { return type_; }
  bool finalized() const { return finalized_; }
  void Set(cudnn::Attribute attribute, cudnn::AttributeType type, int64_t count,
           const void* values);
  void Get(cudnn::Attribute attribute, cudnn::AttributeType type, int64_t room, int64_t* count,
           void* values) const;
  void Finalize();

  bool Has(cudnn::Attribute attribute) const { return values_.count(attribute) != 0; }
  template <class T>
  std::vector<T> All(cudnn::Attribute attribute) const {
    const auto found = values_.find(attribute);
    if (found == values_.end()) return {};
    std::vector<T> all(found->second.bytes.size() / sizeof(T));
    std::memcpy(all.data(), found->second.bytes.data(), all.size() * sizeof(T));
    return all;
  }
  template <class T>
  T One(cudnn::Attribute attribute, T otherwise = T()) const {
    const std::vector<T> all = All<T>(attribute);
    return all.empty() ? otherwise : all[0];
  }
  // What it names: a tensor of an operation, a graph of a plan.
  Descriptor& Part(cudnn::Attribute attribute, cudnn::DescriptorType type) const {
    return Finished(One<cudnn::Descriptor>(attribute), type);
  }

  // ---- of graphs, and of what is made for one
  const std::shared_ptr<const Graph>& graph() const { return graph_; }
  int engine() const { return engine_; }
  uint64_t workspace() const { return workspace_; }

 private:
  explicit Descriptor(cudnn::DescriptorType type) : type_(type) {}
  struct Values {
    cudnn::AttributeType type;
    std::vector<char> bytes;
  };
  int64_t GetParts(cudnn::Attribute attribute, int64_t room, cudnn::Descriptor* parts) const;

  const cudnn::DescriptorType type_;
  bool finalized_ = false;
  std::map<cudnn::Attribute, Values> values_;
  std::shared_ptr<const Graph> graph_;
  int engine_ = 0;            // of a configuration, an engine, a plan
  std::vector<int> engines_;  // that heuristics name
  uint64_t workspace_ = 0;    // of a plan
};

// Throws where the attributes of a tensor, a convolution or an operation do not fit each other.
void CheckValues(const Descriptor& descriptor);

}  // namespace ge_engines::gpu::sim::dnn
