// Memory or a pack at fault: the same work on the same engine is right as soon as its values, or
// its packed constants, have places of their own.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "ge/capsule/segment_graph.h"
#include "tools/ge/capsule/bisection.h"
#include "tools/ge/capsule/own_errors.h"
#include "tools/ge/capsule/remade.h"

namespace ge::tool {
namespace {

constexpr std::string_view kRed = "red zones: ", kInstruction = "at plan instruction ";

// What a guarded run says of a kernel that writes outside of its buffers; empty where none does.
std::string RedZonesText(const Status& status) {
  const size_t at = status.message().find(kRed);
  return at == std::string::npos ? std::string() : status.message().substr(at + kRed.size());
}

// The launch of which a failed run's message tells, as a segment of the recorded plan.
const PlanSegment* SegmentOf(const Recorded& r, const Status& status) {
  const PlanFunction& fn = r.plan.functions[0];
  const size_t at = status.message().find(kInstruction);
  if (at == std::string::npos) return nullptr;
  const char* begin = status.message().data() + at + kInstruction.size();
  size_t index = fn.code.size();
  std::from_chars(begin, status.message().data() + status.message().size(), index);
  const bool launch = index < fn.code.size() && fn.code[index].op == PlanOp::kLaunch &&
                      fn.code[index].segment < fn.segments.size();
  return launch ? &fn.segments[fn.code[index].segment] : nullptr;
}

std::string EngineOf(const Plan& plan, const PlanSegment& s) {
  const bool known =
      s.device < plan.devices.size() && plan.devices[s.device].engine < plan.engines.size();
  return known ? plan.engines[plan.devices[s.device].engine].name : "";
}

// ---- a segment alone ----------------------------------------------------------------------------

class Alone {
 public:
  Alone(const Bisected& b, const Piece& piece, const TrialAnswer& wanted, double bound)
      : b_(b), piece_(piece), wanted_(wanted), bound_(bound) {
    trial_.graph = piece.graph;
    trial_.entry = "main";
    trial_.inputs = piece.inputs;
    trial_.options = b.OnOwn(piece.engine);
  }
  Status Guarded() const {
    Trial t = trial_;
    t.memory.red_zones = true;
    return RunTrial(b_.r, t, b_.options.seconds_a_trial).status();
  }
  bool RightWith(const TrialMemory& memory) const {
    Trial t = trial_;
    t.memory = memory;
    return Right(t);
  }
  // With the constants that its engine packs as inputs, which nobody packs.
  bool RightWithoutPacks() const {
    const auto packed = PackedConstants(b_.r, trial_, b_.options.seconds_a_trial);
    if (!packed.ok() || packed->empty()) return false;
    Trial t = trial_;
    Function& f = t.graph.fn(piece_.fn);
    for (ValueId v = 1; v < f.values.size(); ++v) {
      const ConstId c = f.value(v).constant;
      if (c == 0 || std::find(packed->begin(), packed->end(), c) == packed->end()) continue;
      const Const& constant = t.graph.consts[c];
      f.value(v).constant = 0;
      f.params.push_back(v);
      t.inputs.push_back({constant.type.dtype, constant.type.static_dims(),
                          const_cast<std::byte*>(constant.data), constant.bytes});
    }
    return Right(t);
  }

 private:
  bool Right(const Trial& t) const {
    for (uint32_t run = 0; run < b_.options.runs; ++run) {
      const auto found = RunTrial(b_.r, t, b_.options.seconds_a_trial);
      if (!found.ok() || !WhyDifferent(piece_.outputs, *found, wanted_, bound_).empty()) {
        return false;
      }
    }
    return true;
  }

  const Bisected& b_;
  const Piece& piece_;
  const TrialAnswer& wanted_;
  const double bound_;
  Trial trial_;
};

// ---- the whole run ------------------------------------------------------------------------------

class Whole {
 public:
  Whole(const Bisected& b, size_t segment, const Piece& piece, const TrialAnswer& wanted,
        double bound)
      : b_(b),
        segment_(b.r.plan.functions[0].segments[segment]),
        piece_(piece),
        wanted_(wanted),
        bound_(bound) {}

