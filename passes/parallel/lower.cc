#include "passes/parallel/lower.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/kit/new_function.h"
#include "passes/kit/refusal.h"
#include "passes/parallel/box_content.h"
#include "passes/parallel/collectives.h"
#include "passes/parallel/layout.h"
#include "passes/parallel/rules.h"
#include "passes/parallel/wants.h"

namespace ge::parallel {
namespace {

using passes::Attrs;
using passes::Fn;
using passes::Type;
using passes::Val;

// Sums of many small tensors go as one message; from here on a message of its own costs nothing
// more, and what is sent early is hidden by what is calculated meanwhile.
constexpr uint64_t kTogether = 1 << 20;

class Lowering {
 public:
  Lowering(const ge_graph* graph, const std::vector<std::string>& names, const Plan& plan,
           const Rank& rank, Fn& to)
      : g_(graph), names_(names), plan_(plan), r_(rank), to_(to) {}
  void Run();

 private:
  using Spot = std::pair<uint32_t, Places>;  // a value somewhere
  struct Sum {
    uint32_t value;
    const Step* step;
    uint64_t bytes;
  };
  using Group = std::pair<std::vector<uint32_t>, int>;  // axes, kind of terms

  std::vector<Part> BoxOf(uint32_t value, const Places& places) const {
    const std::vector<int64_t> dims = DimsOf(g_, value);
    return parallel::BoxOf(r_.mesh, LayoutOf(places, dims.size()), dims, r_.rank);
  }
  std::vector<int64_t> SizesOf(uint32_t value, const Places& places) const {
    std::vector<int64_t> sizes;
    for (const Part& part : BoxOf(value, places)) sizes.push_back(part.size);
    return sizes;
  }
  bool IsConstant(uint32_t value) const {
    return (GE_VALUE(g_, value)->flags & GE_VALUE_CONSTANT) != 0;
  }
  Along With(const Step& step) { return {r_.mesh, step.axes, r_.rank, sequence_++}; }
  std::vector<uint32_t> InOrder() const;
  void AddParams();
  void AddResults();
  bool Waits(const ge_node& n, const PlannedNode& planned);
  bool Comes(uint32_t value, const Places& places);
  void Place(uint32_t i, std::vector<uint32_t>* later);
  void PutShape(const ge_node& n);
  void Put(uint32_t node, const PlannedNode& planned);
  void WantBox(const ge_node& n, uint32_t k, const Places& places, Val made) const;
  Val Input(uint32_t value, const PlannedNode& planned, uint32_t i);
  Val Take(uint32_t value, const Places& places);
  void Have(uint32_t value, const Places& places, Val val);
  void Begin(uint32_t value, const Step& step);
  Val Sliced(uint32_t value, const Step& step);
  Val Moved(uint32_t value, const Step& step);
  void AddUp(Group group);
  bool IsJoined(const Group& group, const std::vector<uint32_t>& later);
  void AddUpFor(const std::vector<uint32_t>& later);
  const Step* StepInto(uint32_t value, const Places& places) const;
  bool GoesOn(uint32_t value, const Places& places) const;
  Val Cut(Val whole, uint32_t value, const Places& places);
  Val CutOf(uint32_t constant, const Places& places);

