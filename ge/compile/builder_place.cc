// Query, decompose and place.
#include <fmt/format.h>

#include <algorithm>

#include "ge/compile/builder.h"
#include "ge/compile/decompose/pinned_parts.h"
#include "ge/compile/fold/evaluator.h"
#include "ge/compile/states/in_place_states.h"
#include "ge/host/machine.h"
#include "ge/partition/partition.h"
#include "ge/place/from_offers.h"
#include "ge/place/pins.h"
#include "ge/price/correct.h"
#include "ge/price/links.h"

namespace ge {
namespace {

// A plugin whose segments keep failing is struck offer by offer; this ends the game.
constexpr int kMaxPlaceRounds = 64;

}  // namespace

Status Builder::PlaceAndCompile() {
  GE_RETURN_IF_ERROR(Stage(StageId::kPlace, [&] { return Decompose(); }));
  GE_RETURN_IF_ERROR(Stage(StageId::kPlace, [&] { return Query(); }));
  for (int round = 0;; ++round) {
    Status placed = Stage(StageId::kPlace, [&] { return PlaceNodes(); });
    // No offer is left, since engines had no memory to compile what they offered.
    const bool starved = last_failure_.code() == Code::kResourceExhausted;
    if (!placed.ok()) return starved ? last_failure_ : WithLastFailure(std::move(placed));
    keep_incumbent_ = options_.incumbent && !IsClearlyCheaper();
    stopped_ = Stop(StageId::kPlace);
    if (keep_incumbent_ || stopped_) return {};
    GE_RETURN_IF_ERROR(Stage(StageId::kPartition, [&] {
      return Partition(c_->graph, function(), &c_->plan, StatesOf());
    }));
    stopped_ = Stop(StageId::kPartition);
    if (stopped_) return {};
    bool again = false;
    GE_RETURN_IF_ERROR(Stage(StageId::kCompile, [&] { return Compile(&again); }));
    if (!again) return {};
    if (round == kMaxPlaceRounds) return last_failure_;
    for (size_t i = 0; i < c_->offers.offers.size(); ++i) {  // of a device lost meanwhile
      const Offer& o = c_->offers.offers[i];
      if (engines()[o.engine]->IsLost(o.device)) struck_.insert(i);
    }
  }
}

Status Builder::WithLastFailure(Status placed) const {
  if (last_failure_.ok() || placed.code() != Code::kUnsupported) return placed;
  return Status(placed.code(),
                placed.message() + "; what was offered did not compile: " + last_failure_.message())
      .AtNode(placed.node())
      .AtStage(placed.stage());
}

Status Builder::Query() {
  GE_ASSIGN_OR_RETURN(c_->view_, GraphView::Make(c_->graph, function()));
  GE_RETURN_IF_ERROR(DescribeEngines(engines(), HostMachine(), &c_->plan));
  if (options_.price_cache != nullptr) {
    c_->links = CorrectLinks(BooksOf(engines()), *options_.price_cache, &c_->plan);
  }
  if (asked_) {
    c_->plan.layouts = std::move(asked_->layouts);
    c_->offers = std::move(asked_->offers);
    asked_.reset();
  } else {
    GE_RETURN_IF_ERROR(Ask(c_->graph, function(), c_->view_.get(), &c_->plan.layouts, &c_->offers));
  }
  DescribeConversions(c_->offers, &c_->plan);
  return {};
}

Status Builder::Ask(const Graph& graph, const Function& function, GraphView* view,
                    std::vector<PlanLayout>* layouts, OfferSet* offers) {
  for (uint32_t e = 0; e < engines().size(); ++e) {
    GE_RETURN_IF_ERROR(
        QueryEngine(*engines()[e], e, graph, function, view->get(), layouts, offers));
  }
  GE_RETURN_IF_ERROR(Correct(graph, function, view, layouts, offers));
  for (Offer& o : offers->offers) {
    for (OfferChoice& c : o.choices) c.marginal_ns += o.shape_ns / options_.runs_a_shape;
  }
  return {};
}

Status Builder::Correct(const Graph& graph, const Function& function, GraphView* view,
                        std::vector<PlanLayout>* layouts, OfferSet* offers) {
  if (!options_.price_cache) return {};
  if (options_.prices.mode == PriceMode::kMeasure && options_.measure) {
    const double budget_ms = options_.prices.measure_budget_ms - c_->measured.ms;
    c_->measured.Add(options_.measure(graph, function, *layouts, view, *offers, budget_ms));
  }
  CorrectPrices(engines(), *options_.price_cache, graph, function, *layouts, offers);
  return {};
}

bool Builder::IsClearlyCheaper() const {
  constexpr double kHysteresis = 0.95;  // less is noise, and would make plans flip
  const Compiled& old = *options_.incumbent;
  auto cost = PriceOfPlan(function(), c_->offers, c_->plan, old.plan.functions[0], HowToPlace());
  const double in_use = cost.ok() ? *cost : old.clock ? old.clock->Read().total.ns : 0;
  return c_->plan.predicted_ns < kHysteresis * in_use;
}

Status Builder::Decompose() {
  if (!near_.empty() && near_[0]->expanded.empty()) return {};  // as the class does
  // Who is bound to a node by name or order may be one that multiplies floats.
  if (!FreeChoice() && !options_.place.expanded) {
    GE_RETURN_IF_ERROR(FoldQuantizedWeights(Floats(), &c_->graph, c_->fn));
  }
  if (!HasDecompositions(c_->graph, function())) return {};
  GE_RETURN_IF_ERROR(ChooseParts());
  return c_->expanded.empty() ? Status() : FoldParts();
}

FloatsOfWeight Builder::Floats() const {
  auto known = options_.weight_floats ? options_.weight_floats : std::make_shared<WeightFloats>();
  return [known, evaluator = std::shared_ptr<Evaluator>(MakeEvaluator(engines()))](
             const Graph& g, const Function& f, const Node& n) {
    return known->Of(g, f, n, evaluator.get());
  };
}

Status Builder::ChooseParts() {
  auto ask = [this](const Graph& graph, const Function& f, std::vector<PlanLayout>* layouts,
                    OfferSet* offers) -> Status {
    GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(graph, f));
    return Ask(graph, f, view.get(), layouts, offers);
  };
  std::vector<NodeId> pinned;
  GE_RETURN_IF_ERROR(
      ExpandPinned(engines(), ask, Floats(), &c_->graph, c_->fn, &place_, &pinned, &notes_));
  GE_RETURN_IF_ERROR(ChooseFreeParts(ask));
  c_->expanded.insert(c_->expanded.end(), pinned.begin(), pinned.end());
  return {};
}

