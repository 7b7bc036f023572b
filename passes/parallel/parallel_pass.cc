#include "passes/parallel/parallel_pass.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "passes/kit/copy_nodes.h"
#include "passes/kit/entry.h"
#include "passes/kit/fn.h"
#include "passes/kit/options.h"
#include "passes/kit/refusal.h"
#include "passes/parallel/entries.h"
#include "passes/parallel/lower.h"
#include "passes/parallel/mesh.h"
#include "passes/parallel/pins.h"
#include "passes/parallel/plan.h"
#include "passes/parallel/rules.h"
#include "passes/parallel/rules/stated.h"
#include "passes/parallel/rules/take_apart.h"

namespace ge::parallel {
namespace {

using passes::Fn;
using passes::Refusal;
using passes::Type;
using passes::Val;

constexpr char kEntry[] = "train_step", kDataAxis[] = "data";
enum Option : uint32_t { kMesh, kRank, kBatch, kStates, kPins };

class Parallel {
 public:
  explicit Parallel(const ge_edit* e) : e_(e), mesh_(Mesh::Of(passes::TextOption(e, kMesh))) {
    rank_ = e->option[kRank].i;
    batch_ = e->option[kBatch].i;
    CheckOptions();
  }
  void Derive();

 private:
  void CheckOptions();
  std::optional<uint32_t> SharedAxis() const;
  void ReadPins(const ge_graph* free, passes::CopyNodes* copy);
  Asked AskedOf(const ge_graph* g, const Rules& rules) const;
  void Describe(const ge_graph* g, const Asked& asked, RankEntries* entries) const;
  uint32_t NewFunction(const char* name);
  int64_t SizeOf(const ge_graph* g, uint32_t input, int32_t dim) const;
  void CopyBound(const ge_graph* g, Fn& to);
  void WantSizes(const ge_graph* g) const;
  void Tell(uint32_t level, const std::string& text) const {
    e_->api->log(e_->api->host, level, plugin::Str(text));
  }

