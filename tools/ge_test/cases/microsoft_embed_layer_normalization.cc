#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void EmbedCase(CaseMaker& m) {
  const Dims grid = {m.r.Int(1, 3), m.r.Int(1, 5)};
  const int64_t hidden = m.Size(8, 800);
  const bool segments = m.r.Chance(0.6);
  const auto reals = [&](const Dims& dims) { return m.Numbers(DType::kFloat, dims, -1, 1); };
  const auto ids = [&](const Dims& dims, double most) {
    return m.Numbers(DType::kInt32, dims, 0, most);
  };
  m.Add(ids(grid, 9));
  AddMaybe(m, segments ? ids(grid, 1) : nullptr);
  m.Add(reals({10, hidden}));
  m.Add(reals({6, hidden}));
  AddMaybe(m, segments ? reals({2, hidden}) : nullptr);
  m.Add(reals({hidden}));
  m.Add(reals({hidden}));
  AddMaybe(m, m.r.Chance(0.5) ? ids(grid, 1) : nullptr);
  if (m.r.Chance(0.5)) m.Add(ids({m.r.Chance(0.5) ? 1 : grid[0], grid[1]}, 5));
  m.Set("epsilon", 0.125);
  m.c.outputs = static_cast<int>(m.r.Int(1, 3));
  m.c.typed = false;
}

// Output 0 alone.
bool PlainEmbed(const RandomCase& c, HostTensor* out) {
  const HostTensor &ids = *Maybe(c, 0), &words = *Maybe(c, 2), &places = *Maybe(c, 3);
  const HostTensor *segments = Maybe(c, 1), *given = Maybe(c, 8);
  const int64_t hidden = words.dims[1], steps = ids.dims[1];
  if (out->dims != Dims{ids.dims[0], steps, hidden}) return false;
  for (int64_t t = 0; t < ids.count(); ++t) {
    int64_t place = t % steps;
    if (given != nullptr) place = ElementAsInt(*given, given->dims[0] == 1 ? place : t);
    std::vector<double> row(static_cast<size_t>(hidden));
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < hidden; ++k) {
      double& v = row[static_cast<size_t>(k)];
      v = ElementAsDouble(words, ElementAsInt(ids, t) * hidden + k) +
          ElementAsDouble(places, place * hidden + k);
      if (segments != nullptr) {
        v += ElementAsDouble(*Maybe(c, 4), ElementAsInt(*segments, t) * hidden + k);
      }
      sum += v;
      squares += v * v;
    }
    const auto n = static_cast<double>(hidden);
    const double mean = sum / n, root = std::sqrt(squares / n - mean * mean + 0.125);
    for (int64_t k = 0; k < hidden; ++k) {
      const double v = (row[static_cast<size_t>(k)] - mean) / root;
      SetElement(out, t * hidden + k,
                 v * ElementAsDouble(*Maybe(c, 5), k) + ElementAsDouble(*Maybe(c, 6), k));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_embed_layer_normalization) = {"com.microsoft.EmbedLayerNormalization",
                                                     EmbedCase, 8e-6, Error::kOfInputs, PlainEmbed};

}  // namespace ge::test