  const ge_graph* g_;
  const std::vector<std::string>& names_;
  const Plan& plan_;
  const Rank r_;
  Fn& to_;
  std::map<Spot, Val> at_;
  std::map<Spot, Val> coming_;                    // of collectives of this round
  std::map<Group, std::vector<Sum>> sums_;        // terms made, to be summed
  std::map<uint32_t, uint32_t> node_;             // by id of the graph's, the new one's
  std::set<uint32_t> waiting_;                    // ids of nodes that come in a later round
  std::set<std::pair<uint32_t, uint32_t>> held_;  // objects of their effects
  uint32_t sequence_ = 0;                         // of the next collective
};

std::string TextOfDims(const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t d : dims) text += (text.empty() ? "" : ",") + std::to_string(d);
  return "[" + text + "]";
}

int KindOf(const Places& places) {
  const auto found = std::find_if(places.begin(), places.end(), IsTerm);
  return found == places.end() ? kTerm : *found;
}

Reduction ReductionOf(const Places& places) {
  const int kind = KindOf(places);
  return kind == kMaxTerm ? Reduction::kMax : kind == kMinTerm ? Reduction::kMin : Reduction::kSum;
}

void Lowering::AddParams() {
  for (uint32_t i = 0; i < g_->n_in; ++i) {
    const uint32_t value = g_->in[i];
    const ge_value& v = *GE_VALUE(g_, value);
    const Places& made = plan_.made[value];
    const Places whole(made.size(), kWhole);
    Type type;
    type.dtype = v.type.dtype;
    type.rank = v.type.rank;
    for (const int64_t size : SizesOf(value, r_.whole_inputs ? whole : made)) {
      ge_dim dim{};
      dim.value = dim.min = dim.max = size;
      type.dims.push_back(dim);
    }
    Val given = to_.Param(plugin::View(v.name), type);
    if (r_.whole_inputs && made != whole) given = Cut(given, value, made);
    Have(value, made, given);
  }
}

void Lowering::AddResults() {
  std::vector<uint32_t> ids;
  std::vector<ge_str> names;
  const Places whole(r_.mesh.axes().size(), kWhole);
  for (uint32_t i = 0; i < g_->n_out; ++i) {
    // A result of its own, as the pass that made the step gave it.
    ids.push_back(to_.Op("Identity", {Take(g_->out[i], whole)}).id);
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
  Have(n.out[0], Places(r_.mesh.axes().size(), kWhole), made);
}

void Lowering::Put(uint32_t node, const PlannedNode& planned) {
  const ge_node& n = *GE_NODE(g_, node);
  std::vector<uint32_t> in, after;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    in.push_back(planned.ReadsShape(i) ? to_.Ints(SizesOf(n.out[0], planned.Out(0))).id
                                       : Input(n.in[i], planned, i).id);
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
    if (n.out[k] == 0) continue;
    WantBox(n, k, planned.Out(k), to_.At(out[k]));
    Have(n.out[k], planned.Out(k), to_.At(out[k]));
  }
}

// What the plugin of an operator states may be wrong; then parts of other sizes come of it.
void Lowering::WantBox(const ge_node& n, uint32_t k, const Places& places, Val made) const {
  const std::string_view domain = plugin::View(n.domain);
  if (domain.empty() || domain == "ge" || LayoutOf(places, DimsOf(g_, n.out[k]).size()).whole()) {
    return;
  }
  const Type type = to_.TypeOf(made);
  const std::vector<int64_t> sizes = SizesOf(n.out[k], places);
  std::vector<int64_t> found;
  for (const ge_dim& d : type.dims) found.push_back(d.value);
  if (type.known() && found == sizes) return;
  throw passes::Refusal{GE_INTERNAL, NodeText(n) +
                                         ": its function shard states a way that is wrong: of a " +
                                         "rank's parts output " + std::to_string(k) + " is " +
                                         TextOfDims(found) + ", wanted " + TextOfDims(sizes)};
}

Val Lowering::Input(uint32_t value, const PlannedNode& planned, uint32_t i) {
  const Val x = Take(value, planned.In(i));
  for (uint32_t axis = 0; axis < r_.mesh.axes().size(); ++axis) {
    if (planned.Keeps(i, axis) && r_.mesh.Coordinate(r_.rank, axis) != 0) return to_.Zeros(x);
  }
  return x;
}

const Step* Lowering::StepInto(uint32_t value, const Places& places) const {
  for (const Step& step : plan_.moves[value]) {
    if (step.to == places) return &step;
  }
  return nullptr;
}

// The value is there: collectives that move it on begin at once.
void Lowering::Have(uint32_t value, const Places& places, Val val) {
  at_[{value, places}] = val;
  for (const Step& step : plan_.moves[value]) {
    if (step.from == places) Begin(value, step);
  }
}

// Whether a collective moves it on from there, maybe behind slices.
bool Lowering::GoesOn(uint32_t value, const Places& places) const {
  return std::any_of(plan_.moves[value].begin(), plan_.moves[value].end(), [&](const Step& step) {
    return step.from == places && (step.kind != StepKind::kSlice || GoesOn(value, step.to));
  });
}

void Lowering::Begin(uint32_t value, const Step& step) {
  if (at_.count({value, step.to}) != 0) return;
  if (step.kind == StepKind::kSlice) {  // else it is taken when it is read
    if (GoesOn(value, step.to)) Have(value, step.to, Sliced(value, step));
    return;
  }
  if (step.kind != StepKind::kAllReduce) {
    coming_[{value, step.to}] = Moved(value, step);
    return;
  }
  uint64_t bytes = GE_VALUE(g_, value)->type.bits / 8;
  for (const int64_t size : SizesOf(value, step.from)) bytes *= static_cast<uint64_t>(size);
  const Group group = {step.axes, KindOf(step.from)};
  std::vector<Sum>& sums = sums_[group];
  sums.push_back({value, &step, bytes});
  uint64_t all = 0;
  for (const Sum& sum : sums) all += sum.bytes;
  if (all >= kTogether) AddUp(group);
}

// By one collective.
void Lowering::AddUp(Group group) {
  const std::vector<Sum> sums = std::move(sums_[group]);
  sums_.erase(group);
  std::vector<Val> terms;
  for (const Sum& sum : sums) terms.push_back(at_.at({sum.value, sum.step->from}));
  const Step& step = *sums[0].step;
  const std::vector<Val> all = AllReduce(to_, terms, ReductionOf(step.from), With(step));
  for (size_t i = 0; i < sums.size(); ++i) coming_[{sums[i].value, sums[i].step->to}] = all[i];
}

Val Lowering::Moved(uint32_t value, const Step& step) {
  const Val x = at_.at({value, step.from});
  if (step.kind == StepKind::kReduceScatter) {
    return ReduceScatter(to_, x, step.split_dim, ReductionOf(step.from), With(step));
  }
  const int64_t size = SizesOf(value, step.to)[static_cast<size_t>(step.gather_dim)];
  return step.kind == StepKind::kAllGather
             ? AllGather(to_, x, step.gather_dim, size, With(step))
             : AllToAll(to_, x, step.gather_dim, size, step.split_dim, With(step));
}

Val Lowering::Sliced(uint32_t value, const Step& step) {
  const auto dim = static_cast<size_t>(step.split_dim);
  const Part from = BoxOf(value, step.from)[dim], to = BoxOf(value, step.to)[dim];
  const int64_t first = to.size == 0 ? 0 : to.first - from.first;
  return passes::Slice(Take(value, step.from), {first}, {first + to.size}, {step.split_dim});
}

Val Lowering::Take(uint32_t value, const Places& places) {
  if (value == 0) return {};
  if (const auto found = at_.find({value, places}); found != at_.end()) return found->second;
  if (IsConstant(value)) return at_[{value, places}] = CutOf(value, places);
  return at_[{value, places}] = Sliced(value, *StepInto(value, places));
}

// This rank's box of a tensor that it has whole.
Val Lowering::Cut(Val whole, uint32_t value, const Places& places) {
  std::vector<int64_t> starts, ends, axes;
  for (const Part& part : BoxOf(value, places)) {
    axes.push_back(static_cast<int64_t>(axes.size()));
    starts.push_back(part.first);
    ends.push_back(part.first + part.size);
  }
  return passes::Slice(whole, starts, ends, axes);
}

// Every rank can read all of it, and keeps its box alone.
Val Lowering::CutOf(uint32_t constant, const Places& places) {
  const ge_value& v = *GE_VALUE(g_, constant);
  const Places whole(places.size(), kWhole);
  if (places == whole) return to_.Constant(v.type, v.data, v.data_bytes);
  if (v.data == nullptr || v.type.bits % 8 != 0)
    return Cut(Take(constant, whole), constant, places);
  const BoxContent box(static_cast<const char*>(v.data), v.type.bits / 8, DimsOf(g_, constant),
                       BoxOf(constant, places));
  const std::vector<int64_t> sizes = SizesOf(constant, places);
  ge_type type = v.type;
  type.dims = sizes.data();
  const Val made = to_.Constant(type, box.data, box.size);
  const ge_host_api& api = *to_.edit()->api;
  if (box.copied() && api.const_done != nullptr) api.const_done(api.host, v.data, v.data_bytes);
  return made;
}

// Whether the value is there, maybe but for slices.
bool Lowering::Comes(uint32_t value, const Places& places) {
  if (value == 0 || IsConstant(value) || at_.count({value, places}) != 0) return true;
  const Step* step = StepInto(value, places);
  return step != nullptr && step->kind == StepKind::kSlice && Comes(value, step->from);
}

// Whether a node reads what is still under way, or what such a node makes, or comes behind it.
bool Lowering::Waits(const ge_node& n, const PlannedNode& planned) {
  for (uint32_t i = 0; i < n.n_in; ++i) {
    if (!planned.Reads(i) || planned.ReadsShape(i)) continue;
    if (!Comes(n.in[i], planned.In(i))) return true;
  }
  for (uint32_t i = 0; i < n.n_effect; ++i) {
    if (held_.count({n.effect[i].kind, n.effect[i].object}) != 0) return true;
  }
  return std::any_of(n.after, n.after + n.n_after,
                     [&](uint32_t id) { return waiting_.count(id) != 0; });
}

// Nodes as they stand, but states that are gathered are read first, in the order of their use: so
// all of that is under way when the step begins.
std::vector<uint32_t> Lowering::InOrder() const {
  std::vector<uint32_t> first, rest;
  std::vector<uint32_t> maker(g_->n_value, UINT32_MAX);
  std::set<uint32_t> written;
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    const uint32_t state = StateOf(n);
    if (state != 0 && n.n_out == 0) written.insert(state);
    if (state == 0 || n.n_out != 1 || n.n_after > 0 || written.count(state) != 0) continue;
    if (plan_.moves[n.out[0]].empty()) continue;
    maker[n.out[0]] = i;
  }
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    for (uint32_t k = 0; k < n.n_in; ++k) {
      const uint32_t read = maker[n.in[k]];
      if (read == UINT32_MAX) continue;
      first.push_back(read);
      maker[n.in[k]] = UINT32_MAX;
    }
  }
  const std::set<uint32_t> moved(first.begin(), first.end());
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    if (moved.count(i) == 0) rest.push_back(i);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

