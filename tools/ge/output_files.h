// The files of a run's outputs: their names and the folder that they go to.
#pragma once

#include <string>
#include <vector>

#include "tools/ge/command.h"

namespace ge::tool {

// A stem for each tensor name, all different: characters outside [A-Za-z0-9._-] become '_', and
// where that makes two alike ("a/b", "a:b") the later ones get "-2", "-3". A name that needs no
// replacement keeps itself. At most 200 bytes each.
std::vector<std::string> FileStemsOf(const std::vector<std::string>& tensor_names);

// Makes the folder where it is not there. IO_ERROR where it cannot be, or takes no new file.
Status PrepareOutputFolder(const std::string& folder);

// Writes each as STEM.npy, or STEM.json where it is a text. `paths`: of each, in order.
Status WriteOutputs(const std::string& folder, const std::vector<Tensor>& outputs,
                    std::vector<std::string>* paths);

}  // namespace ge::tool
