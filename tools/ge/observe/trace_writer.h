// TraceWriter: a file of Perfetto's trace format: tracks, slices that nest, counters. It knows no
// plan. The file takes its name when Finish succeeds; until then nothing of that name changes. One
// thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ge/base/replace_file.h"
#include "ge/base/status.h"

namespace ge::tool {

struct TraceNote {
  const char* name;
  std::variant<uint64_t, double, std::string> value;
};

class TraceWriter {
 public:
  // IO_ERROR as of FileReplacement.
  static Result<TraceWriter> Begin(const std::string& path);
  TraceWriter(TraceWriter&&) noexcept;
  ~TraceWriter();

  using Track = uint64_t;
  Track AddThread(const std::string& name);   // the host's
  Track AddTrack(const std::string& name);    // of this process
  Track AddCounter(const std::string& name);  // of bytes
  // Times in ns of one clock; of a track they ascend. Each slice ends before the one around it.
  void BeginSlice(Track track, uint64_t ns, const char* category, std::string_view name,
                  const std::vector<TraceNote>& notes = {});
  void EndSlice(Track track, uint64_t ns);
  void Count(Track track, uint64_t ns, int64_t bytes);
  // The first failure of all that was written.
  Status Finish();

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ge::tool
