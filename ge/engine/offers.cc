#include "ge/engine/offers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "ge/engine/abi_layouts.h"
#include "ge/engine/plugin/record.h"
#include "ge/host/machine.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// Bounds that keep a hostile or broken engine from eating the host's memory.
constexpr size_t kMaxOffersPerNode = 64;
constexpr size_t kMaxLayouts = 65536;
constexpr uint32_t kMaxChoices = 64;

std::atomic<uint64_t> g_queries{0};

// Used when neither the engine nor its device states a price: plain scalar loops reach about a
// twentieth of what four lanes can multiply and add, and less than half of a copy's speed.
constexpr double kGuessPeakShare = 1.0 / 22, kGuessCopyShare = 0.4;

struct Collector {
  const Engine* engine;
  uint32_t engine_index;
  const Graph* graph;
  const Function* function;
  std::vector<PlanLayout>* layouts;
  OfferSet* out;
  size_t accepted = 0;
  std::vector<int64_t> producer = {};  // by value: position of its node, -1 = none
  std::vector<bool> reaches = {};      // scratch of IsConvex, by position
  std::string not_understood = {};     // the last record of which this host lacks an extension

  void Reject(const std::string& text) {
    if (out->rejected.size() < 1000) {
      out->rejected.push_back(fmt::format("engine '{}': {}", engine->name(), text));
    }
  }
};

// The record at `given`; where it cannot be read, *rc is what the plugin's call answers.
template <typename T>
std::optional<T> Take(Collector* c, const T* given, const char* what, ge_rc* rc) {
  *rc = GE_OK;
  if (!given) {
    c->Reject(fmt::format("{} is NULL", what));
    return std::nullopt;
  }
  Result<T> read = ReadRecord(given, what);
  if (read.ok()) return *read;
  c->Reject(read.status().message());
  if (!WantUnderstood(given->h, what).ok()) {
    c->not_understood = read.status().message();
    *rc = GE_UNIMPLEMENTED;
  }
  return std::nullopt;
}

double HostEstimate(const Collector& c, const Offer& offer) {
  const EngineDevice& device = c.engine->devices()[offer.device];
  const MachineRecord& host = HostMachine();
  double flops_rate = device.flops_per_ns > 0 ? device.flops_per_ns
                                              : host.flops_per_ns[GE_ISA_SSE42] * kGuessPeakShare;
  double bytes_rate = device.bytes_per_ns > 0
                          ? device.bytes_per_ns
                          : host.copy_bytes_per_ns[GE_ISA_SSE42][2] * kGuessCopyShare;
  double ns = 0;
  for (uint32_t i : offer.nodes) {
    const Node& node = c.function->nodes[i];
    const OpDef* op = FindOp(*c.graph, node);
    if (!op) continue;
    std::vector<Type> in, outs;
    for (ValueId v : node.inputs) in.push_back(c.function->values[v].type);
    for (ValueId v : node.outputs) outs.push_back(c.function->values[v].type);
    Work w = WorkOf(*op, node, in, outs);
    ns += std::max(w.flops / flops_rate, w.bytes / bytes_rate);
  }
  return ns;
}

const char* SourceName(uint32_t source) {
  switch (source) {
    case GE_PRICE_ANALYTIC:
      return "analytic";
    case GE_PRICE_TABLE:
      return "table";
    case GE_PRICE_MEASURED:
      return "measured";
    default:
      return "guess";
  }
}

// A pattern is one launch: no node outside it may stand between two of its own.
bool IsConvex(Collector* c, const ge_offer& o) {
  if (o.n_node < 2) return true;
  const auto& nodes = c->function->nodes;
  if (c->producer.empty()) {
    c->producer.assign(c->function->values.size(), -1);
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (ValueId v : nodes[i].outputs) c->producer[v] = v ? static_cast<int64_t>(i) : -1;
    }
    c->reaches.assign(nodes.size(), false);
  }
  // reaches[i]: node i is outside and reads, by whatever way, from the pattern.
  const uint32_t first = o.node[0], last = o.node[o.n_node - 1];
  const uint32_t* next = o.node;
  for (uint32_t i = first; i <= last; ++i) {
    const bool inside = i == *next;
    bool from_pattern = false, from_between = false;
    for (ValueId v : nodes[i].inputs) {
      const int64_t p = c->producer[v];
      if (p < first) continue;
      from_between |= c->reaches[p];
      from_pattern |= std::binary_search(o.node, o.node + o.n_node, static_cast<uint32_t>(p));
    }
    if (inside && from_between) return false;
    c->reaches[i] = !inside && (from_pattern || from_between);
    if (inside) ++next;
  }
  return true;
}

