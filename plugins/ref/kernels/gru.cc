#include "plugins/ref/kernels/recurrent.h"

namespace ref {
namespace {

struct GruCell {
  bool linear_before_reset;

  template <class T>
  void Step(const RecurrentPlan& p, const Call& call, int64_t dir, const T* x,
            const CellState& s) const {
    const int64_t hid = p.hidden;
    const Gates<T> gates(p, call, dir);
    const Activation *f = p.act + dir * 2, *g = f + 1;
    // ONNX's order of gates: update, reset, hidden.
    double *update = s.scratch, *reset = update + hid, *fresh = reset + hid, *left = fresh + hid;
    for (int64_t k = 0; k < 2 * hid; ++k) update[k] = (*f)(p.Clip(gates.All(k, x, s.h)));
    for (int64_t k = 0; k < hid; ++k) left[k] = reset[k] * s.h[k];
    for (int64_t k = 0; k < hid; ++k) {
      const int64_t row = 2 * hid + k;
      const double state = linear_before_reset
                               ? reset[k] * (gates.State(row, s.h) + gates.StateBias(row))
                               : gates.State(row, left) + gates.StateBias(row);
      fresh[k] = (*g)(p.Clip(gates.Input(row, x) + gates.InputBias(row) + state));
    }
    for (int64_t k = 0; k < hid; ++k) s.h[k] = (1 - update[k]) * fresh[k] + update[k] * s.h[k];
  }
};

std::unique_ptr<Prepared> PrepareGru(const NodeView& n, Why* why) {
  const RecurrentKind kind{3, 2, {"Sigmoid", "Tanh"}, 6, 2};
  return PrepareRecurrent(n, kind, GruCell{n.Int("linear_before_reset") != 0}, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(gru, "GRU", PrepareGru)
