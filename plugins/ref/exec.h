// Exec: one compiled segment, a list of prepared nodes in order of execution. The host owns it
// through ge_engine_api. It is immutable after Build, so any number of threads may Run it at once.
// Run allocates nothing and takes no lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/ref/kernel.h"

namespace ref {

// Where a tensor lies: by position in the launch, or at a constant's address.
enum class BufferKind : uint8_t { kInput, kOutput, kInternal, kConstant };

struct Slot {
  BufferKind kind = BufferKind::kConstant;
  uint32_t index = 0;              // position in ge_launch.in, out or internal
  const void* constant = nullptr;  // the host's, kept while the exec lives
  TensorType type;                 // dims point into `dims`
  std::unique_ptr<int64_t[]> dims;
  bool written = false;  // while building: by a step so far, or before the launch
  // The step that writes it, and the last step that reads it.
  uint32_t first_step = 0, last_step = 0;
};

inline constexpr uint32_t kNoSlot = UINT32_MAX;

struct Step {
  std::unique_ptr<Prepared> prepared;
  std::vector<uint32_t> in, out;  // slots, kNoSlot where absent
  uint32_t node = 0;              // index in the graph, for errors
  std::string label;              // "Conv 'features.0'"
};

class Exec {
 public:
  // Fills everything but out->rc. Errors say which node and why.
  ge_rc Build(const ge_segment& segment, ge_compiled* out, ge_err* err);
  ge_rc Run(const ge_launch& launch, ge_err* err) const;

 private:
  ge_rc AddStep(const ge_graph& graph, uint32_t node, ge_err* err);
  uint32_t SlotOf(const ge_graph& graph, uint32_t value);
  void PlaceInternals(ge_compiled* out);
  bool MayOverlay(const Slot& output, uint32_t output_slot, uint32_t input_slot) const;
  void FindAliases();
  bool CannotFail(const ge_segment& segment) const;
  void TellSteps(ge_compiled* out);
  ge_rc CheckBuffers(const ge_launch& launch, ge_err* err) const;

  std::vector<Step> steps_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> inputs_, outputs_, internals_;  // slots by position
  std::unordered_map<uint32_t, uint32_t> slot_of_;      // value index -> slot, while building
  std::vector<uint32_t> value_of_;                      // slot -> value index
  std::vector<ge_internal> internal_;
  std::vector<uint32_t> alias_;
  // What steps tell: a node and its results each.
  std::vector<ge_step> told_;
  std::vector<ge_made> made_;
  uint64_t workspace_ = 0;
};

}  // namespace ref
