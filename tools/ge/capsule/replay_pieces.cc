#include "tools/ge/capsule/replay_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ge/capsule/pieces.h"
#include "ge/capsule/plan_members.h"
#include "ge/capsule/statistics.h"
#include "ge/capsule/tensor_members.h"
#include "ge/place/placed.h"
#include "ge/session/observed_values.h"
#include "ge/session/run_watch.h"
#include "ge/session/value_members.h"
#include "tools/ge/capsule/comparison.h"
#include "tools/ge/capsule/remade.h"

namespace ge::tool {
// Named, since other files of the program have such names.
namespace piecewise {

// The recorded placements by the keys of pieces; a key that was planned again has several.
class Placements {
 public:
  Status Read(const Recorded& r, const CapsulePieces& recorded) {
    for (const CapsulePiece& p : recorded.pieces) {
      GE_ASSIGN_OR_RETURN(const Plan plan, ReadPlanMember(*r.capsule, p.plan));
      PlaceOptions place;
      place.cover = CoverOf(plan, plan.functions[0]);
      place.cover_method = kRemade;
      place.expanded = p.expanded;
      by_key_[p.key].places.push_back(std::move(place));
    }
    return {};
  }
  void Place(const std::string& key, PlaceOptions* place) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    Known& known = found->second;
    *place = known.places[std::min(known.next++, known.places.size() - 1)];
  }

 private:
  struct Known {
    std::vector<PlaceOptions> places;
    size_t next = 0;
  };
  std::map<std::string, Known> by_key_;
};

// Compares what executions and the run make with what the capsule has.
class PieceComparison : public RunWatch, public RunObserver {
 public:
  PieceComparison(const Recorded& r, const CapsulePieces& recorded, bool bits, bool by_pieces,
                  double rtol)
      : r_(r),
        recorded_(recorded),
        by_pieces_(by_pieces),
        tensors_(*r.capsule, r.manifest, bits, rtol) {}

  RunObserver* Whole(const std::shared_ptr<Compiled>&, std::span<const TensorView>) override {
    return nullptr;
  }
  void PiecesBegin(const Entry&, std::span<const FlowValue>, std::span<const StateId>,
                   std::span<const FlowValue>) override {}
  RunObserver* PieceBegins(const std::shared_ptr<Compiled>& piece,
                           std::span<const TensorView>) override {
    current_ = nullptr;
    if (!by_pieces_) return nullptr;
    const size_t n = executions_++;
    if (n >= recorded_.executions.size()) return nullptr;
    const CapsuleExecution& e = recorded_.executions[n];
    const std::string& key = recorded_.pieces[e.piece].key;
    const bool same = key == piece->bound_key;
    if (key.empty()) ++unknown_;
    if (!same && !key.empty()) ++otherwise_;
    const bool placed = piece->plan.functions[0].segments.empty() ||
                        CoverOf(piece->plan, piece->plan.functions[0]).empty() ||
                        piece->plan.place_method == kRemade;
    if (same && !placed) ++misplaced_;
    if (!same) return nullptr;
    current_ = &e;
    TakeStatisticsOf(n);
    auto& observed = observed_[piece];
    if (observed == nullptr && !e.values.empty() && !piece->graph.functions.empty()) {
      observed = std::make_unique<ObservedValues>(*piece, piece->graph.fn(piece->fn), true);
    }
    values_ = observed.get();
    return values_ != nullptr ? this : nullptr;
  }
  void AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) override {
    values_->AfterStep(index, step, launch, take_);
  }
  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override {
    values_->After(index, written, queued, take_);
  }
  void PieceEnds(const Status& run, std::span<const TensorView> outputs) override {
    if (!run.ok() || current_ == nullptr) return;
    for (size_t i = 0; i < outputs.size() && i < current_->outputs.size(); ++i) {
      TakeMade(current_->outputs[i], i, BytesOf(outputs[i].data, outputs[i].bytes));
    }
  }
  void PiecesEnd(std::span<const FlowValue> results, std::span<const StateId> states,
                 std::span<const void* const> values) override {
    size_t at = 0;
    for (const FlowValue& v : results) TakeValue(v, r_.manifest.outputs, &at);
    for (size_t i = 0; i < states.size() && i < r_.manifest.states_after.size(); ++i) {
      const CapsuleTensor& t = r_.manifest.states_after[i];
      const auto wanted = ReadTensorMember(*r_.capsule, t);
      if (wanted.ok()) tensors_.Take(t, BytesOf(values[i], wanted->size()));
    }
  }

