// Compiled: one entry at one shape signature, planned, compiled, proved and ready to run.
// Made by Builder; immutable apart from its pool of frames. Shared by the runs that use it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/file_mapping.h"
#include "ge/base/status.h"
#include "ge/compile/compiled/reshape_inputs.h"
#include "ge/compile/states/in_place_states.h"
#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/engine/resident/pack_set.h"
#include "ge/engine/resident/residents.h"
#include "ge/engine/view.h"
#include "ge/memory/memory.h"
#include "ge/place/options.h"
#include "ge/plan/check/check.h"
#include "ge/price/links.h"
#include "ge/price/price_cache.h"
#include "ge/run/frame.h"
#include "ge/run/program.h"
#include "ge/run/state_memory.h"
#include "ge/stage/runner.h"
#include "streams/streams.h"

namespace ge {

class ShapeClasses;

// The result of MeasureOffers.
struct MeasureReport {
  uint32_t measured = 0, left = 0, failed = 0;  // offers; left: the budget was used up
  uint32_t doubtful = 0;                        // of the measured ones
  bool busy = false;                            // the machine, meanwhile
  double ms = 0;
  void Add(const MeasureReport& more) {
    measured += more.measured;
    left += more.left;
    failed += more.failed;
    doubtful += more.doubtful;
    busy |= more.busy;
    ms += more.ms;
  }
  uint32_t plans = 0;  // that were rehearsed
  double rehearsal_ms = 0;
};

// The graph after a pass that has edited it.
struct EditedGraph {
  std::string pass;
  Graph graph;
};

class Compiled : public std::enable_shared_from_this<Compiled> {
 public:
  ~Compiled();
  // Holds packs where they are, from before a run takes a frame until the run is done.
  class PinnedPacks {
   public:
    PinnedPacks() = default;
    PinnedPacks(PinnedPacks&& other) noexcept : set_(std::exchange(other.set_, nullptr)) {}
    PinnedPacks& operator=(PinnedPacks&& other) noexcept {
      std::swap(set_, other.set_);
      return *this;
    }
    Status Pin(Compiled* compiled);
    bool PinAsTheyAre(const Compiled* compiled);  // false where some would have to be written first
    ~PinnedPacks();

   private:
    PackSet* set_ = nullptr;
  };
  // A frame that nobody uses, or a new one.
  Result<std::unique_ptr<Frame>> TakeFrame();
  void GiveFrame(std::unique_ptr<Frame> frame);
  // A free frame, or a new one.
  const MappedFiles& files() const { return files_; }
  // Arenas of the frames made so far that are in no pool, packed weights, folded constants and
  // copies.
  uint64_t BytesHeld() const;
  // It has work for a device that is lost.
  bool UsesLost() const;

