#include "passes/parallel/plan.h"

#include <algorithm>
#include <optional>

#include "ge/ge_plugin.hpp"
#include "passes/parallel/rules.h"

namespace ge::parallel {
namespace {

constexpr int64_t kNever = INT64_MAX;

class Planner {
 public:
  Planner(const ge_graph* graph, const std::map<uint32_t, int>& states, int64_t shares)
      : g_(graph), states_(states), shares_(shares) {
    plan_.made.assign(g_->n_value, kWhole);
    there_.resize(g_->n_value);
  }
  Plan Run(const std::vector<int>& inputs);

 private:
  uint64_t BytesOf(uint32_t value) const {
    uint64_t bytes = 0;
    return plugin::TensorBytes(GE_VALUE(g_, value)->type, &bytes) ? bytes : 0;
  }
  bool IsThere(uint32_t value, int place) const {
    return plan_.made[value] == place || there_[value].count(place) != 0;
  }
  int64_t CostOf(uint32_t value, int place) const;
  int64_t CostOf(const ge_node& n, const Way& way) const;
  std::optional<Way> TermsWay(const ge_node& n, Terms terms) const;
  std::optional<Way> StateWay(const ge_node& n) const;
  void Read(uint32_t value, int place);
  PlannedNode Choose(const ge_node& n);
  void Note(const ge_node& n, int64_t bytes);

  const ge_graph* g_;
  const std::map<uint32_t, int>& states_;
  const int64_t shares_;
  Plan plan_;
  std::vector<std::set<int>> there_;  // by value: other places where it is by now
};

// Bytes that a rank sends so that the value is there, too. Taking a share of a whole sends none.
int64_t Planner::CostOf(uint32_t value, int place) const {
  if (value == 0 || place == kUnread || place == kShape || IsThere(value, place)) return 0;
  if (place == kTerm) return kNever;
  if (IsThere(value, kWhole)) return 0;
  const auto bytes = static_cast<int64_t>(BytesOf(value)) * (shares_ - 1) / shares_;
  return plan_.made[value] == kTerm ? 2 * bytes : bytes;
}

int64_t Planner::CostOf(const ge_node& n, const Way& way) const {
  int64_t cost = 0;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const int64_t one = CostOf(n.in[i], way.in[i]);
    if (one == kNever) return kNever;
    cost += one;
  }
  return cost;
}

Way WholeWay(const ge_node& n, bool read) {
  return {std::vector<int>(n.n_in, read ? kWhole : kUnread), std::vector<int>(n.n_out, kWhole)};
}

// The way in which the node makes a term of its result from terms, if its inputs are such now and
// the result is less to sum than they are: else somebody may want one of them whole, too.
std::optional<Way> Planner::TermsWay(const ge_node& n, Terms terms) const {
  if (terms == Terms::kNone || n.n_out != 1) return std::nullopt;
  Way way = WholeWay(n, true);
  uint32_t n_term = 0;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const bool may = terms != Terms::kFirst || i == 0;
    if (n.in[i] == 0 || !may || !IsThere(n.in[i], kTerm)) continue;
    way.in[i] = kTerm;
    ++n_term;
    bytes += BytesOf(n.in[i]);
  }
  if (n_term != (terms == Terms::kAll ? n.n_in : 1)) return std::nullopt;
  if (BytesOf(n.out[0]) >= bytes) return std::nullopt;
  way.out[0] = kTerm;
  return way;
}

// Where a state lies, what reads it gives it and what writes it takes it.
std::optional<Way> Planner::StateWay(const ge_node& n) const {
  if (n.n_effect == 0 || n.effect[0].kind != GE_EFFECT_STATE) return std::nullopt;
  const auto found = states_.find(n.effect[0].object);
  if (found == states_.end()) return std::nullopt;
  return Way{std::vector<int>(n.n_in, found->second), std::vector<int>(n.n_out, found->second)};
}

void Planner::Read(uint32_t value, int place) {
  if (value == 0 || place == kUnread || place == kShape || IsThere(value, place)) return;
  if (plan_.made[value] == kTerm) plan_.summed.insert(value);
  there_[value].insert(kWhole);  // on the way to any other place
  there_[value].insert(place);
}

// The way that moves least, the first of equals: whole, of terms, by factors.
PlannedNode Planner::Choose(const ge_node& n) {
  if (auto way = StateWay(n)) return {std::move(*way), false};
  const Split split = SplitOf(g_, n, shares_);
  PlannedNode best{WholeWay(n, !split.of_shape), split.of_shape};
  int64_t least = CostOf(n, best.way);
  const auto offer = [&](const Way& way) {
    const int64_t cost = CostOf(n, way);
    if (cost >= least) return;
    least = cost;
    best.way = way;
  };
  if (const auto way = TermsWay(n, split.terms)) offer(*way);
  for (const Way& way : split.ways) {
    // Greatest and least of terms have no collective yet.
    if (way.out.empty() || way.out[0] >= kTerm) offer(way);
  }
  if (!split.known && least > 0) Note(n, least);
  return best;
}

void Planner::Note(const ge_node& n, int64_t bytes) {
  bool split = false;  // a sum of terms is a gradient's and no loss
  for (uint32_t i = 0; i < n.n_in; ++i) split = split || plan_.made[n.in[i]] >= 0;
  if (!split) return;
  plan_.gathered.push_back(std::string(plugin::View(n.op)) + " '" +
                           std::string(plugin::View(n.name)) + "' gathers " +
                           std::to_string(bytes) + " bytes");
}

Plan Planner::Run(const std::vector<int>& inputs) {
  for (uint32_t i = 0; i < g_->n_in; ++i) plan_.made[g_->in[i]] = inputs[i];
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    plan_.node.push_back(Choose(n));
    const Way& way = plan_.node.back().way;
    for (uint32_t k = 0; k < n.n_in; ++k) Read(n.in[k], way.in[k]);
    for (uint32_t k = 0; k < n.n_out; ++k) plan_.made[n.out[k]] = way.out[k];
  }
  for (uint32_t i = 0; i < g_->n_out; ++i) Read(g_->out[i], kWhole);
  return std::move(plan_);
}

}  // namespace

Plan PlanOf(const ge_graph* graph, const std::vector<int>& inputs,
            const std::map<uint32_t, int>& states, int64_t shares) {
  return Planner(graph, states, shares).Run(inputs);
}

}  // namespace ge::parallel
