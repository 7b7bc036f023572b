#include "tools/ge/observe/value_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ge/ir/graph.h"
#include "tools/ge/capsule/piece.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/trial.h"

namespace ge::tool {
namespace {

// Whether a NaN in an operand makes a NaN of the node's result, whatever the others are.
bool HandsNanOn(const Node& n) {
  constexpr std::string_view kOps[] = {"Conv", "ConvTranspose", "Gemm", "MatMul",
                                       "Add",  "Sub",           "Mul",  "Div"};
  return n.domain.empty() && std::find(std::begin(kOps), std::end(kOps), n.op) != std::end(kOps);
}

}  // namespace

ValueWatch::ValueWatch(Session* session, const Options& o, const WatchConditions& conditions)
    : session_(*session),
      options_(o),
      conditions_(conditions),
      part_(o.look.watch_file + ".running") {}

ValueWatch::~ValueWatch() {
  recorder_.reset();
  std::remove(part_.c_str());
}

Result<std::unique_ptr<ValueWatch>> ValueWatch::Begin(Session* session, const Options& o,
                                                      const WatchConditions& conditions) {
  std::unique_ptr<ValueWatch> watch(new ValueWatch(session, o, conditions));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  RecordOptions record;
  record.path = watch->part_;
  record.seed = o.seed;
  GE_ASSIGN_OR_RETURN(watch->recorder_, RunRecorder::Begin(session, entry->name, record));
  return watch;
}

Result<bool> ValueWatch::Ended(const Status& run) {
  if (!hit_) return false;
  GE_RETURN_IF_ERROR(recorder_->Finish(run, {}).written);
  if (!in_pieces_ && !hit_->hidden && step_nodes_.size() > 1) FindNode();
  if (std::rename(part_.c_str(), options_.look.watch_file.c_str()) != 0) {
    return Status(Code::kIoError,
                  fmt::format("the recorded run cannot be named '{}'", options_.look.watch_file));
  }
  return true;
}

RunObserver* ValueWatch::LookAt(const std::shared_ptr<Compiled>& plan,
                                std::span<const TensorView> inputs, RunObserver* recorder) {
  plan_ = plan;
  recording_ = recorder;
  const Function& f = plan->graph.fn(plan->fn);
  values_ = std::make_unique<ObservedValues>(*plan, f, true);
  seen_.clear();
  given_.clear();
  for (size_t i = 0; i < inputs.size() && i < f.params.size(); ++i) {
    given_[f.params[i]] = inputs[i];
    seen_[f.params[i]] = StatisticsOf(
        inputs[i].dtype, {static_cast<const std::byte*>(inputs[i].data), inputs[i].bytes});
  }
  return this;
}

RunObserver* ValueWatch::Whole(const std::shared_ptr<Compiled>& plan,
                               std::span<const TensorView> inputs) {
  return LookAt(plan, inputs, recorder_->Whole(plan, inputs));
}
void ValueWatch::PiecesBegin(const Entry& entry, std::span<const FlowValue> inputs,
                             std::span<const StateId> states, std::span<const FlowValue> values) {
  in_pieces_ = true;
  recorder_->PiecesBegin(entry, inputs, states, values);
}
RunObserver* ValueWatch::PieceBegins(const std::shared_ptr<Compiled>& piece,
                                     std::span<const TensorView> inputs) {
  return LookAt(piece, inputs, recorder_->PieceBegins(piece, inputs));
}
void ValueWatch::PieceEnds(const Status& run, std::span<const TensorView> outputs) {
  recorder_->PieceEnds(run, outputs);
}
void ValueWatch::PiecesEnd(std::span<const FlowValue> results, std::span<const StateId> states,
                           std::span<const void* const> values) {
  recorder_->PiecesEnd(results, states, values);
}
void ValueWatch::Begin(std::span<const void* const> states) {
  if (recording_ != nullptr) recording_->Begin(states);
}
void ValueWatch::End(std::span<void* const> states) {
  if (recording_ != nullptr) recording_->End(states);
}
void ValueWatch::After(uint32_t index, std::span<const ge_buf> written, bool queued) {
  if (recording_ != nullptr) recording_->After(index, written, queued);
  instruction_ = hit_ ? instruction_ : index;
  values_->After(index, written, queued, take_);
}
void ValueWatch::AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) {
  if (recording_ != nullptr) recording_->AfterStep(index, step, launch);
  instruction_ = hit_ ? instruction_ : index;
  values_->AfterStep(index, step, launch, take_);
}

