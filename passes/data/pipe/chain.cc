#include "passes/data/pipe/chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/data/ops/ops.h"

namespace ge::data {
namespace {

struct Known {
  std::string_view name;
  void (*apply)(const Step&, Chain*);
};
constexpr Known kSteps[] = {
    {"shuffle", ApplyShuffle}, {"select", ApplySelect}, {"normalise", ApplyNormalise},
    {"tokens", ApplyTokens},   {"pack", ApplyPack},
};

}  // namespace

int64_t Chain::EpochRows() const { return test || rows < batch ? rows : rows / batch * batch; }

Val Chain::Row() {
  if (row) return row;
  Attrs attrs;
  attrs.Int("seed", static_cast<int64_t>(seed))
      .Int("rows", rows)
      .Int("epoch_rows", EpochRows())
      .Int("shuffle", shuffle ? 1 : 0);
  row = fn->Node(kDomain, "Order", {position}, attrs, 1)[0];
  return row;
}

Val Chain::ValueOf(ChainColumn* column) {
  if (column->value) return column->value;
  const Column& c = ColumnOf(*column);
  if (c.kind != Column::Kind::kArray) {
    throw Refusal{GE_UNIMPLEMENTED,
                  fmt::format("column '{}' of '{}' is no array of one shape, and no step makes it "
                              "one; leave it out by select, or add a step for it",
                              c.name, source->path())};
  }
  Attrs attrs;
  attrs.Text("source", source->path())
      .Text("column", c.name)
      .Text("digest", source->digest())
      .Int("dtype", c.dtype)
      .Ints("dims", c.dims);
  column->value = fn->Node(kDomain, "Rows", {Row()}, attrs, 1)[0];
  return column->value;
}

Val Chain::Draw(const std::string& step, int64_t count) {
  std::string name = step;
  for (int i = 2; std::find(used.begin(), used.end(), name) != used.end(); ++i) {
    name = fmt::format("{} {}", step, i);
  }
  used.push_back(name);
  Attrs attrs;
  attrs.Int("seed", static_cast<int64_t>(seed)).Text("name", name).Int("count", count);
  return fn->Node(kDomain, "Draw", {position}, attrs, 1)[0];
}

void Apply(const Step& step, Chain* chain) {
  std::string names;
  for (const Known& k : kSteps) {
    if (k.name == step.name) return k.apply(step, chain);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", k.name);
  }
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("there is no step '{}'; the steps are {}", step.name, names)};
}

}  // namespace ge::data
