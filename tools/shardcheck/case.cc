#include "tools/shardcheck/case.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge::shardcheck {
namespace {

// "0,- -> 0" with other spaces.
std::string Tidy(std::string_view text) {
  std::string tidy;
  for (const char c : text) {
    if (c != ' ') tidy += c;
  }
  const size_t arrow = tidy.find("->");
  if (arrow != std::string::npos) tidy = tidy.substr(0, arrow) + " -> " + tidy.substr(arrow + 2);
  return tidy;
}

std::string PlaceText(int place) {
  switch (place) {
    case parallel::kWhole:
      return "-";
    case parallel::kTerm:
      return "+";
    case parallel::kUnread:
      return "_";
    case parallel::kShape:
      return "S";
    case parallel::kMaxTerm:
      return "max";
    case parallel::kMinTerm:
      return "min";
    case parallel::kKept:
      return "first";
    default:
      return std::to_string(place);
  }
}

std::string PlacesText(const std::vector<int>& places) {
  std::string text;
  for (const int p : places) text += (text.empty() ? "" : ",") + PlaceText(p);
  return text;
}

}  // namespace

std::string TextOf(const parallel::Way& way) {
  return PlacesText(way.in) + " -> " + PlacesText(way.out);
}

Result<std::vector<ShardCase>> ReadShardCases(const std::string& folder) {
  GE_ASSIGN_OR_RETURN(const std::vector<adcheck::CaseLine> lines, adcheck::ReadLines(folder));
  std::vector<ShardCase> cases;
  for (const adcheck::CaseLine& line : lines) {
    ShardCase c;
    size_t bar = line.text.find('|');
    GE_ASSIGN_OR_RETURN(c.node, adcheck::ParseCase(line.text.substr(0, bar), line.where, true));
    while (bar != std::string::npos) {
      const size_t next = line.text.find('|', bar + 1);
      c.ways.push_back(Tidy(line.text.substr(bar + 1, next - bar - 1)));
      if (c.ways.back().find("->") == std::string::npos) {
        return Status(Code::kDataCorrupt,
                      fmt::format("{}: found the way '{}', wanted places of inputs -> places of "
                                  "outputs; see tools/shardcheck/cases/README.md",
                                  line.where, c.ways.back()));
      }
      bar = next;
    }
    c.name = c.node.domain.empty() ? c.node.op : c.node.domain + "." + c.node.op;
    std::sort(c.ways.begin(), c.ways.end());
    cases.push_back(std::move(c));
  }
  return cases;
}

Result<std::unique_ptr<CaseView>> CaseView::Make(const ShardCase& c) {
  auto made = std::make_unique<CaseView>();
  GE_ASSIGN_OR_RETURN(made->graph_, adcheck::ParseAndInfer(adcheck::TextOf(c.node, false)));
  const Entry* entry = made->graph_.FindEntry("main");
  GE_ASSIGN_OR_RETURN(made->view_, GraphView::MakeWhole(made->graph_, made->graph_.fn(entry->fn)));
  return made;
}

std::vector<int64_t> CaseView::InDims(size_t i) const {
  return parallel::DimsOf(graph(), node().in[i]);
}

std::vector<int64_t> CaseView::OutDims(size_t i) const {
  return parallel::DimsOf(graph(), node().out[i]);
}

std::vector<parallel::Way> CaseView::Ways(int64_t shares, const parallel::Change& change) const {
  parallel::Split split = parallel::SplitOf(graph(), node(), shares, change);
  for (parallel::Way& way : parallel::WaysOfTerms(node(), split.terms)) {
    // Only numbers have terms, and an input that is left out has none.
    bool fits = true;
    for (size_t i = 0; i < way.in.size(); ++i) {
      if (way.in[i] != parallel::kTerm) continue;
      fits = fits && node().in[i] != 0 && GE_VALUE(graph(), node().in[i])->data == nullptr;
    }
    if (fits) split.ways.push_back(std::move(way));
  }
  return std::move(split.ways);
}

std::string CaseView::RuleText() const {
  std::string text;
  (void)parallel::SplitOf(graph(), node(), 2, [&](std::string rule) {
    text = rule;
    return rule;
  });
  return text;
}

}  // namespace ge::shardcheck
