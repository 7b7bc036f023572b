#include "passes/parallel/mesh.h"

#include <algorithm>
#include <charconv>

#include "passes/kit/options.h"
#include "passes/kit/refusal.h"

namespace ge::parallel {
namespace {

using passes::Refusal;

constexpr int64_t kMostRanks = 1 << 20;  // products of sizes stay far from overflow

Axis AxisOf(const std::string& item, const std::string& text) {
  const size_t equals = item.find('=');
  Axis axis{item.substr(0, equals), 0};
  if (equals != std::string::npos) {
    const char *from = item.data() + equals + 1, *end = item.data() + item.size();
    const auto read = std::from_chars(from, end, axis.size);
    if (read.ec != std::errc() || read.ptr != end) axis.size = 0;
  }
  if (!axis.name.empty() && axis.size >= 1 && axis.size <= kMostRanks) return axis;
  throw Refusal{GE_INVALID_ARGUMENT, "the mesh is '" + text + "', wanted AXIS=RANKS, as data=2"};
}

}  // namespace

Mesh Mesh::Of(const std::string& text) {
  Mesh mesh;
  for (const std::string& item : passes::Listed(text)) {
    Axis axis = AxisOf(item, text);
    if (mesh.Find(axis.name)) {
      throw Refusal{GE_INVALID_ARGUMENT, "the mesh '" + text + "' has axis '" + axis.name +
                                             "' twice; give each axis once"};
    }
    if (mesh.ranks() > kMostRanks / axis.size) {
      throw Refusal{GE_INVALID_ARGUMENT, "the mesh '" + text + "' has more than " +
                                             std::to_string(kMostRanks) + " ranks"};
    }
    mesh.axes_.push_back(std::move(axis));
  }
  if (!mesh.axes_.empty()) return mesh;
  throw Refusal{GE_INVALID_ARGUMENT, "the mesh is '" + text + "', wanted AXIS=RANKS, as data=2"};
}

std::optional<uint32_t> Mesh::Find(std::string_view name) const {
  for (uint32_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return i;
  }
  return std::nullopt;
}

int64_t Mesh::ranks() const {
  int64_t n = 1;
  for (const Axis& axis : axes_) n *= axis.size;
  return n;
}

int64_t Mesh::Coordinate(int64_t rank, uint32_t axis) const {
  for (size_t i = axes_.size(); --i > axis;) rank /= axes_[i].size;
  return rank % axes_[axis].size;
}

int64_t Mesh::Shares(const std::vector<uint32_t>& axes) const {
  int64_t n = 1;
  for (const uint32_t axis : axes) n *= axes_[axis].size;
  return n;
}

int64_t Mesh::Share(int64_t rank, const std::vector<uint32_t>& axes) const {
  int64_t share = 0;
  for (const uint32_t axis : axes) share = share * axes_[axis].size + Coordinate(rank, axis);
  return share;
}

std::string Mesh::Names(const std::vector<uint32_t>& axes) const {
  std::string text;
  for (const uint32_t axis : axes) text += (text.empty() ? "" : ",") + axes_[axis].name;
  return text;
}

std::vector<uint32_t> Mesh::Read(const std::string& names) const {
  std::vector<uint32_t> axes;
  for (const std::string& name : passes::Listed(names)) {
    const auto found = Find(name);
    if (found && (axes.empty() || axes.back() < *found)) {
      axes.push_back(*found);
      continue;
    }
    throw Refusal{GE_INVALID_ARGUMENT, "axes is '" + names + "', wanted some of the mesh '" +
                                           Text() + "', in its order"};
  }
  if (!axes.empty()) return axes;
  throw Refusal{GE_INVALID_ARGUMENT, "axes is empty, wanted some of the mesh '" + Text() + "'"};
}

std::string Mesh::Text() const {
  std::string text;
  for (const Axis& axis : axes_) {
    text += (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  }
  return text;
}

Part ShareOf(int64_t n, int64_t shares, int64_t share) {
  const int64_t each = (n + shares - 1) / shares;
  const int64_t first = std::min(n, each * share);
  return {first, std::min(each, n - first)};
}

}  // namespace ge::parallel
