#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

bool IsSpace(char ch) {
  return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\v' || ch == '\f' || ch == '\r';
}

// At most `most` cuts; -1 for as many as there are.
std::vector<std::string> SplitAtSpace(const std::string& s, int64_t most) {
  std::vector<std::string> parts;
  size_t at = 0;
  const auto skip = [&] {
    while (at < s.size() && IsSpace(s[at])) ++at;
  };
  for (skip(); at < s.size(); skip()) {
    size_t end = at;
    if (most >= 0 && static_cast<int64_t>(parts.size()) == most) {
      end = s.size();
      while (end > at && IsSpace(s[end - 1])) --end;
      parts.push_back(s.substr(at, end - at));
      break;
    }
    while (end < s.size() && !IsSpace(s[end])) ++end;
    parts.push_back(s.substr(at, end - at));
    at = end;
  }
  return parts;
}

std::vector<std::string> SplitAt(const std::string& s, const std::string& delimiter, int64_t most) {
  std::vector<std::string> parts;
  if (s.empty()) return parts;
  size_t at = 0;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t end = s.find(delimiter, at);
    if (end == std::string::npos) break;
    parts.push_back(s.substr(at, end - at));
    at = end + delimiter.size();
  }
  parts.push_back(s.substr(at));
  return parts;
}

// As many parts as there are without a limit.
uint64_t CountParts(const std::string& s, const std::string& delimiter) {
  uint64_t count = 1;
  if (delimiter.empty()) {
    for (size_t i = 1; i < s.size(); ++i) count += IsSpace(s[i - 1]) && !IsSpace(s[i]);
    return count;
  }
  for (size_t at = 0; (at = s.find(delimiter, at)) != std::string::npos; ++count) {
    at += delimiter.size();
  }
  return count;
}

Status RunStringSplit(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  const std::string delimiter(AttrString(c.node, "delimiter"));
  const int64_t most = HasAttr(c.node, "maxsplit") ? AttrInt(c.node, "maxsplit") : -1;
  std::vector<std::vector<std::string>> rows;
  size_t width = 0;
  uint64_t bytes = 0;
  for (const std::string& s : *x) {
    bytes += CountParts(s, delimiter) * sizeof(std::string) + s.size();
    GE_RETURN_IF_ERROR(c.pool->Room(bytes));
    rows.push_back(delimiter.empty() ? SplitAtSpace(s, most) : SplitAt(s, delimiter, most));
    width = std::max(width, rows.back().size());
  }
  // Each row is as wide as the widest.
  GE_RETURN_IF_ERROR(c.pool->Room(bytes + rows.size() * width * sizeof(std::string)));
  std::vector<std::string> parts;
  std::vector<int64_t> counts;
  for (std::vector<std::string>& row : rows) {
    counts.push_back(static_cast<int64_t>(row.size()));
    row.resize(width);
    std::move(row.begin(), row.end(), std::back_inserter(parts));
  }
  std::vector<int64_t> dims = c.in(0).dims.vector();
  dims.push_back(static_cast<int64_t>(width));
  GE_RETURN_IF_ERROR(c.pool->NewStrings(dims, std::move(parts), &c.outputs[0]));
  if (c.outputs.size() < 2 || c.node.outputs[1] == 0) return {};
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kInt64, c.in(0).dims, &c.outputs[1], &to));
  if (!counts.empty()) std::memcpy(to, counts.data(), counts.size() * sizeof(int64_t));
  return {};
}

}  // namespace

GE_HOST_OP(string_split) = {"", "StringSplit", RunStringSplit};

}  // namespace ge
