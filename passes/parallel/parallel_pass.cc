#include "passes/parallel/parallel_pass.h"

#include <algorithm>
#include <charconv>
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
enum Option : uint32_t { kMesh, kRank, kBatch, kStates, kPins, kEntryName, kSizes };

// "5x784|2x16|scalar": sizes of the inputs, by place.
std::vector<std::vector<int64_t>> ReadSizes(const std::string& text) {
  std::vector<std::vector<int64_t>> all(1);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('|', at), text.size());
    const std::string one = text.substr(at, end - at);
    for (size_t d = one == "scalar" ? one.size() + 1 : 0; d <= one.size();) {
      const size_t until = std::min(one.find('x', d), one.size());
      int64_t n = -1;
      const auto read = std::from_chars(one.data() + d, one.data() + until, n);
      if (read.ec != std::errc() || read.ptr != one.data() + until || n < 0) {
        throw Refusal{GE_INVALID_ARGUMENT, "sizes is '" + text +
                                               "', wanted those of each input, as 5x784|5x16, and "
                                               "scalar for one without axes"};
      }
      all.back().push_back(n);
      d = until + 1;
    }
    if (end < text.size()) all.emplace_back();
    at = end + 1;
  }
  return all;
}

class Parallel {
 public:
  explicit Parallel(const ge_edit* e)
      : e_(e), mesh_(Mesh::Of(passes::TextOption(e, kMesh))), data_(mesh_.Find(kDataAxis)) {
    rank_ = e->option[kRank].i;
    batch_ = e->option[kBatch].i;
    CheckRank();
    const std::string sizes = passes::TextOption(e, kSizes);
    if (!sizes.empty()) sizes_ = ReadSizes(sizes);
    CheckBatch();
  }
  void Derive();

 private:
  void CheckRank() const;
  void CheckBatch() const;
  std::optional<uint32_t> SharedAxis() const;
  void ReadPins(const ge_graph* free, passes::CopyNodes* copy);
  Asked AskedOf(const ge_graph* g, const Rules& rules) const;
  void Describe(const ge_graph* g, const Asked& asked, RankEntries* entries) const;
  uint32_t NewFunction(const char* name);
  int64_t SizeOf(const ge_graph* g, uint32_t input, int32_t dim) const;
  std::vector<int64_t> SizesOfStep(const ge_graph* g, uint32_t input) const;
  void FindRows(const ge_graph* g);
  std::vector<int64_t> SizesOf(const ge_graph* g, uint32_t input) const;
  void CopyBound(const ge_graph* g, Fn& to);
  void WantSizes(const ge_graph* g) const;
  void TellOfPins(const ge_graph* g, const Plan& plan) const;
  void Tell(uint32_t level, const std::string& text) const {
    e_->api->log(e_->api->host, level, plugin::Str(text));
  }

  const ge_edit* e_;
  const Mesh mesh_;
  const std::optional<uint32_t> data_;  // the axis of samples, where there is one
  int64_t rank_ = 0, batch_ = 0;
  // Of the whole inputs, by place: the entry is one of inference, which takes and gives those.
  std::optional<std::vector<std::vector<int64_t>>> sizes_;
  std::map<uint32_t, Pin> pinned_states_, pinned_values_;  // by index; values of the copied step
  std::vector<std::string> names_;  // of the step's nodes, which copies have not
};

void Parallel::CheckRank() const {
  if (rank_ >= 0 && rank_ < mesh_.ranks()) return;
  throw Refusal{GE_INVALID_ARGUMENT, "rank is " + std::to_string(rank_) + ", wanted 0 to " +
                                         std::to_string(mesh_.ranks() - 1) + " of the mesh '" +
                                         mesh_.Text() + "'"};
}

