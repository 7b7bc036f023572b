// TrainedExport: writes the net with its trained weights as an ONNX file. It keeps the net as of
// the run's beginning, even if the model's file changes. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/load.h"
#include "tools/ge/command.h"

namespace ge::tool {

class TrainedExport {
 public:
  // Before the work: checks that the net has a form as ONNX, and that file `to` is writable.
  static Result<std::unique_ptr<TrainedExport>> Open(const std::string& model,
                                                     const std::string& entry,
                                                     const std::string& to);
  // Call it once.
  Status Write(const std::vector<Tensor>& states);

 private:
  LoadedModel loaded_;
  std::string entry_, to_;
};

}  // namespace ge::tool
