#include "ge/plan/check/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "ge/base/checked.h"
#include "ge/plan/check/describe.h"

namespace ge::check {
namespace {

Status TableFault(const std::string& what) {
  return Status(Code::kInternal, fmt::format("plan: {}", what));
}

// Who is spoken of, put into words only where there is something to say.
using Who = std::function<std::string()>;

Status Below(const Who& who, const char* what, uint64_t id, size_t size) {
  if (id < size) return {};
  return TableFault(fmt::format("{} names {} {}, wanted below {}", who(), what, id, size));
}

Status Below(const char* who, const char* what, uint64_t id, size_t size) {
  return Below([who] { return std::string(who); }, what, id, size);
}

bool IsArenaKind(PlanValueKind kind) {
  return kind == PlanValueKind::kTransient || kind == PlanValueKind::kInternal ||
         kind == PlanValueKind::kWorkspace;
}

const char* KindText(PlanValueKind kind) {
  switch (kind) {
    case PlanValueKind::kInput:
      return "an input";
    case PlanValueKind::kOutput:
      return "an output";
    case PlanValueKind::kConstant:
      return "a constant";
    case PlanValueKind::kState:
      return "a state";
    case PlanValueKind::kTransient:
      return "a transient";
    case PlanValueKind::kInternal:
      return "an internal value";
    case PlanValueKind::kWorkspace:
      return "a workspace";
  }
  return "of unknown kind";
}

class FunctionChecker {
 public:
  FunctionChecker(const Plan& plan, const PlanFunction& f) : plan_(plan), f_(f) {}

  Status Run() {
    if (f_.values.empty()) return Fault(f_, "it has no value 0 (the absent value)");
    GE_RETURN_IF_ERROR(Streams());
    GE_RETURN_IF_ERROR(Arenas());
    for (SegmentId s = 0; s < f_.segments.size(); ++s) GE_RETURN_IF_ERROR(Segment(s));
    IndexSegments();
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      GE_RETURN_IF_ERROR(Value(v));
      GE_RETURN_IF_ERROR(Place(v));
    }
    for (PlanValueId v = 1; v < f_.values.size(); ++v) GE_RETURN_IF_ERROR(Alias(v));
    GE_RETURN_IF_ERROR(Sums());
    return Signature();
  }

 private:
  // Needs segments whose values are in range.
  void IndexSegments() {
    listed_.assign(f_.values.size(), 0);
    for (SegmentId s = 0; s < f_.segments.size(); ++s) {
      for (PlanValueId v : f_.segments[s].internals) {
        if (f_.values[v].segment == s) ++listed_[v];
      }
      for (PlanValueId v : f_.segments[s].outputs) makers_.emplace_back(v, s);
    }
    std::sort(makers_.begin(), makers_.end());
    makers_.erase(std::unique(makers_.begin(), makers_.end()), makers_.end());
  }

  Status Streams() const {
    if (f_.streams.empty() || f_.streams[0].device != 0) {
      return Fault(f_, "stream 0 is missing or not the host's");
    }
    std::vector<uint32_t> count(plan_.devices.size());
    for (uint32_t s = 1; s < f_.streams.size(); ++s) {
      const DeviceId d = f_.streams[s].device;
      GE_RETURN_IF_ERROR(
          Below([&] { return fmt::format("stream {}", s); }, "device", d, plan_.devices.size()));
      const PlanDevice& device = plan_.devices[d];
      if (d == 0 || !device.async) {
        return Fault(f_, fmt::format("stream {} belongs to device '{}', which is synchronous and "
                                     "runs on stream 0 alone",
                                     s, device.name));
      }
      if (++count[d] > std::max(device.max_streams, 1u)) {
        return Fault(f_, fmt::format("device '{}' has more than its {} streams", device.name,
                                     std::max(device.max_streams, 1u)));
      }
    }
    for (uint32_t e = 0; e < f_.events.size(); ++e) {
      GE_RETURN_IF_ERROR(Below([&] { return fmt::format("event {}", e); }, "engine",
                               f_.events[e].engine, plan_.engines.size()));
    }
    return {};
  }

  Status Arenas() const {
    for (uint32_t a = 0; a < f_.arenas.size(); ++a) {
      GE_RETURN_IF_ERROR(Below([&] { return fmt::format("arena {}", a); }, "domain",
                               f_.arenas[a].domain, plan_.domains.size()));
      if (f_.arenas[a].bytes < 0) {
        return Fault(f_, fmt::format("arena {} has {} bytes", a, f_.arenas[a].bytes));
      }
    }
    return {};
  }

