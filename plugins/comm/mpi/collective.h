// Collective: one node of domain comm, as it is run. It reads the node once; a run reads buffers
// alone. One launch at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/comm/mpi/world.h"

namespace ge_engines::mpi {

// Why the engine does not run a node: a GE_WHY_* and a sentence; why 0 = it runs it.
struct Refused {
  uint32_t why = 0;
  std::string text;
};

bool IsCollective(const ge_node& node);
// Opens the world, if the node is one for it.
Refused WhyNot(const ge_graph* graph, const ge_node& node);
uint64_t BytesOf(const ge_graph* graph, const ge_node& node);  // of its results

class Collective {
 public:
  // segment: of one node that WhyNot lets pass.
  explicit Collective(const ge_segment& segment);
  uint64_t workspace() const { return workspace_; }
  ge_rc Run(const ge_launch& launch, ge_err* err);

 private:
  struct Tensor {
    uint32_t in = 0, out = 0;  // positions in the launch; out UINT32_MAX: nobody reads it
    int32_t dtype = 0;
    uint64_t count = 0, bytes = 0;
    uint64_t packed_at = UINT64_MAX;  // in the workspace; UINT64_MAX: summed from in to out
  };
  void PlacePacks();
  void ReadGather(const ge_segment& s, const ge_node& node);
  std::string AllReduce(const ge_launch& launch, bool* cancelled) const;
  std::string AllGather(const ge_launch& launch, bool* cancelled) const;

  World* world_ = nullptr;
  bool gather_ = false, checked_ = false;
  uint64_t digest_ = 0, workspace_ = 0;
  std::vector<Tensor> tensors_;
  struct Pack {
    int32_t dtype;
    uint64_t at, count;  // in the workspace; elements
  };
  std::vector<Pack> packs_;  // one a dtype
  // Of a gather: elements outside and inside of the gathered dim, by rank its share.
  uint64_t outer_ = 1, inner_ = 1;  // inner: bytes
  std::vector<int64_t> share_;
  std::vector<int> bytes_;
};

}  // namespace ge_engines::mpi
