// WriteTrace: what was observed of a load, a compile and runs as a file of Perfetto's trace format:
// stages and passes, runs, their instructions and steps, work of streams, memory in use. Reads
// plans and times; changes nothing but the file. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "tools/ge/observe/run_times.h"

namespace ge::tool {

// A stretch of the host's work before the runs, by the clock of NowMs.
struct StageSpan {
  std::string name;
  double begin_ms = 0, ms = 0;
};

// One run of an entry: of one plan, or of several where it is planned in pieces.
struct ObservedRun {
  uint64_t begin_ns = 0, end_ns = 0;
  std::vector<PlanTimes> plans;
};

// IO_ERROR as of ReplaceFile; an earlier file of the name then stays.
Status WriteTrace(const std::string& path, std::vector<StageSpan> stages,
                  const std::vector<ObservedRun>& runs);

}  // namespace ge::tool