  Status Value(PlanValueId v) const {
    const PlanValue& value = f_.values[v];
    const Who who = [&] { return ValueText(f_, v); };
    GE_RETURN_IF_ERROR(Below(who, "domain", value.domain, plan_.domains.size()));
    GE_RETURN_IF_ERROR(Below(who, "layout", value.layout, plan_.layouts.size()));
    if (value.bytes < 0) return Fault(f_, fmt::format("{} has {} bytes", who(), value.bytes));
    if (value.align < 1 || (value.align & (value.align - 1))) {
      return Fault(f_,
                   fmt::format("{} has alignment {}, wanted a power of two", who(), value.align));
    }
    if (value.kind == PlanValueKind::kInternal || value.kind == PlanValueKind::kWorkspace) {
      GE_RETURN_IF_ERROR(Below(who, "segment", value.segment, f_.segments.size()));
      const PlanSegment& s = f_.segments[value.segment];
      const bool owned =
          value.kind == PlanValueKind::kWorkspace ? s.workspace == v : listed_[v] == 1;
      if (!owned) {
        return Fault(f_, fmt::format("{} claims to be {} of segment {}, which does not list it",
                                     who(), KindText(value.kind), value.segment));
      }
    }
    if (value.kind == PlanValueKind::kInternal) {
      const uint32_t n = std::max(f_.segments[value.segment].n_step, 1u);
      if (value.first_step > value.last_step || value.last_step >= n) {
        return Fault(
            f_, fmt::format("{} lives from step {} to {} of segment {}, which has {} steps", who(),
                            value.first_step, value.last_step, value.segment, n));
      }
      GE_RETURN_IF_ERROR(Below(who, "value", value.internal_alias, f_.values.size()));
    }
    return {};
  }

  Status Place(PlanValueId v) const {
    const PlanValue& value = f_.values[v];
    const Who who = [&] { return ValueText(f_, v); };
    if (value.arena < 0) {
      if (value.arena != -1) return Fault(f_, fmt::format("{} has arena {}", who(), value.arena));
      return {};
    }
    GE_RETURN_IF_ERROR(Below(who, "arena", static_cast<uint32_t>(value.arena), f_.arenas.size()));
    const PlanArena& arena = f_.arenas[value.arena];
    if (arena.domain != value.domain) {
      return Fault(f_, fmt::format("{} is in domain '{}' but its arena {} is in '{}'", who(),
                                   plan_.domains[value.domain].name, value.arena,
                                   plan_.domains[arena.domain].name));
    }
    using Use = PlanArena::Use;
    const bool fits = IsArenaKind(value.kind)                  ? arena.use == Use::kTransient
                      : value.kind == PlanValueKind::kConstant ? arena.use == Use::kPersistent
                      : value.kind == PlanValueKind::kState    ? arena.use == Use::kState
                                                               : false;
    if (!fits) {
      return Fault(f_, fmt::format("{} is {}, which may not lie in arena {}", who(),
                                   KindText(value.kind), value.arena));
    }
    const auto end = CheckedAdd(value.offset, value.bytes);
    if (value.offset < 0 || !end || *end > arena.bytes) {
      return Fault(f_, fmt::format("{} of {} bytes at offset {} leaves arena {} of {} bytes", who(),
                                   value.bytes, value.offset, value.arena, arena.bytes));
    }
    if (value.bytes > 0 && (value.offset & (value.align - 1))) {
      return Fault(f_, fmt::format("{} is at offset {}, wanted a multiple of {}", who(),
                                   value.offset, value.align));
    }
    if (value.align > plan_.domains[value.domain].align) {
      return Fault(f_, fmt::format("{} wants alignment {}, but blocks of domain '{}' have {}",
                                   who(), value.align, plan_.domains[value.domain].name,
                                   plan_.domains[value.domain].align));
    }
    return {};
  }

