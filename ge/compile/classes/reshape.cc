#include "ge/compile/classes/reshape.h"

#include <algorithm>
#include <cmath>

namespace ge {
namespace {

bool SameNodes(const Function& a, const Function& b) {
  const auto same = [](const Node& x, const Node& y) {
    return x.id == y.id && x.op == y.op && x.domain == y.domain && x.inputs == y.inputs &&
           x.outputs == y.outputs;
  };
  const auto constant = [](const Value& v) { return v.constant != 0; };
  return a.params == b.params && a.results == b.results && a.values.size() == b.values.size() &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same) &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(),
                    [&](const Value& x, const Value& y) { return constant(x) == constant(y); });
}

bool SameBorder(const std::vector<PlanValueId>& a, const PlanFunction& fa,
                const std::vector<PlanValueId>& b, const PlanFunction& fb) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](PlanValueId x, PlanValueId y) {
    return fa.values[x].graph_value == fb.values[y].graph_value &&
           fa.values[x].layout == fb.values[y].layout;
  });
}

const std::string& NoteOf(const Node& n, const DecompositionNotes& notes) {
  static const std::string kNone;
  const auto note = notes.find(n.id);
  return note == notes.end() ? kNone : note->second;
}

bool Says(const std::vector<NodeReport>& reports, const Function& f,
          const DecompositionNotes& notes) {
  return std::equal(reports.begin(), reports.end(), f.nodes.begin(), f.nodes.end(),
                    [&](const NodeReport& r, const Node& n) {
                      return r.node == n.id && r.op == n.op &&
                             (n.name.empty() ? r.label == NodeLabel(n) : r.label == n.name) &&
                             r.decomposition == NoteOf(n, notes);
                    });
}

}  // namespace

std::shared_ptr<const std::vector<NodeReport>> ReportLike(const Compiled& like,
                                                          const Function& function,
                                                          const DecompositionNotes& notes) {
  Compiled::ShapedReport& shared = like.shaped_report;
  std::lock_guard<std::mutex> lock(shared.mutex);
  if (shared.made && Says(*shared.made, function, notes)) return shared.made;
  std::vector<NodeReport> out;
  out.reserve(function.nodes.size());
  for (const Node& n : function.nodes) {
    NodeReport& r = out.emplace_back();
    r.node = n.id;
    r.label = NodeLabel(n);
    r.op = n.op;
    r.decomposition = NoteOf(n, notes);
  }
  shared.made = std::make_shared<const std::vector<NodeReport>>(std::move(out));
  return shared.made;
}

std::optional<Plan> PlacedLike(const Compiled& like, const EngineList& engines,
                               const Function& function, const std::string& method) {
  if (!SameNodes(like.graph.fn(like.fn), function)) return std::nullopt;
  const Plan& from = like.plan;
  Plan plan;
  plan.graph_name = from.graph_name;
  plan.engines = from.engines;
  plan.devices = from.devices;
  plan.domains = from.domains;
  plan.links = from.links;
  plan.layouts = from.layouts;
  plan.conversions = from.conversions;
  plan.predicted_ns = std::nan("");
  plan.place_method = method;
  plan.functions.assign(1, {});
  plan.functions[0].name = function.name;
  plan.functions[0].segments.reserve(from.functions[0].segments.size());
  plan.functions[0].values.reserve(from.functions[0].values.size());
  for (const PlanSegment& s : from.functions[0].segments) {
    if (!engines[from.devices[s.device].engine - 1]->api().shape) return std::nullopt;
    if (s.offers.empty()) continue;  // PARTITION adds conversions again
    PlanSegment& mine = plan.functions[0].segments.emplace_back();
    mine.device = s.device;
    mine.offers = s.offers;
  }
  return plan;
}

namespace {

// The values that PARTITION makes come first; those of segments behind them.
size_t CountOfBorder(const PlanFunction& f) {
  size_t count = 1;
  while (count < f.values.size() && f.values[count].kind != PlanValueKind::kInternal &&
         f.values[count].kind != PlanValueKind::kWorkspace) {
    ++count;
  }
  return count;
}

bool IsPlainlyCut(const PlanFunction& f, size_t border) {
  const auto plain = [](const PlanValue& v) {
    return v.domain == 0 && v.layout == 0 && v.state == 0;
  };
  const auto placed = [](const PlanSegment& s) { return s.conversion < 0 && !s.offers.empty(); };
  const auto by_host = [](const Instruction& in) {
    return in.op == PlanOp::kLaunch || (in.op == PlanOp::kCopy && in.engine == 0);
  };
  return f.streams.size() <= 1 && f.events.empty() &&
         std::all_of(f.values.begin(), f.values.begin() + static_cast<ptrdiff_t>(border), plain) &&
         std::all_of(f.segments.begin(), f.segments.end(), placed) &&
         std::all_of(f.code.begin(), f.code.end(), by_host);
}

}  // namespace

bool PartitionLike(const Compiled& like, const Function& function, Plan* plan) {
  const PlanFunction& from = like.plan.functions[0];
  const size_t border = CountOfBorder(from);
  if (!like.states_out.empty() || !IsPlainlyCut(from, border)) return false;
  PlanFunction& to = plan->functions[0];
  if (to.segments.size() != from.segments.size()) return false;
  std::vector<PlanValue> values;
  values.reserve(from.values.size());
  values.emplace_back();
  for (size_t i = 1; i < border; ++i) {
    const PlanValue& was = from.values[i];
    const Value& value = function.value(was.graph_value);
    const auto bytes = ByteCount(value.type);
    if (!bytes) return false;
    PlanValue& v = values.emplace_back();
    v.name = was.name;
    v.type = value.type;
    v.bytes = *bytes;
    v.align = was.align;
    v.graph_value = was.graph_value;
    v.constant = value.constant;
    v.kind = was.kind;
    v.index = was.index;
  }
  to.values = std::move(values);
  for (size_t s = 0; s < to.segments.size(); ++s) {
    PlanSegment& mine = to.segments[s];
    const PlanSegment& was = from.segments[s];
    mine.inputs = was.inputs;
    mine.outputs = was.outputs;
    mine.constants = was.constants;
    mine.after = was.after;
    mine.predicted_ns = was.predicted_ns;
  }
  to.code = from.code;
  to.inputs = from.inputs;
  to.outputs = from.outputs;
  plan->predicted_ns = 0;
  for (const Instruction& in : to.code) plan->predicted_ns += in.predicted_ns;
  return true;
}

bool SameSegments(const PlanFunction& left, const PlanFunction& right) {
  return std::equal(left.segments.begin(), left.segments.end(), right.segments.begin(),
                    right.segments.end(), [&](const PlanSegment& x, const PlanSegment& y) {
                      const auto same = [](const PlanOffer& o, const PlanOffer& p) {
                        return o.nodes == p.nodes;
                      };
                      return x.device == y.device && x.conversion == y.conversion &&
                             std::equal(x.offers.begin(), x.offers.end(), y.offers.begin(),
                                        y.offers.end(), same) &&
                             SameBorder(x.inputs, left, y.inputs, right) &&
                             SameBorder(x.outputs, left, y.outputs, right);
                    });
}

}  // namespace ge
