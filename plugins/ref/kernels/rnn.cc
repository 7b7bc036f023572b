#include "plugins/ref/kernels/recurrent.h"

namespace ref {
namespace {

struct RnnCell {
  template <class T>
  void Step(const RecurrentPlan& p, const Call& call, int64_t dir, const T* x,
            const CellState& s) const {
    const Gates<T> gates(p, call, dir);
    for (int64_t k = 0; k < p.hidden; ++k) {
      s.scratch[k] = p.act[dir](p.Clip(gates.All(k, x, s.h)));
    }
    std::copy_n(s.scratch, p.hidden, s.h);
  }
};

std::unique_ptr<Prepared> PrepareRnn(const NodeView& n, Why* why) {
  return PrepareRecurrent(n, {1, 1, {"Tanh"}, 6, 2}, RnnCell{}, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(rnn, "RNN", PrepareRnn)