bool CheckNodes(Collector* c, const ge_offer& o) {
  if (!o.node || o.n_node == 0 || o.n_node > c->function->nodes.size()) {
    c->Reject(fmt::format("an offer names {} nodes; wanted 1 to {}", o.n_node,
                          c->function->nodes.size()));
    return false;
  }
  for (uint32_t k = 0; k < o.n_node; ++k) {
    if (o.node[k] >= c->function->nodes.size() || (k > 0 && o.node[k] <= o.node[k - 1])) {
      c->Reject(fmt::format("an offer's node index {} at place {} is out of range or not ascending",
                            o.node[k], k));
      return false;
    }
    if (!c->function->nodes[o.node[k]].callees.empty()) {
      c->Reject(fmt::format("an offer takes node '{}', which has bodies",
                            NodeLabel(c->function->nodes[o.node[k]])));
      return false;
    }
  }
  if (IsConvex(c, o)) return true;
  c->Reject(fmt::format("a pattern from node '{}' to node '{}' leaves out a node between them",
                        NodeLabel(c->function->nodes[o.node[0]]),
                        NodeLabel(c->function->nodes[o.node[o.n_node - 1]])));
  return false;
}

bool ReadChoices(Collector* c, const ge_offer& o, double marginal, Offer* out) {
  if (o.n_choice == 0) {
    OfferChoice plain;
    plain.marginal_ns = marginal;
    out->choices.push_back(std::move(plain));
    return true;
  }
  if (o.n_choice > kMaxChoices || !o.choice) {
    c->Reject(
        fmt::format("an offer has {} layout choices; wanted at most {}", o.n_choice, kMaxChoices));
    return false;
  }
  for (uint32_t k = 0; k < o.n_choice; ++k) {
    OfferChoice choice;
    choice.marginal_ns = static_cast<double>(o.choice[k].marginal_ns);
    for (uint32_t j = 0; j < o.choice[k].n; ++j) {
      const ge_value_layout& vl = o.choice[k].v[j];
      if (vl.value == 0 || vl.value >= c->function->values.size() ||
          vl.layout >= c->layouts->size()) {
        c->Reject(fmt::format("a layout choice names value {} and layout {}; there are {} and {}",
                              vl.value, vl.layout, c->function->values.size(), c->layouts->size()));
        return false;
      }
      choice.layouts.emplace_back(vl.value, vl.layout);
    }
    out->choices.push_back(std::move(choice));
  }
  return true;
}

// What the engine asked, beside the numbers that the host may correct.
void KeepAsked(Offer* o) {
  o->asked_overhead_ns = o->setup_ns + o->launch_ns;
  o->asked_saving_ns = o->edge_saving_ns;
  for (OfferChoice& c : o->choices) c.asked_ns = o->asked_overhead_ns + c.marginal_ns;
}

// An illegal offer is left out alone: the engine hears GE_OK and goes on, the user reads the
// diagnostic in ge explain. Only an engine that does not stop is stopped.
// False where they are not legal.
bool ReadFlags(Collector* c, const ge_offer& o, Offer* out) {
  out->convert = o.flags & GE_OFFER_CONVERT;
  out->growable = o.flags & GE_OFFER_GROWABLE;
  out->rounds = o.flags & GE_OFFER_ROUNDS;
  const bool legal = !out->rounds || c->engine->words().precision != GE_PRECISION_F32;
  if (!legal) c->Reject("an offer rounds its inputs, which this session does not permit");
  return legal;
}

