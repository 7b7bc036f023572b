// standardise: (x - mean) / deviation of each element of a row, over all rows of the training data:
// found once, while the pipeline is made.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "passes/data/pipe/chain.h"
#include "passes/data/pipe/column_reader.h"

namespace ge::data {
namespace {

constexpr uint64_t kMostElements = 1 << 20;  // of a row

// Welford, "Note on a method for calculating corrected sums of squares and products", 1962.
Standard StandardOf(const Chain& chain, size_t column) {
  const Column& c = chain.source->columns()[column];
  uint64_t elements = 1;
  for (const int64_t d : c.dims) elements *= static_cast<uint64_t>(d);
  if (elements > kMostElements) {
    throw Refusal{GE_UNIMPLEMENTED,
                  fmt::format("standardise: column '{}' has {} numbers a row, wanted "
                              "at most {}",
                              c.name, elements, kMostElements)};
  }
  std::vector<long double> mean(elements), squares(elements);
  ForBlocks(chain, {column}, [&](int64_t first, size_t count, const std::vector<Numbers>& values) {
    for (size_t i = 0; i < count; ++i) {
      const auto n = static_cast<long double>(first) + static_cast<long double>(i + 1);
      for (uint64_t k = 0; k < elements; ++k) {
        const long double x = values[0][i * elements + k], from = x - mean[k];
        if (!std::isfinite(x)) {
          throw Refusal{GE_INVALID_ARGUMENT,
                        fmt::format("standardise: column '{}' is {} in row {} of '{}', wanted a "
                                    "number; leave such rows out by where, or fill them in",
                                    c.name, static_cast<double>(x), first + static_cast<int64_t>(i),
                                    chain.source->path())};
        }
        mean[k] += from / n;
        squares[k] += from * (x - mean[k]);
      }
    }
  });
  Standard out;
  for (uint64_t k = 0; k < elements; ++k) {
    const long double deviation = std::sqrt(squares[k] / static_cast<long double>(chain.rows));
    out.mean.push_back(static_cast<double>(mean[k]));
    // An element that is always the same becomes 0.
    out.scale.push_back(deviation > 0 ? static_cast<double>(1 / deviation) : 1.0);
  }
  return out;
}

}  // namespace

// standardise: all columns of floats. standardise COLUMN...: these, whole numbers too.
void ApplyStandardise(const Step& step, Chain* chain) {
  if (!step.named.empty()) RefuseStep(step, "standardise, or standardise COLUMN...");
  for (const std::string& name : step.args) FindColumn(step, chain, name);
  int changed = 0;
  for (ChainColumn& c : chain->columns) {
    const Column& of = chain->ColumnOf(c);
    const bool named = std::find(step.args.begin(), step.args.end(), c.name) != step.args.end();
    const bool numbers = of.kind == Column::Kind::kArray && of.classes.empty() && !c.value;
    const bool floats = numbers && (of.dtype == GE_F32 || of.dtype == GE_F64);
    if (!(step.args.empty() ? floats : named)) continue;
    if (!numbers)
      RefuseStep(step, fmt::format("a column of numbers as the source has it, not '{}'", c.name));
    Standard own;
    const Standard* s = &own;
    if (chain->learned != nullptr) {
      auto at = chain->learned->standards.find(c.name);
      if (at == chain->learned->standards.end()) {
        at = chain->learned->standards.emplace(c.name, StandardOf(*chain, c.of)).first;
      }
      s = &at->second;
    } else {
      own = StandardOf(*chain, c.of);
    }
    Fn& fn = *chain->fn;
    const auto constant = [&](const std::vector<double>& v) {
      return passes::Reshape(fn.Vector(GE_F64, v), of.dims);
    };
    const Val x = fn.Cast(chain->ValueOf(&c), GE_F64);
    c.value = fn.Cast((x - constant(s->mean)) * constant(s->scale), GE_F32);
    ++changed;
  }
  if (changed == 0) RefuseStep(step, "a column of floats ahead of it; there is none");
}

}  // namespace ge::data
