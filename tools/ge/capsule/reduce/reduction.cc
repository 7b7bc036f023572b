#include "tools/ge/capsule/reduce/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "frontend/onnx/export.h"
#include "ge/base/clock.h"
#include "ge/capsule/graph_members.h"
#include "ge/ir/walk.h"
#include "tools/ge/capsule/case_files.h"
#include "tools/ge/capsule/reduce/check_command.h"
#include "tools/ge/capsule/reduce/part_run.h"

namespace ge::tool {
namespace {

// A trial that takes so many times as long as the longest one that has ended hangs.
constexpr double kHangTimes = 10, kLeastLimitMs = 1000;

CapsuleTensor TensorOf(const FlowValue& value, const std::string& name) {
  CapsuleTensor tensor;
  tensor.name = name;
  tensor.dtype = value.dtype;
  tensor.dims = value.dims.vector();
  return tensor;
}

Options OnReference(const Options& o) {
  Options reference = o;
  reference.engines = o.against;
  reference.pins.clear();
  reference.policy = "cost";
  reference.precision = "f32";
  return reference;
}

}  // namespace

Reduction::Reduction(const Recorded& r, const Options& options, std::string files,
                     std::function<void(const ReductionProgress&)> tell)
    : r_(r),
      options_(options),
      engines_(OptionsLike(options, r.manifest)),
      files_(std::move(files)),
      tell_(std::move(tell)),
      began_ms_(NowMs()) {}

void Reduction::Tell(size_t nodes) {
  progress_.nodes = nodes;
  progress_.seconds = (NowMs() - began_ms_) / 1e3;
  tell_(progress_);
}

// Every value by the reference; where it cannot say, those that were recorded.
Status Reduction::KnowValues() {
  const double start = NowMs();
  auto values = RunEveryValue(r_, OnReference(engines_), graph_, r_.manifest.entry, inputs_,
                              options_.seconds_a_trial);
  longest_ms_ = NowMs() - start;
  if (values.ok()) {
    values_ = *std::move(values);
  } else if (NeverBegan(values.status())) {
    return values.status();
  } else {
    longest_ms_ = 0;
    fmt::print(stderr, "note: the model does not run on {}: {}; recorded values are taken\n",
               options_.against, values.status().message());
    TakeRecordedValues();
  }
  bound_ =
      options_.rtol >= 0 ? options_.rtol : BoundOfValues(values_, r_.manifest.precision == "bf16");
  return {};
}

void Reduction::TakeRecordedValues() {
  const Function& f = graph_.fn(graph_.FindEntry(r_.manifest.entry)->fn);
  std::map<std::string, ValueId> by_name;
  for (ValueId v = 1; v < f.values.size(); ++v) by_name.emplace(f.value(v).name, v);
  values_.assign(f.values.size(), FlowValue());
  for (const auto* list : {&r_.manifest.values, &r_.manifest.outputs}) {
    for (const CapsuleTensor& t : *list) {
      const auto found = by_name.find(t.name);
      if (found == by_name.end() || !r_.capsule->Has(t.member)) continue;
      auto value = RecordedValue(r_, t);
      if (value.ok()) values_[found->second] = *std::move(value);
    }
  }
  for (size_t i = 0; i < f.params.size() && i < inputs_.size(); ++i) {
    values_[f.params[i]] = inputs_[i];
  }
}

double Reduction::LimitOfTrial() const {
  const double most = options_.seconds_a_trial;
  if (longest_ms_ <= 0) return most;
  return std::min(most, std::max(kLeastLimitMs, kHangTimes * longest_ms_) / 1e3);
}

Result<Failure> Reduction::Try(const ModelPart& part) {
  ++progress_.trials;
  const double start = NowMs(), limit = LimitOfTrial();
  Failure failure;
  if (!options_.check.empty()) {
    const std::string path =
        files_ + "/candidate" + std::filesystem::path(options_.output_file).extension().string();
    GE_RETURN_IF_ERROR(WritePart(path, r_, PieceOf(part, options_.against)));
    GE_ASSIGN_OR_RETURN(failure, RunCheck(options_.check, path, limit));
  } else {
    const auto found = RunPart(r_, engines_, part.graph, "main", part.inputs, limit);
    failure = FailureOf(found, part.results, part.result_names, bound_);
  }
  if (failure.kind != Failure::Kind::kHang) longest_ms_ = std::max(longest_ms_, NowMs() - start);
  return failure;
}

// The model as it was loaded, with the sizes that it left open.
Result<Failure> Reduction::TryWhole() {
  best_ = model_->Part(model_->Whole());
  if (!options_.check.empty()) {
    longest_ms_ = 0;  // of the command, which nobody has timed yet
    return Try(best_);
  }
  ++progress_.trials;
  const auto found =
      RunPart(r_, engines_, graph_, r_.manifest.entry, inputs_, options_.seconds_a_trial);
  if (!found.ok() && NeverBegan(found.status())) return found.status();
  return FailureOf(found, best_.results, best_.result_names, bound_);
}

Result<bool> Reduction::Fails() {
  for (const CapsuleTensor& t : r_.manifest.inputs) {
    if (!t.kind.empty() || t.dtype == DType::kString) {
      return Status(
          Code::kUnsupported,
          fmt::format("input '{}' is no tensor of numbers; reduce takes such inputs alone",
                      t.name));
    }
    GE_ASSIGN_OR_RETURN(inputs_.emplace_back(), RecordedValue(r_, t));
  }
  GE_ASSIGN_OR_RETURN(const CapsuleGraph* loaded, GraphOf(r_.manifest, "load"));
  GE_ASSIGN_OR_RETURN(graph_, ReadGraphMember(r_.capsule, loaded->member));
  if (graph_.FindEntry(r_.manifest.entry) == nullptr) {
    return Status(Code::kDataCorrupt, fmt::format("capsule '{}': its graph has no entry '{:.64}'",
                                                  r_.capsule->path(), r_.manifest.entry));
  }
  GE_RETURN_IF_ERROR(KnowValues());
  model_.emplace(graph_, r_.manifest.entry, values_);
  progress_.nodes_before = model_->nodes();
  GE_ASSIGN_OR_RETURN(first_, TryWhole());
  const bool may_ask_more = options_.check.empty() && engines_.policy == "cost";
  if (!first_ && may_ask_more && engines_.engines.find(',') != std::string::npos) {
    engines_.policy = "priority";  // as a plan may have been recorded
    GE_ASSIGN_OR_RETURN(first_, TryWhole());
  }
  best_failure_ = first_;
  Tell(progress_.nodes_before);
  if (first_) failed_.push_back(model_->Whole());
  return static_cast<bool>(first_);
}

std::optional<std::vector<ValueId>> Reduction::Test(const NodeChoice& choice) {
  if (NowMs() - began_ms_ > options_.budget_s * 1e3) {
    in_time_ = false;
    return std::nullopt;
  }
  ModelPart part = model_->Part(choice);
  const auto failure = Try(part);
  const bool fails = failure.ok() && failure->IsLike(first_);
  Tell(fails ? part.nodes.size() : progress_.nodes);
  if (!fails) return std::nullopt;
  std::vector<ValueId> wrong;
  for (const size_t i : failure->wrong) wrong.push_back(part.result_ids[i]);
  best_ = std::move(part);
  best_failure_ = *failure;
  failed_.push_back(choice);
  return wrong;
}

void Reduction::Search() {
  std::vector<ValueId> wrong;
  for (const size_t i : first_.wrong) wrong.push_back(best_.result_ids[i]);
  FewestNodes(model_->main(), model_->Whole(), std::move(wrong),
              [this](const NodeChoice& choice) { return Test(choice); });
}

Result<bool> Reduction::WriteSmallest(const Writer& write, const Again& again) {
  while (!failed_.empty()) {
    best_ = model_->Part(failed_.back());
    GE_RETURN_IF_ERROR(write(PieceOf(best_, options_.against)));
    GE_ASSIGN_OR_RETURN(const Failure failure, again());
    if (failure.IsLike(first_)) {
      best_failure_ = failure;
      return true;
    }
    failed_.pop_back();
  }
  return false;
}

std::string Reduction::FailingNode() const {
  const DefUse def = BuildDefUse(model_->main());
  for (const size_t i : best_failure_.wrong) {
    const int32_t at = i < best_.result_ids.size() ? def.producer[best_.result_ids[i]] : -1;
    if (at >= 0) return NodeLabel(model_->main().nodes[static_cast<size_t>(at)]);
  }
  return best_.nodes.size() == 1 ? best_.nodes[0] : "";
}

Piece PieceOf(const ModelPart& part, std::string engine) {
  Piece piece;
  piece.graph = part.graph;
  piece.nodes = part.nodes;
  piece.engine = std::move(engine);
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    piece.inputs.push_back(ViewOf(part.inputs[i]));
    piece.input_tensors.push_back(TensorOf(part.inputs[i], part.input_names[i]));
  }
  // A run that ended has no right values; the capsule then says so.
  piece.ended = std::any_of(part.results.begin(), part.results.end(),
                            [](const FlowValue& v) { return !v.is_tensor(); });
  for (size_t i = 0; i < part.results.size(); ++i) {
    const FlowValue& v = part.results[i];
    piece.outputs.push_back(TensorOf(v, part.result_names[i]));
    if (!piece.ended) piece.recorded.emplace_back(v.data, v.bytes);
  }
  return piece;
}

Status WritePart(const std::string& path, const Recorded& r, const Piece& piece) {
  if (path.ends_with(".gecap")) return WriteCaseCapsule(path, r, piece, "");
  std::string text;
  if (path.ends_with(".gt")) {
    GE_ASSIGN_OR_RETURN(text,
                        CaseText(fmt::format("{} nodes of {}; values of {}.", piece.nodes.size(),
                                             r.manifest.model, piece.engine),
                                 piece));
  } else {
    GE_ASSIGN_OR_RETURN(text, ExportOnnx(piece.graph, "main"));
  }
  return WriteFile(path, text);
}

}  // namespace ge::tool
