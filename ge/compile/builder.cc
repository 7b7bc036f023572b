// From a bound graph to a Compiled: query, place, partition, compile, streams, memory, check.
// A segment that fails to compile has its offers struck and the graph goes back to PLACE.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ge/base/aligned.h"
#include "ge/base/clock.h"
#include "ge/base/file_mapping.h"
#include "ge/base/interrupt.h"
#include "ge/compile/compiled.h"
#include "ge/compile/decomposition.h"
#include "ge/compile/memory_limit.h"
#include "ge/engine/abi_layouts.h"
#include "ge/engine/record.h"
#include "ge/host/machine.h"
#include "ge/partition/partition.h"
#include "ge/place/from_offers.h"
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

}  // namespace

class Builder {
 public:
  Builder(const EngineList& engines, const BuildOptions& options)
      : engines_(engines),
        options_(options),
        c_(std::make_shared<Compiled>()),
        runner_(options.runner) {
    c_->engines_ = &engines_;
  }

  Result<std::shared_ptr<Compiled>> Run(Graph bound, FunctionId fn) {
    double start = NowMs();
    c_->graph = std::move(bound);
    c_->fn = fn;
    GE_RETURN_IF_ERROR(RefuseBodies(function()));
    auto none = [] { return Status(); };
    GE_RETURN_IF_ERROR(runner_.RunStage(
        StageId::kPlace, [&] { return Decompose(); }, none));
    GE_RETURN_IF_ERROR(runner_.RunStage(
        StageId::kPlace, [&] { return Query(); }, none));
    for (int round = 0;; ++round) {
      Status placed = runner_.RunStage(
          StageId::kPlace, [&] { return PlaceNodes(); }, none);
      // No offer is left, since engines had no memory to compile what they offered.
      const bool starved = last_failure_.code() == Code::kResourceExhausted;
      if (!placed.ok()) return starved ? last_failure_ : placed;
      if (options_.incumbent && !IsClearlyCheaper()) return std::shared_ptr<Compiled>();
      if (Stop(StageId::kPlace)) return Finish(start);
      GE_RETURN_IF_ERROR(runner_.RunStage(
          StageId::kPartition, [&] { return Partition(c_->graph, function(), &c_->plan); }, none));
      if (Stop(StageId::kPartition)) return Finish(start);
      bool again = false;
      GE_RETURN_IF_ERROR(runner_.RunStage(
          StageId::kCompile, [&] { return Compile(&again); }, none));
      if (!again) break;
      if (round == kMaxPlaceRounds) return last_failure_;
    }
    if (Stop(StageId::kCompile)) return Finish(start);
    GE_RETURN_IF_ERROR(runner_.RunStage(
        StageId::kStreams, [&] { return AssignStreams(&c_->plan, options_.streams); }, none));
    if (Stop(StageId::kStreams)) return Finish(start);
    GE_RETURN_IF_ERROR(runner_.RunStage(
        StageId::kMemory, [&] { return AssignMemory(&c_->plan, Memory()); }, none));
    GE_RETURN_IF_ERROR(CheckFootprint());
    if (Stop(StageId::kMemory)) return Finish(start);
    if (options_.check) {
      GE_RETURN_IF_ERROR(runner_.RunStage(
          StageId::kCheck, [&] { return CheckPlan(); }, none));
    }
    GE_RETURN_IF_ERROR(MakeProgram());
    return Finish(start);
  }

