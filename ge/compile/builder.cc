// From a bound graph to a Compiled: query, place, partition, compile, streams, memory, check.
// A segment that fails to compile has its offers struck and the graph goes back to PLACE.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "ge/base/clock.h"
#include "ge/base/interrupt.h"
#include "ge/base/plugin_call.h"
#include "ge/compile/classes/reshape.h"
#include "ge/compile/classes/shape_class.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/compiled/memory_limit.h"
#include "ge/compile/decompose/coded_weights.h"
#include "ge/compile/decompose/decomposition.h"
#include "ge/compile/decompose/least_offers.h"
#include "ge/compile/decompose/pinned_parts.h"
#include "ge/compile/fold/evaluator.h"
#include "ge/compile/segment_compiler.h"
#include "ge/compile/states/in_place_states.h"
#include "ge/host/machine.h"
#include "ge/ir/graph_files.h"
#include "ge/partition/partition.h"
#include "ge/place/from_offers.h"
#include "ge/place/pins.h"
#include "ge/price/correct.h"

namespace ge {
namespace {

// A plugin whose segments keep failing is struck offer by offer; this ends the game.
constexpr int kMaxPlaceRounds = 64;
constexpr uint64_t kMaxBytes = uint64_t{1} << 62;  // so that sums of a few do not wrap

Status RefuseBodies(const Function& f) {
  for (const Node& node : f.nodes) {
    if (!node.callees.empty()) {
      return Status(Code::kUnsupported, fmt::format("{} has bodies; no single plan holds it; "
                                                    "run the entry, which plans it piece by piece",
                                                    node.op))
          .AtNode(NodeLabel(node));
    }
    for (ValueId v : node.outputs) {
      if (v && f.values[v].type.is_tensor() && !f.values[v].type.is_static()) {
        return Status(Code::kUnsupported,
                      fmt::format(
                          "the shape of output '{}' of {} depends on the data, so no single plan "
                          "holds it; run the entry, which plans it piece by piece",
                          f.values[v].name, node.op))
            .AtNode(NodeLabel(node));
      }
    }
  }
  return {};
}

std::string DimsText(const std::vector<int64_t>& dims) {
  constexpr size_t kMost = 12;  // those of a decoder's caches are many, and alike
  const auto end = dims.begin() + static_cast<ptrdiff_t>(std::min(dims.size(), kMost));
  return fmt::format("{}{}", fmt::join(dims.begin(), end, "x"), dims.size() > kMost ? "x..." : "");
}

}  // namespace

class Builder {
 public:
  Builder(const EngineList& engines, const BuildOptions& options)
      : engines_(engines),
        options_(options),
        place_(options.place),
        c_(std::make_shared<Compiled>()),
        runner_(options.runner) {
    c_->engines_ = &engines_;
  }

  Result<std::shared_ptr<Compiled>> Run(Graph bound, FunctionId fn) {
    double start = NowMs();
    c_->graph = std::move(bound);
    c_->fn = fn;
    GE_RETURN_IF_ERROR(RefuseBodies(function()));
    LookForClass();
    if (const auto like = CloseOne()) {
      GE_RETURN_IF_ERROR(Stage(StageId::kCompile, [&] { return TryReshape(like); }));
    }
    if (!reshaped_) {
      GE_RETURN_IF_ERROR(PlaceAndCompile());
      if (keep_incumbent_) return std::shared_ptr<Compiled>();
    }
    if (stopped_ || Stop(StageId::kCompile)) return Finish(start);
    OverwriteInPlace(function(), options_.states, options_.least_in_place_bytes, &c_->plan);
    GE_RETURN_IF_ERROR(
        Stage(StageId::kStreams, [&] { return AssignStreams(&c_->plan, options_.streams); }));
    if (Stop(StageId::kStreams)) return Finish(start);
    GE_RETURN_IF_ERROR(Stage(StageId::kMemory, [&] { return AssignMemory(&c_->plan, Memory()); }));
    GE_RETURN_IF_ERROR(CheckFootprint());
    if (Stop(StageId::kMemory)) return Finish(start);
    if (options_.check) GE_RETURN_IF_ERROR(Stage(StageId::kCheck, [&] { return CheckPlan(); }));
    GE_RETURN_IF_ERROR(MakeProgram());
    c_->nodes = static_cast<uint32_t>(function().nodes.size());
    RememberInClass();
    if (reshaped_) ForgetGraph(), c_->placing = Compiled::Placing::kShaped;
    c_->unpin_.reset();
    return Finish(start);
  }