  const ge_edit* e_;
  const Mesh mesh_;
  std::optional<uint32_t> data_;  // the axis of samples, where there is one
  int64_t rank_ = 0, batch_ = 0;
  std::map<uint32_t, Pin> pinned_states_, pinned_values_;  // by index; values of the copied step
  std::vector<std::string> names_;  // of the step's nodes, which copies have not
};

void Parallel::CheckOptions() {
  data_ = mesh_.Find(kDataAxis);
  const int64_t shares = data_ ? mesh_.axes()[*data_].size : 1;
  if (rank_ < 0 || rank_ >= mesh_.ranks()) {
    throw Refusal{GE_INVALID_ARGUMENT, "rank is " + std::to_string(rank_) + ", wanted 0 to " +
                                           std::to_string(mesh_.ranks() - 1) + " of the mesh '" +
                                           mesh_.Text() + "'"};
  }
  if (batch_ > 0 && ShareOf(batch_, shares, shares - 1).size > 0) return;
  throw Refusal{GE_INVALID_ARGUMENT, "batch is " + std::to_string(batch_) +
                                         ", wanted the samples of a step of all ranks, enough "
                                         "that each of " +
                                         std::to_string(shares) + " ranks has some"};
}

std::optional<uint32_t> Parallel::SharedAxis() const {
  const std::string over = passes::TextOption(e_, kStates);
  if (over.empty()) return std::nullopt;
  if (const auto axis = mesh_.Find(over)) return axis;
  throw Refusal{GE_INVALID_ARGUMENT, "states is '" + over + "', wanted an axis of the mesh '" +
                                         mesh_.Text() + "', or nothing to keep them whole"};
}

// By name: a state, else a constant or value of the step.
void Parallel::ReadPins(const ge_graph* free, passes::CopyNodes* copy) {
  const ge_model* m = e_->model(e_->host);
  for (Pin& pin : parallel::ReadPins(passes::TextOption(e_, kPins))) {
    uint32_t state = 0, value = 0;
    for (uint32_t i = 1; i < m->n_state; ++i) {
      if (plugin::View(GE_STATE(m, i)->name) == pin.name) state = i;
    }
    for (uint32_t i = 1; i < free->n_value && state == 0; ++i) {
      if (plugin::View(GE_VALUE(free, i)->name) == pin.name) value = i;
    }
    if (state == 0 && value == 0) {
      throw Refusal{GE_NOT_FOUND, "pin '" + pin.name + "=" + pin.text +
                                      "': the step has no state, constant or value '" + pin.name +
                                      "'; ge dump prints their names"};
    }
    if (state != 0) pinned_states_[state] = std::move(pin);
    if (value != 0) pinned_values_[copy->Get(value).id] = std::move(pin);
  }
}

// Samples lie over `data`, states and values as they are pinned.
Asked Parallel::AskedOf(const ge_graph* g, const Rules& rules) const {
  Asked asked;
  asked.shared = SharedAxis();
  const Places whole(mesh_.axes().size(), kWhole);
  asked.inputs.assign(g->n_in, whole);
  for (Places& places : asked.inputs) {
    if (data_ && mesh_.axes()[*data_].size > 1) places[*data_] = 0;
  }
  const ge_model* m = e_->model(e_->host);
  for (const auto& [state, pin] : pinned_states_) {
    const ge_type& t = GE_STATE(m, state)->type;
    asked.states[state] = PlacesOf(pin, mesh_, {t.dims, t.dims + std::max(0, t.rank)});
  }
  for (const auto& [value, pin] : pinned_values_) {
    asked.values[value] = PlacesOf(pin, mesh_, DimsOf(g, value));
  }
  asked.states = PlacesOfStates(m, g, mesh_, asked.states, asked.values, asked.shared, rules);
  return asked;
}

uint32_t Parallel::NewFunction(const char* name) {
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = ge_text(name);
  uint32_t id = 0;
  e_->function(e_->host, &f, &id);
  return id;
}

// The first dim is that of samples; others with the same size follow it.
int64_t Parallel::SizeOf(const ge_graph* g, uint32_t input, int32_t dim) const {
  const ge_value& v = *GE_VALUE(g, g->in[input]);
  const std::string name(plugin::View(v.name));
  const int64_t size = v.type.dims[dim];
  if (dim == 0 && size >= 0 && size != batch_) {
    throw Refusal{GE_INVALID_ARGUMENT, "input '" + name + "' takes " + std::to_string(size) +
                                           " samples and batch is " + std::to_string(batch_) +
                                           ": train with a batch of " + std::to_string(size) +
                                           ", or export the net with one that is not fixed"};
  }
  if (size >= 0) return size;
  const uint32_t id = v.dim[dim].id;
  for (uint32_t i = 0; i < g->n_in; ++i) {
    const ge_value& other = *GE_VALUE(g, g->in[i]);
    if (other.type.rank < 1 || other.dim == nullptr) continue;
    if ((i == input && dim == 0) || (id != 0 && other.dim[0].id == id)) return batch_;
  }
  throw Refusal{GE_INVALID_ARGUMENT, "axis " + std::to_string(dim) + " of input '" + name +
                                         "' has no known size, which a step on many ranks wants "
                                         "of all but the first"};
}

// The step for `batch` samples.
void Parallel::CopyBound(const ge_graph* g, Fn& to) {
  passes::CopyNodes copy(g, to);
  for (uint32_t i = 0; i < g->n_in; ++i) {
    const ge_value& v = *GE_VALUE(g, g->in[i]);
    Type type;
    type.dtype = v.type.dtype;
    type.rank = v.type.rank;
    if (type.rank < 1) {
      throw Refusal{GE_INVALID_ARGUMENT, "input '" + std::string(plugin::View(v.name)) +
                                             "' has no axis of samples to split"};
    }
    for (int32_t d = 0; d < type.rank; ++d) {
      ge_dim dim{};
      dim.value = dim.min = dim.max = SizeOf(g, i, d);
      type.dims.push_back(dim);
    }
    copy.Set(g->in[i], to.Param(plugin::View(v.name), type));
  }
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (const std::string who = passes::DrawsAnew(e_, n); !who.empty()) {
      throw Refusal{GE_UNIMPLEMENTED,
                    who +
                        " draws random numbers without a seed, which ranks cannot agree on; "
                        "give it a seed, or export the net in eval mode"};
    }
    std::vector<uint32_t> made;
    to.Record(&made);
    if (!TakeApart(g, n, copy, to)) copy.Put(n);
    to.Record(nullptr);
    names_.resize(names_.size() + made.size());
    if (made.size() == 1) names_.back() = plugin::View(n.name);
  }
  ReadPins(g, &copy);
  std::vector<uint32_t> ids;
  std::vector<ge_str> names;
  for (uint32_t i = 0; i < g->n_out; ++i) {
    ids.push_back(copy.Get(g->out[i]).id);
    names.push_back(GE_VALUE(g, g->out[i])->name);
  }
  e_->results(e_->host, to.id(), ids.data(), names.data(), static_cast<uint32_t>(ids.size()));
}

void Parallel::WantSizes(const ge_graph* g) const {
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    for (uint32_t k = 0; k < n.n_out; ++k) {
      const ge_type& t = GE_VALUE(g, n.out[k])->type;
      bool known = t.rank >= 0;
      for (int32_t d = 0; known && d < t.rank; ++d) known = t.dims[d] >= 0;
      if (known) continue;
      throw Refusal{
          GE_UNIMPLEMENTED,
          NodeText(n) + " has a result of no known size, which a step on many ranks wants"};
    }
  }
}

