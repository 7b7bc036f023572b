#include "plugins/ref/kernels/rows.h"

namespace ref {
namespace {

struct CausalConvPlan {
  int64_t batch, channels, length, taps;
  bool silu;
};

// Per row: the state (zeros without one) and the new elements after it; `row` holds both.
ge_rc RunCausalConv(const CausalConvPlan& p, const Call& c) {
  const int64_t kept = p.taps - 1;
  double* row = static_cast<double*>(c.workspace());
  double *taps = row + kept + p.length, *y = taps + p.taps;
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t ch = 0; ch < p.channels; ++ch) {
      const int64_t r = b * p.channels + ch;
      std::fill_n(row, kept, 0.0);
      if (c.has_in(3)) LoadRow(c.in(3), r * kept, kept, row);
      LoadRow(c.in(0), r * p.length, p.length, row + kept);
      LoadRow(c.in(1), ch * p.taps, p.taps, taps);
      double bias = 0;
      if (c.has_in(2)) LoadRow(c.in(2), ch, 1, &bias);
      for (int64_t i = 0; i < p.length; ++i) {
        const double v = DotOf(row + i, taps, p.taps) + bias;
        Spend(p.taps);
        y[i] = p.silu ? v / (1 + std::exp(-v)) : v;
      }
      PutRow(c.out(0), r * p.length, p.length, y);
      if (c.has_out(1)) PutRow(c.out(1), r * kept, kept, row + p.length);
    }
  }
  return GE_OK;
}

bool PlanCausalConv(const NodeView& n, CausalConvPlan* p, Why* why) {
  if (!NeedPorts(n, 2, 4, why) || !NeedOneFloatType(n, 0, why)) return false;
  const TensorType x = n.in(0), w = n.in(1);
  if (x.rank != 3 || w.rank != 3 || w.dims[2] < 1) return NoRole(why);
  *p = {x.dims[0], x.dims[1], x.dims[2], w.dims[2], false};
  const std::string_view activation = n.Text("activation");
  p->silu = activation == "silu" || activation == "swish";
  if (!p->silu && activation != "none") {
    return why->Say(GE_WHY_ATTRIBUTE, "activation is not known");
  }
  const auto is_state = [&](const TensorType& t) {
    return HasDims(t, {p->batch, p->channels, p->taps - 1});
  };
  const bool ok = HasDims(w, {p->channels, 1, p->taps}) &&
                  (!n.has_in(2) || HasDims(n.in(2), {p->channels})) &&
                  (!n.has_in(3) || is_state(n.in(3))) && SameDims(n.out(0).shape(), x.shape()) &&
                  (!n.has_out(1) || is_state(n.out(1)));
  return ok || NoRole(why);
}

std::unique_ptr<Prepared> PrepareCausalConv(const NodeView& n, Why* why) {
  CausalConvPlan p{};
  if (!PlanCausalConv(n, &p, why)) return nullptr;
  auto made = Make([p](const Call& c) { return RunCausalConv(p, c); });
  made->workspace = static_cast<uint64_t>(2 * (p.length + p.taps)) * sizeof(double);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(causal_conv_with_state, "CausalConvWithState", PrepareCausalConv)
