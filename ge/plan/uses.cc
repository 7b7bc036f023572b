#include "ge/plan/uses.h"

#include <fmt/format.h>

namespace ge {
namespace {

class Collector {
 public:
  explicit Collector(const PlanFunction& f) : f_(f), uses_(f.values.size()) {}

  Status Add(uint32_t i) {
    const Instruction& in = f_.code[i];
    switch (in.op) {
      case PlanOp::kLaunch:
        return AddLaunch(i);
      case PlanOp::kCopy:
        GE_RETURN_IF_ERROR(Read(i, in.src));
        return Write(i, in.dst);
      case PlanOp::kSignal:
      case PlanOp::kWait:
      case PlanOp::kCommit:
        return {};
      default:
        return Status(
            Code::kInternal,
            fmt::format(
                "instruction {} of function '{}' is of kind {}, and no launch, copy, signal "
                "or wait",
                i, f_.name, static_cast<int>(in.op)));
    }
  }

  std::vector<PlanUses> Take() { return std::move(uses_); }

 private:
  Status AddLaunch(uint32_t i) {
    const Instruction& in = f_.code[i];
    if (in.segment >= f_.segments.size()) {
      return Status(Code::kInternal, fmt::format("instruction {} launches segment {}, but function "
                                                 "'{}' has {} segments",
                                                 i, in.segment, f_.name, f_.segments.size()));
    }
    const PlanSegment& s = f_.segments[in.segment];
    for (PlanValueId v : s.inputs) GE_RETURN_IF_ERROR(Read(i, v));
    for (PlanValueId v : s.outputs) GE_RETURN_IF_ERROR(Write(i, v));
    for (PlanValueId v : s.internals) GE_RETURN_IF_ERROR(Write(i, v));
    if (s.workspace) GE_RETURN_IF_ERROR(Write(i, s.workspace));
    return {};
  }

  Status InRange(uint32_t i, PlanValueId v) const {
    if (v != 0 && v < f_.values.size()) return {};
    return Status(Code::kInternal,
                  fmt::format("instruction {} of function '{}' names value {}, wanted 1..{}", i,
                              f_.name, v, static_cast<int64_t>(f_.values.size()) - 1));
  }

  Status Read(uint32_t i, PlanValueId v) {
    GE_RETURN_IF_ERROR(InRange(i, v));
    auto& readers = uses_[v].readers;
    if (readers.empty() || readers.back() != i) readers.push_back(i);
    return {};
  }

  Status Write(uint32_t i, PlanValueId v) {
    GE_RETURN_IF_ERROR(InRange(i, v));
    if (uses_[v].writer != kNoInstruction) {
      return Status(
          Code::kInternal,
          fmt::format("value '{}' is written by instructions {} and {}, wanted one writer",
                      f_.values[v].name, uses_[v].writer, i));
    }
    uses_[v].writer = i;
    return {};
  }

  const PlanFunction& f_;
  std::vector<PlanUses> uses_;
};

}  // namespace

const std::vector<PlanValueId>& ReadsOf(const PlanFunction& function, const Instruction& in,
                                        std::vector<PlanValueId>* scratch) {
  if (in.op == PlanOp::kLaunch) return function.segments[in.segment].inputs;
  scratch->clear();
  if (in.op == PlanOp::kCopy) scratch->push_back(in.src);
  return *scratch;
}

Result<std::vector<PlanUses>> CollectUses(const PlanFunction& function) {
  Collector collector(function);
  for (uint32_t i = 0; i < function.code.size(); ++i) GE_RETURN_IF_ERROR(collector.Add(i));
  return collector.Take();
}

}  // namespace ge