  Status Segment(SegmentId id) const {
    const PlanSegment& s = f_.segments[id];
    const Who who = [&] { return fmt::format("segment {}", id); };
    GE_RETURN_IF_ERROR(Below(who, "device", s.device, plan_.devices.size()));
    for (const auto* list : {&s.inputs, &s.outputs, &s.internals, &s.constants}) {
      for (PlanValueId v : *list) {
        if (v == 0) return Fault(f_, fmt::format("{} names value 0 (absent)", who()));
        GE_RETURN_IF_ERROR(Below(who, "value", v, f_.values.size()));
      }
    }
    GE_RETURN_IF_ERROR(Below(who, "value", s.workspace, f_.values.size()));
    for (const auto& [output, input] : s.may_alias) {
      GE_RETURN_IF_ERROR(Below(who, "output position", output, s.outputs.size()));
      GE_RETURN_IF_ERROR(Below(who, "input position", input, s.inputs.size()));
    }
    GE_RETURN_IF_ERROR(Conversion(s, who));
    return Roles(s, who);
  }

  Status Conversion(const PlanSegment& s, const Who& who) const {
    if (s.conversion < 0) return {};
    GE_RETURN_IF_ERROR(
        Below(who, "conversion", static_cast<uint32_t>(s.conversion), plan_.conversions.size()));
    const PlanConversion& c = plan_.conversions[s.conversion];
    if (s.inputs.size() == 1 && s.outputs.size() == 1 && s.device == c.device &&
        f_.values[s.inputs[0]].layout == c.from && f_.values[s.outputs[0]].layout == c.to) {
      return {};
    }
    return Fault(f_, fmt::format("{} is conversion {}, wanted one input in layout {}, one output "
                                 "in layout {} and device '{}'",
                                 who(), s.conversion, c.from, c.to, plan_.devices[c.device].name));
  }

  Status Roles(const PlanSegment& s, const Who& who) const {
    using K = PlanValueKind;
    for (PlanValueId v : s.inputs) {
      const K kind = f_.values[v].kind;
      GE_RETURN_IF_ERROR(Role(who, "reads", v, kind != K::kInternal && kind != K::kWorkspace));
      GE_RETURN_IF_ERROR(Reachable(s, who, v));
    }
    for (PlanValueId v : s.outputs) {
      const K kind = f_.values[v].kind;
      GE_RETURN_IF_ERROR(Role(who, "writes", v, kind != K::kInternal && kind != K::kWorkspace));
      GE_RETURN_IF_ERROR(Reachable(s, who, v));
    }
    for (PlanValueId v : s.internals) {
      GE_RETURN_IF_ERROR(Role(who, "has as internal", v, f_.values[v].kind == K::kInternal));
      GE_RETURN_IF_ERROR(Reachable(s, who, v));
    }
    for (PlanValueId v : s.constants) {
      GE_RETURN_IF_ERROR(Role(who, "compiles with", v, f_.values[v].kind == K::kConstant));
    }
    if (s.workspace) {
      GE_RETURN_IF_ERROR(
          Role(who, "has as workspace", s.workspace, f_.values[s.workspace].kind == K::kWorkspace));
      GE_RETURN_IF_ERROR(Reachable(s, who, s.workspace));
    }
    return {};
  }

  Status Role(const Who& who, const char* verb, PlanValueId v, bool ok) const {
    if (ok) return {};
    return Fault(f_, fmt::format("{} {} {}, which is {}", who(), verb, ValueText(f_, v),
                                 KindText(f_.values[v].kind)));
  }

  // A device touches its own memory domain alone.
  Status Reachable(const PlanSegment& s, const Who& who, PlanValueId v) const {
    const DomainId want = plan_.devices[s.device].domain;
    const DomainId have = f_.values[v].domain;
    if (have == want) return {};
    return Fault(f_, fmt::format("{} of device '{}' uses {} in domain {}, wanted a copy in domain "
                                 "'{}'",
                                 who(), plan_.devices[s.device].name, ValueText(f_, v),
                                 have < plan_.domains.size() ? "'" + plan_.domains[have].name + "'"
                                                             : std::to_string(have),
                                 plan_.domains[want].name));
  }

