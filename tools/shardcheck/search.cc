// ge-shardcheck --search: tries every place of every operand on two ranks, and lists ways that give
// the whole though the rule has none: what it might say, too.
#include <fmt/format.h>

#include <algorithm>

#include "tools/shardcheck/way_check.h"

namespace ge::shardcheck {
namespace {

constexpr size_t kMostWays = 20000;  // tried for one case

// What each operand may be: inputs whole or split, a shape that the rule calls one as such; outputs
// split or terms.
std::vector<std::vector<int>> Choices(const ShardCase& c, const CaseView& view) {
  std::vector<std::vector<int>> choices;
  const std::vector<parallel::Way> ways = view.Ways(2);
  for (size_t i = 0; i < c.node.in.size(); ++i) {
    std::vector<int> places = {parallel::kWhole};
    const bool shape = std::any_of(ways.begin(), ways.end(), [&](const parallel::Way& w) {
      return w.in[i] == parallel::kShape;
    });
    if (shape) places = {parallel::kShape};
    const bool split = !c.node.in[i].absent && !c.node.in[i].constant;
    for (size_t d = 0; split && d < c.node.in[i].dims.size(); ++d) {
      if (c.node.in[i].dims[d] > 1) places.push_back(static_cast<int>(d));
    }
    choices.push_back(std::move(places));
  }
  for (size_t k = 0; k < c.node.out.size(); ++k) {
    std::vector<int> places = {parallel::kWhole};
    if (c.node.out[k]) places = {parallel::kTerm, parallel::kMaxTerm, parallel::kMinTerm};
    const size_t rank = c.node.out[k] ? view.OutDims(k).size() : 0;
    for (size_t d = 0; d < rank; ++d) {
      if (view.OutDims(k)[d] > 1) places.push_back(static_cast<int>(d));
    }
    choices.push_back(std::move(places));
  }
  return choices;
}

// Whether some input is split: what all compute alike is no way.
bool Splits(const parallel::Way& way) {
  return std::any_of(way.in.begin(), way.in.end(), [](int p) { return p >= 0; });
}

void Search(const ShardCase& c, const Options& options, int* found) {
  auto check = WayCheck::Make(c, options);
  if (!check.ok() || (*check)->view().of_shape()) return;
  const auto choices = Choices(c, (*check)->view());
  size_t ways = 1;
  for (const std::vector<int>& places : choices) ways *= places.size();
  if (ways > kMostWays) {
    fmt::print("{}: {} ways are not tried, at most {}\n", c.node.line, ways, kMostWays);
    return;
  }
  const parallel::Mesh mesh = parallel::Mesh::Of(MeshText("2"));
  const size_t inputs = c.node.in.size();
  for (size_t k = 0; k < ways; ++k) {
    parallel::Way way;
    size_t rest = k;
    for (size_t i = 0; i < choices.size(); ++i) {
      (i < inputs ? way.in : way.out).push_back(choices[i][rest % choices[i].size()]);
      rest /= choices[i].size();
    }
    const std::string text = TextOf(way);
    if (!Splits(way) || std::count(c.ways.begin(), c.ways.end(), text) != 0) continue;
    if (!(*check)->Run(mesh, {way}).empty()) continue;
    ++*found;
    fmt::print("{}: {}\n", c.node.line, text);
  }
}

}  // namespace

int SearchWays(const Options& options) {
  const auto cases = ReadShardCases(options.cases);
  if (!cases.ok()) {
    fmt::print(stderr, "ge-shardcheck: {}\n", cases.status().message());
    return 2;
  }
  int found = 0;
  for (const ShardCase& c : *cases) {
    if (adcheck::IsListed(options.ops, c.name)) Search(c, options, &found);
  }
  fmt::print("{} more ways give the whole\n", found);
  return 0;
}

}  // namespace ge::shardcheck