 private:
  template <typename Do>
  Status Stage(StageId stage, Do&& run) {
    return runner_.RunStage(stage, run, [] { return Status(); });
  }

  // Until every segment is compiled. stopped_ or keep_incumbent_ where it ends before.
  Status PlaceAndCompile() {
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
      GE_RETURN_IF_ERROR(
          Stage(StageId::kPartition, [&] { return Partition(c_->graph, function(), &c_->plan); }));
      stopped_ = Stop(StageId::kPartition);
      if (stopped_) return {};
      bool again = false;
      GE_RETURN_IF_ERROR(Stage(StageId::kCompile, [&] { return Compile(&again); }));
      if (!again) return {};
      if (round == kMaxPlaceRounds) return last_failure_;
    }
  }

  // Where nobody takes a node any more: also why the last offers were struck.
  Status WithLastFailure(Status placed) const {
    if (last_failure_.ok() || placed.code() != Code::kUnsupported) return placed;
    return Status(placed.code(), placed.message() + "; what was offered did not compile: " +
                                     last_failure_.message())
        .AtNode(placed.node())
        .AtStage(placed.stage());
  }

  const Function& function() const { return c_->graph.fn(c_->fn); }
  bool Stop(StageId stage) const { return options_.stop_after == stage; }

  Result<std::shared_ptr<Compiled>> Finish(double start) {
    c_->compile_ms = NowMs() - start;
    c_->times = runner_.times();
    c_->struck_offers = static_cast<uint32_t>(struck_.size());
    c_->plan.searches += market_cover_.searches;
    return c_;
  }

  MemoryOptions Memory() const {
    if (options_.red_zones) return MemoryOptions{kRedZone, false};
    MemoryOptions memory = options_.memory;
    memory.quick = memory.quick || reshaped_;
    return memory;
  }

  Status Query() {
    GE_ASSIGN_OR_RETURN(c_->view_, GraphView::Make(c_->graph, function()));
    GE_RETURN_IF_ERROR(DescribeEngines(engines_, HostMachine(), &c_->plan));
    if (asked_) {
      c_->plan.layouts = std::move(asked_->layouts), c_->offers = std::move(asked_->offers);
      asked_.reset();
    } else {
      GE_RETURN_IF_ERROR(
          Ask(c_->graph, function(), c_->view_.get(), &c_->plan.layouts, &c_->offers));
    }
    DescribeConversions(c_->offers, &c_->plan);
    return {};
  }

  // The offers of every engine for a function, at the prices that count.
  Status Ask(const Graph& graph, const Function& f, GraphView* view,
             std::vector<PlanLayout>* layouts, OfferSet* offers) {
    for (uint32_t e = 0; e < engines_.size(); ++e) {
      GE_RETURN_IF_ERROR(QueryEngine(*engines_[e], e, graph, f, view->get(), layouts, offers));
    }
    GE_RETURN_IF_ERROR(Correct(graph, f, view, layouts, offers));
    for (Offer& o : offers->offers) {
      for (OfferChoice& c : o.choices) c.marginal_ns += o.shape_ns / options_.runs_a_shape;
    }
    return {};
  }

  Status Correct(const Graph& graph, const Function& f, GraphView* view,
                 std::vector<PlanLayout>* layouts, OfferSet* offers) {
    if (!options_.price_cache) return {};
    if (options_.prices.mode == PriceMode::kMeasure && options_.measure) {
      const double budget_ms = options_.prices.measure_budget_ms - c_->measured.ms;
      c_->measured.Add(options_.measure(graph, f, *layouts, view, *offers, budget_ms));
    }
    CorrectPrices(engines_, *options_.price_cache, graph, f, *layouts, offers);
    return {};
  }

  // By prices as they are now, of the new plan and of the one in use. What is in use was measured
  // where the two cannot be compared, since another decomposition was chosen.
  bool IsClearlyCheaper() const {
    constexpr double kHysteresis = 0.95;  // less is noise, and would make plans flip
    const Compiled& old = *options_.incumbent;
    auto cost = PriceOfPlan(function(), c_->offers, c_->plan, old.plan.functions[0], HowToPlace());
    const double in_use = cost.ok() ? *cost : old.clock ? old.clock->Read().total.ns : 0;
    return c_->plan.predicted_ns < kHysteresis * in_use;
  }

