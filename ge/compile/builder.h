// Builder: one bound graph on its way to a Compiled: query, place, partition, compile, streams,
// memory, check. A segment that fails to compile has its offers struck and the graph goes back to
// PLACE. Internal to ge/compile: BuildCompiled (compiled.h) makes one, runs it once and drops it.
// The engines and options outlive it. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ge/compile/classes/shape_class.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/decompose/decomposition.h"
#include "ge/compile/decompose/quantized_weights.h"
#include "ge/compile/segment_compiler.h"

namespace ge {

// "2x3x4", the first dozen of them; for notes on how a plan was placed.
std::string DimsText(const std::vector<int64_t>& dims);

class Builder {
 public:
  Builder(const EngineList& engines, const BuildOptions& options)
      : engines_(&engines),
        options_(options),
        place_(options.place),
        c_(std::make_shared<Compiled>()),
        runner_(options.runner) {
    PlanOn(engines_);
  }

  // Null where an incumbent was given and no plan is clearly cheaper.
  Result<std::shared_ptr<Compiled>> Run(Graph bound, FunctionId fn);

 private:
  const Function& function() const { return c_->graph.fn(c_->fn); }
  const EngineList& engines() const { return *engines_; }
  template <typename Do>
  Status Stage(StageId stage, Do&& run) {
    return runner_.RunStage(stage, run, [] { return Status(); });
  }
  bool Stop(StageId stage) const { return options_.stop_after == stage; }

  // Query, decompose and place: builder_place.cc.
  //
  // Repeats until every segment is compiled. Sets stopped_ or keep_incumbent_ where it ends before.
  Status PlaceAndCompile();
  // Adds to `placed`, where nobody takes a node any more, why the last offers were struck.
  Status WithLastFailure(Status placed) const;
  Status Query();
  // The offers of every engine for a function, at corrected prices.
  Status Ask(const Graph& graph, const Function& function, GraphView* view,
             std::vector<PlanLayout>* layouts, OfferSet* offers);
  Status Correct(const Graph& graph, const Function& function, GraphView* view,
                 std::vector<PlanLayout>* layouts, OfferSet* offers);
  // Compares the new plan with the one in use at present prices. Where they cannot be compared,
  // since another decomposition was chosen, the one in use counts by its measured time.
  bool IsClearlyCheaper() const;
  // Nodes with a decomposition stay whole or become their parts, whichever is cheaper.
  Status Decompose();
  FloatsOfWeight Floats() const;
  Status FoldParts() { return options_.fold_parts ? options_.fold_parts(&c_->graph) : Status(); }
  Status ChooseParts();
  Status ChooseFreeParts(const AskEngines& ask);
  // Whether prices alone decide.
  bool FreeChoice() const;
  // The states among the parameters and results, by their values.
  std::vector<StateValues> StatesOf() const;
  PlaceOptions HowToPlace() const;
  // Makes the market's cover the plan, where nothing else was asked for and nothing was struck.
  PlaceOptions WithMarketCover() const;
  Status PlaceNodes();
  void AddNotes();

  // Covers and plans of other dims: builder_class.cc.
  //
  // Looks for covers found for graphs like this one, of about these dims.
  void LookForClass();
  // Whether a cover runs in less time than a search takes, at these dims too.
  bool IsShort(const ClassCover& cover) const;
  // The nearest plan, if it lives and its dims are close: its cover is taken without asking
  // engines. A looser class serves where the data decide sizes, since any of them may be 0 or 1
  // once, or where no dim is less than the cover's: a few after one.
  std::shared_ptr<const Compiled> CloseOne() const;
  // Keeps a piece's plan alive for its class: its point evicts it for others, hardly two alike.
  void KeepForClass(std::shared_ptr<const Compiled> plan) const;
  Status TryReshape(const std::shared_ptr<const Compiled>& like);
  // The plan's engines from here on: its numbers of engines and devices count these.
  void PlanOn(const EngineList* engines) {
    c_->engines_ = engines_ = engines;
    c_->held_engines_ = *engines;
  }
  // The graph as it was before the class's nodes were expanded, with no plan.
  void TakeBackParts();
  Status TakeView();
  Result<bool> Reshape(const Compiled& like);
  // Prices the near covers with the same parts as the nearest by the offers of these dims, and
  // takes the cheapest. False when none has all its offers made again, or when it costs more beside
  // Floor() than the search's did: another cover is the best by now.
  bool PlaceByClass();
  // The sum of the cheapest offers of each node.
  double Floor() const;
  // Frees the graph of a plan placed by its class, unless one more exec needs it.
  void ForgetGraph();
  // Goes on as if there were no class.
  Status ForgetClass();
  void RememberInClass();

  // A plan of a file: builder_saved.cc.
  //
  Status TakeSaved();
  int64_t PositionOf(NodeId node) const;  // -1 where there is none
  // The local number of each of its devices.
  Status FindDevices(const Plan& saved, std::vector<DeviceId>* devices) const;
  Status TakeConversions(const Plan& saved, const std::vector<DeviceId>& devices);
  Status TakeSegments(const Plan& saved, const std::vector<DeviceId>& devices);
  // Each node is taken once, by numbers that lead somewhere.
  Status CheckOffer(const PlanOffer& offer, std::vector<bool>* taken) const;
  Status CheckOrder(const Plan& plan) const;
  // Of engines that do not promise GE_ENGINE_UNASKED: asks them, and takes their own offers in
  // place of the saved ones.
  Status AskUnpromised();
  Status TakeAsked(PlanOffer* offer, DeviceId device) const;

  // From segments to a program: builder.cc.
  //
  Status Compile(bool* again);
  MemoryOptions Memory() const;
  // Refuses a model or feed of absurd size before anything is allocated for it.
  Status CheckFootprint() const;  // builder_footprint.cc
  Status CheckDevices() const;
  // "'a' with 12 bytes, 'b' with 4 bytes", three at most, of that memory.
  std::string LargestValues(DomainId domain) const;
  Status CheckPlan();
  Status MakeProgram();
  Result<std::shared_ptr<Compiled>> Finish(double start);

  const EngineList* engines_;  // the caller's, or those of the plan that this one is shaped like
  const BuildOptions& options_;
  PlaceOptions place_;  // those of options_, with pins of parts in place of their nodes
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
  std::unordered_map<NodeId, int64_t> positions_;  // of the nodes of a saved plan
  bool looser_ = false;                            // those are
  Graph bound_;  // before the class's nodes were expanded; empty when none were
  bool reshaped_ = false;
  bool stopped_ = false, keep_incumbent_ = false;  // of PlaceAndCompile
};

}  // namespace ge
