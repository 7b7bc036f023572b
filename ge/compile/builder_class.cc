// Covers and plans of other dims.
#include <fmt/format.h>

#include <algorithm>

#include "ge/compile/builder.h"
#include "ge/compile/classes/reshape.h"
#include "ge/compile/compiled/saved_plan.h"
#include "ge/compile/decompose/least_offers.h"
#include "ge/partition/partition.h"
#include "ge/place/from_offers.h"

namespace ge {

std::string DimsText(const std::vector<int64_t>& dims) {
  constexpr size_t kMost = 12;  // those of a decoder's caches are many, and alike
  const auto end = dims.begin() + static_cast<ptrdiff_t>(std::min(dims.size(), kMost));
  return fmt::format("{}{}", fmt::join(dims.begin(), end, "x"), dims.size() > kMost ? "x..." : "");
}

void Builder::LookForClass() {
  const bool wanted = options_.classes && FreeChoice() && !options_.place.expanded &&
                      !options_.incumbent && options_.prices.mode != PriceMode::kMeasure;
  if (!wanted) return;
  if (options_.saved) {
    c_->shape_class = class_key_ = options_.saved->shape_class;
    c_->looser_class = looser_key_ = options_.saved->looser_class;
    c_->expanded = options_.saved->expanded;
    dims_ = ShapeClasses::DimsOf(c_->graph, c_->fn);
    return;
  }
  ReshapeInputs* reshape = options_.reshape;
  class_key_ = reshape && reshape->shape_class ? *reshape->shape_class
                                               : ShapeClasses::KeyOf(c_->graph, c_->fn);
  if (reshape) reshape->shape_class = class_key_;
  c_->shape_class = class_key_;
  dims_ = ShapeClasses::DimsOf(c_->graph, c_->fn);
  if (options_.apart) {
    c_->looser_class = looser_key_ = ShapeClasses::LooserKeyOf(c_->graph, c_->fn);
    return;
  }
  near_ = options_.classes->Near(*class_key_, dims_);
  if (near_.empty()) {
    looser_key_ = ShapeClasses::LooserKeyOf(c_->graph, c_->fn);  // before parts are made
    near_ = options_.classes->Near(*looser_key_, dims_);
    looser_ = !near_.empty();
  }
  if (!options_.of_data) return;
  // Pieces come and go: one that is there serves better than a nearer one that is not.
  std::stable_partition(near_.begin(), near_.end(),
                        [](const auto& cover) { return !cover->plan.expired(); });
}

bool Builder::IsShort(const ClassCover& cover) const {
  constexpr double kShortNs = 2e6;
  const double growth = ShapeClasses::Growth(cover.dims, dims_);
  const auto plan = cover.plan.lock();
  return plan && plan->plan.predicted_ns * growth * growth < kShortNs;
}

std::shared_ptr<const Compiled> Builder::CloseOne() const {
  const double close = options_.of_data ? ShapeClasses::kCloseOfData
                       : looser_        ? ShapeClasses::kCloseLooser
                                        : ShapeClasses::kClose;
  const bool wanted = !near_.empty() && !options_.prices.replan &&
                      options_.stop_after == StageId::kCheck &&
                      (!looser_ || options_.of_data || ShapeClasses::IsMore(dims_, *near_[0])) &&
                      (ShapeClasses::IsClose(near_[0]->dims, dims_, close) ||
                       (options_.of_data && IsShort(*near_[0])));
  return wanted ? near_[0]->plan.lock() : nullptr;
}

void Builder::KeepForClass(std::shared_ptr<const Compiled> plan) const {
  constexpr uint64_t kMostBytes = 1 << 20;
  if (options_.of_data && plan->BytesHeld() <= kMostBytes) options_.classes->Keep(std::move(plan));
}

Status Builder::TryReshape(const std::shared_ptr<const Compiled>& like) {
  GE_RETURN_IF_ERROR(Decompose());
  const EngineList* given = engines_;
  PlanOn(like->engines_);  // which may be fewer: those of a compiled model alone
  GE_ASSIGN_OR_RETURN(reshaped_, Reshape(*like));
  if (reshaped_) return KeepForClass(like), Status();
  PlanOn(given);
  TakeBackParts();
  compiler_.reset();
  c_->view_.reset();
  return {};
}

void Builder::TakeBackParts() {
  if (!c_->expanded.empty()) c_->graph = std::move(bound_);
  c_->expanded.clear();
  notes_.clear();
  c_->offers = {};
  c_->plan = {};
}

Status Builder::TakeView() {
  if (options_.reshape && options_.reshape->view) {
    c_->view_ = std::move(options_.reshape->view);
    return {};
  }
  GE_ASSIGN_OR_RETURN(c_->view_, GraphView::Make(c_->graph, function()));
  return {};
}

Result<bool> Builder::Reshape(const Compiled& like) {
  auto plan =
      PlacedLike(like, engines(), function(), "class, shaped like " + DimsText(near_[0]->dims));
  if (!plan) return false;
  c_->plan = *std::move(plan);
  if (!PartitionLike(like, function(), &c_->plan)) {
    if (!Partition(c_->graph, function(), &c_->plan, StatesOf()).ok()) return false;
    if (!SameSegments(c_->plan.functions[0], like.plan.functions[0])) return false;
  }
  GE_RETURN_IF_ERROR(TakeView());
  compiler_.emplace(engines(), c_.get());
  c_->plan.shared_report = ReportLike(like, function(), notes_);
  return compiler_->Shape(like);
}

bool Builder::PlaceByClass() {
  constexpr size_t kMostTried = 4;
  // A search and what it compiles take as long as hundreds of runs that are a tenth dearer.
  constexpr double kMuchDearer = 1.10;
  std::optional<Plan> best;
  size_t tried = 0;
  for (const auto& known : near_) {
    if (known->expanded != near_[0]->expanded || tried == kMostTried) continue;
    ++tried;
    PlaceOptions options = HowToPlace();
    options.cover = CoverAmong(known->cover, c_->plan, function(), c_->offers);
    options.cover_method = "class, as at " + DimsText(known->dims);
    if (options.cover.empty()) continue;
    Plan plan = c_->plan;
    const Status placed = Place(c_->graph, function(), c_->offers, {}, options, &plan);
    if (!placed.ok() || plan.searches != c_->plan.searches) continue;
    if (!best || plan.predicted_ns < best->predicted_ns) best = std::move(plan);
  }
  if (best && best->predicted_ns > kMuchDearer * near_[0]->over_floor * Floor()) return false;
  if (!best) return false;
  c_->plan = *std::move(best);
  return true;
}

void Builder::ForgetGraph() {
  const auto& segments = c_->plan.functions[0].segments;
  if (std::any_of(segments.begin(), segments.end(), [](const auto& s) { return s.serial; })) {
    return;
  }
  // These stay: execs may read them.
  c_->splats_ = c_->view_->TakeSplats();
  for (const Const& c : c_->graph.consts) {
    auto& kept = c_->payloads_;
    if (c.owner && (kept.empty() || kept.back() != c.owner)) kept.push_back(c.owner);
    if (c.expanded) kept.push_back(c.expanded);
  }
  c_->payloads_.shrink_to_fit();
  if (options_.reshape && c_->expanded.empty() && c_->graph.states.size() <= 1) {
    if (options_.keep_graph) {
      options_.reshape->graph = c_->graph;
    } else {
      options_.reshape->graph = std::move(c_->graph);
    }
    options_.reshape->view = std::move(c_->view_);
  }
  c_->view_.reset();
  if (options_.keep_graph) return;
  c_->graph.functions.clear();
  c_->graph.meta.clear();  // a recogniser's alphabet takes more than its plan
  c_->graph.dims = DimTable();
  std::vector<Const>().swap(c_->graph.consts);
}

double Builder::Floor() const { return FloorOf(c_->offers, function().nodes.size()); }

Status Builder::ForgetClass() {
  TakeBackParts();
  near_.clear();
  GE_RETURN_IF_ERROR(Decompose());
  return Query();
}

void Builder::RememberInClass() {
  if (!class_key_ || reshaped_ || !struck_.empty()) return;
  const double floor = Floor();
  const double over = options_.saved   ? options_.saved->over_floor
                      : !near_.empty() ? near_[0]->over_floor
                      : floor > 0      ? c_->plan.predicted_ns / floor
                                       : 1;
  c_->over_floor = over;
  const ClassCover cover{dims_, c_->expanded, CoverOfPlan(c_->plan, function()), c_, over};
  options_.classes->Add(*class_key_, cover);
  KeepForClass(c_);
  if (near_.empty() && looser_key_) options_.classes->Add(*looser_key_, cover, /*looser=*/true);
}

}  // namespace ge
