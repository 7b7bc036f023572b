// The files of a run's outputs: their names and their folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/ge/command.h"

namespace ge::tool {

// A stem for each tensor name, all different: characters outside [A-Za-z0-9._-] become '_'. If two
// become alike ("a/b", "a:b"), the later ones get "-2", "-3". A name without such characters stays
// as it is. At most 200 bytes each.
std::vector<std::string> FileStemsOf(const std::vector<std::string>& tensor_names);

// An output folder, checked before the work begins. If it was made for nothing written, the
// destructor removes it.
class OutputFolder {
 public:
  OutputFolder() = default;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();
  // Makes the folder and those above it. IO_ERROR if that fails or it takes no new file.
  Status Prepare(const std::string& folder);

 private:
  std::vector<std::filesystem::path> made_;  // the innermost first
};

// Writes each as STEM.npy, or STEM.json if it is a text. `paths`: the files, in order.
Status WriteOutputs(const std::string& folder, const std::vector<Tensor>& outputs,
                    std::vector<std::string>* paths);

}  // namespace ge::tool
