#include "passes/parallel/entries.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "passes/kit/copy_nodes.h"
#include "passes/kit/refusal.h"
#include "passes/parallel/box_content.h"
#include "passes/parallel/collectives.h"

namespace ge::parallel {
namespace {

using nlohmann::json;
using passes::Fn;
using passes::Refusal;
using passes::Val;

uint32_t NewFunction(const ge_edit* e, const std::string& name) {
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = plugin::Str(name);
  uint32_t id = 0;
  e->function(e->host, &f, &id);
  return id;
}

json JsonOf(const std::vector<int64_t>& dims, const std::vector<Part>& box) {
  json parts = json::array();
  for (const Part& p : box) parts.push_back({p.first, p.size});
  return {{"dims", dims}, {"box", std::move(parts)}};
}

std::vector<int64_t> WholeDims(const ge_type& type) { return {type.dims, type.dims + type.rank}; }

}  // namespace

bool RankEntries::Uses(const ge_function& f) const {
  for (uint32_t i = 0; i < f.n_effect; ++i) {
    if (f.effect[i].kind == GE_EFFECT_STATE && shared_.count(f.effect[i].object) != 0) return true;
  }
  return false;
}

void RankEntries::Share(const std::map<uint32_t, Layout>& states, const std::string& step) {
  const ge_model* m = e_->model(e_->host);
  for (const auto& [state, layout] : states) {
    const ge_state& s = *GE_STATE(m, state);
    if (layout.whole()) continue;
    shared_[state] = {{WholeDims(s.type), layout}, std::string(plugin::View(s.name)), s.kind};
  }
  if (shared_.empty()) return;
  for (uint32_t i = 0; i < m->n_entry; ++i) {
    const ge_entry& entry = *GE_ENTRY(m, i);
    const std::string name(plugin::View(entry.name));
    if (!Uses(*GE_FUNCTION(m, entry.fn))) continue;
    WantPlainUses(name, entry.fn, name == step);
    if (name != step) readers_[name] = entry.fn;
  }
  for (const auto& [state, shared] : shared_) Replace(state, *GE_STATE(m, state), shared);
}

void RankEntries::WantPlainUses(const std::string& entry, uint32_t fn, bool writes) const {
  const ge_graph* g = e_->graph(e_->host, fn);
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of an entry"};
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    for (uint32_t k = 0; k < n.n_effect; ++k) {
      const auto found = shared_.find(n.effect[k].object);
      if (n.effect[k].kind != GE_EFFECT_STATE || found == shared_.end()) continue;
      const bool ours = ge_is(n.domain, "ge") && n.n_effect == 1;
      if (ours && ge_is(n.op, "Read")) continue;
      if (ours && ge_is(n.op, "Assign") && writes) continue;
      const std::string what = "entry '" + entry + "' uses state '" + found->second.name +
                               "', of which each rank has a share, by " +
                               std::string(plugin::View(n.op)) + "; ";
      throw Refusal{
          GE_UNIMPLEMENTED,
          what + (writes ? "on many ranks such states are read and assigned alone: keep "
                           "states whole"
                         : "on many ranks train_step alone writes such states: leave the "
                           "entry out (init=1 and update=1 of the pass train add one), or "
                           "keep states whole")};
    }
  }
}

// A function whose result is the box of what init_fn makes.
uint32_t RankEntries::FirstOf(uint32_t init_fn, const std::vector<Part>& box, uint32_t state) {
  const ge_graph* g = e_->graph(e_->host, init_fn);
  if (g == nullptr || g->n_out != 1 || g->n_in != 0) {
    throw Refusal{GE_UNIMPLEMENTED, "state '" + shared_.at(state).name +
                                        "' begins with what a function makes, wanted one without "
                                        "parameters and with one result"};
  }
  Fn fn(e_, NewFunction(e_, "parallel.first." + std::to_string(state)));
  passes::CopyNodes copy(g, fn);
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (const std::string who = passes::DrawsAnew(e_, n); !who.empty()) {
      throw Refusal{GE_UNIMPLEMENTED, who + " draws the first content of state '" +
                                          shared_.at(state).name +
                                          "' without a seed, which ranks cannot agree on"};
    }
    copy.Put(n);
  }
  std::vector<int64_t> first, end, axes;
  for (const Part& p : box) {
    axes.push_back(static_cast<int64_t>(first.size()));
    first.push_back(p.first);
    end.push_back(p.first + p.size);
  }
  const uint32_t result = passes::Slice(copy.Get(g->out[0]), first, end, axes).id;
  const ge_str name = GE_VALUE(g, g->out[0])->name;
  e_->results(e_->host, fn.id(), &result, &name, 1);
  return fn.id();
}

void RankEntries::Replace(uint32_t state, ge_state s, const Shared& shared) {
  const std::vector<Part> box = BoxOf(shared.placed);
  std::vector<int64_t> local;
  for (const Part& p : box) local.push_back(p.size);
  std::optional<BoxContent> content;
  if (s.init_fn != 0) {
    s.init_fn = FirstOf(s.init_fn, box, state);
  } else if (s.data != nullptr) {
    if (s.type.bits % 8 != 0) {
      throw Refusal{GE_UNIMPLEMENTED,
                    "state '" + shared.name + "' has elements of less than a byte; keep it whole"};
    }
    content.emplace(static_cast<const char*>(s.data), s.type.bits / 8, shared.placed.dims, box);
    // Its pages in the file were read for the copy, and are read no more.
    if (content->copied() && e_->api->const_done != nullptr) {
      e_->api->const_done(e_->api->host, s.data, s.data_bytes);
    }
    s.data = content->data;
    s.data_bytes = content->size;
  }
  s.type.dims = local.data();
  e_->replace_state(e_->host, state, &s);
}

