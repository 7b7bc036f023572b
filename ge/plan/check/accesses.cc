#include "ge/plan/check/accesses.h"

#include <fmt/format.h>

#include "ge/plan/check/describe.h"

namespace ge::check {
namespace {

bool HeldBeforeRun(PlanValueKind kind) {
  return kind == PlanValueKind::kInput || kind == PlanValueKind::kConstant ||
         kind == PlanValueKind::kState;
}

class AccessCollector {
 public:
  explicit AccessCollector(const PlanFunction& f)
      : f_(f), access_(f.values.size()), launched_(f.segments.size(), kNone) {}

  Result<std::vector<Access>> Run() {
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      const Instruction& in = f_.code[i];
      if (in.op == PlanOp::kLaunch) GE_RETURN_IF_ERROR(AddLaunch(i));
      if (in.op == PlanOp::kCopy) {
        Read(i, in.src);
        GE_RETURN_IF_ERROR(Write(i, in.dst));
      }
    }
    for (SegmentId s = 0; s < f_.segments.size(); ++s) {
      if (launched_[s] == kNone) {
        return Fault(f_, fmt::format("segment {} is never launched, wanted once", s));
      }
    }
    for (PlanValueId v = 1; v < f_.values.size(); ++v) GE_RETURN_IF_ERROR(Settle(v));
    return std::move(access_);
  }

 private:
  Status AddLaunch(uint32_t i) {
    const SegmentId id = f_.code[i].segment;
    if (launched_[id] != kNone) {
      return Fault(f_, fmt::format("segment {} is launched by instructions {} and {}, wanted once",
                                   id, launched_[id], i));
    }
    launched_[id] = i;
    const PlanSegment& s = f_.segments[id];
    for (PlanValueId v : s.inputs) Read(i, v);
    for (PlanValueId v : s.outputs) GE_RETURN_IF_ERROR(Write(i, v));
    for (PlanValueId v : s.internals) GE_RETURN_IF_ERROR(Write(i, v));
    if (s.workspace) GE_RETURN_IF_ERROR(Write(i, s.workspace));
    return {};
  }

  void Read(uint32_t i, PlanValueId v) {
    auto& readers = access_[v].readers;
    if (readers.empty() || readers.back() != i) readers.push_back(i);
  }

  Status Write(uint32_t i, PlanValueId v) {
    const PlanValueKind kind = f_.values[v].kind;
    if (kind == PlanValueKind::kInput || kind == PlanValueKind::kConstant) {
      return Fault(f_, fmt::format("{} writes {}, which is {}, wanted a value that the run owns",
                                   InstructionText(f_, i), ValueText(f_, v),
                                   kind == PlanValueKind::kInput ? "the caller's input"
                                                                 : "a constant of the model"));
    }
    if (access_[v].writer != kNone) {
      return Fault(f_,
                   fmt::format("{} is written by {} and by {}, wanted one writer", ValueText(f_, v),
                               InstructionText(f_, access_[v].writer), InstructionText(f_, i)));
    }
    access_[v].writer = i;
    return {};
  }

  Status Settle(PlanValueId v) {
    Access& a = access_[v];
    const PlanValueKind kind = f_.values[v].kind;
    a.before_run = HeldBeforeRun(kind) && a.writer == kNone;
    a.until_end = HeldBeforeRun(kind) || kind == PlanValueKind::kOutput;
    if (kind == PlanValueKind::kOutput && a.writer == kNone) {
      return Fault(f_, fmt::format("output {} is never written", ValueText(f_, v)));
    }
    if (!a.readers.empty() && a.writer == kNone && !a.before_run) {
      return Fault(f_, fmt::format("{} is read by {}, but nothing writes it", ValueText(f_, v),
                                   InstructionText(f_, a.readers.front())));
    }
    return {};
  }

  const PlanFunction& f_;
  std::vector<Access> access_;
  std::vector<uint32_t> launched_;  // by segment: its launch
};

}  // namespace

Result<std::vector<Access>> CollectAccesses(const PlanFunction& function) {
  return AccessCollector(function).Run();
}

}  // namespace ge::check
