#include "tools/ge/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "ge/base/clock.h"

namespace ge::tool {

ProgressLine::ProgressLine(bool quiet) : on_(!quiet && isatty(STDERR_FILENO) != 0) {}

bool ProgressLine::Due() const { return on_ && NowMs() - last_ms_ >= 100; }

void ProgressLine::Draw(const std::string& before, double done, const std::string& behind) {
  if (!Due()) return;
  last_ms_ = NowMs();
  drawn_ = true;
  constexpr size_t kBar = 24;
  const auto full = static_cast<size_t>(kBar * std::clamp(done, 0.0, 1.0));
  fmt::print(stderr, "\r\x1b[K{} [{}{}] {}", before, std::string(full, '='),
             std::string(kBar - full, ' '), behind);
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace ge::tool
