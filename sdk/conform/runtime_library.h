// libgraphengine, opened at run time: whole models through ge.h, as an application runs them. One
// thread.
#pragma once

#include <string>
#include <vector>

#include "elements.h"

namespace ge::conform {

class RuntimeLibrary {
 public:
  // Empty, or why the library cannot be used.
  std::string Open(const std::string& path);
  struct Run {
    std::vector<Tensor> outputs;
    std::string report;  // one JSON object
  };
  // Loads a model in text form and runs it with these engines ("ref", "./my.so:k=v,ref"), prices as
  // the engines ask. Empty, or the message of what failed.
  std::string RunText(const std::string& text, const std::string& engines,
                      const std::vector<Tensor>& inputs, size_t outputs, Run* out) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace ge::conform
