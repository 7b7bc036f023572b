// Steps that choose rows and columns: shuffle, select.
#include <fmt/format.h>

#include <algorithm>

#include "passes/data/pipe/chain.h"
#include "passes/data/pipe/nearest.h"

namespace ge::data {

void ApplyShuffle(const Step& step, Chain* chain) {
  if (!step.args.empty() || !step.named.empty()) {
    RefuseStep(step, "no argument: the order is a function of the seed and the epoch");
  }
  if (chain->row) RefuseStep(step, "it before the steps that read columns");
  chain->shuffle = !chain->test;
}

ChainColumn* FindColumn(const Step& step, Chain* chain, const std::string& name) {
  const auto at = std::find_if(chain->columns.begin(), chain->columns.end(),
                               [&](const ChainColumn& c) { return c.name == name; });
  if (at != chain->columns.end()) return &*at;
  std::vector<std::string> names;
  for (const ChainColumn& c : chain->columns) names.push_back(c.name);
  const bool list = name.find(',') != std::string::npos;
  RefuseStep(step,
             fmt::format("columns that there are, not '{}': {}{}", name, fmt::join(names, ", "),
                         list ? "; several in one are NEW=[A,B]" : Nearest(name, names)));
}

namespace {

// Numbers of several columns in one: of their dtype, else floats.
int32_t JoinedDtype(const std::vector<int32_t>& dtypes) {
  const auto has = [&](int32_t d) { return std::count(dtypes.begin(), dtypes.end(), d) != 0; };
  if (std::count(dtypes.begin(), dtypes.end(), dtypes[0]) == std::ssize(dtypes)) return dtypes[0];
  return has(GE_F64) ? GE_F64 : GE_F32;
}

// Columns beside each other as one: [n] as [n, 1], [n, k] as they are.
Val Joined(const Step& step, Chain* chain, const std::vector<std::string>& names) {
  std::vector<Val> parts;
  std::vector<int32_t> dtypes;
  for (const std::string& name : names) {
    Val v = chain->ValueOf(FindColumn(step, chain, name));
    const passes::Type type = chain->fn->TypeOf(v);
    if (type.rank > 2) RefuseStep(step, fmt::format("columns of numbers, not '{}'", name));
    if (type.rank == 1) v = passes::Unsqueeze(v, {1});
    dtypes.push_back(type.dtype);
    parts.push_back(v);
  }
  const int32_t dtype = JoinedDtype(dtypes);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (dtypes[i] != dtype) parts[i] = chain->fn->Cast(parts[i], dtype);
  }
  return parts.size() == 1 ? parts[0] : passes::Concat(parts, 1);
}

}  // namespace

// select a b: these columns. select x=[a,b] y=c: columns by new names, joined where several.
void ApplySelect(const Step& step, Chain* chain) {
  constexpr std::string_view kWanted = "select COLUMN... or NEW=COLUMN, NEW=[COLUMN,COLUMN,...]";
  if (step.args.empty() && step.named.empty()) RefuseStep(step, kWanted);
  if (std::find(step.args.begin(), step.args.end(), "=") != step.args.end()) {
    RefuseStep(step, fmt::format("{}, without blanks around '='", kWanted));
  }
  std::vector<ChainColumn> out;
  for (const std::string& name : step.args) out.push_back(*FindColumn(step, chain, name));
  for (const auto& [name, of] : step.named) {
    if (!of.starts_with('[')) {
      out.push_back(*FindColumn(step, chain, of));
      out.back().name = name;
      continue;
    }
    if (!of.ends_with(']')) RefuseStep(step, kWanted);
    std::vector<std::string> names;
    std::string_view rest(of);
    rest = rest.substr(1, rest.size() - 2);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(','), rest.size());
      names.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (names.empty()) RefuseStep(step, kWanted);
    ChainColumn made{name, FindColumn(step, chain, names[0])->of, {}};
    for (const std::string& part : names) {
      const ChainColumn& c = *FindColumn(step, chain, part);
      if (!chain->IsAsRead(c)) break;
      if (c.parts.empty()) made.parts.push_back(c.of);
      made.parts.insert(made.parts.end(), c.parts.begin(), c.parts.end());
    }
    made.value = made.read = Joined(step, chain, names);
    if (made.parts.size() != names.size()) made.read = {};
    out.push_back(std::move(made));
  }
  chain->columns = std::move(out);
}

}  // namespace ge::data
