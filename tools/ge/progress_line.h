// ProgressLine: a line of stderr that is drawn again while long work goes on; on a terminal alone.
// One thread. Movable; the last owner clears it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace ge::tool {

class ProgressLine {
 public:
  explicit ProgressLine(bool quiet = false);
  ProgressLine(ProgressLine&& other) noexcept
      : on_(other.on_), drawn_(std::exchange(other.drawn_, false)), last_ms_(other.last_ms_) {}
  ProgressLine& operator=(ProgressLine&& other) noexcept {
    std::swap(on_, other.on_);
    std::swap(drawn_, other.drawn_);
    std::swap(last_ms_, other.last_ms_);
    return *this;
  }
  ~ProgressLine() { Clear(); }

  // Whether Draw would draw now: not more than ten times a second.
  bool Due() const;
  // `before [=====     ] behind`, `done` from 0 to 1.
  void Draw(const std::string& before, double done, const std::string& behind);
  void Clear();

 private:
  bool on_, drawn_ = false;
  double last_ms_ = 0;
};

}  // namespace ge::tool