  TensorComparison& tensors() { return tensors_; }
  bool misplaced() const { return misplaced_ > 0; }
  bool otherwise() const { return by_pieces_ && (otherwise_ > 0 || Missing() > 0); }
  uint64_t unknown() const { return unknown_; }
  uint64_t executions() const { return executions_; }

 private:
  static std::span<const std::byte> BytesOf(const void* data, uint64_t bytes) {
    return {static_cast<const std::byte*>(data), bytes};
  }
  // Executions that a finished run has more than this one.
  size_t Missing() const {
    return r_.done && recorded_.executions.size() > executions_
               ? recorded_.executions.size() - executions_
               : 0;
  }
  // The value, which begins at *at of the list, and what is in it.
  void TakeValue(const FlowValue& v, const std::vector<CapsuleTensor>& list, size_t* at) {
    if (*at >= list.size()) return;
    const CapsuleTensor& t = list[(*at)++];
    if (v.is_tensor() && t.kind.empty() && !v.strings)
      return tensors_.Take(t, BytesOf(v.data, v.bytes));
    if (v.is_tensor() && t.kind.empty()) return TakeStrings(t, v);
    const auto elements = v.elements ? v.elements->size() : 0;
    const bool like = (t.kind == "sequence" && v.kind == FlowValue::Kind::kSequence &&
                       t.dims == std::vector<int64_t>{static_cast<int64_t>(elements)}) ||
                      (t.kind == "map" && v.kind == FlowValue::Kind::kMap) ||
                      (t.kind == "none" && v.kind == FlowValue::Kind::kNone);
    if (!like) tensors_.TakeOther(t, false);
    for (size_t i = 0; like && i < elements; ++i) TakeValue((*v.elements)[i], list, at);
  }
  void TakeStrings(const CapsuleTensor& t, const FlowValue& v) {
    const auto wanted = ReadValueMembers(*r_.capsule, {t});
    if (!wanted.ok()) return tensors_.Fault(wanted.status());
    const FlowValue& w = (*wanted)[0];
    tensors_.TakeOther(t, w.strings && *w.strings == *v.strings && w.dims == v.dims);
  }
  // Of an execution whose outputs and values were recorded as statistics, by their positions.
  void TakeStatisticsOf(size_t execution) {
    statistics_.clear();
    const auto read = ReadStatistics(*r_.capsule, StatisticsMemberOf(execution));
    if (!read.ok()) return tensors_.Fault(read.status());
    for (const TensorStatistics& s : *read) statistics_[s.value] = s;
  }
  // A value inside of the current execution.
  void TakeInner(size_t index, std::span<const std::byte> found) {
    const CapsuleTensor& shown = values_->list()[index];
    for (size_t i = 0; i < current_->values.size(); ++i) {
      const CapsuleTensor& t = current_->values[i];
      if (t.plan_value != shown.plan_value || t.graph_value != shown.graph_value) continue;
      return TakeMade(t, current_->outputs.size() + i, found);
    }
  }
  // An output or value, by its position.
  void TakeMade(const CapsuleTensor& t, size_t position, std::span<const std::byte> found) {
    if (!t.member.empty()) return tensors_.Take(t, found);
    const auto wanted = statistics_.find(static_cast<uint32_t>(position));
    if (wanted != statistics_.end()) tensors_.TakeStatistics(t, wanted->second, found);
  }

  const Recorded& r_;
  const CapsulePieces& recorded_;
  const bool by_pieces_;
  TensorComparison tensors_;
  const CapsuleExecution* current_ = nullptr;
  std::map<std::shared_ptr<Compiled>, std::unique_ptr<ObservedValues>> observed_;
  ObservedValues* values_ = nullptr;                 // of the current execution
  std::map<uint32_t, TensorStatistics> statistics_;  // of it
  const ObservedValues::Take take_ = [this](size_t index, std::span<const std::byte> found) {
    TakeInner(index, found);
  };
  uint64_t executions_ = 0, otherwise_ = 0, unknown_ = 0, misplaced_ = 0;
};