void ValueWatch::Look(size_t index, std::span<const std::byte> bytes) {
  if (hit_) return;
  const CapsuleTensor& t = values_->list()[index];
  const TensorStatistics statistics = StatisticsOf(t.dtype, bytes);
  if (t.graph_value != 0) seen_[t.graph_value] = statistics;
  const auto element = FirstMeeting(conditions_, t.dtype, bytes);
  if (!element) return LookAtInputs(index);
  Stop(index, t.name, {t.dtype, t.dims, const_cast<std::byte*>(bytes.data()), bytes.size()},
       *element);
  for (const Node& n : plan_->graph.fn(plan_->fn).nodes) {
    if (std::find(n.outputs.begin(), n.outputs.end(), t.graph_value) == n.outputs.end()) continue;
    if (t.graph_value != 0) DescribeNode(n);
  }
}

void ValueWatch::Stop(size_t index, const std::string& value, const TensorView& tensor,
                      const WatchedElement& element) {
  hit_.emplace();
  hit_->value = value;
  hit_->dtype = tensor.dtype;
  hit_->dims = tensor.dims;
  hit_->element = element;
  hit_->statistics =
      StatisticsOf(tensor.dtype, {static_cast<const std::byte*>(tensor.data), tensor.bytes});
  const Function& f = plan_->graph.fn(plan_->fn);
  for (const uint32_t at : values_->NodesOf(index)) step_nodes_.push_back(f.nodes[at].id);
  session_.calls().CancelAll();
}

// x86's max and min, which oneDNN's Relu and Clip are, answer the other operand for NaN.
void ValueWatch::LookAtInputs(size_t index) {
  if (!conditions_.nan) return;
  const Graph& g = plan_->graph;
  const Function& f = g.fn(plan_->fn);
  const ValueId shown = values_->list()[index].graph_value;
  WatchConditions nan;
  nan.nan = true;
  for (const uint32_t at : values_->NodesOf(index)) {
    const Node& n = f.nodes[at];
    const bool shows = std::find(n.outputs.begin(), n.outputs.end(), shown) != n.outputs.end();
    if (shows || !HandsNanOn(n)) continue;
    for (const ValueId v : n.inputs) {
      if (v == 0) continue;
      ConstScratch scratch;
      TensorView tensor;
      std::string name = f.value(v).name;
      if (const auto given = given_.find(v); given != given_.end()) {
        tensor = given->second;
      } else if (const ConstId id = f.value(v).constant; id != 0) {
        const Const& c = g.consts[id];
        tensor = {c.type.dtype,
                  {},
                  const_cast<std::byte*>(ConstBytes(c, &scratch)),
                  static_cast<size_t>(c.bytes)};
        for (const Dim& d : c.type.dims) tensor.dims.push_back(d.value);
        if (!c.name.empty()) name = c.name;
      }
      if (tensor.data == nullptr) continue;
      const auto element = FirstMeeting(nan, tensor.dtype,
                                        {static_cast<const std::byte*>(tensor.data), tensor.bytes});
      if (!element) continue;
      Stop(index, name, tensor, *element);
      hit_->hidden = true;
      return DescribeNode(n);
    }
  }
}

void ValueWatch::DescribeNode(const Node& node) {
  const Graph& g = plan_->graph;
  const Function& f = g.fn(plan_->fn);
  hit_->node = NodeLabel(node);
  hit_->inputs.clear();
  hit_->parts.clear();
  for (const Origin& o : node.origin) {
    hit_->parts.insert(hit_->parts.end(), o.from_nodes.begin(), o.from_nodes.end());
  }
  for (const ValueId v : node.inputs) {
    if (v == 0) continue;
    const Value& value = f.value(v);
    WatchedHit::Input in{value.name, value.type.dtype, {}, std::nullopt};
    for (const Dim& d : value.type.dims) in.dims.push_back(d.value);
    const auto found = seen_.find(v);
    if (found != seen_.end()) in.statistics = found->second;
    if (value.constant != 0) {
      ConstScratch scratch;
      const Const& c = g.consts[value.constant];
      if (const std::byte* data = ConstBytes(c, &scratch)) {
        in.name = c.name.empty() ? value.name : c.name;
        in.statistics = StatisticsOf(c.type.dtype, {data, static_cast<size_t>(c.bytes)});
      }
    }
    hit_->inputs.push_back(std::move(in));
  }
  hit_->beside.clear();
  for (const Node& n : f.nodes) {
    const bool same = std::find(step_nodes_.begin(), step_nodes_.end(), n.id) != step_nodes_.end();
    if (same && n.id != node.id) hit_->beside.push_back(NodeLabel(n));
  }
}