  // alias_of claims the same place as another value: permitted, and true.
  Status Alias(PlanValueId v) const {
    const PlanValue& value = f_.values[v];
    if (!value.alias_of) return {};
    const Who who = [&] { return ValueText(f_, v); };
    GE_RETURN_IF_ERROR(Below(who, "value", value.alias_of, f_.values.size()));
    const PlanValue& other = f_.values[value.alias_of];
    bool permitted = false;
    if (value.kind == PlanValueKind::kOutput) return {};  // CheckCommit
    if (value.kind == PlanValueKind::kInternal) {
      permitted = other.kind == PlanValueKind::kInternal && other.segment == value.segment &&
                  value.internal_alias == value.alias_of;
    } else if (value.kind == PlanValueKind::kTransient && other.kind == PlanValueKind::kTransient) {
      auto maker = std::lower_bound(makers_.begin(), makers_.end(), std::pair(v, SegmentId{0}));
      for (; maker != makers_.end() && maker->first == v && !permitted; ++maker) {
        permitted = MayOverwrite(f_.segments[maker->second], v, value.alias_of);
      }
    }
    if (!permitted || v == value.alias_of) {
      return Fault(f_, fmt::format("{} claims the place of {}, which no segment permits", who(),
                                   ValueText(f_, value.alias_of)));
    }
    if (value.arena < 0 || value.arena != other.arena || value.offset != other.offset ||
        value.bytes > other.bytes) {
      return Fault(f_, fmt::format("{} at {} claims the place of {} at {}, wanted the same start "
                                   "and no more bytes",
                                   who(), PlaceText(f_, v), ValueText(f_, value.alias_of),
                                   PlaceText(f_, value.alias_of)));
    }
    return {};
  }

  // So that no total of sizes can overflow later.
  Status Sums() const {
    int64_t sum = 0;
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      const auto next = CheckedAdd(sum, f_.values[v].bytes);
      if (!next) {
        return Fault(f_, fmt::format("its values exceed 2^63 bytes at {} of {} bytes",
                                     ValueText(f_, v), f_.values[v].bytes));
      }
      sum = *next;
    }
    return {};
  }

  Status Signature() const {
    std::vector<bool> listed(f_.values.size());
    for (uint32_t i = 0; i < f_.inputs.size(); ++i) {
      // 0: an input of the entry that nothing in this plan reads.
      if (f_.inputs[i]) GE_RETURN_IF_ERROR(Bound(f_.inputs[i], i, PlanValueKind::kInput, &listed));
    }
    for (uint32_t i = 0; i < f_.outputs.size(); ++i) {
      GE_RETURN_IF_ERROR(Bound(f_.outputs[i], i, PlanValueKind::kOutput, &listed));
    }
    for (PlanValueId v = 1; v < f_.values.size(); ++v) {
      const PlanValueKind kind = f_.values[v].kind;
      if ((kind == PlanValueKind::kInput || kind == PlanValueKind::kOutput) && !listed[v]) {
        return Fault(f_, fmt::format("{} is {} but not in the function's signature",
                                     ValueText(f_, v), KindText(kind)));
      }
    }
    return {};
  }

  Status Bound(PlanValueId v, uint32_t position, PlanValueKind kind,
               std::vector<bool>* listed) const {
    GE_RETURN_IF_ERROR(Below([&] { return fmt::format("{} {}", KindText(kind), position); },
                             "value", v, f_.values.size()));
    if (v == 0 || f_.values[v].kind != kind || f_.values[v].index != position || (*listed)[v]) {
      return Fault(f_, fmt::format("position {} of the signature is {}, wanted {} of that index, "
                                   "listed once",
                                   position, ValueText(f_, v), KindText(kind)));
    }
    (*listed)[v] = true;
    return {};
  }

  const Plan& plan_;
  const PlanFunction& f_;
  std::vector<uint32_t> listed_;  // by value: how often its segment lists it as internal
  std::vector<std::pair<PlanValueId, SegmentId>> makers_;  // of outputs, ascending
};

class InstructionChecker {
 public:
  InstructionChecker(const Plan& plan, const PlanFunction& f)
      : plan_(plan), f_(f), last_signal_(f.events.size(), {0, 0}) {}

  Status Check(uint32_t i) {
    const Instruction& in = f_.code[i];
    const Who who = [&] { return InstructionText(f_, i); };
    if (in.op > PlanOp::kCommit) {
      return Fault(f_, who() + " is no launch, copy, signal, wait or commit");
    }
    GE_RETURN_IF_ERROR(Below(who, "stream", in.stream, f_.streams.size()));
    switch (in.op) {
      case PlanOp::kLaunch:
        return Launch(in, who);
      case PlanOp::kCopy:
        return Copy(in, who);
      case PlanOp::kSignal:
        return Signal(in, who);
      case PlanOp::kCommit:
        return in.stream == 0 ? Status() : Fault(f_, who() + " is not the host's");
      default:
        return Wait(in, who);
    }
  }