  Status Guarded() const {
    TrialMemory memory;
    memory.red_zones = true;
    return RunWhole(b_.r, b_.options, memory, {}).status();
  }
  // Whether the segment's outputs are right in all runs; an error where a run ends in one.
  Result<bool> RightWith(const TrialMemory& memory) const {
    for (uint32_t run = 0; run < b_.options.runs; ++run) {
      GE_ASSIGN_OR_RETURN(TrialAnswer found, RunWhole(b_.r, b_.options, memory, segment_.outputs));
      if (!WhyDifferent(piece_.outputs, found, wanted_, bound_).empty()) return false;
    }
    return true;
  }
  // The fewest values that have to have places of their own, found by halving.
  std::vector<PlanValueId> OverwrittenValues() const {
    std::vector<PlanValueId> near = segment_.inputs, all;
    near.insert(near.end(), segment_.outputs.begin(), segment_.outputs.end());
    near.insert(near.end(), segment_.internals.begin(), segment_.internals.end());
    if (segment_.workspace != 0) near.push_back(segment_.workspace);
    const auto& values = b_.r.plan.functions[0].values;
    const auto in_arena = [&](PlanValueId v) { return v < values.size() && values[v].arena >= 0; };
    std::erase_if(near, [&](PlanValueId v) { return !in_arena(v); });
    for (PlanValueId v = 1; v < values.size(); ++v) {
      if (in_arena(v)) all.push_back(v);
    }
    for (std::vector<PlanValueId> set : {near, all}) {
      if (set.empty() || !RightApart(set)) continue;
      while (set.size() > 1) {
        const auto half = static_cast<ptrdiff_t>(set.size() / 2);
        const std::vector<PlanValueId> first(set.begin(), set.begin() + half),
            last(set.begin() + half, set.end());
        if (RightApart(first)) {
          set = first;
        } else if (RightApart(last)) {
          set = last;
        } else {
          break;  // it takes some of both
        }
      }
      return set;
    }
    return {};
  }

 private:
  bool RightApart(const std::vector<PlanValueId>& values) const {
    TrialMemory memory;
    memory.own_places = values;
    const auto right = RightWith(memory);
    return right.ok() && *right;
  }