// Takes what the offer costs as a whole. `marginal_ns` gets what is asked for each run,
// GE_UNKNOWN_NS where the engine does not know; false where the record may not be read, and then
// *rc says why.
bool ReadCost(Collector* c, const ge_offer& o, Offer* out, uint64_t* marginal_ns, ge_rc* rc) {
  ge_cost cost{};
  cost.marginal_ns = GE_UNKNOWN_NS;
  if (o.cost) {
    const std::optional<ge_cost> asked = Take(c, o.cost, "an offer's cost", rc);
    if (!asked) return false;
    cost = *asked;
  }
  out->setup_ns = static_cast<double>(cost.setup_ns);
  out->launch_ns = static_cast<double>(cost.launch_ns);
  out->shape_ns = static_cast<double>(cost.shape_ns);
  out->edge_saving_ns = static_cast<double>(o.edge_saving_ns);
  out->source = SourceName(cost.source);
  out->engine_measured = cost.source == GE_PRICE_MEASURED;
  out->confidence = std::min(cost.confidence, 1000u) / 1000.0;
  *marginal_ns = cost.marginal_ns;
  return true;
}

std::string LostText(const Engine& engine, uint32_t device) {
  const auto losses = engine.Losses();
  const auto at = losses.find(device);
  return fmt::format("device '{}' is lost: {}", engine.devices()[device].name,
                     at != losses.end() ? at->second : "");
}

// An offer of a device that gets no more work.
void DeclineLost(Collector* c, const ge_offer& o) {
  if (o.n_node != 1 || o.node == nullptr || o.node[0] >= c->function->nodes.size()) return;
  c->out->refusals.push_back(
      {c->engine_index, o.node[0], GE_WHY_RESOURCE, LostText(*c->engine, o.device)});
}

ge_rc TakeOffer(void* host, const ge_offer* given) {
  auto* c = static_cast<Collector*>(host);
  if (++c->accepted > kMaxOffersPerNode * (c->function->nodes.size() + 16)) {
    c->Reject(fmt::format("more than {} offers a node; the rest is ignored", kMaxOffersPerNode));
    return GE_OUT_OF_RANGE;
  }
  ge_rc rc = GE_OK;
  const std::optional<ge_offer> read = Take(c, given, "an offer", &rc);
  if (!read) return rc;
  const ge_offer& o = *read;
  Offer out;
  out.engine = c->engine_index;
  out.device = o.device;
  if (o.device >= c->engine->devices().size()) {
    c->Reject(fmt::format("an offer names device {} of {}", o.device, c->engine->devices().size()));
    return GE_OK;
  }
  if (c->engine->IsLost(o.device)) {
    DeclineLost(c, o);
    return GE_OK;
  }
  if (!ReadFlags(c, o, &out)) return GE_OK;
  out.cookie = o.cookie;
  out.const_align = o.const_align;
  if (out.const_align & (out.const_align - 1)) {
    c->Reject(fmt::format("const_align {} is not a power of two", out.const_align));
    return GE_OK;
  }
  uint64_t marginal_ns = 0;
  if (!ReadCost(c, o, &out, &marginal_ns, &rc)) return rc;
  if (out.convert) {
    out.convert_from = o.convert_from;
    out.convert_to = o.convert_to;
    out.convert_ns_per_byte = o.convert_ns_per_byte;
    if (std::max(o.convert_from, o.convert_to) >= c->layouts->size() ||
        !(o.convert_ns_per_byte >= 0)) {
      c->Reject(fmt::format("a conversion from layout {} to {} at {} ns a byte is not legal",
                            o.convert_from, o.convert_to, o.convert_ns_per_byte));
      return GE_OK;
    }
    c->out->offers.push_back(std::move(out));
    return GE_OK;
  }
  if (!CheckNodes(c, o)) return GE_OK;
  out.nodes.assign(o.node, o.node + o.n_node);
  double marginal = static_cast<double>(marginal_ns);
  if (marginal_ns == GE_UNKNOWN_NS) {
    marginal = HostEstimate(*c, out);
    out.source = "host";
  }
  if (!ReadChoices(c, o, marginal, &out)) return GE_OK;
  KeepAsked(&out);
  c->out->offers.push_back(std::move(out));
  return GE_OK;
}