 private:
  Status Launch(const Instruction& in, const Who& who) const {
    GE_RETURN_IF_ERROR(Below(who, "segment", in.segment, f_.segments.size()));
    const DeviceId d = f_.segments[in.segment].device;
    const PlanDevice& device = plan_.devices[d];
    if (!device.async && in.stream != 0) {
      return Fault(f_, fmt::format("{} runs device '{}', which is synchronous: wanted stream 0",
                                   who(), device.name));
    }
    if (device.async && (in.stream == 0 || f_.streams[in.stream].device != d)) {
      return Fault(f_, fmt::format("{} runs device '{}', wanted one of that device's streams",
                                   who(), device.name));
    }
    for (PlanValueId v : f_.segments[in.segment].inputs) GE_RETURN_IF_ERROR(Placed(who, v));
    for (PlanValueId v : f_.segments[in.segment].outputs) GE_RETURN_IF_ERROR(Placed(who, v));
    for (PlanValueId v : f_.segments[in.segment].internals) GE_RETURN_IF_ERROR(Placed(who, v));
    if (PlanValueId w = f_.segments[in.segment].workspace) GE_RETURN_IF_ERROR(Placed(who, w));
    return {};
  }

  Status Placed(const Who& who, PlanValueId v) const {
    if (!IsArenaKind(f_.values[v].kind) || f_.values[v].arena >= 0) return {};
    return Fault(
        f_, fmt::format("{} uses {}, which has no place in an arena", who(), ValueText(f_, v)));
  }

  Status Copy(const Instruction& in, const Who& who) const {
    GE_RETURN_IF_ERROR(Below(who, "engine", in.engine, plan_.engines.size()));
    for (PlanValueId v : {in.src, in.dst}) {
      GE_RETURN_IF_ERROR(Below(who, "value", v, f_.values.size()));
      const PlanValueKind kind = f_.values[v].kind;
      if (v == 0 || kind == PlanValueKind::kInternal || kind == PlanValueKind::kWorkspace) {
        return Fault(f_, fmt::format("{} names {}, which is {}", who(), ValueText(f_, v),
                                     v ? KindText(kind) : "absent"));
      }
      GE_RETURN_IF_ERROR(Placed(who, v));
    }
    const PlanValue& src = f_.values[in.src];
    const PlanValue& dst = f_.values[in.dst];
    if (src.bytes != dst.bytes || src.layout != dst.layout) {
      return Fault(f_, fmt::format("{} takes {} of {} bytes in layout {} to {} of {} bytes in "
                                   "layout {}, wanted the same",
                                   who(), ValueText(f_, in.src), src.bytes, src.layout,
                                   ValueText(f_, in.dst), dst.bytes, dst.layout));
    }
    if (in.stream && plan_.devices[f_.streams[in.stream].device].engine != in.engine) {
      return Fault(f_, fmt::format("{} is made by engine '{}' on a stream of device '{}', wanted "
                                   "that engine's own",
                                   who(), plan_.engines[in.engine].name,
                                   plan_.devices[f_.streams[in.stream].device].name));
    }
    if (!CanCopy(in, src.domain, dst.domain)) {
      return Fault(f_, fmt::format("{} goes from domain '{}' to '{}', which engine '{}' does not "
                                   "link",
                                   who(), plan_.domains[src.domain].name,
                                   plan_.domains[dst.domain].name, plan_.engines[in.engine].name));
    }
    return {};
  }

  // Inside the host's memory the host copies; else a link, or the engine that owns the far side.
  bool CanCopy(const Instruction& in, DomainId from, DomainId to) const {
    for (const PlanLink& link : plan_.links) {
      if (link.from == from && link.to == to && link.engine == in.engine) return true;
    }
    if (from == 0 && to == 0) return in.stream == 0;
    const auto own = [&](DomainId d) { return d == 0 || plan_.domains[d].engine == in.engine; };
    return own(from) && own(to);
  }

  Status Signal(const Instruction& in, const Who& who) {
    GE_RETURN_IF_ERROR(Below(who, "event", in.event, f_.events.size()));
    if (in.stream == 0) {
      return Fault(f_, fmt::format("{}: the host cannot signal, wanted a device's stream", who()));
    }
    GE_RETURN_IF_ERROR(SameEngine(in, who));
    auto& [stream, value] = last_signal_[in.event];
    if (stream != 0 && stream != in.stream) {
      return Fault(f_, fmt::format("{}: stream {} signals that event already, wanted one stream",
                                   who(), stream));
    }
    if (in.event_value <= value) {
      return Fault(
          f_, fmt::format("{}: the event is at {} before, wanted a greater value", who(), value));
    }
    stream = in.stream;
    value = in.event_value;
    return {};
  }

