#include "plugins/ref/kernels/recurrent.h"

namespace ref {
namespace {

struct LstmCell {
  bool input_forget;

  template <class T>
  void Step(const RecurrentPlan& p, const Call& call, int64_t dir, const T* x,
            const CellState& s) const {
    const int64_t hid = p.hidden;
    const Gates<T> gates(p, call, dir);
    const T* peep = call.has_in(7) ? call.in(7).as<T>() + dir * 3 * hid : nullptr;
    const Activation* act = p.act + dir * 3;
    double* gate = s.scratch;
    const auto hole = [&](int64_t which, int64_t k, double cell) {
      return peep == nullptr ? 0.0 : Widen(Load(peep, which * hid + k)) * cell;
    };
    // ONNX's order of gates: i, o, f, c.
    for (int64_t g = 0; g < 4 * hid; ++g) gate[g] = gates.All(g, x, s.h);
    for (int64_t k = 0; k < hid; ++k) {
      const double i = act[0](p.Clip(gate[k] + hole(0, k, s.c[k])));
      const double f =
          input_forget ? 1 - i : act[0](p.Clip(gate[2 * hid + k] + hole(2, k, s.c[k])));
      s.c[k] = f * s.c[k] + i * act[1](p.Clip(gate[3 * hid + k]));
      const double o = act[0](p.Clip(gate[hid + k] + hole(1, k, s.c[k])));
      s.h[k] = o * act[2](s.c[k]);
    }
  }
};

std::unique_ptr<Prepared> PrepareLstm(const NodeView& n, Why* why) {
  const RecurrentKind kind{4, 3, {"Sigmoid", "Tanh", "Tanh"}, 8, 3};
  return PrepareRecurrent(n, kind, LstmCell{n.Int("input_forget") != 0}, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(lstm, "LSTM", PrepareLstm)
