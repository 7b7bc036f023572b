#include "tools/ge/train/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "ge/base/replace_file.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

constexpr int kCheckpointVersion = 1;

bool IsStatesFile(const std::string& name) {
  return name.starts_with("states-") && name.ends_with(".gepb") &&
         name.find('/') == std::string::npos;
}

}  // namespace

Status SaveCheckpoint(const std::string& folder, const nlohmann::json& run, const Progress& at,
                      TrainedNet* net) {
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string states = fmt::format("states-{:09}.gepb", at.step);
  GE_RETURN_IF_ERROR(net->SaveStates((fs::path(folder) / states).string()));
  const nlohmann::json j = {
      {"version", kCheckpointVersion}, {"states", states},      {"step", at.step},
      {"loss_sum", at.loss_sum},       {"correct", at.correct}, {"run", run}};
  GE_RETURN_IF_ERROR(
      ReplaceFile((fs::path(folder) / "checkpoint.json").string(), j.dump(1) + "\n", true));
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    // What was there before, and what a killed process had begun.
    const bool ours = name.starts_with("states-") || name.starts_with("checkpoint.json.");
    if (ours && name != states) fs::remove(entry.path(), error);
  }
  return {};
}

Result<Progress> RestoreCheckpoint(const std::string& folder, const nlohmann::json& run,
                                   TrainedNet* net, bool* found) {
  const std::string path = (fs::path(folder) / "checkpoint.json").string();
  std::ifstream in(path);
  *found = static_cast<bool>(in);
  if (!in) return Progress{};
  const auto j = nlohmann::json::parse(in, nullptr, false);
  const auto corrupt = [&](const std::string& text) {
    return Status(Code::kDataCorrupt, fmt::format("'{}' is no usable checkpoint: {}", path, text));
  };
  if (!j.is_object() || !j.contains("run") || !j["run"].is_object()) {
    return corrupt("it is not what ge train writes");
  }
  if (j.value("version", 0) != kCheckpointVersion) {
    return corrupt(
        fmt::format("it is of version {}, wanted {}", j.value("version", 0), kCheckpointVersion));
  }
  for (const auto& [key, wanted] : run.items()) {
    const nlohmann::json have = j["run"].value(key, nlohmann::json());
    if (have == wanted) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("the checkpoint in '{}' is of another run: its {} is {}, this one's "
                              "{}; use another folder, or the same arguments",
                              folder, key, have.dump(), wanted.dump()));
  }
  Progress at;
  const auto number = [&](const char* key) { return j.contains(key) && j[key].is_number(); };
  const std::string states = j.value("states", "");
  if (!number("step") || !number("loss_sum") || !number("correct") || !IsStatesFile(states)) {
    return corrupt("it has no step, sums and name of a states file");
  }
  at.step = j["step"], at.loss_sum = j["loss_sum"], at.correct = j["correct"];
  GE_RETURN_IF_ERROR(net->RestoreStates((fs::path(folder) / states).string()));
  return at;
}

}  // namespace ge::tool
