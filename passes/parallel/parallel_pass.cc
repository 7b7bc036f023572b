#include "passes/parallel/parallel_pass.h"

#include <map>
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
#include "passes/parallel/plan.h"
#include "passes/parallel/rules.h"
#include "passes/parallel/rules/take_apart.h"

namespace ge::parallel {
namespace {

using passes::Fn;
using passes::Refusal;
using passes::Type;
using passes::Val;

constexpr char kEntry[] = "train_step", kDataAxis[] = "data";
enum Option : uint32_t { kMesh, kRank, kBatch, kStates };

int PlaceAlong(const Layout& layout, uint32_t axis) {
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    if (layout.dims[d] == std::vector<uint32_t>{axis}) return static_cast<int>(d);
  }
  return kWhole;
}

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
  std::map<uint32_t, Layout> LayoutsOfStates() const;
  void Describe(const ge_graph* g, RankEntries* entries) const;
  uint32_t NewFunction(const char* name);
  int64_t SizeOf(const ge_graph* g, uint32_t input, int32_t dim) const;
  void CopyBound(const ge_graph* g, Fn& to);
  void WantSizes(const ge_graph* g) const;
  void Tell(uint32_t level, const std::string& text) const {
    e_->api->log(e_->api->host, level, plugin::Str(text));
  }

  const ge_edit* e_;
  const Mesh mesh_;
  uint32_t axis_ = 0;
  int64_t rank_ = 0, batch_ = 0;
  std::vector<std::string> names_;  // of the step's nodes, which copies have not
};

void Parallel::CheckOptions() {
  for (const Axis& axis : mesh_.axes()) {
    if (axis.name == kDataAxis) continue;
    throw Refusal{GE_UNIMPLEMENTED, "the mesh '" + mesh_.Text() + "' has axis '" + axis.name +
                                        "', wanted data alone: splits of weights and of states "
                                        "are not built"};
  }
  axis_ = *mesh_.Find(kDataAxis);
  const int64_t shares = mesh_.axes()[axis_].size;
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

std::map<uint32_t, Layout> Parallel::LayoutsOfStates() const {
  const std::string over = passes::TextOption(e_, kStates);
  if (over.empty()) return {};
  const auto axis = mesh_.Find(over);
  if (axis) return SplitStates(e_, mesh_, *axis);
  throw Refusal{GE_INVALID_ARGUMENT, "states is '" + over + "', wanted an axis of the mesh '" +
                                         mesh_.Text() + "', or nothing to keep them whole"};
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
      throw Refusal{GE_UNIMPLEMENTED,
                    std::string(plugin::View(n.op)) + " '" + std::string(plugin::View(n.name)) +
                        "' has a result of no known size, which a step on many ranks wants"};
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
  const std::map<uint32_t, Layout> states = LayoutsOfStates();
  std::map<uint32_t, int> places;
  for (const auto& [state, layout] : states) places[state] = PlaceAlong(layout, axis_);
  const Plan plan = PlanOf(g, std::vector<int>(g->n_in, 0), places, mesh_.axes()[axis_].size);
  constexpr uint32_t kInfo = 2;  // level of ge_host_api.log
  for (const std::string& line : plan.gathered) Tell(kInfo, "parallel: no rule: " + line);
  RankEntries entries(e_, mesh_, rank_);
  entries.Share(states, kEntry);
  Fn mine(e_, NewFunction("parallel.step"));
  names_.resize(g->n_node);
  Lower(g, names_, plan, {mesh_, axis_, rank_}, mine);
  e_->replace_entry(e_->host, ge_text(kEntry), mine.id());
  entries.GatherInOthers();
  entries.AddWhole();
  entries.AddAgree();
  Describe(g, &entries);
}

void Parallel::Describe(const ge_graph* g, RankEntries* entries) const {
  std::map<std::string, Placed> inputs;
  for (uint32_t i = 0; i < g->n_in; ++i) {
    Placed& placed = inputs[passes::NameOf(g, g->in[i])];
    placed.dims = DimsOf(g, g->in[i]);
    placed.layout = Layout::Whole(placed.dims.size());
    placed.layout.dims[0] = {axis_};
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
      passes::CountSetting("batch", 0), passes::TextSetting("states", "")};
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
  pass.n_option = 4;
  pass.run = Run;
  return pass;
}

}  // namespace ge::parallel