  // Bound; its consts share the model's payloads. Without functions where the plan was shaped like
  // another one.
  Graph graph;
  FunctionId fn = 0;
  std::vector<StateId> states_in;   // parameters after the user's own
  std::vector<StateId> states_out;  // results after the user's own
  std::vector<bool> in_place;       // parallel to states_out: written where it lies
  std::vector<uint64_t> states_in_bytes, states_out_bytes;  // parallel to states_in and _out
  // Where the plan has them, parallel; empty: all in host memory.
  std::vector<StateHome> states_in_home, states_out_home;
  void TakeStates(std::vector<StateId> in, std::vector<StateId> out);
  // The user's own inputs and outputs by position, as runs check them.
  struct Port {
    std::string name;
    DType dtype = DType::kUndefined;
    std::vector<int64_t> dims;
    uint64_t bytes = 0;
  };
  // By segment: the packs of its launches.
  std::vector<std::vector<ge_buf>> PackBufs() const;
  std::vector<ge_buf> HostPacks() const;  // of all segments, those in host memory
  static std::vector<Port> PortsOf(const Function& function, std::span<const ValueId> values);
  std::vector<Port> inputs, outputs;
  std::vector<NodeId> expanded;  // nodes that became their decomposition
  OfferSet offers;
  Plan plan;
  CheckReport check;
  // How it was placed: by a search, by a cover of its class that engines were asked about, unseen,
  // shaped like another plan, or as a file has it.
  enum class Placing : uint8_t {
    kSearched,
    kByClass,
    kShaped,
    kSaved
  } placing = Placing::kSearched;
  double over_floor = 1;  // as ClassCover's
  std::optional<uint64_t> looser_class;
  std::optional<uint64_t> shape_class;  // see shape_class.h; none where no class was asked
  // Node names of plans shaped like this one; made with the first of them.
  struct ShapedReport {
    std::mutex mutex;
    std::shared_ptr<const std::vector<NodeReport>> made;
  };
  mutable ShapedReport shaped_report;
  uint64_t copied_constant_bytes = 0;
  uint64_t packed_bytes = 0;  // of constants that execs keep for themselves
  uint64_t filled_bytes = 0;  // of residents that were written for it
  uint32_t nodes = 0;
  uint64_t folded_bytes = 0;  // of constants that were made for this plan
  uint32_t struck_offers = 0;
  double compile_ms = 0;
  std::vector<LinkPrice> links;     // of the plan, where prices are corrected
  MeasureReport measured;           // with PriceMode::kMeasure
  std::string question;             // see rehearsed.h; empty where none is kept
  bool recalled = false;            // the plan is one that a rehearsal found
  std::vector<EditedGraph> edits;   // after passes at bind, where the session keeps them
  std::string bound_key;            // of a piece, where somebody watches; see bound_key.h
  std::string exact_key;            // with payloads, where the piece may be saved
  std::shared_ptr<RunClock> clock;  // null when runs are not timed
  uint32_t recorded_runs = 0;       // by RecordRuns
  std::atomic<uint32_t> next_replan_check{4};  // timed runs
  std::vector<StageTime> times;

 private:
  friend class Builder;
  friend class SegmentCompiler;
  struct OwnedExec {
    uint32_t engine;  // of `engines_`
    ge_exec* exec;
  };
  // Of values by position; none where all are in host memory.
  std::vector<StateHome> HomesOf(std::span<const PlanValueId> values) const;
  const EngineList* engines_ = nullptr;  // the session's
  EngineList held_engines_;              // the same; a run may outlive the session
  bool unasked_ = false;  // engines that promise to take it so were not asked about the graph
  std::unique_ptr<GraphView> view_;
  std::vector<AlignedBytes> const_copies_;
  std::vector<ConstScratch> splats_;                   // of the view, where it is gone
  std::vector<std::shared_ptr<const void>> payloads_;  // of the constants, where the graph is gone
  MappedFiles files_;
  std::shared_ptr<ArenaPool> arenas_;
  std::vector<OwnedExec> execs_;
  std::vector<std::vector<std::shared_ptr<Resident>>> packs_;  // by segment
  std::vector<std::vector<uint64_t>> pack_values_;             // as PackValues; parallel
  std::shared_ptr<PackSet> pack_set_;                          // of them all; null: there are none
  struct Unpin {
    void operator()(PackSet* set) const { set->Unpin(); }
  };
  std::unique_ptr<PackSet, Unpin> unpin_;  // while it is being made
  std::unique_ptr<Program> program_;
  mutable std::mutex mutex_;  // of the following
  std::vector<std::unique_ptr<Frame>> free_frames_;
  uint32_t frames_made_ = 0;