void Lowering::Place(uint32_t i, std::vector<uint32_t>* later) {
  const ge_node& n = *GE_NODE(g_, i);
  const PlannedNode& planned = plan_.node[i];
  if (Waits(n, planned)) {
    later->push_back(i);
    waiting_.insert(n.id);
    for (uint32_t k = 0; k < n.n_effect; ++k) held_.insert({n.effect[k].kind, n.effect[k].object});
  } else if (planned.of_shape) {
    PutShape(n);
  } else {
    Put(i, planned);
  }
}

// Whether a node that waits for other things will add to the group's sums.
bool Lowering::IsJoined(const Group& group, const std::vector<uint32_t>& later) {
  std::set<uint32_t> behind;  // values that come of the group's
  for (const Sum& sum : sums_.at(group)) behind.insert(sum.value);
  for (const uint32_t i : later) {
    const ge_node& n = *GE_NODE(g_, i);
    const PlannedNode& planned = plan_.node[i];
    bool follows = false;
    for (uint32_t k = 0; k < n.n_in; ++k) {
      follows = follows || (behind.count(n.in[k]) != 0 && planned.Reads(k) &&
                            !planned.ReadsShape(k) && !Comes(n.in[k], planned.In(k)));
    }
    for (uint32_t k = 0; k < n.n_out; ++k) {
      if (follows) behind.insert(n.out[k]);
      for (const Step& step : plan_.moves[n.out[k]]) {
        const bool sums = step.kind == StepKind::kAllReduce;
        if (!follows && sums && Group{step.axes, KindOf(step.from)} == group) return true;
      }
    }
  }
  return false;
}

