#include "plugins/device/sim/timeline.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace ge_engines::device::sim {

int64_t Timeline::FirstGap(const Spans& spans, int64_t ready_ns, int64_t cost_ns) {
  int64_t at = ready_ns;
  auto next = spans.upper_bound(at);
  if (next != spans.begin()) at = std::max(at, std::prev(next)->second);
  for (; next != spans.end() && next->first - at < cost_ns; ++next) at = std::max(at, next->second);
  return at;
}

int64_t Timeline::Take(int64_t ready_ns, int64_t cost_ns) {
  if (cost_ns <= 0) return ready_ns;
  size_t best = 0;
  int64_t begin = INT64_MAX;
  for (size_t i = 0; i < busy_.size(); ++i) {
    const int64_t found = FirstGap(busy_[i], ready_ns, cost_ns);
    if (found < begin) {
      begin = found;
      best = i;
    }
  }
  Spans& spans = busy_[best];
  int64_t end = begin + cost_ns;
  const auto next = spans.find(end);  // touching spans become one
  if (next != spans.end()) {
    end = next->second;
    spans.erase(next);
  }
  const auto behind = spans.lower_bound(begin);
  if (behind != spans.begin() && std::prev(behind)->second == begin)
    std::prev(behind)->second = end;
  else
    spans.emplace(begin, end);
  return begin;
}

void Timeline::Forget(int64_t before_ns) {
  for (Spans& spans : busy_)
    while (!spans.empty() && spans.begin()->second <= before_ns) spans.erase(spans.begin());
}

}  // namespace ge_engines::device::sim
