#include "tools/ge_test/random/recurrent.h"

namespace ge::test {
namespace {

void LstmCase(CaseMaker& m) {
  const LargeLayer large = m.large ? MakeLargeLayer(m, 4) : LargeLayer{};
  const int64_t steps = m.large ? large.steps : m.r.Int(1, 4),
                batch = m.large ? large.batch : m.r.Int(1, 3),
                in = m.large ? large.in : m.r.Int(1, 4),
                hidden = m.large ? large.hidden : m.r.Int(1, 4);
  const std::string direction =
      m.r.Pick(std::vector<std::string>{"forward", "reverse", "bidirectional"});
  const int64_t dirs = direction == "bidirectional" ? 2 : 1;
  const bool batch_first = m.r.Chance(0.3);
  m.Add(Signal(m, batch_first ? Dims{batch, steps, in} : Dims{steps, batch, in}));
  m.AddWeight(TameWeight(m, {dirs, 4 * hidden, in}, in));
  m.AddWeight(TameWeight(m, {dirs, 4 * hidden, hidden}, hidden));
  if (m.r.Chance(0.7)) {
    m.Add(Signal(m, {dirs, 8 * hidden}));
    const Dims state = batch_first ? Dims{batch, dirs, hidden} : Dims{dirs, batch, hidden};
    const bool lengths = m.r.Chance(0.4), states = m.r.Chance(0.5);
    if (lengths) {
      m.Add(m.Numbers(DType::kInt32, {batch}, 0, static_cast<double>(steps)));
    } else if (states) {
      m.AddAbsent();
    }
    if (states) {
      m.Add(Signal(m, state));
      m.Add(Signal(m, state));
      if (m.r.Chance(0.5)) m.Add(Signal(m, {dirs, 3 * hidden}));
    }
  }
  m.c.outputs = static_cast<int>(m.r.Int(1, 3));
  m.Set("hidden_size", hidden);
  if (dirs == 2 || m.r.Chance(0.7)) m.Set("direction", direction);
  if (m.r.Chance(0.2)) m.Set("clip", 0.5);
  if (m.r.Chance(0.2)) m.Set("input_forget", int64_t{1});
  if (batch_first) m.Set("layout", int64_t{1});
  if (m.r.Chance(0.3)) SetActivations(m, 3 * static_cast<size_t>(dirs));
}

bool PlainLstm(const RandomCase& c, HostTensor* out) { return PlainLstmOutput(c, 0, out); }

}  // namespace

GE_RANDOM_OP(lstm) = {"LSTM", LstmCase, 8e-6, Error::kOfInputs, PlainLstm, PlainLstmOutput};

}  // namespace ge::test
