// Mesh: ranks as a grid with named axes, and which part of a dim a rank has. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ge::parallel {

struct Axis {
  std::string name;
  int64_t size = 1;
};

class Mesh {
 public:
  // "data=2", "data=2,model=4"; + stands for a comma, too. Throws a Refusal.
  static Mesh Of(const std::string& text);
  const std::vector<Axis>& axes() const { return axes_; }
  std::optional<uint32_t> Find(std::string_view name) const;
  int64_t ranks() const;
  // Place of a rank along an axis; the last axis is fastest.
  int64_t Coordinate(int64_t rank, uint32_t axis) const;
  // Several axes as one, the first major: their size, and the place of a rank along it.
  int64_t Shares(const std::vector<uint32_t>& axes) const;
  int64_t Share(int64_t rank, const std::vector<uint32_t>& axes) const;
  // Names joined by commas, and back; Read throws a Refusal.
  std::string Names(const std::vector<uint32_t>& axes) const;
  std::vector<uint32_t> Read(const std::string& names) const;
  std::string Text() const;

 private:
  std::vector<Axis> axes_;
};

struct Part {
  int64_t first = 0, size = 0;
  bool operator==(const Part&) const = default;
};
// The share of a dim of n: all are n / shares rounded up, the last ones smaller or empty.
Part ShareOf(int64_t n, int64_t shares, int64_t share);

}  // namespace ge::parallel