 public:
  const Program& program() const { return *program_; }
  const EngineList& engines() const { return held_engines_; }  // by index of Plan::engines, less 1
  // By segment.
  const std::vector<std::vector<std::shared_ptr<Resident>>>& residents() const { return packs_; }
  const std::vector<std::vector<uint64_t>>& pack_values() const { return pack_values_; }
};

enum class PriceMode {
  kAnalytic,  // the engines' own
  kCached,    // corrected by the cache; runs are timed and remembered
  kMeasure,   // as cached, and offers in question are timed before they are placed
  kShipped,   // corrected by shipped prices of similar processors; nothing is remembered
};
// "analytic", "cached", "measure", "shipped"; INVALID_ARGUMENT for anything else.
Result<PriceMode> PriceModeFromName(std::string_view name);
std::string_view PriceModeName(PriceMode mode);

struct PriceOptions {
  PriceMode mode = PriceMode::kAnalytic;
  double measure_budget_ms = 2000;  // of one compile
  double observe_budget_ms = 200;   // at most, of timing single offers when a session ends
  // Runs may replace a plan if its time differs from the prediction. Else a plan stays as it is.
  bool replan = false;
  // A plan that a rehearsal found is taken where one is kept and nothing else is asked of PLACE.
  bool recall = true;
};

// Times offers that come into question before they are placed; see ge/tune/measure.h.
using MeasureHook = std::function<MeasureReport(
    const Graph& graph, const Function& function, const std::vector<PlanLayout>& layouts,
    GraphView* view, const OfferSet& offers, double budget_ms)>;

class WeightFloats;  // quantized_weights.h
struct SavedPlan;    // saved_plan.h

struct BuildOptions {
  PriceOptions prices;
  MeasureHook measure;                // with PriceMode::kMeasure; null = nothing is timed
  PriceCache* price_cache = nullptr;  // of the session; null = analytic prices, no clocks
  std::shared_ptr<ArenaPool> arenas;  // of the session: memory of runs; null = each plan its own
  ShapeClasses* classes = nullptr;    // of the session: covers found for like graphs; null = none
  std::shared_ptr<WeightFloats> weight_floats;  // of the session; null = of this plan alone
  // For a piece with data-dependent sizes: hardly two are alike, so a search must be worth its time
  // in few runs.
  bool of_data = false;
  // The number of runs to pay for work done once for a shape, an engine's code.
  double runs_a_shape = 1000;
  // A plan of the same entry and shapes: the answer is null when no plan is clearly cheaper.
  const Compiled* incumbent = nullptr;
  // A plan of this graph as a file has it: nothing is searched, and only engines that do not
  // promise GE_ENGINE_UNASKED are asked. FAILED_PRECONDITION, with the engine and the reason, where
  // one would not offer it; DATA_CORRUPT where it is no plan of the graph.
  const SavedPlan* saved = nullptr;
  // For a plan that is to be saved: it is searched for, whatever there is of its class, and knows
  // its classes.
  bool apart = false;
  PlaceOptions place;
  StreamOptions streams;
  MemoryOptions memory;
  bool check = true;  // tests alone switch it off
  // Runs are guarded: see ge/run/red_zones.h. Session::Create sets it where GE_RED_ZONES=1.
  bool red_zones = false;
  // Folds constants where a node became its parts; null = they are computed in each run.
  std::function<Status(Graph*)> fold_parts;
  // States of the function, and the size from which they are overwritten in place.
  std::vector<StatePair> states;
  std::vector<StatePair> all_states;  // those that are only read or only written, too
  uint64_t least_in_place_bytes = kLeastInPlaceBytes;
  uint64_t memory_limit_bytes = 0;   // see memory_limit.h; 0 = the default
  uint64_t given_bytes = 0;          // payloads of the model and inputs of the run, set by sessions
  ReshapeInputs* reshape = nullptr;  // of who wants the graph again; null = nobody
  bool keep_graph = false;           // of each plan, also of one that is shaped like another
  StageId stop_after = StageId::kCheck;
  Runner::Options runner;
};

// From a bound, folded graph to a Compiled: place .. check. The engines must outlive the result.
// Null only with options.incumbent.
Result<std::shared_ptr<Compiled>> BuildCompiled(Graph bound, FunctionId fn,
                                                const EngineList& engines,
                                                const BuildOptions& options);

}  // namespace ge
