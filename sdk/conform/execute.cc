#include "execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ge::conform {
namespace {

using mock::Answer;
using mock::Border;
using mock::Engine;
using mock::Graph;
using mock::Tensor;

unsigned char g_padding = 0x3C;  // see SetPadding

std::string NameOfGroup(const Graph& g, const mock::Segment& s, const Answer& answer) {
  std::string out;
  for (const mock::Taken& t : s.taken) {
    for (uint32_t n : answer.offers[t.offer].nodes) {
      out += (out.empty() ? "" : ", ") + g.nodes[n].op;
    }
  }
  return out.empty() ? "a conversion" : out;
}

// Runs the engine's conversion `from` -> `to` of one value.
bool Convert(Engine& e, const Graph& g, const Answer& answer, uint32_t value, uint32_t from,
             uint32_t to, const std::vector<unsigned char>& bytes, std::vector<unsigned char>* out,
             std::string* why) {
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    const mock::Offer& o = answer.offers[i];
    if (!o.converts() || o.convert_from != from || o.convert_to != to) continue;
    mock::Compiler compiler(e, g, answer);
    const auto exec = compiler.Compile(mock::MakeConversion(answer, i, value));
    if (exec->rc != GE_OK) {
      *why = fmt::format("compile of a conversion from layout {} to {}: {}", from, to, exec->error);
      return false;
    }
    mock::Launch launch(*exec);
    launch.SetInput(0, bytes);
    const ge_rc rc = launch.Run();
    *why = rc != GE_OK ? "enqueue of a conversion: " + launch.error() : "";
    *out = launch.Output(0);
    return rc == GE_OK;
  }
  *why =
      fmt::format("an opaque layout is offered, but no conversion from layout {} to {}", from, to);
  return false;
}

// One unit of RunGraph: a group of the engine's, or one node of ref's.
struct Unit {
  int group = -1;
  std::vector<uint32_t> nodes;
};

std::vector<Unit> UnitsOf(const Graph& g, const Answer& answer, const std::vector<Group>& groups) {
  std::vector<Unit> units;
  std::vector<bool> taken(g.nodes.size());
  for (size_t k = 0; k < groups.size(); ++k) {
    Unit u;
    u.group = static_cast<int>(k);
    for (const mock::Taken& t : groups[k]) {
      for (uint32_t n : answer.offers[t.offer].nodes) {
        u.nodes.push_back(n);
        taken[n] = true;
      }
    }
    units.push_back(std::move(u));
  }
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (!taken[n]) units.push_back({-1, {n}});
  }
  return units;
}

// The units in an order in which each reads only what was made before; empty where there is none.
std::vector<Unit> InOrder(const Graph& g, std::vector<Unit> units) {
  std::vector<Unit> out;
  std::vector<bool> made(g.values.size(), true), done(units.size());
  for (const mock::Node& n : g.nodes) {
    for (uint32_t v : n.out) made[v] = false;
  }
  for (bool moved = true; moved && out.size() < units.size();) {
    moved = false;
    for (size_t k = 0; k < units.size(); ++k) {
      if (done[k]) continue;
      std::set<uint32_t> own;
      for (uint32_t n : units[k].nodes) own.insert(g.nodes[n].out.begin(), g.nodes[n].out.end());
      bool ready = true;
      for (uint32_t n : units[k].nodes) {
        for (uint32_t v : g.nodes[n].in) ready &= v == 0 || made[v] || own.count(v) != 0;
      }
      if (!ready) continue;
      for (uint32_t v : own) made[v] = true;
      out.push_back(units[k]);
      done[k] = moved = true;
    }
  }
  return out.size() == units.size() ? out : std::vector<Unit>();
}

bool RunRefNode(Engine& ref, const Graph& g, const Answer& answer, uint32_t node, Values* values,
                std::string* why) {
  const std::vector<uint32_t> offers = OffersOf(answer, {node});
  if (offers.empty()) {
    *why = "ref declines " + g.nodes[node].op;
    for (const mock::Decline& d : answer.declines) {
      if (d.node == node) *why += ": " + d.text;
    }
    return false;
  }
  if (RunGroup(ref, g, answer, {{offers[0], 0}}, values, why)) return true;
  *why = "ref: " + *why;
  return false;
}

}  // namespace

void SetPadding(unsigned char byte) { g_padding = byte; }

Values Given(const Graph& graph, const std::vector<Tensor>& inputs) {
  Values values;
  for (size_t i = 0; i < graph.in.size() && i < inputs.size(); ++i) values[graph.in[i]] = inputs[i];
  for (uint32_t v = 1; v < graph.values.size(); ++v) {
    if (graph.values[v].constant != nullptr) values[v] = *graph.values[v].constant;
  }
  return values;
}

std::vector<uint32_t> OffersOf(const Answer& answer, const std::vector<uint32_t>& nodes) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    if (!answer.offers[i].converts() && answer.offers[i].nodes == nodes) out.push_back(i);
  }
  return out;
}

