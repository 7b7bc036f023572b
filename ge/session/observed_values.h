// ObservedValues: the values that an observed run shows, by a plan: what launches hand on and, of
// engines that tell their steps, what lies inside of them; in plain order where the layout is
// known. An observer holds one and hands its calls on. One thread at a time; the Compiled must
// outlive it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/run/observer.h"

namespace ge {

class ObservedValues {
 public:
  // The position in list() and the bytes, valid until it returns.
  using Take = std::function<void(size_t index, std::span<const std::byte> bytes)>;

  // `function`: of the plan's graph, whose names the values bear. `inside`: of segments, too, not
  // what they hand on alone.
  ObservedValues(const Compiled& compiled, const Function& function, bool inside);

  // In the order of their making, each place of a value once; without members. A value in an opaque
  // layout is a list of bytes.
  const std::vector<CapsuleTensor>& list() const { return list_; }
  // Names of values in a device's memory that it does not hand over, which are not shown.
  const std::vector<std::string>& left_out() const { return left_out_; }
  // The nodes of the step that makes a value of list(), as positions in the function; empty where
  // its engine tells no steps.
  std::span<const uint32_t> NodesOf(size_t index) const;

  void AfterStep(uint32_t instruction, uint32_t step, const ge_launch& launch, const Take& take);
  void After(uint32_t instruction, std::span<const ge_buf> written, bool queued, const Take& take);
  // The first value that could not be read.
  const Status& status() const { return status_; }

 private:
  struct Shown {
    size_t index = 0;               // in list_
    const ge_made* made = nullptr;  // inside of a segment
    size_t output = 0;              // else its position among the launch's
    PlanLayout layout;
  };
  // Of a launch's outputs: the step behind which each is whole; null: none is told.
  using Makers = std::map<ValueId, const ge_step*>;
  void ListLaunch(uint32_t instruction, bool inside);
  void ListStep(uint32_t instruction, uint32_t number, const ge_step& step, const Makers& outputs);
  void ListOutput(uint32_t instruction, size_t position, const Makers& makers);
  void Show(const Shown& shown, std::span<const std::byte> bytes, const Take& take);
  const PlanFunction& plan() const { return compiled_.plan.functions[0]; }

  const Compiled& compiled_;
  const Function& function_;
  std::vector<CapsuleTensor> list_;
  std::vector<const ge_step*> made_by_;                                      // by index in list_
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Shown>> behind_step_;  // instruction, step
  std::vector<std::vector<Shown>> behind_;                                   // by instruction
  std::vector<std::string> left_out_;
  Status status_;
};

}  // namespace ge
