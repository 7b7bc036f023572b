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
      : engines_(engines),
        options_(options),
        place_(options.place),
        c_(std::make_shared<Compiled>()),
        runner_(options.runner) {
    c_->engines_ = &engines_;
  }

  // Null where an incumbent was given and no plan is clearly cheaper.
  Result<std::shared_ptr<Compiled>> Run(Graph bound, FunctionId fn);

 private:
  const Function& function() const { return c_->graph.fn(c_->fn); }
  template <typename Do>
  Status Stage(StageId stage, Do&& run) {
    return runner_.RunStage(stage, run, [] { return Status(); });
  }
  bool Stop(StageId stage) const { return options_.stop_after == stage; }

  // Query, decompose and place: builder_place.cc.
  //
  // Until every segment is compiled. stopped_ or keep_incumbent_ where it ends before.
  Status PlaceAndCompile();
  // Where nobody takes a node any more: also why the last offers were struck.
  Status WithLastFailure(Status placed) const;
  Status Query();
  // The offers of every engine for a function, at the prices that count.
  Status Ask(const Graph& graph, const Function& function, GraphView* view,
             std::vector<PlanLayout>* layouts, OfferSet* offers);
  Status Correct(const Graph& graph, const Function& function, GraphView* view,
                 std::vector<PlanLayout>* layouts, OfferSet* offers);
  // By prices as they are now, of the new plan and of the one in use. What is in use was measured
  // where the two cannot be compared, since another decomposition was chosen.
  bool IsClearlyCheaper() const;
  // Nodes with a decomposition stay whole or become their parts, whichever is cheaper.
  Status Decompose();
  FloatsOfWeight Floats() const;
  Status FoldParts() { return options_.fold_parts ? options_.fold_parts(&c_->graph) : Status(); }
  Status ChooseParts();
  Status ChooseFreeParts(const AskEngines& ask);
  // Whether prices alone decide.
  bool FreeChoice() const;
  PlaceOptions HowToPlace() const;
  // What the market found is the plan, where nothing else was asked for and nothing was struck.
  PlaceOptions WithMarketCover() const;
  Status PlaceNodes();
  void AddNotes();

  // Covers and plans of other dims: builder_class.cc.
  //
  // Covers that were found for graphs like this one, of about these dims.
  void LookForClass();
  // Whether a cover runs in less than a search takes, at these dims too.
  bool IsShort(const ClassCover& cover) const;
  // The nearest plan, where it lives and its dims are close: its cover is taken unseen. That of a
  // looser class where sizes are data, since any of them may be 0 or 1 once there, or where a few
  // come after one.
  std::shared_ptr<const Compiled> CloseOne() const;
  // A piece's plan gives way to others of its place, of which hardly two are alike.
  void KeepForClass(std::shared_ptr<const Compiled> plan) const;
  Status TryReshape(const std::shared_ptr<const Compiled>& like);
  // The graph as it was before the class's nodes were expanded, with no plan.
  void TakeBackParts();
  Status TakeView();
  Result<bool> Reshape(const Compiled& like);
  // The cheapest of the near covers, those with the same parts as the nearest, by the offers of
  // these dims. False when there is none of which all offers are made again, or when it is dearer
  // beside the floor than the search's was: others have become the best meanwhile.
  bool PlaceByClass();
  // The sum of the cheapest offers of each node.
  double Floor() const;
  // Nobody looks at the graph of a plan that was placed unseen, unless for one more exec.
  void ForgetGraph();
  // As if there were no class.
  Status ForgetClass();
  void RememberInClass();

  // From segments to a program: builder.cc.
  //
  Status Compile(bool* again);
  MemoryOptions Memory() const;
  // A model or feed of absurd size is refused before anything is allocated for it.
  Status CheckFootprint() const;
  // "'a' with 12 bytes, 'b' with 4 bytes", three at most.
  std::string LargestValues() const;
  Status CheckPlan();
  Status MakeProgram();
  Result<std::shared_ptr<Compiled>> Finish(double start);

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

}  // namespace ge
