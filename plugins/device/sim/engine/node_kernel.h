// Units as kernels of the simulated device: their nodes one after the other, by the reference
// engine's loops, so that results are its own to the bit. Nothing changes a kernel once it is made;
// any thread may queue it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plugins/device/program.h"
#include "plugins/device/recorder.h"
#include "plugins/device/sim/engine/sim_driver.h"
#include "plugins/ref/kernel.h"

namespace ge_engines::device::sim {

// The prepared nodes of one unit.
class NodeSteps {
 public:
  // nullptr where ref declines one of its nodes; *why says so.
  static std::shared_ptr<NodeSteps> Of(const Unit& unit, const Parser& parser, Why* why);
  // Values in the order of the kernel's buffers: what is read, then what is written.
  const std::vector<uint32_t>& reads() const { return reads_; }
  const std::vector<uint32_t>& writes() const { return writes_; }
  // A value that is read or written lies so; plain where nothing is said. What is read is laid out
  // plain for ref's loops, what is written gets NaNs for padding.
  void LieIn(uint32_t value, const Layout& layout);
  // False where a node fails.
  bool Run(std::span<const Buffer> at) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Value {
    Layout plain() const { return Layout::Dense({type.dims, type.dims + type.rank}, layout->size); }
    uint32_t value = 0;
    ref::TensorType type;
    std::unique_ptr<int64_t[]> dims;
    std::optional<Layout> layout;  // none: plain
    uint32_t buffer = kNone;       // among those that are read; none: made by a node
    uint32_t result = kNone;  // among those that are written; none: of no other unit's interest
  };
  struct Node {
    std::unique_ptr<ref::Prepared> prepared;
    std::vector<uint32_t> in, out;  // positions in values_, kNone where absent
  };
  class NodeCall;
  uint32_t ValueOf(const Parser& parser, uint32_t value);
  bool AddNode(const Parser& parser, uint32_t node, Why* why);

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> reads_, writes_;
};

// Records the unit as one kernel, in the layout in which it works.
void RecordNodes(const Unit& unit, int64_t cost_ns, Recorder* recorder);
// Records a change of layout as a kernel called "layout"; padding gets zeros.
void RecordLayout(const Conversion& conversion, const Ref& from, const Ref& to, int64_t cost_ns,
                  Recorder* recorder);

}  // namespace ge_engines::device::sim
