#include "ge/compile/explain/capture_report.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace ge {

nlohmann::json CaptureReport(const std::vector<std::shared_ptr<Compiled>>& plans) {
  uint64_t calls = 0, captured = 0;
  CaptureLog::Totals sum;
  std::map<std::string, uint64_t> left_out;
  for (const auto& c : plans) {
    const CaptureRegions& regions = c->program().capture_regions();
    calls += regions.work;
    captured += regions.inside;
    for (const auto& [why, n] : regions.outside) left_out[why] += n;
    const CaptureLog::Totals t = c->program().capture_log().Read();
    sum.made += t.made;
    sum.launched += t.launched;
    sum.dropped += t.dropped;
    for (const auto& [why, n] : t.failed) sum.failed[why] += n;
  }
  return {{"calls", calls},           {"captured", captured},   {"made", sum.made},
          {"launched", sum.launched}, {"dropped", sum.dropped}, {"left_out", left_out},
          {"failed", sum.failed}};
}

}  // namespace ge