  // Nodes with a decomposition stay whole or become their parts, whichever is cheaper.
  Status Decompose() {
    if (!near_.empty() && near_[0]->expanded.empty()) return {};  // as the class does
    // Who is bound to a node by name or order may be one that multiplies floats.
    if (!FreeChoice() && !options_.place.expanded) {
      GE_RETURN_IF_ERROR(FoldCodedWeights(Floats(), &c_->graph, c_->fn));
    }
    if (!HasDecompositions(c_->graph, function())) return {};
    GE_RETURN_IF_ERROR(ChooseParts());
    return c_->expanded.empty() ? Status() : FoldParts();
  }

  FloatsOfWeight Floats() const {
    auto known = options_.weight_floats ? options_.weight_floats : std::make_shared<WeightFloats>();
    return [known, evaluator = std::shared_ptr<Evaluator>(MakeEvaluator(engines_))](
               const Graph& g, const Function& f, const Node& n) {
      return known->Of(g, f, n, evaluator.get());
    };
  }

  Status FoldParts() { return options_.fold_parts ? options_.fold_parts(&c_->graph) : Status(); }

  Status ChooseParts() {
    auto ask = [this](const Graph& graph, const Function& f, std::vector<PlanLayout>* layouts,
                      OfferSet* offers) -> Status {
      GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(graph, f));
      return Ask(graph, f, view.get(), layouts, offers);
    };
    std::vector<NodeId> pinned;
    GE_RETURN_IF_ERROR(
        ExpandPinned(engines_, ask, Floats(), &c_->graph, c_->fn, &place_, &pinned, &notes_));
    GE_RETURN_IF_ERROR(ChooseFreeParts(ask));
    c_->expanded.insert(c_->expanded.end(), pinned.begin(), pinned.end());
    return {};
  }

  Status ChooseFreeParts(const AskEngines& ask) {
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
    return ChooseDecompositions(engines_, ask, Floats(), &c_->graph, c_->fn,
                                PinnedNodes(function(), place_.pins), &c_->expanded, &notes_,
                                &market_cover_, &asked_);
  }

  bool FreeChoice() const {
    const PlaceOptions& o = options_.place;
    return o.policy == PlacePolicy::kCost && o.order.empty() && o.pins.empty() && o.cover.empty() &&
           o.fuse;
  }

  // Covers that were found for graphs like this one, of about these dims.
  void LookForClass() {
    const bool wanted = options_.classes && FreeChoice() && !options_.place.expanded &&
                        !options_.incumbent && options_.prices.mode != PriceMode::kMeasure;
    if (!wanted) return;
    ReshapeInputs* reshape = options_.reshape;
    class_key_ = reshape && reshape->shape_class ? *reshape->shape_class
                                                 : ShapeClasses::KeyOf(c_->graph, c_->fn);
    if (reshape) reshape->shape_class = class_key_;
    c_->shape_class = class_key_;
    dims_ = ShapeClasses::DimsOf(c_->graph, c_->fn);
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

  // Whether a cover runs in less than a search takes, at these dims too.
  bool IsShort(const ClassCover& cover) const {
    constexpr double kShortNs = 2e6;
    const double growth = ShapeClasses::Growth(cover.dims, dims_);
    const auto plan = cover.plan.lock();
    return plan && plan->plan.predicted_ns * growth * growth < kShortNs;
  }

  // The nearest plan, where it lives and its dims are close: its cover is taken unseen. That of a
  // looser class where sizes are data, since any of them may be 0 or 1 once there, or where a few
  // come after one.
  std::shared_ptr<const Compiled> CloseOne() const {
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

  // A piece's plan gives way to others of its place, of which hardly two are alike.
  void KeepForClass(std::shared_ptr<const Compiled> plan) const {
    constexpr uint64_t kMostBytes = 1 << 20;
    if (options_.of_data && plan->BytesHeld() <= kMostBytes)
      options_.classes->Keep(std::move(plan));
  }

  Status TryReshape(const std::shared_ptr<const Compiled>& like) {
    GE_RETURN_IF_ERROR(Decompose());
    GE_ASSIGN_OR_RETURN(reshaped_, Reshape(*like));
    if (reshaped_) return KeepForClass(like), Status();
    TakeBackParts();
    compiler_.reset(), c_->view_.reset();
    return {};
  }

  // The graph as it was before the class's nodes were expanded, with no plan.
  void TakeBackParts() {
    if (!c_->expanded.empty()) c_->graph = std::move(bound_);
    c_->expanded.clear(), notes_.clear();
    c_->offers = {}, c_->plan = {};
  }

  Status TakeView() {
    if (options_.reshape && options_.reshape->view) {
      c_->view_ = std::move(options_.reshape->view);
      return {};
    }
    GE_ASSIGN_OR_RETURN(c_->view_, GraphView::Make(c_->graph, function()));
    return {};
  }

  Result<bool> Reshape(const Compiled& like) {
    auto plan =
        PlacedLike(like, engines_, function(), "class, shaped like " + DimsText(near_[0]->dims));
    if (!plan) return false;
    c_->plan = *std::move(plan);
    if (!PartitionLike(like, function(), &c_->plan)) {
      if (!Partition(c_->graph, function(), &c_->plan).ok()) return false;
      if (!SameSegments(c_->plan.functions[0], like.plan.functions[0])) return false;
    }
    GE_RETURN_IF_ERROR(TakeView());
    compiler_.emplace(engines_, c_.get());
    c_->plan.shared_report = ReportLike(like, function(), notes_);
    return compiler_->Shape(like);
  }

  // The cheapest of the near covers, those with the same parts as the nearest, by the offers of
  // these dims. False when there is none of which all offers are made again, or when it is dearer
  // beside the floor than the search's was: others have become the best meanwhile.
  bool PlaceByClass() {
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
    if (best) c_->plan = *std::move(best);
    return best.has_value();
  }

  double Floor() const { return FloorOf(c_->offers, function().nodes.size()); }

  // Nobody looks at the graph of a plan that was placed unseen, unless for one more exec.
  void ForgetGraph() {
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
      options_.reshape->graph = std::move(c_->graph), options_.reshape->view = std::move(c_->view_);
    }
    c_->view_.reset();
    c_->graph.functions.clear();
    c_->graph.meta.clear();  // a recogniser's alphabet takes more than its plan
    c_->graph.dims = DimTable();
    std::vector<Const>().swap(c_->graph.consts);
  }

  // As if there were no class.
  Status ForgetClass() {
    TakeBackParts();
    near_.clear();
    GE_RETURN_IF_ERROR(Decompose());
    return Query();
  }

  void RememberInClass() {
    if (!class_key_ || reshaped_ || !struck_.empty()) return;
    const double floor = Floor();
    const double over = !near_.empty() ? near_[0]->over_floor
                        : floor > 0    ? c_->plan.predicted_ns / floor
                                       : 1;
    const ClassCover cover{dims_, c_->expanded, CoverOfPlan(c_->plan, function()), c_, over};
    options_.classes->Add(*class_key_, cover);
    KeepForClass(c_);
    if (near_.empty() && looser_key_) options_.classes->Add(*looser_key_, cover, /*looser=*/true);
  }

  PlaceOptions HowToPlace() const {
    PlaceOptions options = place_;
    options.alone = OverwritingNodes(function(), options_.states, options_.least_in_place_bytes);
    return options;
  }

  // What the market found is the plan, where nothing else was asked for and nothing was struck.
  PlaceOptions WithMarketCover() const {
    PlaceOptions options = HowToPlace();
    if (!FreeChoice() || market_cover_.method.empty() || !struck_.empty()) return options;
    options.cover = CoverAmong(market_cover_, c_->plan, function(), c_->offers);
    options.cover_method = market_cover_.method;
    return options;
  }

  Status PlaceNodes() {
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
      struck_.clear(), c_->offers = {}, c_->plan = {};
      GE_RETURN_IF_ERROR(FoldParts());
      GE_RETURN_IF_ERROR(Query());
      placed = place();
    }
    AddNotes();
    return placed;
  }

  void AddNotes() {
    for (NodeReport& r : c_->plan.report) {
      const auto note = notes_.find(r.node);
      if (note != notes_.end()) r.decomposition = note->second;
    }
  }

  Status Compile(bool* again) {
    compiler_.emplace(engines_, c_.get());
    return compiler_->Compile(&struck_, &last_failure_, again);
  }

  // A model or feed of absurd size is refused before anything is allocated for it.
  Status CheckFootprint() const {
    const uint64_t limit = MemoryLimitOf(options_);
    const PlanFunction& fn = c_->plan.functions[0];
    // An engine may pack a second copy of a splat.
    uint64_t total = 2 * ExpandedBytes(c_->graph, function());
    auto add = [&](int64_t bytes) {
      total = std::min(kMaxBytes, total + static_cast<uint64_t>(std::max<int64_t>(bytes, 0)));
    };
    for (const PlanArena& a : fn.arenas) add(a.bytes);
    for (PlanValueId v : fn.outputs) add(fn.values[v].bytes);
    if (total <= limit) return {};
    return Status(Code::kLimitExceeded,
                  fmt::format("one run needs {} bytes, the limit is {}; the largest values are {}; "
                              "use smaller inputs or {}",
                              total, limit, LargestValues(), kRaiseMemoryLimit))
        .AtStage("memory");
  }

  // "'a' with 12 bytes, 'b' with 4 bytes", three at most.
  std::string LargestValues() const {
    std::vector<const PlanValue*> values;
    for (const PlanValue& v : c_->plan.functions[0].values) {
      if (v.kind != PlanValueKind::kConstant && v.bytes > 0) values.push_back(&v);
    }
    const auto count = static_cast<ptrdiff_t>(std::min<size_t>(3, values.size()));
    std::partial_sort(values.begin(), values.begin() + count, values.end(),
                      [](const PlanValue* a, const PlanValue* b) { return a->bytes > b->bytes; });
    std::string out;
    for (ptrdiff_t i = 0; i < count; ++i) {
      out += fmt::format("{}'{}' with {} bytes", i ? ", " : "", values[i]->name, values[i]->bytes);
    }
    return out;
  }

  Status CheckPlan() {
    GE_ASSIGN_OR_RETURN(c_->check, ge::Check(c_->plan));
    return {};
  }

  Status MakeProgram() {
    ProgramParts parts;
    parts.engines.resize(engines_.size() + 1);
    for (size_t e = 0; e < engines_.size(); ++e) {
      parts.engines[e + 1] = {engines_[e]->name(), engines_[e]->api(), engines_[e]->handle(),
                              Interned(CallText(*engines_[e], "enqueue"))};
    }
    parts.execs = compiler_->execs();
    parts.packs = c_->PackBufs();
    c_->arenas_ = options_.arenas;
    parts.arenas = c_->arenas_.get();
    parts.red_zones = options_.red_zones;
    // What a plan takes that was placed unseen has no offers to be compared with.
    const bool timed = options_.prices.mode != PriceMode::kShipped || options_.prices.replan;
    if (options_.price_cache && timed && !options_.red_zones && !reshaped_)
      c_->clock = std::make_shared<RunClock>(c_->plan);
    parts.clock = c_->clock;
    for (const PlanValue& v : c_->plan.functions[0].values) {
      const void* data = nullptr;
      if (v.kind == PlanValueKind::kConstant)
        data = GE_VALUE(c_->view_->get(), v.graph_value)->data;
      parts.constants.push_back(data);
    }
    for (const Instruction& i : c_->plan.functions[0].code) {  // results that are constants
      const PlanValue& v = c_->plan.functions[0].values[i.op == PlanOp::kCopy ? i.src : 0];
      if (v.kind == PlanValueKind::kConstant) AddFileOf(c_->graph.consts[v.constant], &c_->files_);
    }
    // A serial segment is compiled once more for each further frame, from the same graph view.
    parts.make_exec = [engines = &engines_, c = c_.get()](SegmentId segment) {
      return SegmentCompiler(*engines, c).OneMore(segment);
    };
    GE_ASSIGN_OR_RETURN(c_->program_, Program::Make(c_->plan, std::move(parts)));
    return {};
  }

  const EngineList& engines_;
  const BuildOptions& options_;
  PlaceOptions place_;  // those of options_, with pins of parts in the place of their nodes
  std::shared_ptr<Compiled> c_;
  Runner runner_;
  std::set<size_t> struck_;
  MarketCover market_cover_;
  std::optional<AskedOffers> asked_;  // about the graph as it is; taken once
  DecompositionNotes notes_;
  Status last_failure_;
  std::optional<SegmentCompiler> compiler_;
  std::optional<uint64_t> class_key_;  // set when the session's classes count
  std::vector<int64_t> dims_;
  std::optional<uint64_t> looser_key_;  // set when its class has no cover
  ShapeClasses::Covers near_;
  bool looser_ = false;  // those are
  Graph bound_;          // before the class's nodes were expanded; empty when none were
  bool reshaped_ = false;
  bool stopped_ = false, keep_incumbent_ = false;  // of PlaceAndCompile
};

Result<std::shared_ptr<Compiled>> BuildCompiled(Graph bound, FunctionId fn,
                                                const EngineList& engines,
                                                const BuildOptions& options) {
  Builder builder(engines, options);
  auto compiled = builder.Run(std::move(bound), fn);
  return compiled;
}

}  // namespace ge
