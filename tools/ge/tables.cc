#include "tools/ge/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace ge::tool {
namespace {

bool BeginsLetter(char byte) { return (byte & 0xC0) != 0x80; }  // of UTF-8

size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsLetter));
}

}  // namespace

void PrintTable(const std::vector<std::string>& head, const std::vector<Row>& rows,
                const std::vector<bool>& right) {
  std::vector<size_t> width;
  for (const std::string& h : head) width.push_back(h.size());
  for (const Row& r : rows) {
    for (size_t i = 0; i < r.cells.size(); ++i) width[i] = std::max(width[i], Width(r.cells[i]));
  }
  auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i) {
      out += right[i] ? fmt::format("{:>{}}  ", cells[i], width[i])
                      : fmt::format("{:<{}}  ", cells[i], width[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    fmt::print("{}\n", out);
  };
  line(head);
  std::vector<std::string> rule;
  for (size_t w : width) rule.emplace_back(w, '-');
  line(rule);
  for (const Row& r : rows) line(r.cells);
}

std::string Ns(double ns) {
  if (ns < 1e4) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e7) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.2f} ms", ns / 1e6);
}

std::string ShortLabel(const NodeReport& r) {
  constexpr size_t kMost = 56, kBegin = 16, kEnd = 28;
  if (r.label.size() <= kMost) return r.label;
  size_t begin = kBegin, end = r.label.size() - kEnd;
  while (begin > 0 && !BeginsLetter(r.label[begin])) --begin;
  while (end < r.label.size() && !BeginsLetter(r.label[end])) ++end;
  return fmt::format("#{} {}..{}", r.node, r.label.substr(0, begin), r.label.substr(end));
}

std::string ShortPattern(const std::string& pattern) {
  std::vector<std::pair<std::string, int>> runs;
  std::istringstream ops(pattern);
  for (std::string op; std::getline(ops, op, '+');) {
    if (runs.empty() || runs.back().first != op) runs.emplace_back(op, 0);
    runs.back().second += 1;
  }
  std::string out;
  for (const auto& [op, times] : runs) {
    if (!out.empty()) out += "+";
    out += times > 1 ? fmt::format("{} {}", times, op) : op;
  }
  return out;
}

}  // namespace ge::tool