  Status Wait(const Instruction& in, const Who& who) const {
    GE_RETURN_IF_ERROR(Below(who, "event", in.event, f_.events.size()));
    return in.stream ? SameEngine(in, who) : Status();
  }

  // A stream knows its own engine's events only.
  Status SameEngine(const Instruction& in, const Who& who) const {
    const uint32_t have = plan_.devices[f_.streams[in.stream].device].engine;
    const uint32_t event = f_.events[in.event].engine;
    if (have == event) return {};
    return Fault(f_, fmt::format("{}: the event is engine '{}''s and the stream engine '{}''s; "
                                 "wanted the same, or the host as waiter",
                                 who(), plan_.engines[event].name, plan_.engines[have].name));
  }

  const Plan& plan_;
  const PlanFunction& f_;
  std::vector<std::pair<uint32_t, uint64_t>> last_signal_;  // by event: stream, value
};

}  // namespace

bool MayOverwrite(const PlanSegment& segment, PlanValueId output, PlanValueId input) {
  bool found = false;
  for (uint32_t o = 0; o < segment.outputs.size(); ++o) {
    if (segment.outputs[o] != output) continue;
    for (uint32_t i = 0; i < segment.inputs.size(); ++i) {
      if (segment.inputs[i] != input) continue;
      const std::pair<uint32_t, uint32_t> pair{o, i};
      if (std::find(segment.may_alias.begin(), segment.may_alias.end(), pair) ==
          segment.may_alias.end()) {
        return false;
      }
      found = true;
    }
  }
  return found;
}

Status CheckTables(const Plan& plan) {
  if (plan.devices.empty() || plan.domains.empty() || plan.layouts.empty()) {
    return TableFault("it lacks device 0, domain 0 or layout 0 (the host, its memory, plain)");
  }
  if (plan.functions.empty()) return TableFault("it has no function");
  for (DeviceId d = 1; d < plan.devices.size(); ++d) {
    const Who who = [&] { return fmt::format("device '{}'", plan.devices[d].name); };
    GE_RETURN_IF_ERROR(Below(who, "engine", plan.devices[d].engine, plan.engines.size()));
    GE_RETURN_IF_ERROR(Below(who, "domain", plan.devices[d].domain, plan.domains.size()));
  }
  if (plan.devices[0].domain != 0) return TableFault("device 0 is not in domain 0 (the host)");
  for (DomainId d = 0; d < plan.domains.size(); ++d) {
    const PlanDomain& domain = plan.domains[d];
    const Who who = [&] { return fmt::format("domain '{}'", domain.name); };
    if (d) GE_RETURN_IF_ERROR(Below(who, "engine", domain.engine, plan.engines.size()));
    if (domain.align < 1 || (domain.align & (domain.align - 1))) {
      return TableFault(
          fmt::format("{} has alignment {}, wanted a power of two", who(), domain.align));
    }
  }
  for (const PlanConversion& c : plan.conversions) {
    GE_RETURN_IF_ERROR(Below("a conversion", "device", c.device, plan.devices.size()));
    GE_RETURN_IF_ERROR(
        Below("a conversion", "layout", std::max(c.from, c.to), plan.layouts.size()));
  }
  for (const PlanLink& link : plan.links) {
    GE_RETURN_IF_ERROR(Below("a link", "domain", link.from, plan.domains.size()));
    GE_RETURN_IF_ERROR(Below("a link", "domain", link.to, plan.domains.size()));
    GE_RETURN_IF_ERROR(Below("a link", "engine", link.engine, plan.engines.size()));
  }
  return {};
}

Status CheckFunction(const Plan& plan, const PlanFunction& function) {
  return FunctionChecker(plan, function).Run();
}

Status CheckInstructions(const Plan& plan, const PlanFunction& function) {
  InstructionChecker checker(plan, function);
  for (uint32_t i = 0; i < function.code.size(); ++i) GE_RETURN_IF_ERROR(checker.Check(i));
  return {};
}

}  // namespace ge::check
