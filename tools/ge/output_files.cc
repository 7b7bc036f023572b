#include "tools/ge/output_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "ge/base/replace_file.h"

namespace ge::tool {
namespace {

constexpr size_t kMostStem = 200;  // file systems take 255 with what is added

std::string Replaced(const std::string& name) {
  std::string out;
  for (char c : name) {
    const bool keep = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    out += keep ? c : '_';
  }
  if (out.empty()) out = "_";
  return out.substr(0, kMostStem);
}

}  // namespace

std::vector<std::string> FileStemsOf(const std::vector<std::string>& tensor_names) {
  std::vector<std::string> stems(tensor_names.size());
  std::set<std::string> taken;
  for (size_t i = 0; i < tensor_names.size(); ++i) {
    const std::string stem = Replaced(tensor_names[i]);
    if (stem == tensor_names[i] && taken.insert(stem).second) stems[i] = stem;
  }
  for (size_t i = 0; i < tensor_names.size(); ++i) {
    if (!stems[i].empty()) continue;
    const std::string stem = Replaced(tensor_names[i]);
    stems[i] = stem;
    for (int n = 2; !taken.insert(stems[i]).second; ++n) stems[i] = fmt::format("{}-{}", stem, n);
  }
  return stems;
}

OutputFolder::~OutputFolder() {
  std::error_code not_empty;
  for (const std::filesystem::path& folder : made_) std::filesystem::remove(folder, not_empty);
}

Status OutputFolder::Prepare(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::path at = folder; !at.empty(); at = at.parent_path()) {
    if (std::filesystem::exists(std::filesystem::symlink_status(at, error))) break;
    made_.push_back(at);
  }
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Status(Code::kIoError, fmt::format("cannot make the folder '{}': {}; give a folder to "
                                              "write in",
                                              folder, error.message()));
  }
  return CheckReplaceable(folder + "/probe.npy");
}

Status WriteOutputs(const std::string& folder, const std::vector<Tensor>& outputs,
                    std::vector<std::string>* paths) {
  std::vector<std::string> names;
  for (const Tensor& t : outputs) names.push_back(t.name);
  const std::vector<std::string> stems = FileStemsOf(names);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = outputs[i];
    const bool text = !t.kind.empty();
    paths->push_back(folder + "/" + stems[i] + (text ? ".json" : ".npy"));
    GE_RETURN_IF_ERROR(text ? WriteFile(paths->back(), t.text + "\n")
                            : WriteNpy(paths->back(), t.view));
  }
  return {};
}

}  // namespace ge::tool
