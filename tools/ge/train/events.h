// Events: a file of events for TensorBoard in its own format: records with checksums (TFRecord),
// each a message of the schema of event.proto and summary.proto, written field by field. One
// thread; the file grows as records come.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"

namespace ge::tool {

struct EventNode {  // of the picture of a graph
  std::string name, op;
  std::vector<std::string> inputs;
};

class Events {
 public:
  // Makes the folder and a new file in it.
  static Result<Events> Open(const std::string& folder);
  Status Scalar(const std::string& tag, int64_t step, float value);
  Status Histogram(const std::string& tag, int64_t step, std::span<const float> values);
  Status Graph(std::span<const EventNode> nodes);
  Status Flush();

 private:
  Status Write(const std::string& event);
  std::ofstream file_;
  std::string path_;
};

}  // namespace ge::tool