uint32_t PlainChoice(const mock::Offer& offer) {
  if (offer.choices.empty()) return 0;
  for (uint32_t c = 0; c < offer.choices.size(); ++c) {
    const auto& l = offer.choices[c].layouts;
    if (std::all_of(l.begin(), l.end(), [](const auto& x) { return x.second == 0; })) return c;
  }
  return UINT32_MAX;
}

bool ToLayout(Engine& engine, const Graph& graph, const Answer& answer, uint32_t value,
              uint32_t layout, const Tensor& plain, std::vector<unsigned char>* out,
              std::string* why) {
  if (layout == 0) {
    *out = plain.bytes;
    return true;
  }
  const mock::Layout& l = answer.layouts[layout];
  if (!mock::IsOpen(l, plain.dims.size())) {
    return Convert(engine, graph, answer, value, 0, layout, plain.bytes, out, why);
  }
  *out = mock::Relayout(l, plain.dtype, plain.dims, plain.bytes, false, g_padding);
  return true;
}

bool FromLayout(Engine& engine, const Graph& graph, const Answer& answer, uint32_t value,
                uint32_t layout, const std::vector<unsigned char>& bytes, Tensor* out,
                std::string* why) {
  *out = Tensor(graph.values[value].type.dtype, graph.values[value].type.dims);
  if (layout == 0) {
    out->bytes = bytes;
    return true;
  }
  const mock::Layout& l = answer.layouts[layout];
  if (!mock::IsOpen(l, out->dims.size())) {
    return Convert(engine, graph, answer, value, layout, 0, bytes, &out->bytes, why);
  }
  out->bytes = mock::Relayout(l, out->dtype, out->dims, bytes, true, 0);
  return true;
}

bool RunSegment(Engine& engine, const Graph& graph, const Answer& answer, const mock::Exec& exec,
                Values* values, std::string* why, const mock::LaunchOptions& options) {
  mock::Launch launch(exec, options);
  const mock::Segment& s = exec.segment;
  for (uint32_t i = 0; i < s.in.size(); ++i) {
    std::vector<unsigned char> bytes;
    const Border& b = s.in[i];
    if (!ToLayout(engine, graph, answer, b.value, b.layout, values->at(b.value), &bytes, why))
      return false;
    launch.SetInput(i, std::move(bytes));
  }
  const ge_rc rc = launch.Run();
  if (rc != GE_OK) {
    *why = fmt::format("enqueue of {} failed (code {}): {}", NameOfGroup(graph, s, answer), rc,
                       launch.error());
    return false;
  }
  for (uint32_t i = 0; i < s.out.size(); ++i) {
    const Border& b = s.out[i];
    const auto bytes = launch.Output(i);
    if (!FromLayout(engine, graph, answer, b.value, b.layout, bytes, &(*values)[b.value], why))
      return false;
  }
  return true;
}

bool RunGroup(Engine& engine, const Graph& graph, const Answer& answer, const Group& group,
              Values* values, std::string* why, const mock::LaunchOptions& options) {
  mock::Compiler compiler(engine, graph, answer);
  const auto exec = compiler.Compile(mock::MakeSegment(graph, answer, group));
  if (exec->rc != GE_OK) {
    *why = fmt::format("compile of an offer of {} failed (code {}): {}",
                       NameOfGroup(graph, exec->segment, answer), exec->rc, exec->error);
    return false;
  }
  return RunSegment(engine, graph, answer, *exec, values, why, options);
}

bool RunRef(Engine& ref, const Graph& graph, const std::vector<Tensor>& inputs, Values* values,
            std::string* why) {
  *values = Given(graph, inputs);
  const Answer answer = ref.Query(graph);
  if (answer.rc != GE_OK) {
    *why = "ref: query: " + answer.error;
    return false;
  }
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (!RunRefNode(ref, graph, answer, n, values, why)) return false;
  }
  return true;
}

bool IsOrdered(const Graph& graph, const Answer& answer, const std::vector<Group>& groups) {
  return graph.nodes.empty() || !InOrder(graph, UnitsOf(graph, answer, groups)).empty();
}

bool RunGraph(Engine& engine, Engine& ref, const Graph& graph, const Answer& answer,
              const std::vector<Group>& groups, const std::vector<Tensor>& inputs, Values* values,
              std::string* why) {
  *values = Given(graph, inputs);
  const Answer ref_answer = ref.Query(graph);
  for (const Unit& u : InOrder(graph, UnitsOf(graph, answer, groups))) {
    const bool ok = u.group >= 0 ? RunGroup(engine, graph, answer,
                                            groups[static_cast<size_t>(u.group)], values, why)
                                 : RunRefNode(ref, graph, ref_answer, u.nodes[0], values, why);
    if (!ok) return false;
  }
  return true;
}

}  // namespace ge::conform
