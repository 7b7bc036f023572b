// TrainedExport: the net with the trained weights in place of its own, as an ONNX file. It holds
// the net as it was when the run began, whatever becomes of the model's file. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/load.h"
#include "tools/ge/command.h"

namespace ge::tool {

class TrainedExport {
 public:
  // Before the work: that the net has a form as ONNX, and that the file `to` can be written.
  static Result<std::unique_ptr<TrainedExport>> Open(const std::string& model,
                                                     const std::string& entry,
                                                     const std::string& to);
  // Once.
  Status Write(const std::vector<Tensor>& states);

 private:
  LoadedModel loaded_;
  std::string entry_, to_;
};

}  // namespace ge::tool