ge_rc TakeDecline(void* host, const ge_decline* given) {
  auto* c = static_cast<Collector*>(host);
  ge_rc rc = GE_OK;
  const std::optional<ge_decline> read = Take(c, given, "a decline", &rc);
  if (!read) return rc;
  const ge_decline& d = *read;
  if (d.node >= c->function->nodes.size()) {
    c->Reject(fmt::format("a decline names node {} of {}", d.node, c->function->nodes.size()));
    return GE_OK;
  }
  if (c->out->refusals.size() > 8 * c->function->nodes.size() + 64) return GE_OK;  // kept no more
  std::string text = d.text.p ? std::string(d.text.p, std::min<uint64_t>(d.text.n, 200)) : "";
  c->out->refusals.push_back({c->engine_index, d.node, d.why, std::move(text)});
  return GE_OK;
}

ge_rc TakeLayout(void* host, const ge_layout* given, uint32_t* id) {
  auto* c = static_cast<Collector*>(host);
  ge_rc rc = GE_OK;
  const std::optional<ge_layout> read = Take(c, given, "a layout", &rc);
  if (!read || !id) return rc != GE_OK ? rc : ge_rc{GE_INVALID_ARGUMENT};
  const ge_layout& l = *read;
  if (l.n_perm > 16 || l.n_block > 16 || l.tag.n > 1024 || l.kind > GE_LAYOUT_OPAQUE) {
    c->Reject("a layout has more than 16 dims or blocks, a tag over 1,024 bytes or unknown kind");
    return GE_INVALID_ARGUMENT;
  }
  PlanLayout out = PlanLayoutOf(l);
  for (uint32_t i = 0; i < c->layouts->size(); ++i) {
    if ((*c->layouts)[i] == out) return *id = i, GE_OK;
  }
  if (c->layouts->size() >= kMaxLayouts) return GE_OUT_OF_RANGE;
  c->layouts->push_back(std::move(out));
  *id = static_cast<uint32_t>(c->layouts->size() - 1);
  return GE_OK;
}

}  // namespace

std::string_view WhyName(uint32_t why) {
  static constexpr std::string_view kNames[] = {
      "unstated", "op",     "version",  "dtype",    "shape",  "dynamic", "attribute",
      "layout",   "memory", "resource", "numerics", "driver", "policy",  "other"};
  return why < std::size(kNames) ? kNames[why] : "unstated";
}

uint64_t QueriesMade() { return g_queries.load(std::memory_order_relaxed); }

Status QueryEngine(const Engine& engine, uint32_t engine_index, const Graph& graph,
                   const Function& function, const ge_graph* view, std::vector<PlanLayout>* layouts,
                   OfferSet* out) {
  g_queries.fetch_add(1, std::memory_order_relaxed);
  if (layouts->empty()) layouts->emplace_back();  // 0 = plain
  if (engine.AllLost()) {                         // and may answer nothing any more
    for (uint32_t n = 0; n < function.nodes.size(); ++n) {
      out->refusals.push_back({engine_index, n, GE_WHY_RESOURCE, LostText(engine, 0)});
    }
    return {};
  }
  Collector collector{&engine, engine_index, &graph, &function, layouts, out, 0, {}, {}, {}};
  ge_sink sink{};
  sink.h = GE_HDR(ge_sink, GE_TAG_SINK);
  sink.host = &collector;
  sink.offer = &TakeOffer;
  sink.decline = &TakeDecline;
  sink.layout = &TakeLayout;
  ge_err err = EmptyError();
  std::lock_guard<std::mutex> lock(engine.call_mutex());
  const ge_rc rc = CallPlugin(CallText(engine, "query"), &err, [&] {
    return engine.api().query(engine.handle(), view, &sink, &err);
  });
  if (rc == GE_UNIMPLEMENTED && err.msg_len == 0 && !collector.not_understood.empty()) {
    return Status(Code::kPluginError, fmt::format("engine '{}' failed in query: {}", engine.name(),
                                                  collector.not_understood));
  }
  if (rc != GE_OK) return FromEngine(engine, 0, "query", rc, err);
  return {};
}

}  // namespace ge