void Parallel::Derive() {
  const passes::Source source = passes::EntryOf(e_, kEntry);
  const ge_graph* free = e_->graph(e_->host, source.fn);
  if (free == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of a step"};
  Fn whole(e_, NewFunction("parallel.whole"));
  CopyBound(free, whole);
  const ge_graph* g = whole.Picture();
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of a step"};
  WantSizes(g);
  const Rules rules = [&](const ge_node& n, int64_t shares) {
    return SplitOf(e_, whole.id(), g, n, shares);
  };
  const Asked asked = AskedOf(g, rules);
  const Plan plan = PlanOf(g, mesh_, asked, rules);
  constexpr uint32_t kInfo = 2;  // level of ge_host_api.log
  for (const std::string& line : plan.gathered) Tell(kInfo, "parallel: no rule: " + line);
  std::map<uint32_t, Layout> states;
  for (const auto& [state, places] : asked.states) {
    const ge_type& t = GE_STATE(e_->model(e_->host), state)->type;
    states[state] = LayoutOf(places, static_cast<size_t>(std::max(0, t.rank)));
  }
  RankEntries entries(e_, mesh_, rank_);
  entries.Share(states, kEntry);
  Fn mine(e_, NewFunction("parallel.step"));
  names_.resize(g->n_node);
  Lower(g, names_, plan, {mesh_, rank_}, mine);
  e_->replace_entry(e_->host, ge_text(kEntry), mine.id());
  entries.GatherInOthers();
  entries.AddWhole();
  entries.AddAgree();
  Describe(g, asked, &entries);
}

void Parallel::Describe(const ge_graph* g, const Asked& asked, RankEntries* entries) const {
  std::map<std::string, Placed> inputs;
  for (uint32_t i = 0; i < g->n_in; ++i) {
    Placed& placed = inputs[passes::NameOf(g, g->in[i])];
    placed.dims = DimsOf(g, g->in[i]);
    placed.layout = LayoutOf(asked.inputs[i], placed.dims.size());
  }
  entries->Describe(inputs, batch_);
}

// Behind `train`, and on the step as it was derived: its operators are those of the rules.
const ge_str kBehind[] = {ge_text("train")};
const ge_str kAheadOf[] = {ge_text("fold-constants"), ge_text("drop-dropout"),
                           ge_text("drop-dead")};

ge_rc Run(const ge_edit* e, ge_err* err) {
  try {
    Parallel(e).Derive();
    return GE_OK;
  } catch (const Refusal& r) {
    return ge_fail(err, r.rc, r.text.c_str());
  } catch (const std::bad_alloc&) {
    return ge_fail(err, GE_OUT_OF_MEMORY, "there is no memory for a rank's step");
  }
}

}  // namespace

ge_pass_def ParallelPass() {
  static const ge_attr_def options[] = {
      passes::TextSetting("mesh", ""), passes::CountSetting("rank", 0),
      passes::CountSetting("batch", 0), passes::TextSetting("states", ""),
      passes::TextSetting("pins", "")};
  ge_pass_def pass{};
  pass.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  pass.name = ge_text("parallel");
  pass.summary = ge_text("makes of train_step the program of one rank of a mesh");
  pass.kind = GE_PASS_DERIVE;
  pass.phases = GE_PHASE_LOAD | GE_PHASE_ASKED;
  pass.before = kAheadOf;
  pass.n_before = 3;
  pass.after = kBehind;
  pass.n_after = 1;
  pass.option = options;
  pass.n_option = 5;
  pass.run = Run;
  return pass;
}

}  // namespace ge::parallel
