#include "passes/parallel/lower.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/kit/new_function.h"
#include "passes/parallel/collectives.h"
#include "passes/parallel/layout.h"
#include "passes/parallel/rules.h"

namespace ge::parallel {
namespace {

using passes::Attrs;
using passes::Fn;
using passes::Type;
using passes::Val;

class Lowering {
 public:
  Lowering(const ge_graph* graph, const std::vector<std::string>& names, const Plan& plan,
           const Rank& rank, Fn& to)
      : g_(graph), names_(names), plan_(plan), r_(rank), to_(to) {}
  void Run();

 private:
  Layout LayoutOf(uint32_t value, int place) const;
  std::vector<Part> BoxOf(uint32_t value, int place) const {
    return parallel::BoxOf(r_.mesh, LayoutOf(value, place), DimsOf(g_, value), r_.rank);
  }
  std::vector<int64_t> SizesOf(uint32_t value, int place) const {
    return LocalDims(r_.mesh, LayoutOf(value, place), DimsOf(g_, value), r_.rank);
  }
  void AddParams();
  void AddResults();
  bool Waits(const ge_node& n, const Way& way) const;
  void PutShape(const ge_node& n);
  void Put(uint32_t node, const Way& way);
  Val Take(uint32_t value, int place);
  Val Gathered(uint32_t value);
  Val Sliced(uint32_t value, int place);
  void SumReady();
  Val Made(uint32_t value) { return at_.at({value, plan_.made[value]}); }

  const ge_graph* g_;
  const std::vector<std::string>& names_;
  const Plan& plan_;
  const Rank r_;
  Fn& to_;
  std::map<std::pair<uint32_t, int>, Val> at_;    // by value and place
  std::vector<uint32_t> ready_;                   // terms made, to be summed
  std::map<uint32_t, uint32_t> node_;             // by id of the graph's, the new one's
  std::set<uint32_t> waiting_;                    // ids of nodes that come behind the next sum
  std::set<std::pair<uint32_t, uint32_t>> held_;  // objects of their effects
  uint32_t sequence_ = 0;                         // of the next collective
};

Layout Lowering::LayoutOf(uint32_t value, int place) const {
  Layout layout = Layout::Whole(DimsOf(g_, value).size());
  if (place >= 0) layout.dims[static_cast<size_t>(place)].push_back(r_.axis);
  if (place == kTerm) layout.terms.push_back(r_.axis);
  return layout;
}

void Lowering::AddParams() {
  for (uint32_t i = 0; i < g_->n_in; ++i) {
    const uint32_t value = g_->in[i];
    const ge_value& v = *GE_VALUE(g_, value);
    Type type;
    type.dtype = v.type.dtype;
    type.rank = v.type.rank;
    for (const int64_t size : SizesOf(value, plan_.made[value])) {
      ge_dim dim{};
      dim.value = dim.min = dim.max = size;
      type.dims.push_back(dim);
    }
    at_[{value, plan_.made[value]}] = to_.Param(plugin::View(v.name), type);
  }
}

void Lowering::AddResults() {
  std::vector<uint32_t> ids;
  std::vector<ge_str> names;
  for (uint32_t i = 0; i < g_->n_out; ++i) {
    // A result of its own, as the pass that made the step gave it.
    ids.push_back(to_.Op("Identity", {Take(g_->out[i], kWhole)}).id);
    names.push_back(GE_VALUE(g_, g_->out[i])->name);
  }
  const ge_edit* e = to_.edit();
  e->results(e->host, to_.id(), ids.data(), names.data(), static_cast<uint32_t>(ids.size()));
}

// Shape and Size of the whole tensor, which every rank knows.
void Lowering::PutShape(const ge_node& n) {
  const std::vector<int64_t> dims = DimsOf(g_, n.in[0]);
  Val made;
  if (plugin::View(n.op) == "Size") {
    int64_t count = 1;
    for (const int64_t d : dims) count *= d;
    made = to_.Scalar(GE_I64, static_cast<double>(count));
  } else {
    const auto rank = static_cast<int64_t>(dims.size());
    const auto bound = [&](const char* name, int64_t otherwise) {
      const ge_attr* a = ge_find_attr(&n, name);
      const int64_t at = a == nullptr ? otherwise : a->i < 0 ? a->i + rank : a->i;
      return std::clamp<int64_t>(at, 0, rank);
    };
    const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
    made = to_.Ints({dims.begin() + start, dims.begin() + end});
  }
  at_[{n.out[0], kWhole}] = made;
}

void Lowering::Put(uint32_t node, const Way& way) {
  const ge_node& n = *GE_NODE(g_, node);
  std::vector<uint32_t> in, after;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    in.push_back(way.in[i] == kShape ? to_.Ints(SizesOf(n.out[0], way.out[0])).id
                                     : Take(n.in[i], way.in[i]).id);
  }
  for (uint32_t i = 0; i < n.n_after; ++i) {
    if (node_.count(n.after[i]) != 0) after.push_back(node_.at(n.after[i]));
  }
  const Attrs attrs = passes::AttrsOf(n);
  const std::vector<ge_attr> abi = attrs.Abi();
  ge_links links{};
  links.h = GE_HDR(ge_links, GE_TAG_LINKS);
  links.body = n.body;
  links.body_role = n.body_role;
  links.n_body = n.n_body;
  links.effect = n.effect;
  links.n_effect = n.n_effect;
  links.after = after.data();
  links.n_after = static_cast<uint32_t>(after.size());
  ge_new_node made{};
  made.h = GE_HDR(ge_new_node, GE_TAG_NEW_NODE);
  if (n.n_body > 0 || n.n_effect > 0 || !after.empty()) made.h.next = &links.h;
  made.domain = n.domain;
  made.op = n.op;
  made.name = plugin::Str(names_[node]);
  made.in = in.data();
  made.n_in = n.n_in;
  made.attr = abi.data();
  made.n_attr = static_cast<uint32_t>(abi.size());
  made.n_out = n.n_out == 0 ? GE_NO_OUTPUT : n.n_out;
  std::vector<uint32_t> out(std::max(1u, n.n_out));
  uint32_t id = 0;
  const ge_edit* e = to_.edit();
  e->node(e->host, to_.id(), 0, &made, &id, out.data());
  node_[n.id] = id;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    at_[{n.out[k], way.out[k]}] = to_.At(out[k]);
    if (way.out[k] == kTerm && plan_.summed.count(n.out[k]) != 0) ready_.push_back(n.out[k]);
  }
}