void Parallel::CheckBatch() const {
  if (sizes_ && batch_ == 0) return;
  if (sizes_) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "batch is of the entry train_step and sizes of one of inference: give one of "
                  "both"};
  }
  const int64_t shares = data_ ? mesh_.axes()[*data_].size : 1;
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
  for (uint32_t i = 0; i < g->n_in && data_ && mesh_.axes()[*data_].size > 1; ++i) {
    const std::vector<int64_t> dims = DimsOf(g, g->in[i]);
    const bool rows = !sizes_ || (!dims.empty() && dims[0] == batch_);
    if (rows) asked.inputs[i][*data_] = 0;
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

std::vector<int64_t> Parallel::SizesOfStep(const ge_graph* g, uint32_t input) const {
  const ge_value& v = *GE_VALUE(g, g->in[input]);
  if (v.type.rank < 1) {
    throw Refusal{GE_INVALID_ARGUMENT, "input '" + std::string(plugin::View(v.name)) +
                                           "' has no axis of samples to split"};
  }
  std::vector<int64_t> sizes;
  for (int32_t d = 0; d < v.type.rank; ++d) sizes.push_back(SizeOf(g, input, d));
  return sizes;
}

// The rows of the first input that has some; each rank along `data` takes some of them.
void Parallel::FindRows(const ge_graph* g) {
  if (sizes_->size() != g->n_in) {
    throw Refusal{GE_INVALID_ARGUMENT, "sizes has those of " + std::to_string(sizes_->size()) +
                                           " inputs and the entry takes " +
                                           std::to_string(g->n_in) + ": give each its own"};
  }
  std::string name;
  for (uint32_t i = 0; i < g->n_in && name.empty(); ++i) {
    const std::vector<int64_t> sizes = SizesOf(g, i);
    if (sizes.empty()) continue;
    batch_ = sizes[0];
    name = passes::NameOf(g, g->in[i]);
  }
  const int64_t shares = data_ ? mesh_.axes()[*data_].size : 1;
  const auto some = [&](int64_t rows) { return ShareOf(rows, shares, shares - 1).size > 0; };
  if (shares == 1 || some(batch_)) return;
  int64_t enough = std::max(shares, batch_);
  while (!some(enough)) ++enough;
  throw Refusal{GE_INVALID_ARGUMENT,
                name.empty() ? "no input has an axis of samples to lie over the axis 'data' of '" +
                                   mesh_.Text() + "'; take a mesh without it"
                             : "input '" + name + "' has " + std::to_string(batch_) +
                                   " rows, too few to give each of " + std::to_string(shares) +
                                   " ranks of the axis 'data' some; give it " +
                                   std::to_string(enough) + ", or take a mesh without that axis"};
}

// Of an entry of inference: as given, where the input takes them.
std::vector<int64_t> Parallel::SizesOf(const ge_graph* g, uint32_t input) const {
  const ge_value& v = *GE_VALUE(g, g->in[input]);
  const std::vector<int64_t>& sizes = (*sizes_)[input];
  bool fits = v.type.rank < 0 || static_cast<size_t>(v.type.rank) == sizes.size();
  for (int32_t d = 0; fits && d < v.type.rank; ++d) {
    fits = v.type.dims[d] < 0 || v.type.dims[d] == sizes[static_cast<size_t>(d)];
  }
  if (fits) return sizes;
  throw Refusal{GE_INVALID_ARGUMENT, "input '" + passes::NameOf(g, g->in[input]) +
                                         "' is given other sizes than the entry takes; "
                                         "ge dump prints its type"};
}

// The entry for `batch` samples, or for inputs of the sizes given.
void Parallel::CopyBound(const ge_graph* g, Fn& to) {
  passes::CopyNodes copy(g, to);
  for (uint32_t i = 0; i < g->n_in; ++i) {
    const ge_value& v = *GE_VALUE(g, g->in[i]);
    Type type;
    type.dtype = v.type.dtype;
    for (const int64_t size : sizes_ ? SizesOf(g, i) : SizesOfStep(g, i)) {
      ge_dim dim{};
      dim.value = dim.min = dim.max = size;
      type.dims.push_back(dim);
    }
    type.rank = static_cast<int32_t>(type.dims.size());
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

// A constant is no part of a collective: where one is read otherwise than it is pinned, that is cut
// from the whole one, and stays there.
void Parallel::TellOfPins(const ge_graph* g, const Plan& plan) const {
  constexpr uint32_t kWarning = 1;
  for (const auto& [value, pin] : pinned_values_) {
    if ((GE_VALUE(g, value)->flags & GE_VALUE_CONSTANT) == 0) continue;
    const auto moved = [](const Step& step) { return step.kind != StepKind::kSlice; };
    if (std::none_of(plan.moves[value].begin(), plan.moves[value].end(), moved)) continue;
    Tell(kWarning, "parallel: pin '" + pin.name + "=" + pin.text + "': an operator reads '" +
                       pin.name + "' otherwise, so that each rank has more of it than its share");
  }
}

void Parallel::Derive() {
  const passes::Source source =
      passes::EntryOf(e_, sizes_ ? passes::TextOption(e_, kEntryName) : kEntry);
  const ge_graph* free = e_->graph(e_->host, source.fn);
  if (free == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of a step"};
  if (sizes_) FindRows(free);
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
  TellOfPins(g, plan);
  std::map<uint32_t, Layout> states;
  for (const auto& [state, places] : asked.states) {
    const ge_type& t = GE_STATE(e_->model(e_->host), state)->type;
    states[state] = LayoutOf(places, static_cast<size_t>(std::max(0, t.rank)));
  }
  RankEntries entries(e_, mesh_, rank_);
  entries.Share(states, source.name);
  Fn mine(e_, NewFunction(sizes_ ? "parallel.run" : "parallel.step"));
  names_.resize(g->n_node);
  Lower(g, names_, plan, {mesh_, rank_, sizes_.has_value()}, mine);
  e_->replace_entry(e_->host, plugin::Str(source.name), mine.id());
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
    placed.layout =
        sizes_ ? Layout::Whole(placed.dims.size()) : LayoutOf(asked.inputs[i], placed.dims.size());
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
      passes::TextSetting("mesh", ""),  passes::CountSetting("rank", 0),
      passes::CountSetting("batch", 0), passes::TextSetting("states", ""),
      passes::TextSetting("pins", ""),  passes::TextSetting("entry", ""),
      passes::TextSetting("sizes", "")};
  ge_pass_def pass{};
  pass.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  pass.name = ge_text("parallel");
  pass.summary = ge_text(
      "makes of train_step, or of an entry of inference, the program of one rank of a mesh");
  pass.kind = GE_PASS_DERIVE;
  pass.phases = GE_PHASE_LOAD | GE_PHASE_ASKED;
  pass.before = kAheadOf;
  pass.n_before = 3;
  pass.after = kBehind;
  pass.n_after = 1;
  pass.option = options;
  pass.n_option = 7;
  pass.run = Run;
  return pass;
}

}  // namespace ge::parallel
