// libgraphengine, opened at run time: whole models through ge.h, as an application runs them. One
// thread.
#pragma once

#include <string>
#include <vector>

#include "elements.h"

namespace ge::conform {

class RuntimeLibrary {
 public:
  // "", or why the library cannot be used.
  std::string Open(const std::string& path);
  // Options of a session, as in ge_session_options; texts may be empty.
  struct How {
    std::string engines;  // "ref", "./my.so:k=v,ref"
    std::string plugins, passes;
  };
  struct Run {
    std::vector<Tensor> outputs;
    std::string report;  // one JSON object
  };
  // Loads a model in text form and runs it at the engines' own prices. Returns "" or the failure's
  // message.
  std::string RunText(const std::string& text, const How& how, const std::vector<Tensor>& inputs,
                      size_t outputs, Run* out) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace ge::conform