// The group that nothing joins any more; where there are several, or none, that which the first of
// the waiting nodes reads.
void Lowering::AddUpFor(const std::vector<uint32_t>& later) {
  std::vector<Group> wanted, ready;
  for (const uint32_t i : later) {
    const ge_node& n = *GE_NODE(g_, i);
    for (const auto& [group, sums] : sums_) {
      for (const Sum& sum : sums) {
        const bool reads = std::count(n.in, n.in + n.n_in, sum.value) != 0;
        const bool news = std::find(wanted.begin(), wanted.end(), group) == wanted.end();
        if (reads && news) wanted.push_back(group);
      }
    }
  }
  for (const Group& group : wanted) {
    if (!IsJoined(group, later)) ready.push_back(group);
  }
  if (ready.empty()) ready = wanted;
  if (!ready.empty()) return AddUp(ready[0]);
  while (!sums_.empty()) AddUp(sums_.begin()->first);
}

// In rounds: first what needs no other rank, while collectives begin as soon as they can; then what
// needed those, and so on. So nothing waits for a collective that could be done meanwhile.
void Lowering::Run() {
  AddParams();
  std::vector<uint32_t> left = InOrder();
  while (!left.empty() || !sums_.empty() || !coming_.empty()) {
    std::vector<uint32_t> later;
    waiting_.clear();
    held_.clear();
    for (const uint32_t i : left) Place(i, &later);
    if (later.size() == left.size() && sums_.empty() && coming_.empty()) {
      throw passes::Refusal{GE_INTERNAL, "the plan of a rank's step moves nothing to '" +
                                             names_[left[0]] + "', which waits for a value"};
    }
    left = std::move(later);
    if (coming_.empty()) AddUpFor(left);
    const std::map<Spot, Val> come = std::move(coming_);
    coming_.clear();
    for (const auto& [spot, val] : come) Have(spot.first, spot.second, val);
  }
  AddResults();
}

}  // namespace

void Lower(const ge_graph* graph, const std::vector<std::string>& names, const Plan& plan,
           const Rank& rank, Fn& to) {
  Lowering(graph, names, plan, rank, to).Run();
}

}  // namespace ge::parallel