Status Builder::ChooseFreeParts(const AskEngines& ask) {
  if (options_.place.expanded) {
    c_->expanded = *options_.place.expanded;
    return ExpandAgain(Floats(), &c_->graph, c_->fn, c_->expanded, "rehearsed", &notes_);
  }
  if (!near_.empty()) {
    c_->expanded = near_[0]->expanded;
    if (!c_->expanded.empty()) bound_ = c_->graph;
    return ExpandAgain(Floats(), &c_->graph, c_->fn, c_->expanded,
                       "as at " + DimsText(near_[0]->dims), &notes_);
  }
  return ChooseDecompositions(engines(), options_.price_cache, ask, Floats(), &c_->graph, c_->fn,
                              PinnedNodes(function(), place_.pins), &c_->expanded, &notes_,
                              &market_cover_, &asked_);
}

bool Builder::FreeChoice() const {
  const PlaceOptions& o = options_.place;
  return o.policy == PlacePolicy::kCost && o.order.empty() && o.pins.empty() && o.cover.empty() &&
         o.fuse;
}

std::vector<StateValues> Builder::StatesOf() const {
  std::vector<StateValues> out;
  const auto at = [](const std::vector<ValueId>& values, uint32_t i) {
    return i < values.size() ? values[i] : 0;
  };
  for (const StatePair& s : options_.all_states) {
    out.push_back({at(function().params, s.param), at(function().results, s.result), s.state});
  }
  return out;
}

PlaceOptions Builder::HowToPlace() const {
  PlaceOptions options = place_;
  options.alone = OverwritingNodes(function(), options_.states, options_.least_in_place_bytes);
  options.states = StatesOf();
  return options;
}

PlaceOptions Builder::WithMarketCover() const {
  PlaceOptions options = HowToPlace();
  if (!FreeChoice() || market_cover_.method.empty() || !struck_.empty()) return options;
  // The market had all states at the host.
  if (!options.states.empty() && c_->plan.domains.size() > 1) return options;
  options.cover = CoverAmong(market_cover_, c_->plan, function(), c_->offers);
  options.cover_method = market_cover_.method;
  return options;
}

Status Builder::PlaceNodes() {
  if (!near_.empty() && struck_.empty()) {
    c_->placing = Compiled::Placing::kByClass;
    if (PlaceByClass()) return AddNotes(), Status();
    c_->placing = Compiled::Placing::kSearched;
    GE_RETURN_IF_ERROR(ForgetClass());
  }
  auto place = [this] {
    return Place(c_->graph, function(), c_->offers, struck_, WithMarketCover(), &c_->plan);
  };
  Status placed = place();
  bool expanded = false;
  if (placed.code() == Code::kUnsupported && !struck_.empty()) {
    GE_ASSIGN_OR_RETURN(expanded,
                        ExpandAll(Floats(), &c_->graph, c_->fn,
                                  "no engine that takes it whole could compile it", &notes_));
  }
  if (expanded) {
    struck_.clear();
    c_->offers = {};
    c_->plan = {};
    GE_RETURN_IF_ERROR(FoldParts());
    GE_RETURN_IF_ERROR(Query());
    placed = place();
  }
  AddNotes();
  return placed;
}

void Builder::AddNotes() {
  for (NodeReport& r : c_->plan.report) {
    const auto note = notes_.find(r.node);
    if (note != notes_.end()) r.decomposition = note->second;
  }
}

}  // namespace ge
