// SegmentCompiler: COMPILE. Gives each segment of a placed plan to its engine through the
// ABI, writes the answers into the plan (workspace, internal values, aliases), and gathers
// execs and packs for the program. It places nothing. One thread; the Compiled owns all
// results.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/compiled/saved_plan.h"
#include "ge/engine/abi_layouts.h"
#include "ge/ir/walk.h"
#include "ge/run/segment_steps.h"

namespace ge {

class SegmentCompiler {
 public:
  SegmentCompiler(const EngineList& engines, Compiled* compiled, const SavedPlan* saved = nullptr);

  // Compiles all segments of the plan. Offers of failed segments go into *struck, the reason into
  // *failure; *again tells whether there were any: then nothing is kept.
  Status Compile(std::set<size_t>* struck, Status* failure, bool* again);
  // Asks for execs like those of `like`, a finished plan with the same segments. False where an
  // engine does not give one; then nothing is kept.
  Result<bool> Shape(const Compiled& like);
  // One more exec of a compiled segment, for another frame.
  Result<ge_exec*> OneMore(SegmentId segment);
  // By segment.
  const std::vector<ge_exec*>& execs() const { return execs_; }
  const std::vector<SegmentSteps>& steps() const { return steps_; }

 private:
  struct Given;
  // An engine's answers about each segment; why[i] has its reason if segment i failed.
  struct Answers {
    std::vector<ge_compiled> results;
    std::vector<ge_err> why;
    Status Of(size_t i, const Engine& engine, uint32_t device) const;
  };
  const Function& function() const { return c_->graph.fn(c_->fn); }
  PlanFunction& plan() { return c_->plan.functions[0]; }

  void Begin();
  Result<bool> ShapeOne(SegmentId segment, ge_exec* like);
  void FillSegment(SegmentId segment, Given* given);
  Status AlignConstants();
  Status AlignConstant(ValueId value, uint32_t wanted);
  void ReleaseExecs();
  ge_rc CallCompile(uint32_t e, const std::vector<SegmentId>& mine, Answers* answers, ge_err* err);
  Status CompileOn(uint32_t e, const std::vector<SegmentId>& mine, bool* again);
  uint32_t DeviceOf(SegmentId segment) const;  // of the engine
  void Strike(SegmentId segment, Status why, bool* again);
  Status BadAnswer(SegmentId segment, const std::string& text) const;
  Status TakeCompiled(SegmentId segment, const ge_compiled& compiled);
  Status TakeSteps(SegmentId segment, const ge_compiled& compiled);
  Status TakeInternals(SegmentId segment, const ge_compiled& compiled);
  PlanValue Scratch(SegmentId segment, uint64_t bytes, uint64_t align) const;
  Status TakeWorkspace(SegmentId segment, const ge_compiled& compiled);
  Status TakeBorder(SegmentId segment, const ge_compiled& compiled);
  void TakeConstants(SegmentId segment, const ge_compiled& compiled);
  void AddFile(const Const& constant, const void* data);
  Status TakePacks(SegmentId segment, const ge_compiled& compiled);
  Status FillPacks(bool* again);

  const EngineList& engines_;
  Compiled* c_;
  const SavedPlan* saved_;  // null, or whose packs are taken
  std::set<size_t>* struck_ = nullptr;
  Status* failure_ = nullptr;
  NodePositions positions_;
  AbiLayouts layouts_;
  std::vector<ge_exec*> execs_;
  std::vector<SegmentSteps> steps_;
};

}  // namespace ge
