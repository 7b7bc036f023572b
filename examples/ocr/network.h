// One network through GraphEngine's C API: float tensor in, float tensor out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/ge.hpp"

namespace ocr {

struct Blob {
  std::vector<int64_t> dims;
  std::vector<float> data;
};

// Throws graphengine::Error with GraphEngine's own message.
class Network {
 public:
  Network(const std::string& path, const std::string& engines, uint32_t threads);
  // Runs once. The first run of a new shape makes a plan and keeps it.
  Blob Run(const Blob& input);
  std::string Metadata(const char* key) const;
  std::string Report() const;                        // JSON of the latest plan
  double run_ms() const { return run_ms_; }          // all runs, plans not counted
  double compile_ms() const { return compile_ms_; }  // making plans
  int runs() const { return runs_; }

 private:
  graphengine::Session session_;
  double run_ms_ = 0, compile_ms_ = 0;
  int runs_ = 0;
};

}  // namespace ocr