// A read of a state ahead of the node `before` (0 = at the end), and its boxes from all ranks.
Val RankEntries::Gathered(Fn& fn, uint32_t state, uint32_t before, uint32_t* sequence) const {
  const Placed& placed = shared_.at(state).placed;
  fn.PutBefore(before);
  Val whole = fn.At(ge_edit_state(e_, fn.id(), before, state, 0));
  for (size_t d = 0; d < placed.dims.size(); ++d) {
    const std::vector<uint32_t>& axes = placed.layout.dims[d];
    if (axes.empty()) continue;
    whole = AllGather(fn, whole, static_cast<int64_t>(d), placed.dims[d],
                      {mesh_, axes, rank_, (*sequence)++});
  }
  return whole;
}

void RankEntries::GatherIn(const std::string& entry, uint32_t of) {
  uint32_t id = 0;
  e_->copy(e_->host, of, plugin::Str("parallel." + entry), &id);
  Fn fn(e_, id);
  const ge_graph* g = fn.Picture();
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of an entry"};
  uint32_t sequence = 0;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (n.n_effect == 0 || n.effect[0].kind != GE_EFFECT_STATE) continue;
    const auto found = shared_.find(n.effect[0].object);
    if (found == shared_.end()) continue;
    const Val whole = Gathered(fn, found->first, n.id, &sequence);
    e_->replace_uses(e_->host, id, n.out[0], whole.id);
    e_->erase(e_->host, id, n.id);
  }
  e_->replace_entry(e_->host, plugin::Str(entry), id);
}

void RankEntries::GatherInOthers() {
  for (const auto& [entry, fn] : readers_) GatherIn(entry, fn);
}

void RankEntries::AddWhole() {
  Fn fn(e_, NewFunction(e_, "parallel.whole_states"));
  std::vector<uint32_t> results;
  std::vector<ge_str> names;
  uint32_t sequence = 0;
  for (const auto& [state, shared] : shared_) {
    if (shared.kind == GE_STATE_OPT) continue;
    results.push_back(Gathered(fn, state, 0, &sequence).id);
    names.push_back(plugin::Str(shared.name));
  }
  if (results.empty()) return;
  e_->results(e_->host, fn.id(), results.data(), names.data(),
              static_cast<uint32_t>(results.size()));
  e_->entry(e_->host, ge_text("whole"), fn.id(), GE_ROLE_INFER);
}

void RankEntries::AddAgree() {
  Fn fn(e_, NewFunction(e_, "parallel.agree"));
  passes::Type type;
  type.dtype = GE_F64;
  type.rank = 1;
  ge_dim many{};
  many.value = -1;
  many.name = ge_text("k");
  type.dims.push_back(many);
  const Val values = fn.Param("values", type);
  std::vector<uint32_t> all;
  for (uint32_t axis = 0; axis < mesh_.axes().size(); ++axis) all.push_back(axis);
  const uint32_t results[] = {
      AllReduce(fn, {values}, Reduction::kSum, {mesh_, all, rank_, 0})[0].id,
      AllReduce(fn, {values}, Reduction::kMin, {mesh_, all, rank_, 1})[0].id};
  const ge_str names[] = {ge_text("sum"), ge_text("least")};
  e_->results(e_->host, fn.id(), results, names, 2);
  e_->entry(e_->host, ge_text("agree"), fn.id(), GE_ROLE_INFER);
}

// The first of the ranks that have the same box as this one.
int64_t RankEntries::HolderOf(const Layout& layout) const {
  std::vector<bool> splits(mesh_.axes().size(), false);
  for (const std::vector<uint32_t>& axes : layout.dims) {
    for (const uint32_t axis : axes) splits[axis] = true;
  }
  int64_t holder = 0;
  for (uint32_t axis = 0; axis < splits.size(); ++axis) {
    holder = holder * mesh_.axes()[axis].size + (splits[axis] ? mesh_.Coordinate(rank_, axis) : 0);
  }
  return holder;
}

void RankEntries::Describe(const std::map<std::string, Placed>& inputs, int64_t batch) {
  json states = json::object(), given = json::object();
  const ge_model* m = e_->model(e_->host);
  for (uint32_t i = 1; i < m->n_state; ++i) {
    const ge_state& s = *GE_STATE(m, i);
    const auto found = shared_.find(i);
    const Placed placed =
        found != shared_.end()
            ? found->second.placed
            : Placed{WholeDims(s.type), Layout::Whole(static_cast<size_t>(s.type.rank))};
    json& state = states[std::string(plugin::View(s.name))];
    state = JsonOf(placed.dims, BoxOf(placed));
    state["holder"] = HolderOf(placed.layout);
  }
  for (const auto& [name, placed] : inputs) given[name] = JsonOf(placed.dims, BoxOf(placed));
  const json all = {{"mesh", mesh_.Text()},
                    {"rank", rank_},
                    {"states", std::move(states)},
                    {"inputs", std::move(given)},
                    {"batch", batch}};
  const std::string text = all.dump(-1, ' ', false, json::error_handler_t::replace);
  e_->metadata(e_->host, ge_text("parallel"), plugin::Str(text));
}

}  // namespace ge::parallel
