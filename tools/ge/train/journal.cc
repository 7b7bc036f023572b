#include "tools/ge/train/journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "frontend/load.h"
#include "ge/base/replace_file.h"

namespace ge::tool {
namespace {

nlohmann::json OrNull(std::optional<double> v) { return v ? nlohmann::json(*v) : nlohmann::json(); }

// The net as TensorBoard draws it: nodes by name, an edge from each producer.
Result<std::vector<EventNode>> NodesOf(const Options& o) {
  GE_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModelFile(o.model, Format::kAuto));
  const Graph& g = loaded.graph;
  const Entry* entry = o.entry.empty() ? &g.entries.front() : g.FindEntry(o.entry);
  std::vector<EventNode> nodes;
  if (entry == nullptr) return nodes;
  const Function& f = g.fn(entry->fn);
  std::vector<std::string> of_value(f.values.size());
  std::set<std::string> taken;
  const auto unique = [&](std::string name) {
    const std::string base = name;
    for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  };
  for (const ValueId p : f.params) {
    of_value[p] = unique(f.value(p).name);
    nodes.push_back({of_value[p], "Input", {}});
  }
  for (size_t v = 1; v < f.values.size(); ++v) {
    if (!f.values[v].constant || f.values[v].name.empty()) continue;
    of_value[v] = unique(f.values[v].name);
    nodes.push_back({of_value[v], "Weight", {}});
  }
  for (const Node& n : f.nodes) {
    if (!n.id) continue;
    EventNode node{unique(n.name.empty() ? fmt::format("{}_{}", n.op, n.id) : n.name), n.op, {}};
    for (const ValueId in : n.inputs) {
      if (in && !of_value[in].empty()) node.inputs.push_back(of_value[in]);
    }
    for (const ValueId out : n.outputs) of_value[out] = node.name;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace

Result<Journal> Journal::Open(const TrainOptions& o) {
  Journal j;
  j.json_ = o.common.json;
  j.silent_ = !o.ranks.first();
  j.plot_ = o.plot;
  if (!o.plot.empty()) GE_RETURN_IF_ERROR(CheckReplaceable(o.plot));
  for (const std::string& log : o.log) {
    const size_t colon = log.find(':');
    const std::string kind = log.substr(0, colon),
                      to = colon == std::string::npos ? "" : log.substr(colon + 1);
    if (to.empty() || (kind != "tensorboard" && kind != "csv")) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--log is '{}', wanted tensorboard:DIR or csv:FILE", log));
    }
    if (kind == "csv" ? j.csv_.has_value() : j.events_.has_value()) {
      return Status(Code::kInvalidArgument, fmt::format("--log {}: is given twice", kind));
    }
    if (kind == "csv") {
      GE_ASSIGN_OR_RETURN(CsvLog csv, CsvLog::Open(to));
      j.csv_.emplace(std::move(csv));
      continue;
    }
    GE_ASSIGN_OR_RETURN(Events events, Events::Open(to));
    j.events_.emplace(std::move(events));
    GE_ASSIGN_OR_RETURN(const std::vector<EventNode> nodes, NodesOf(o.common));
    GE_RETURN_IF_ERROR(j.events_->Graph(nodes));
  }
  return j;
}

Status Journal::Begin(uint64_t step) {
  curves_.began = step;
  return csv_ ? csv_->Begin(step) : Status();
}

void Journal::Bar(const RunProgress& at, const Metrics& metrics) {
  if (silent_ || !line_.Due()) return;
  line_.Draw(fmt::format("epoch {}/{}", at.epoch, at.epochs),
             at.steps ? static_cast<double>(at.step) / static_cast<double>(at.steps) : 0,
             fmt::format("{}/{}  loss {:.4f}  {:.0f} steps/s", at.step, at.steps, metrics.loss,
                         at.steps_per_s));
}

Status Journal::Step(const RunProgress& at, const Metrics& metrics, int64_t batch) {
  Bar(at, metrics);
  if (!plot_.empty()) curves_.loss.push_back(metrics.loss);
  if (csv_) GE_RETURN_IF_ERROR(csv_->Row(at.step, metrics));
  if (!events_) return {};
  const auto step = static_cast<int64_t>(at.step);
  GE_RETURN_IF_ERROR(events_->Scalar("train/loss", step, static_cast<float>(metrics.loss)));
  GE_RETURN_IF_ERROR(
      events_->Scalar("train/learning_rate", step, static_cast<float>(metrics.rate)));
  GE_RETURN_IF_ERROR(events_->Scalar(
      "train/accuracy", step, static_cast<float>(metrics.correct / static_cast<double>(batch))));
  return events_->Flush();  // a run may be killed
}

Status Journal::Tested(const RunProgress& at, double loss, std::optional<double> accuracy) {
  tested_loss_ = loss;
  tested_accuracy_ = accuracy;
  const auto step = static_cast<double>(at.step);
  curves_.test_loss.emplace_back(step, loss);
  if (accuracy) curves_.test_accuracy.emplace_back(step, *accuracy);
  if (!events_) return {};
  const auto n = static_cast<int64_t>(at.step);
  if (accuracy) {
    GE_RETURN_IF_ERROR(events_->Scalar("test/accuracy", n, static_cast<float>(*accuracy)));
  }
  return events_->Scalar("test/loss", n, static_cast<float>(loss));
}

Status Journal::Epoch(const RunProgress& at, double loss, std::optional<double> accuracy,
                      const std::vector<Tensor>& states) {
  if (silent_) return {};
  line_.Clear();
  if (json_) {
    fmt::print("{}\n", nlohmann::json{{"epoch", at.epoch},
                                      {"step", at.step},
                                      {"train_loss", loss},
                                      {"train_accuracy", OrNull(accuracy)},
                                      {"test_loss", OrNull(tested_loss_)},
                                      {"test_accuracy", OrNull(tested_accuracy_)}}
                           .dump());
  } else {
    std::string line =
        fmt::format("epoch {}/{}  step {}  loss {:.4f}", at.epoch, at.epochs, at.step, loss);
    if (accuracy) line += fmt::format("  accuracy {:.4f}", *accuracy);
    if (tested_loss_) line += fmt::format("  test loss {:.4f}", *tested_loss_);
    if (tested_accuracy_) line += fmt::format("  test accuracy {:.4f}", *tested_accuracy_);
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
  if (!events_) return {};
  for (const Tensor& t : states) {
    if (t.view.dtype != DType::kFloat) continue;
    const auto* data = static_cast<const float*>(t.view.data);
    GE_RETURN_IF_ERROR(events_->Histogram(t.name, static_cast<int64_t>(at.step),
                                          {data, data + t.view.bytes / sizeof(float)}));
  }
  return events_->Flush();
}

Status Journal::Finish(const nlohmann::json& last, bool json) {
  line_.Clear();
  if (silent_) return {};
  if (events_) GE_RETURN_IF_ERROR(events_->Flush());
  if (!plot_.empty()) GE_RETURN_IF_ERROR(WriteChart(plot_, curves_));
  if (json) {
    fmt::print("{}\n", last.dump());
  } else {
    fmt::print("{} steps, {:.1f} steps/s\n", last["steps"].get<uint64_t>(),
               last["steps_per_s"].get<double>());
  }
  return {};
}

}  // namespace ge::tool
