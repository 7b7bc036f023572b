#include "tools/ge_test/random/recurrent.h"

namespace ge::test {
namespace {

void RnnCase(CaseMaker& m) { RecurrentCase(m, 1, 1); }

bool PlainRnnOutput(const RandomCase& c, size_t output, HostTensor* out) {
  const auto step = [](const PlainCell& cell) {
    std::vector<double> next = cell.h;
    for (size_t k = 0; k < next.size(); ++k) {
      const auto row = static_cast<int64_t>(k);
      next[k] = cell.Act(0, cell.Input(row) + cell.State(row, cell.h));
    }
    return next;
  };
  return PlainRecurrent(c, out, 1, {"Tanh"}, step, output);
}
bool PlainRnn(const RandomCase& c, HostTensor* out) { return PlainRnnOutput(c, 0, out); }

}  // namespace

GE_RANDOM_OP(rnn) = {"RNN", RnnCase, 8e-6, Error::kOfInputs, PlainRnn, PlainRnnOutput};

}  // namespace ge::test