 private:
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
    return options_.red_zones ? MemoryOptions{kRedZone, false} : options_.memory;
  }

  Status Query() {
    GE_ASSIGN_OR_RETURN(c_->view_, GraphView::Make(c_->graph, function()));
    GE_RETURN_IF_ERROR(DescribeEngines(engines_, HostMachine(), &c_->plan));
    GE_RETURN_IF_ERROR(Ask(c_->graph, function(), c_->view_.get(), &c_->plan.layouts, &c_->offers));
    DescribeConversions(c_->offers, &c_->plan);
    return {};
  }

  // The offers of every engine for a function, at the prices that count.
  Status Ask(const Graph& graph, const Function& f, GraphView* view,
             std::vector<PlanLayout>* layouts, OfferSet* offers) {
    for (uint32_t e = 0; e < engines_.size(); ++e) {
      GE_RETURN_IF_ERROR(QueryEngine(*engines_[e], e, graph, f, view->get(), layouts, offers));
    }
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
    auto cost = PriceOfPlan(function(), c_->offers, c_->plan, old.plan.functions[0]);
    const double in_use = cost.ok() ? *cost : old.clock ? old.clock->Read().total.ns : 0;
    return c_->plan.predicted_ns < kHysteresis * in_use;
  }

  // Nodes with a decomposition stay whole or become their parts, whichever is cheaper.
  Status Decompose() {
    if (!HasDecompositions(function())) return {};
    GE_RETURN_IF_ERROR(ChooseParts());
    return c_->expanded.empty() ? Status() : FoldParts();
  }

  Status FoldParts() { return options_.fold_parts ? options_.fold_parts(&c_->graph) : Status(); }

  Status ChooseParts() {
    if (options_.place.expanded) {
      c_->expanded = *options_.place.expanded;
      ExpandAgain(&c_->graph, c_->fn, c_->expanded, &notes_);
      return {};
    }
    auto ask = [this](const Graph& graph, const Function& f, std::vector<PlanLayout>* layouts,
                      OfferSet* offers) -> Status {
      GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(graph, f));
      return Ask(graph, f, view.get(), layouts, offers);
    };
    return ChooseDecompositions(engines_, ask, &c_->graph, c_->fn, &c_->expanded, &notes_,
                                &market_cover_);
  }

  // What the market found is the plan, where nothing else was asked for and nothing was struck.
  PlaceOptions WithMarketCover() const {
    PlaceOptions options = options_.place;
    const bool asked = options.policy != PlacePolicy::kCost || !options.order.empty() ||
                       !options.pins.empty() || !options.cover.empty() || !options.fuse;
    if (asked || market_cover_.method.empty() || !struck_.empty()) return options;
    options.cover = CoverAmong(market_cover_, c_->plan, function(), c_->offers);
    options.cover_method = market_cover_.method;
    return options;
  }

  Status PlaceNodes() {
    auto place = [this] {
      return Place(c_->graph, function(), c_->offers, struck_, WithMarketCover(), &c_->plan);
    };
    Status placed = place();
    if (placed.code() == Code::kUnsupported && !struck_.empty() &&
        ExpandAll(&c_->graph, c_->fn, "no engine that takes it whole could compile it", &notes_)) {
      struck_.clear(), c_->offers = {}, c_->plan = {};
      GE_RETURN_IF_ERROR(FoldParts());
      GE_RETURN_IF_ERROR(Query());
      placed = place();
    }
    for (NodeReport& r : c_->plan.report) {
      const auto note = notes_.find(r.node);
      if (note != notes_.end()) r.decomposition = note->second;
    }
    return placed;
  }

  // What the ABI wants to see of one segment.
  struct Given {
    std::vector<std::vector<uint32_t>> nodes;
    std::vector<ge_taken> taken;
    std::vector<uint32_t> in, out, in_layout, out_layout;
    ge_segment segment{};
  };

  void FillSegment(SegmentId s, Given* g) {
    const PlanFunction& fn = c_->plan.functions[0];
    const PlanSegment& seg = fn.segments[s];
    g->nodes.reserve(seg.offers.size());
    for (const PlanOffer& o : seg.offers) {
      g->nodes.emplace_back();
      for (NodeId n : o.nodes) g->nodes.back().push_back(position_.at(n));
      g->taken.push_back({o.cookie,
                          g->nodes.back().data(),
                          static_cast<uint32_t>(g->nodes.back().size()),
                          o.choice,
                          {}});
    }
    if (seg.conversion >= 0) {
      g->taken.push_back({c_->plan.conversions[seg.conversion].cookie, nullptr, 0, 0, {}});
    }
    for (PlanValueId v : seg.inputs) {
      g->in.push_back(fn.values[v].graph_value);
      g->in_layout.push_back(fn.values[v].layout);
    }
    for (PlanValueId v : seg.outputs) {
      g->out.push_back(fn.values[v].graph_value);
      g->out_layout.push_back(fn.values[v].layout);
    }
    ge_segment& out = g->segment;
    out.h = GE_HDR(ge_segment, GE_TAG_SEGMENT);
    out.graph = c_->view_->get();
    out.taken = g->taken.data(), out.n_taken = static_cast<uint32_t>(g->taken.size());
    out.device = c_->plan.devices[seg.device].engine_device;
    out.in = g->in.data(), out.n_in = static_cast<uint32_t>(g->in.size());
    out.out = g->out.data(), out.n_out = static_cast<uint32_t>(g->out.size());
    out.in_layout = g->in_layout.data(), out.out_layout = g->out_layout.data();
    out.layout = layouts_.data(), out.n_layout = layouts_.size();
    out.stop = CurrentInterrupt() ? CurrentInterrupt()->word() : nullptr;
  }

  // Copies the constants whose alignment an engine asks for and the file does not give.
  Status AlignConstants() {
    const PlanFunction& fn = c_->plan.functions[0];
    for (const PlanSegment& seg : fn.segments) {
      for (const PlanOffer& o : seg.offers) {
        for (NodeId n : o.nodes) {
          for (ValueId v : function().nodes[position_.at(n)].inputs) {
            if (v) GE_RETURN_IF_ERROR(AlignConstant(v, o.const_align));
          }
        }
      }
    }
    return {};
  }

  Status AlignConstant(ValueId v, uint32_t wanted) {
    const ge_value* view = GE_VALUE(c_->view_->get(), v);
    if (!view->data || view->data_bytes == 0) return {};
    uint64_t align = wanted ? wanted : std::max<uint64_t>(1, view->type.bits / 8);
    if (reinterpret_cast<uintptr_t>(view->data) % align == 0) return {};
    AlignedBytes copy = AllocateAligned(view->data_bytes, align);
    if (!copy) {
      return Status(Code::kResourceExhausted,
                    fmt::format("no memory for an aligned copy of constant '{}' ({} bytes)",
                                function().values[v].name, view->data_bytes));
    }
    std::copy_n(static_cast<const std::byte*>(view->data), view->data_bytes, copy.get());
    c_->copied_constant_bytes += view->data_bytes;
    DropMappedPages(view->data, view->data_bytes);
    c_->view_->SetConstData(v, copy.get());
    c_->const_copies_.push_back(std::move(copy));
    return {};
  }

  Status Compile(bool* again) {
    position_.clear();
    for (uint32_t i = 0; i < function().nodes.size(); ++i) position_[function().nodes[i].id] = i;
    ReleaseExecs();
    layouts_ = AbiLayouts(c_->plan.layouts);
    GE_RETURN_IF_ERROR(AlignConstants());
    PlanFunction& fn = c_->plan.functions[0];
    c_->packed_bytes = 0;
    execs_.assign(fn.segments.size(), nullptr);
    for (uint32_t e = 0; e < engines_.size(); ++e) {
      std::vector<SegmentId> mine;
      for (SegmentId s = 0; s < fn.segments.size(); ++s) {
        if (c_->plan.devices[fn.segments[s].device].engine == e + 1) mine.push_back(s);
      }
      if (mine.empty()) continue;
      GE_RETURN_IF_ERROR(CompileOn(e, mine, again));
    }
    if (*again) ReleaseExecs();
    return {};
  }

  void ReleaseExecs() {
    for (const auto& x : c_->execs_) {
      const Engine& engine = *engines_[x.engine];
      if (x.exec && engine.api().exec_destroy) engine.api().exec_destroy(x.exec);
    }
    c_->execs_.clear();
  }

  // What an engine answers about each segment; why[i] is where it says why segment i failed.
  struct Answers {
    std::vector<ge_compiled> results;
    std::vector<ge_err> why;
  };

  ge_rc CallCompile(uint32_t e, const std::vector<SegmentId>& mine, Answers* answers, ge_err* err) {
    std::vector<Given> given(mine.size());
    std::vector<ge_segment> segments;
    answers->results.assign(mine.size(), {});
    answers->why.assign(mine.size(), EmptyError());
    for (size_t i = 0; i < mine.size(); ++i) {
      FillSegment(mine[i], &given[i]);
      segments.push_back(given[i].segment);
      answers->results[i].h = GE_HDR(ge_compiled, GE_TAG_COMPILED);
      answers->results[i].err = &answers->why[i];
    }
    const Engine& engine = *engines_[e];
    std::lock_guard<std::mutex> lock(engine.call_mutex());
    return engine.api().compile(engine.handle(), segments.data(),
                                static_cast<uint32_t>(segments.size()), sizeof(ge_segment),
                                answers->results.data(), sizeof(ge_compiled), err);
  }

  Status CompileOn(uint32_t e, const std::vector<SegmentId>& mine, bool* again) {
    const Engine& engine = *engines_[e];
    Answers answers;
    ge_err err = EmptyError();
    ge_rc rc = CallCompile(e, mine, &answers, &err);
    const Status stopped = CheckInterrupt();
    for (size_t i = 0; i < mine.size(); ++i) {
      ge_compiled& r = answers.results[i];
      if (r.exec) c_->execs_.push_back({e, r.exec});
      Status status;
      if (rc != GE_OK) {
        status = FromEngine(engine.name(), "compile", rc, err);
      } else if (r.rc != GE_OK) {
        status = FromEngine(engine.name(), "compile", r.rc, answers.why[i]);
      } else if (!r.exec) {
        status = Status(Code::kPluginError, fmt::format("engine '{}' answered OK to compile, but "
                                                        "gave no exec",
                                                        engine.name()));
      } else {
        status = TakeCompiled(mine[i], r);
        execs_[mine[i]] = r.exec;
      }
      if (!stopped.ok()) status = {};  // What it could not do says nothing of its offer.
      if (!status.ok()) {
        const PlanSegment& seg = c_->plan.functions[0].segments[mine[i]];
        if (seg.offers.empty()) return status;  // A conversion: nothing to place again.
        for (const PlanOffer& o : seg.offers) struck_.insert(o.offer_index);
        last_failure_ = std::move(status);
        *again = true;
      }
    }
    return stopped;
  }

  // PLUGIN_ERROR about what an engine answered to compile.
  Status BadAnswer(SegmentId s, const std::string& text) const {
    const PlanSegment& seg = c_->plan.functions[0].segments[s];
    return Status(Code::kPluginError,
                  fmt::format("engine '{}' compiled segment {} with {}",
                              c_->plan.engines[c_->plan.devices[seg.device].engine].name, s, text));
  }

  // Workspace, internal values, aliases and constants of one compiled segment into the plan.
  Status TakeCompiled(SegmentId s, const ge_compiled& r) {
    PlanSegment& seg = c_->plan.functions[0].segments[s];
    GE_RETURN_IF_ERROR(WantUnderstood(
        r.h, fmt::format("what engine '{}' compiled",
                         c_->plan.engines[c_->plan.devices[seg.device].engine].name)));
    seg.serial = r.flags & GE_COMPILED_SERIAL;
    seg.n_step = std::max(1u, r.n_step);
    GE_RETURN_IF_ERROR(TakeInternals(s, r));
    GE_RETURN_IF_ERROR(TakeWorkspace(s, r));
    GE_RETURN_IF_ERROR(TakeBorder(s, r));
    for (uint32_t i = 0; r.constant && i < r.n_constant; ++i) {
      c_->packed_bytes += r.constant[i].packed_bytes;
      uint32_t value = r.constant[i].value;
      if (r.constant[i].disposition == GE_CONST_COPIED && value < function().values.size()) {
        const ge_value* view = GE_VALUE(c_->view_->get(), value);
        if (view->data) DropMappedPages(view->data, view->data_bytes);
      }
    }
    return {};
  }

  Status TakeInternals(SegmentId s, const ge_compiled& r) {
    PlanFunction& fn = c_->plan.functions[0];
    PlanSegment& seg = fn.segments[s];
    seg.internals.clear();
    if (r.n_internal > 1'000'000 || (r.n_internal && !r.internal)) {
      return BadAnswer(s, "bad internal values");
    }
    for (uint32_t i = 0; i < r.n_internal; ++i) {
      const ge_internal& in = r.internal[i];
      if (in.bytes > kMaxBytes || (in.align & (in.align - 1)) || in.last_step >= seg.n_step ||
          in.first_step > in.last_step || (in.alias_of != UINT32_MAX && in.alias_of >= i)) {
        return BadAnswer(
            s, fmt::format("internal value {}: {} bytes, align {}, steps {}..{} of {}", i, in.bytes,
                           in.align, in.first_step, in.last_step, seg.n_step));
      }
      PlanValue v = Scratch(s, in.bytes, in.align);
      v.kind = PlanValueKind::kInternal;
      v.first_step = in.first_step, v.last_step = in.last_step;
      if (in.value && in.value < function().values.size()) {
        v.graph_value = in.value;
        v.type = function().values[in.value].type;
        v.name = function().values[in.value].name;
      }
      if (v.name.empty()) v.name = fmt::format("s{}.{}", s, i);
      if (in.alias_of != UINT32_MAX) v.internal_alias = seg.internals[in.alias_of];
      fn.values.push_back(std::move(v));
      seg.internals.push_back(static_cast<PlanValueId>(fn.values.size() - 1));
    }
    return {};
  }

  PlanValue Scratch(SegmentId s, uint64_t bytes, uint64_t align) const {
    PlanValue v;
    v.segment = s;
    v.domain = c_->plan.devices[c_->plan.functions[0].segments[s].device].domain;
    v.bytes = static_cast<int64_t>(bytes);
    v.align = align ? static_cast<int64_t>(align) : 64;
    return v;
  }

  Status TakeWorkspace(SegmentId s, const ge_compiled& r) {
    PlanFunction& fn = c_->plan.functions[0];
    fn.segments[s].workspace = 0;
    if (r.workspace > kMaxBytes || (r.workspace_align & (r.workspace_align - 1))) {
      return BadAnswer(
          s, fmt::format("a workspace of {} bytes, align {}", r.workspace, r.workspace_align));
    }
    if (r.workspace == 0) return {};
    PlanValue v = Scratch(s, r.workspace, r.workspace_align);
    v.kind = PlanValueKind::kWorkspace;
    v.name = fmt::format("s{}.workspace", s);
    fn.values.push_back(std::move(v));
    fn.segments[s].workspace = static_cast<PlanValueId>(fn.values.size() - 1);
    return {};
  }

  // Aliases of outputs and inputs, and the sizes of outputs in the engine's own layouts.
  Status TakeBorder(SegmentId s, const ge_compiled& r) {
    PlanFunction& fn = c_->plan.functions[0];
    PlanSegment& seg = fn.segments[s];
    seg.may_alias.clear();
    for (uint32_t i = 0; r.alias && i < r.alias_count; ++i) {
      uint32_t out = r.alias[2 * i], in = r.alias[2 * i + 1];
      if (out >= seg.outputs.size() || in >= seg.inputs.size()) {
        return BadAnswer(s, fmt::format("alias of output {} and input {}", out, in));
      }
      seg.may_alias.emplace_back(out, in);
    }
    for (size_t i = 0; r.out_bytes && i < seg.outputs.size(); ++i) {
      if (r.out_bytes[i] > kMaxBytes) return BadAnswer(s, "an output size beyond 2^62");
      PlanValue& v = fn.values[seg.outputs[i]];
      if (v.layout != 0 && r.out_bytes[i]) v.bytes = static_cast<int64_t>(r.out_bytes[i]);
    }
    return {};
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
      parts.engines[e + 1] = {engines_[e]->name(), engines_[e]->api(), engines_[e]->handle()};
    }
    parts.execs = execs_;
    parts.red_zones = options_.red_zones;
    if (options_.price_cache && !options_.red_zones)
      c_->clock = std::make_shared<RunClock>(c_->plan);
    parts.clock = c_->clock;
    for (const PlanValue& v : c_->plan.functions[0].values) {
      const void* data = nullptr;
      if (v.kind == PlanValueKind::kConstant)
        data = GE_VALUE(c_->view_->get(), v.graph_value)->data;
      parts.constants.push_back(data);
    }
    const auto* engines = &engines_;
    Compiled* c = c_.get();
    // A serial segment is compiled once more for each further frame, from the same graph view.
    parts.make_exec = [engines, c](SegmentId s) -> Result<ge_exec*> {
      BuildOptions none;
      Builder again(*engines, none);
      return again.CompileOneMore(c, s);
    };
    GE_ASSIGN_OR_RETURN(c_->program_, Program::Make(c_->plan, std::move(parts)));
    return {};
  }

  Result<ge_exec*> CompileOneMore(Compiled* c, SegmentId s) {
    // Borrow the finished Compiled: only its tables are read.
    std::shared_ptr<Compiled> mine = c_;
    c_ = std::shared_ptr<Compiled>(std::shared_ptr<Compiled>(), c);
    for (uint32_t i = 0; i < function().nodes.size(); ++i) position_[function().nodes[i].id] = i;
    layouts_ = AbiLayouts(c_->plan.layouts);
    uint32_t e = c->plan.devices[c->plan.functions[0].segments[s].device].engine - 1;
    Answers answers;
    ge_err err = EmptyError();
    ge_rc rc = CallCompile(e, {s}, &answers, &err);
    const std::vector<ge_compiled>& results = answers.results;
    c_ = mine;
    if (rc != GE_OK) return FromEngine(engines_[e]->name(), "compile", rc, err);
    if (results[0].rc != GE_OK) {
      return FromEngine(engines_[e]->name(), "compile", results[0].rc, answers.why[0]);
    }
    if (!results[0].exec) {
      return Status(Code::kPluginError, fmt::format("engine '{}' answered OK to compile, but gave "
                                                    "no exec",
                                                    engines_[e]->name()));
    }
    return results[0].exec;
  }

  const EngineList& engines_;
  const BuildOptions& options_;
  std::shared_ptr<Compiled> c_;
  Runner runner_;
  std::set<size_t> struck_;
  MarketCover market_cover_;
  DecompositionNotes notes_;
  Status last_failure_;
  std::map<NodeId, uint32_t> position_;
  AbiLayouts layouts_;
  std::vector<ge_exec*> execs_;
};

Result<std::shared_ptr<Compiled>> BuildCompiled(Graph bound, FunctionId fn,
                                                const EngineList& engines,
                                                const BuildOptions& options) {
  Builder builder(engines, options);
  auto compiled = builder.Run(std::move(bound), fn);
  return compiled;
}

}  // namespace ge