Val Lowering::Take(uint32_t value, int place) {
  if (value == 0 || place == kUnread) return {};
  if (const auto found = at_.find({value, place}); found != at_.end()) return found->second;
  const ge_value& v = *GE_VALUE(g_, value);
  const bool constant = (v.flags & GE_VALUE_CONSTANT) != 0;
  if (place >= 0) return at_[{value, place}] = Sliced(value, place);
  if (constant) return at_[{value, kWhole}] = to_.Constant(v.type, v.data, v.data_bytes);
  if (plan_.made[value] == kTerm) {
    SumReady();
    return at_.at({value, kWhole});
  }
  return at_[{value, kWhole}] = Gathered(value);
}

// All terms there are so far, by one collective.
void Lowering::SumReady() {
  std::vector<Val> terms;
  for (const uint32_t value : ready_) terms.push_back(Made(value));
  const std::vector<Val> sums =
      AllReduce(to_, terms, Reduction::kSum, {r_.mesh, {r_.axis}, r_.rank, sequence_++});
  for (size_t i = 0; i < ready_.size(); ++i) at_[{ready_[i], kWhole}] = sums[i];
  ready_.clear();
}

Val Lowering::Gathered(uint32_t value) {
  const int dim = plan_.made[value];
  return AllGather(to_, Made(value), dim, DimsOf(g_, value)[static_cast<size_t>(dim)],
                   {r_.mesh, {r_.axis}, r_.rank, sequence_++});
}

Val Lowering::Sliced(uint32_t value, int place) {
  const Val whole = Take(value, kWhole);
  const Part part = BoxOf(value, place)[static_cast<size_t>(place)];
  return passes::Slice(whole, {part.first}, {part.first + part.size}, {place});
}

// Whether a node reads a term that is not summed yet, or what such a node makes, or comes behind
// it.
bool Lowering::Waits(const ge_node& n, const Way& way) const {
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const uint32_t v = n.in[i];
    const int place = way.in[i];
    if (v == 0 || place == kUnread || place == kShape) continue;
    if ((GE_VALUE(g_, v)->flags & GE_VALUE_CONSTANT) != 0) continue;
    const int made = plan_.made[v];
    if (at_.count({v, made == kTerm && place != kTerm ? kWhole : made}) == 0) return true;
  }
  for (uint32_t i = 0; i < n.n_effect; ++i) {
    if (held_.count({n.effect[i].kind, n.effect[i].object}) != 0) return true;
  }
  return std::any_of(n.after, n.after + n.n_after,
                     [&](uint32_t id) { return waiting_.count(id) != 0; });
}

// What needs no other rank comes first, then all sums at once, then what needed them.
void Lowering::Run() {
  AddParams();
  std::vector<uint32_t> left(g_->n_node);
  std::iota(left.begin(), left.end(), 0u);
  while (!left.empty()) {
    std::vector<uint32_t> later;
    waiting_.clear();
    held_.clear();
    for (const uint32_t i : left) {
      const ge_node& n = *GE_NODE(g_, i);
      const PlannedNode& planned = plan_.node[i];
      if (Waits(n, planned.way)) {
        later.push_back(i);
        waiting_.insert(n.id);
        for (uint32_t k = 0; k < n.n_effect; ++k) {
          held_.insert({n.effect[k].kind, n.effect[k].object});
        }
      } else if (planned.of_shape) {
        PutShape(n);
      } else {
        Put(i, planned.way);
      }
    }
    if (!later.empty()) SumReady();
    left = std::move(later);
  }
  AddResults();
}

}  // namespace

void Lower(const ge_graph* graph, const std::vector<std::string>& names, const Plan& plan,
           const Rank& rank, Fn& to) {
  Lowering(graph, names, plan, rank, to).Run();
}

}  // namespace ge::parallel