  const Bisected& b_;
  const PlanSegment& segment_;
  const Piece& piece_;
  const TrialAnswer& wanted_;
  const double bound_;
};

bool Overlap(const PlanValue& a, const PlanValue& b) {
  return a.arena >= 0 && a.arena == b.arena && a.bytes > 0 && b.bytes > 0 &&
         a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

std::string NameOf(const PlanValue& v) {
  return v.kind == PlanValueKind::kWorkspace ? "a workspace" : fmt::format("'{}'", v.name);
}

// Who writes where the value lies, from its making to the launch of `segment`, that one included.
std::string OverwriterOf(const Recorded& r, PlanValueId value, size_t segment) {
  const PlanFunction& f = r.plan.functions[0];
  const PlanValue& v = f.values[value];
  bool made = false;
  std::string text;
  for (const Instruction& in : f.code) {
    if (in.op != PlanOp::kLaunch || in.segment >= f.segments.size()) continue;
    const PlanSegment& s = f.segments[in.segment];
    const auto is = [&](PlanValueId other) { return other == value; };
    const bool maker = std::any_of(s.outputs.begin(), s.outputs.end(), is);
    made |= maker || v.segment == in.segment;
    std::vector<PlanValueId> written = s.outputs;
    written.insert(written.end(), s.internals.begin(), s.internals.end());
    if (s.workspace != 0) written.push_back(s.workspace);
    for (const PlanValueId w : written) {
      if (!made || maker || w == value || !Overlap(v, f.values[w])) continue;
      text = fmt::format(" of segment {}, {}", in.segment, NameOf(f.values[w]));
    }
    if (in.segment == segment) break;
  }
  return text;
}

std::string OverwrittenText(const Recorded& r, const std::vector<PlanValueId>& values,
                            size_t segment) {
  const auto& all = r.plan.functions[0].values;
  if (values.empty()) return "values share bytes while both are needed";
  std::string text;
  for (const PlanValueId v : values) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", NameOf(all[v]));
    if (values.size() > 8 && v == values[7]) return text + ", ... share bytes with others";
  }
  const std::string by = values.size() == 1 ? OverwriterOf(r, values[0], segment) : "";
  return by.empty() ? text + " is overwritten while it is needed"
                    : fmt::format("{} is overwritten by a value{}", text, by);
}

}  // namespace

Result<Verdict> FaultOfTheSegment(const Bisected& b, const Piece& piece, const TrialAnswer& wanted,
                                  double bound, std::string why) {
  const Alone alone(b, piece, wanted, bound);
  const std::string red = RedZonesText(alone.Guarded());
  if (!red.empty()) return MadeVerdict("memory", red);
  TrialMemory apart;
  apart.apart = true;
  if (alone.RightWith(apart)) {
    return MadeVerdict("memory", why +
                                     "; with a place of its own for each value the segment is "
                                     "right: it needs a value longer than it says");
  }
  TrialMemory packs;
  packs.packs_apart = true;
  if (alone.RightWith(packs)) {
    return MadeVerdict("pack",
                       why +
                           "; with a pack of its own for each node the segment is right: the key "
                           "of a pack says too little");
  }
  if (alone.RightWithoutPacks()) {
    return MadeVerdict("pack",
                       why + "; with its constants as inputs, which are not packed, it is right");
  }
  return MadeVerdict("engine", std::move(why));
}

Result<Verdict> FaultOfTheWhole(const Bisected& b, size_t segment, const Piece& piece,
                                const TrialAnswer& wanted, double bound, std::string why) {
  const Whole whole(b, segment, piece, wanted, bound);
  why += "; by itself the segment is right";
  const Status guarded = whole.Guarded();
  const std::string red = RedZonesText(guarded);
  if (!red.empty()) {
    Verdict v = MadeVerdict("memory", red);
    const PlanSegment* by = SegmentOf(b.r, guarded);
    if (by != nullptr) {
      v.engine = EngineOf(b.r.plan, *by);
      GE_ASSIGN_OR_RETURN(const Pieces pieces, Pieces::Of(b.r));
      v.nodes = pieces.LabelsOf(*by);
    }
    return v;
  }
  const auto again = whole.RightWith({});
  if (!again.ok()) {
    return MadeVerdict("memory", fmt::format("{}; what it reads or makes was overwritten, or the "
                                             "fault comes and goes; the run could not be repeated: "
                                             "{}",
                                             why, again.status().message()));
  }
  if (*again) {
    return MadeVerdict("engine", fmt::format("{}, and so is the whole run, {} times: the fault "
                                             "comes and goes; look longer by --runs",
                                             why, b.options.runs));
  }
  TrialMemory apart;
  apart.apart = true;
  const auto right_apart = whole.RightWith(apart);
  if (right_apart.ok() && *right_apart) {
    return MadeVerdict("memory",
                       why + "; " + OverwrittenText(b.r, whole.OverwrittenValues(), segment));
  }
  TrialMemory packs;
  packs.packs_apart = true;
  const auto right_packs = whole.RightWith(packs);
  if (right_packs.ok() && *right_packs) {
    return MadeVerdict("pack", why +
                                   "; with packs that it shares with no other segment the run is "
                                   "right: the key of a pack says too little");
  }
  return MadeVerdict("engine",
                     why +
                         ", and wrong behind what ran before it, whatever memory it has: it "
                         "keeps something from launch to launch");
}

}  // namespace ge::tool
