#include "ge/plan/check/commit.h"

#include <fmt/format.h>

#include "ge/plan/check/describe.h"
#include "ge/plan/check/structure.h"

namespace ge::check {
namespace {

class CommitChecker {
 public:
  CommitChecker(const PlanFunction& f, const Timeline& timeline, const std::vector<Access>& access)
      : f_(f), t_(timeline), access_(access) {}

  Status Run() {
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      if (f_.code[i].op == PlanOp::kCommit) {
        if (commit_ != kNone) {
          return Fault(f_, fmt::format("it commits at {} and at {}, wanted once",
                                       InstructionText(f_, commit_), InstructionText(f_, i)));
        }
        commit_ = i;
      } else if (commit_ != kNone) {
        GE_RETURN_IF_ERROR(Behind(i));
      }
    }
    for (uint32_t i = 0; commit_ != kNone && i < commit_; ++i) {
      const PlanOp op = f_.code[i].op;
      if ((op != PlanOp::kLaunch && op != PlanOp::kCopy) || t_.Before(i, commit_)) continue;
      return Fault(f_, fmt::format("{} may still run, and fail, at the commit; wanted a host wait "
                                   "for it before",
                                   InstructionText(f_, i)));
    }
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      if (f_.values[v].kind == PlanValueKind::kOutput && f_.values[v].alias_of != 0) {
        GE_RETURN_IF_ERROR(Overwritten(v, f_.values[v].alias_of));
      }
    }
    return {};
  }

 private:
  Status Behind(uint32_t i) const {
    const Instruction& in = f_.code[i];
    const bool sure = in.op == PlanOp::kLaunch && f_.segments[in.segment].infallible;
    // What a host learns of the end of such launches by.
    if (sure || in.op == PlanOp::kSignal || in.op == PlanOp::kWait) return {};
    return Fault(f_, fmt::format("{} comes behind the commit and can fail; wanted launches of "
                                 "infallible segments alone",
                                 InstructionText(f_, i)));
  }

  // Whether the segment adds rows to `before` that have no meaning yet, and does nothing else.
  static bool Appends(const PlanSegment& s, PlanValueId after, PlanValueId before) {
    return s.appends && s.outputs.size() == 1 && s.outputs[0] == after && !s.inputs.empty() &&
           s.inputs[0] == before && s.offers.size() == 1 && s.offers[0].nodes.size() == 1;
  }

  // Output `after` lies where input `before` lies.
  Status Overwritten(PlanValueId after, PlanValueId before) const {
    const PlanValue &a = f_.values[after], &b = f_.values[before];
    const std::string who = ValueText(f_, after) + " claims the place of " + ValueText(f_, before);
    if (b.kind != PlanValueKind::kInput || b.alias_of != 0 || a.bytes != b.bytes ||
        a.domain != b.domain || a.layout != b.layout || a.state == 0 || a.state != b.state) {
      return Fault(f_, who + ", wanted an input of the same state, bytes, domain and layout");
    }
    const uint32_t writer = access_[after].writer;
    const bool launched = f_.code[writer].op == PlanOp::kLaunch;
    const bool appends = launched && Appends(f_.segments[f_.code[writer].segment], after, before);
    if (!launched || (!appends && (commit_ == kNone || writer <= commit_))) {
      return Fault(f_, fmt::format("{} and is written by {}, wanted behind a commit", who,
                                   InstructionText(f_, writer)));
    }
    const PlanSegment& s = f_.segments[f_.code[writer].segment];
    bool reads = false;
    for (uint32_t reader : access_[before].readers) {
      reads |= reader == writer;
      if (reader == writer || t_.Before(reader, writer)) continue;
      return Fault(f_, fmt::format("{}, which {} may read when {} overwrites it", who,
                                   InstructionText(f_, reader), InstructionText(f_, writer)));
    }
    if (reads && !MayOverwrite(s, after, before))
      return Fault(f_, who + ", which is not permitted");
    for (PlanValueId v = 1; v < after; ++v) {
      if (f_.values[v].kind == PlanValueKind::kOutput && f_.values[v].alias_of == before) {
        return Fault(f_, fmt::format("{}, and so does {}", who, ValueText(f_, v)));
      }
    }
    return {};
  }

  const PlanFunction& f_;
  const Timeline& t_;
  const std::vector<Access>& access_;
  uint32_t commit_ = kNone;
};

}  // namespace

Status CheckCommit(const PlanFunction& function, const Timeline& timeline,
                   const std::vector<Access>& access) {
  return CommitChecker(function, timeline, access).Run();
}

}  // namespace ge::check
