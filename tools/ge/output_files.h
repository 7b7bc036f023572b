// The files of a run's outputs: their names and the folder that they go to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/ge/command.h"

namespace ge::tool {

// A stem for each tensor name, all different: characters outside [A-Za-z0-9._-] become '_', and
// where that makes two alike ("a/b", "a:b") the later ones get "-2", "-3". A name that needs no
// replacement keeps itself. At most 200 bytes each.
std::vector<std::string> FileStemsOf(const std::vector<std::string>& tensor_names);

// A folder that is looked at before the work begins. Where it had to be made and nothing was
// written, it is gone with this object.
class OutputFolder {
 public:
  OutputFolder() = default;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();
  // Makes it, and those above it. IO_ERROR where it cannot be made, or takes no new file.
  Status Prepare(const std::string& folder);

 private:
  std::vector<std::filesystem::path> made_;  // the innermost first
};

// Writes each as STEM.npy, or STEM.json where it is a text. `paths`: of each, in order.
Status WriteOutputs(const std::string& folder, const std::vector<Tensor>& outputs,
                    std::vector<std::string>* paths);

}  // namespace ge::tool