void ValueWatch::FindNode() {
  const auto recorded = OpenRecorded(part_);
  if (!recorded.ok()) return;
  const auto pieces = Pieces::Of(*recorded);
  if (!pieces.ok()) return;
  const auto piece = pieces->Segment(plan_->plan.functions[0].code[instruction_].segment);
  if (!piece.ok()) return;
  Trial trial{piece->graph, "main", piece->inputs, options_};
  trial.options.engines = "ref";
  Function& f = trial.graph.fn(piece->fn);
  f.results.clear();
  std::vector<NodeId> makers;
  for (const Node& n : f.nodes) {
    if (std::find(step_nodes_.begin(), step_nodes_.end(), n.id) == step_nodes_.end()) continue;
    for (const ValueId v : n.outputs) {
      if (v == 0) continue;
      f.results.push_back(v);
      makers.push_back(n.id);
    }
  }
  std::vector<DType> types;
  for (const ValueId v : f.results) types.push_back(f.value(v).type.dtype);
  const auto answer = RunTrialHere(*recorded, trial);
  for (size_t i = 0; answer.ok() && i < answer->size() && i < types.size(); ++i) {
    if (!FirstMeeting(conditions_, types[i], (*answer)[i])) continue;
    for (const Node& n : plan_->graph.fn(plan_->fn).nodes) {
      if (n.id == makers[i]) DescribeNode(n);
    }
    return;
  }
}

namespace {

std::string TypeText(DType dtype, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", DTypeName(dtype), fmt::join(dims, ","));
}

std::string RangeText(const TensorStatistics& s) {
  return fmt::format("{:.6g} .. {:.6g}, mean {:.6g}{}{}", s.min, s.max, s.mean,
                     s.nan ? fmt::format(", {} NaN", s.nan) : "",
                     s.inf ? fmt::format(", {} infinite", s.inf) : "");
}

nlohmann::json StatisticsJson(const TensorStatistics& s) {
  return {{"min", s.min}, {"max", s.max}, {"mean", s.mean}, {"nan", s.nan}, {"inf", s.inf}};
}

}  // namespace

nlohmann::json HitJson(const WatchedHit& h, const std::string& capsule) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const WatchedHit::Input& in : h.inputs) {
    nlohmann::json j = {{"name", in.name}, {"dtype", DTypeName(in.dtype)}, {"dims", in.dims}};
    if (in.statistics) j["range"] = StatisticsJson(*in.statistics);
    inputs.push_back(std::move(j));
  }
  return {{"node", h.node},
          {"parts", h.parts},
          {"beside", h.beside},
          {"value", h.value},
          {"hidden", h.hidden},
          {"dtype", DTypeName(h.dtype)},
          {"dims", h.dims},
          {"element", h.element.index},
          {"found", fmt::format("{}", h.element.value)},
          {"range", StatisticsJson(h.statistics)},
          {"inputs", std::move(inputs)},
          {"capsule", capsule}};
}

void PrintHit(const WatchedHit& h, const std::string& capsule) {
  fmt::print("{}: {} '{}' {} is {} at element {}{}\n", h.node, h.hidden ? "its input" : "value",
             h.value, TypeText(h.dtype, h.dims), h.element.value, h.element.index,
             h.hidden ? ", which its step's result hides" : "");
  fmt::print("  {:<24} {:<24} {}\n", "the value", "", RangeText(h.statistics));
  for (const WatchedHit::Input& in : h.inputs) {
    fmt::print("  {:<24} {:<24} {}\n", in.name, TypeText(in.dtype, in.dims),
               in.statistics ? RangeText(*in.statistics) : "not shown by its engine");
  }
  if (!h.parts.empty()) fmt::print("  made of {}\n", fmt::join(h.parts, ", "));
  if (!h.beside.empty()) {
    fmt::print("  one step with {}\n", fmt::join(h.beside, ", "));
  }
  fmt::print("recorded in {}; ge replay and ge bisect take it\n", capsule);
}

}  // namespace ge::tool
