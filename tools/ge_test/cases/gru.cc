#include "tools/ge_test/random/recurrent.h"

namespace ge::test {
namespace {

void GruCase(CaseMaker& m) {
  RecurrentCase(m, 3, 2);
  if (m.r.Chance(0.5)) m.Set("linear_before_reset", m.r.Int(0, 1));
}

bool PlainGruOutput(const RandomCase& c, size_t output, HostTensor* out) {
  const bool linear = IntOr(c, "linear_before_reset", 0) != 0;
  const auto step = [&](const PlainCell& cell) {
    const auto n = static_cast<int64_t>(cell.h.size());
    const auto gate = [&](int64_t row) {
      return cell.Act(0, cell.Input(row) + cell.State(row, cell.h));
    };
    std::vector<double> next = cell.h, left = cell.h;
    for (int64_t k = 0; k < n; ++k) left[static_cast<size_t>(k)] *= gate(n + k);
    for (int64_t k = 0; k < n; ++k) {
      const double z = gate(k), was = cell.h[static_cast<size_t>(k)];
      const double state =
          linear ? gate(n + k) * cell.State(2 * n + k, cell.h) : cell.State(2 * n + k, left);
      next[static_cast<size_t>(k)] = z * was + (1 - z) * cell.Act(1, cell.Input(2 * n + k) + state);
    }
    return next;
  };
  return PlainRecurrent(c, out, 3, {"Sigmoid", "Tanh"}, step, output);
}
bool PlainGru(const RandomCase& c, HostTensor* out) { return PlainGruOutput(c, 0, out); }

}  // namespace

GE_RANDOM_OP(gru) = {"GRU", GruCase, 8e-6, Error::kOfInputs, PlainGru, PlainGruOutput};

}  // namespace ge::test