void PrintReplay(const Options& o, PieceComparison& c, bool same_machine) {
  const TensorComparison& tensors = c.tensors();
  if (o.json) {
    nlohmann::json j = {{"capsule", o.model},
                        {"compared", tensors.compared()},
                        {"equal", tensors.equal()},
                        {"executions", c.executions()},
                        {"cut_otherwise", c.otherwise()},
                        {"unknown", c.unknown()},
                        {"same_machine", same_machine},
                        {"right", tensors.right()}};
    AddDifferences(tensors, &j);
    fmt::print("{}\n", j.dump(2));
    return;
  }
  fmt::print("{}: {} of {} values of {} executions are equal bit for bit{}\n", o.model,
             tensors.equal(), tensors.compared(), c.executions(), RestText(tensors));
  if (c.unknown() > 0) {
    fmt::print(
        "  {} executions are not compared: their pieces were planned before the recording "
        "began, and their graphs were not kept\n",
        c.unknown());
  }
  if (c.otherwise()) {
    fmt::print(
        "  the run was cut into other pieces than the recorded one, whose session had seen "
        "other runs before\n");
  }
  PrintDifferences(tensors);
}

// Engines, instruction set and threads of the recorded run.
bool IsSameMachine(const EngineList& engines, const CapsuleManifest& m,
                   const CapsuleManifest& here) {
  const bool same = m.isa == here.isa && m.threads == here.threads;
  if (!same || m.engines.size() != engines.size()) return false;
  for (size_t i = 0; i < m.engines.size(); ++i) {
    const std::string& hash = engines[i]->plugin().hash;
    if (hash.empty() || hash != m.engines[i].hash) return false;
  }
  return true;
}

}  // namespace piecewise

using namespace piecewise;

Status ReplayPieces(const Options& o, const Recorded& r, int* code) {
  const bool by_pieces = o.from != "load";
  GE_ASSIGN_OR_RETURN(const CapsulePieces recorded, ReadPieces(*r.capsule));
  Placements placements;
  GE_RETURN_IF_ERROR(placements.Read(r, recorded));
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_RETURN_IF_ERROR(UseRecordedMachine(r, &options));
  options.build.prices.recall = false;
  options.build.keep_graph = true;
  if (by_pieces) {
    options.place_piece = [&](const std::string& key, PlaceOptions* place) {
      placements.Place(key, place);
    };
  }
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
  SignalledSession session(std::move(created));
  GE_ASSIGN_OR_RETURN(Graph model, ModelToReplay(r, by_pieces));
  GE_RETURN_IF_ERROR(session->LoadGraph(std::move(model)));
  GE_RETURN_IF_ERROR(SetStates(r, session.get()));
  GE_ASSIGN_OR_RETURN(const std::vector<FlowValue> inputs,
                      ReadValueMembers(*r.capsule, r.manifest.inputs));
  GE_ASSIGN_OR_RETURN(const EngineList* engines, session->Engines());
  const bool same = by_pieces && IsSameMachine(*engines, r.manifest, AboutThisProcess(o));
  PieceComparison comparison(r, recorded, same, by_pieces, o.rtol);
  comparison.tensors().SetModel(session->loaded_graph());
  std::vector<FlowValue> results;
  GE_RETURN_IF_ERROR(session->RunValuesWatched(r.manifest.entry, inputs, &results, &comparison));
  GE_RETURN_IF_ERROR(comparison.tensors().status());
  if (comparison.misplaced()) {
    return Status(Code::kUnsupported,
                  "the recorded placement of a piece cannot be made again: an engine offers other "
                  "work now; replay with --from load, which places anew");
  }
  PrintReplay(o, comparison, same);
  *code = comparison.tensors().right() ? 0 : 1;
  return {};
}

}  // namespace ge::tool
