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

// What standardise sees of a column: numbers of the source, alone or joined by select.
struct Seen {
  std::vector<size_t> parts;  // of the source; empty: the column is not such numbers
  std::vector<int64_t> dims;  // of a row
  int32_t dtype = 0;
};

Seen SeenOf(Chain* chain, const ChainColumn& c) {
  if (!chain->IsAsRead(c)) return {};
  const Column& of = chain->ColumnOf(c);
  if (c.parts.empty()) return {{c.of}, of.dims, of.dtype};
  const passes::Type type = chain->fn->TypeOf(c.value);
  return {c.parts, {type.dims[1].value}, type.dtype};
}

Standard StandardOf(const Chain& chain, const std::vector<size_t>& parts) {
  Standard all;
  for (const size_t part : parts) {
    const Standard one = StandardOf(chain, part);
    all.mean.insert(all.mean.end(), one.mean.begin(), one.mean.end());
    all.scale.insert(all.scale.end(), one.scale.begin(), one.scale.end());
  }
  return all;
}

// The training data's, where the chain is the test's.
Standard LearnedStandard(const Chain& chain, const std::string& name,
                         const std::vector<size_t>& parts) {
  if (chain.learned == nullptr) return StandardOf(chain, parts);
  auto& known = chain.learned->standards;
  const auto at = known.find(name);
  if (at != known.end()) return at->second;
  return known.emplace(name, StandardOf(chain, parts)).first->second;
}

}  // namespace

// standardise: all columns of floats. standardise COLUMN...: these, whole numbers too.
void ApplyStandardise(const Step& step, Chain* chain) {
  if (!step.named.empty()) RefuseStep(step, "standardise, or standardise COLUMN...");
  for (const std::string& name : step.args) FindColumn(step, chain, name);
  int changed = 0;
  for (ChainColumn& c : chain->columns) {
    const Seen seen = SeenOf(chain, c);
    const bool named = std::find(step.args.begin(), step.args.end(), c.name) != step.args.end();
    const bool floats = !seen.parts.empty() && (seen.dtype == GE_F32 || seen.dtype == GE_F64);
    if (!(step.args.empty() ? floats : named)) continue;
    if (seen.parts.empty()) {
      RefuseStep(
          step,
          fmt::format("a column of numbers that no step but select has changed, not '{}'", c.name));
    }
    const Standard s = LearnedStandard(*chain, c.name, seen.parts);
    Fn& fn = *chain->fn;
    const auto constant = [&](const std::vector<double>& v) {
      return passes::Reshape(fn.Vector(GE_F64, v), seen.dims);
    };
    const Val x = fn.Cast(chain->ValueOf(&c), GE_F64);
    c.value = fn.Cast((x - constant(s.mean)) * constant(s.scale), GE_F32);
    ++changed;
  }
  if (changed == 0) {
    RefuseStep(step, "a column of floats that no step but select has changed; there is none");
  }
}

}  // namespace ge::data
