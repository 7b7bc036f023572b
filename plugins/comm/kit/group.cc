#include "plugins/comm/kit/group.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "ge/ge_plugin.hpp"

namespace ge_engines::comm {
namespace {

constexpr int64_t kMostRanks = 1 << 20;  // products of sizes stay far from overflow
constexpr size_t kMostAxes = 16;

std::vector<std::string_view> Listed(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    const size_t end = text.find(',');
    items.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return items;
}

// "data=2": its size; 0 where it is none.
int64_t SizeOf(std::string_view axis) {
  const size_t equals = axis.find('=');
  if (equals == 0 || equals == std::string_view::npos) return 0;
  int64_t n = 0;
  const char* end = axis.data() + axis.size();
  const auto read = std::from_chars(axis.data() + equals + 1, end, n);
  return read.ec == std::errc() && read.ptr == end && n >= 1 && n <= kMostRanks ? n : 0;
}

}  // namespace

std::string ReadGroup(const ge_node& node, Group* group) {
  group->mesh = ge::plugin::AttrString(node, "mesh");
  const std::vector<std::string_view> mesh = Listed(group->mesh);
  const std::string_view axes = ge::plugin::AttrString(node, "axes");
  const std::string says = "the mesh is '" + group->mesh + "'";
  if (mesh.empty() || mesh.size() > kMostAxes) return says + ", wanted 1 to 16 of AXIS=RANKS";
  for (const std::string_view axis : mesh) {
    group->sizes.push_back(SizeOf(axis));
    const int64_t size = group->sizes.back();
    if (size == 0 || group->ranks > kMostRanks / size) return says + ", wanted AXIS=RANKS";
    group->ranks *= size;
  }
  for (const std::string_view name : Listed(axes)) {
    const auto at = std::find_if(mesh.begin(), mesh.end(), [&](std::string_view axis) {
      return axis.substr(0, axis.find('=')) == name;
    });
    const uint32_t bit = at == mesh.end() ? 0 : 1u << (at - mesh.begin());
    if (bit <= group->axes) {  // none, twice, or one ahead of an earlier one
      return says + " and axes '" + std::string(axes) + "', wanted names of it in its order";
    }
    group->axes |= bit;
  }
  if (group->axes == 0) return says + " and axes is empty, wanted names of it";
  group->rank = ge::plugin::AttrInt(node, "rank", -1);
  if (group->rank < group->ranks) return {};
  return says + " and rank " + std::to_string(group->rank) + ", wanted less than " +
         std::to_string(group->ranks);
}

void Place(int64_t rank, Group* group) {
  group->rank = rank;
  const size_t n = group->sizes.size();
  std::vector<int64_t> stride(n, 1);
  for (size_t a = n - 1; a-- > 0;) stride[a] = stride[a + 1] * group->sizes[a + 1];
  int64_t first = rank;
  for (size_t a = 0; a < n; ++a) {
    if (group->axes >> a & 1) first -= rank / stride[a] % group->sizes[a] * stride[a];
  }
  group->members = {first};
  for (size_t a = 0; a < n; ++a) {
    if ((group->axes >> a & 1) == 0) continue;
    std::vector<int64_t> more;
    for (const int64_t m : group->members) {
      for (int64_t c = 0; c < group->sizes[a]; ++c) more.push_back(m + c * stride[a]);
    }
    group->members = std::move(more);
  }
  const auto at = std::find(group->members.begin(), group->members.end(), rank);
  group->place = static_cast<size_t>(at - group->members.begin());
}

int64_t ColorOf(const Group& group) { return group.members.front(); }

Share ShareOf(int64_t n, size_t shares, size_t share) {
  const auto many = static_cast<int64_t>(shares);
  const int64_t each = (n + many - 1) / many;
  const int64_t first = std::min(n, each * static_cast<int64_t>(share));
  return {first, std::min(each, n - first)};
}

}  // namespace ge_engines::comm
